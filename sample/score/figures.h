/* figures: the output of score, as text or JSON: figures, a line each or the members of one object; and the rows of a
 * table, a line or an object each. */
#ifndef FIGURES_H
#define FIGURES_H

#include <stddef.h>

#include "lib/base/json.h"

/* Sums for the mean of a quantity and the standard error of that mean. */
struct mean {
	size_t n;
	double sum, squares;
};

static inline void mean_add(struct mean *m, double x)
{
	m->n++;
	m->sum += x;
	m->squares += x * x;
}

/* NaN of nothing; the error of one value is NaN. */
double mean_of(const struct mean *m);
double mean_error(const struct mean *m);

struct figures {
	int as_json;
	struct json_writer json;
	int open;                       /* private: an object, between figures_start() and figures_end() */
};

void figures_start(struct figures *f, int as_json);
void figures_end(struct figures *f);

/* ---- figures ---- */

/* One figure: "name   value ± error unit", or "key": value, "key_error": error. error < 0 or NaN: none. A NaN is left
 * out of text and null in JSON. */
struct figure {
	const char *key, *name, *unit;
	double value, error;
	int decimals;           /* in text */
};

/* Prints it, or appends it to the object. */
void figures_put(struct figures *f, const struct figure *one);

/* A name, of characters of one column, and the space up to the value. */
void figures_name(const char *name);

/* A member of an object; null where JSON has no such number. */
void figures_number(struct json_writer *w, const char *key, double x);

/* ---- tables ---- */

struct column {
	const char *key, *heading;      /* in JSON and in text */
	int width, decimals;            /* in text */
};

struct cell {                           /* a text at the end of a row */
	const char *key, *s;            /* s[n]: any bytes; NULL: empty */
	size_t n;
};

/* Prints the headings of column[n], then `more`; nothing in JSON. */
void figures_heading(const struct figures *f, const struct column *column, size_t n, const char *more);

/* Prints a row: value[n], then cell[n_cells]. A NaN is "-" in text; in JSON, what is not finite is null. Without
 * figures_start() each row is an object of its own, on a line. */
void figures_row(struct figures *f, const struct column *column, size_t n, const double *value,
	const struct cell *cell, size_t n_cells);

#endif
