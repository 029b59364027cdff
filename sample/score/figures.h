/* figures: results as lines of text or as one JSON object. */
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
	struct json_writer json;        /* an object, open between figures_start() and figures_end() */
};

void figures_start(struct figures *f, int as_json);
void figures_end(struct figures *f);

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

#endif
