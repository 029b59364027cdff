/* Prints figures and tables. */
#include "figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/base/members.h"
#include "lib/base/out.h"

enum { COLUMNS = 18 };

double mean_of(const struct mean *m)
{
	return m->n ? m->sum / (double)m->n : NAN;
}

double mean_error(const struct mean *m)
{
	double mean = mean_of(m), variance = m->n ? m->squares / (double)m->n - mean * mean : NAN;

	return m->n < 2 ? NAN : variance > 0 ? sqrt(variance / (double)(m->n - 1)) : isnan(variance) ? NAN : 0;
}

void figures_start(struct figures *f, int as_json)
{
	*f = (struct figures){ .as_json = as_json, .json = json_to_out(), .open = 1 };
	if (as_json)
		json_open(&f->json, '{');
}

void figures_end(struct figures *f)
{
	f->open = 0;
	if (!f->as_json)
		return;
	json_close(&f->json, '}');
	out_char('\n');
}

/* ---- figures ---- */

void figures_number(struct json_writer *w, const char *key, double x)
{
	if (x == floor(x) && fabs(x) < 1e15)
		member_int(w, key, (int64_t)x);
	else
		member_real(w, key, x);
}

void figures_name(const char *name)
{
	size_t columns = 0;

	for (const char *s = name; *s; s++)
		columns += (*s & 0xc0) != 0x80;
	out_print("%s%*s", name, (int)(columns < COLUMNS ? COLUMNS - columns : 1), "");
}

void figures_put(struct figures *f, const struct figure *one)
{
	char key[64];

	if (f->as_json) {
		figures_number(&f->json, one->key, one->value);
		snprintf(key, sizeof key, "%s_error", one->key);
		if (one->error >= 0)
			figures_number(&f->json, key, one->error);
		return;
	}
	if (isnan(one->value))
		return;
	figures_name(one->name);
	out_print("%.*f", one->decimals, one->value);
	if (one->error >= 0)
		out_print(" ± %.*f", one->decimals, one->error);
	out_print(*one->unit ? " %s\n" : "%s\n", one->unit);
}

/* ---- tables ---- */

void figures_heading(const struct figures *f, const struct column *column, size_t n, const char *more)
{
	if (f->as_json)
		return;
	for (size_t i = 0; i < n; i++)
		out_print("%s%*s", i ? " " : "", column[i].width, column[i].heading);
	out_text(more);
	out_char('\n');
}

static void put_object(struct figures *f, const struct column *column, size_t n, const double *value,
	const struct cell *cell, size_t n_cells)
{
	if (!f->open)
		f->json = json_to_out();
	json_open(&f->json, '{');
	for (size_t i = 0; i < n; i++)
		figures_number(&f->json, column[i].key, value[i]);
	for (size_t i = 0; i < n_cells; i++) {
		member_bytes(&f->json, cell[i].key, cell[i].s, cell[i].s ? cell[i].n : 0);
	}
	json_close(&f->json, '}');
	out_text(f->open ? "" : "\n");
}

void figures_row(struct figures *f, const struct column *column, size_t n, const double *value,
	const struct cell *cell, size_t n_cells)
{
	if (f->as_json) {
		put_object(f, column, n, value, cell, n_cells);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (i)
			out_char(' ');
		if (isnan(value[i]))
			out_print("%*s", column[i].width, "-");
		else if (column[i].decimals)
			out_print("%*.*f", column[i].width, column[i].decimals, value[i]);
		else    /* an integer, which prints faster as one */
			out_print("%*" PRId64, column[i].width, (int64_t)value[i]);
	}
	for (size_t i = 0; i < n_cells; i++) {
		out_text("  \"");
		if (cell[i].s)
			out_quoted(cell[i].s, cell[i].n, '\\');
		out_char('"');
	}
	out_char('\n');
}
