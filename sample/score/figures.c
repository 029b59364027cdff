/* Prints figures, either as lines of a name and a number or as members of a JSON object. */
#include "figures.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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
	*f = (struct figures){ .as_json = as_json, .json = json_to_out() };
	if (as_json)
		json_open(&f->json, '{');
}

void figures_end(struct figures *f)
{
	if (!f->as_json)
		return;
	json_close(&f->json, '}');
	out_char('\n');
}

void figures_number(struct json_writer *w, const char *key, double x)
{
	json_key(w, key, strlen(key));
	if (!isfinite(x))
		json_raw(w, "null");
	else if (x == floor(x) && fabs(x) < 1e15)
		json_int(w, (int64_t)x);
	else
		json_float(w, x);
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
