/* CSV and JSON have the same columns; the Markdown table has fewer, with units. All output goes to stdout. */
#include "print.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/base/out.h"

/* So that each row is seen as soon as it is measured. cli_end() reports a failure. */
static void show(void)
{
	struct why ignored;

	out_flush(&ignored);
}

struct column {
	const char *name;
	const char *text;       /* or NULL: */
	double number;
};

enum { COLUMNS = 17 };

struct test_name {
	char s[64];
};

/* pp512, tg128, tg128@d4096, tg128x16@d128 */
static struct test_name name_of(const struct bench_test *t)
{
	struct test_name n;
	int used = snprintf(n.s, sizeof n.s, "%s%zu", t->decode ? "tg" : "pp", t->n);

	if (t->sequences > 1)
		used += snprintf(n.s + used, sizeof n.s - (size_t)used, "x%zu", t->sequences);
	if (t->depth)
		snprintf(n.s + used, sizeof n.s - (size_t)used, "@d%zu", t->depth);
	return n;
}

static void columns(const struct bench_row *row, const struct test_name *test, struct column c[COLUMNS])
{
	const struct bench_result *r = &row->result;
	const struct column all[COLUMNS] = {
		{ "model", row->model, 0 }, { "bytes", NULL, (double)row->bytes }, { "backend", row->backend, 0 },
		{ "threads", NULL, (double)row->threads }, { "batch", NULL, (double)row->batch },
		{ "test", test->s, 0 }, { "repetitions", NULL, (double)row->repetitions },
		{ "tokens_per_s", NULL, r->rate },
		{ "least", NULL, r->low }, { "greatest", NULL, r->high }, { "limit_tokens_per_s", NULL, r->limit },
		{ "of_limit", NULL, r->rate / r->limit }, { "limited_by", bound_name[r->bound], 0 },
		{ "read_bytes_per_s", NULL, r->of.read }, { "int8_madds_per_s", NULL, r->of.codes },
		{ "f32_madds_per_s", NULL, r->of.floats }, { "sequences", NULL, (double)row->test.sequences },
	};

	memcpy(c, all, sizeof all);
}

/* ---- CSV and JSON ---- */

/* Quoted if necessary. */
static void csv_text(const char *s)
{
	if (!s[strcspn(s, ",\"\r\n")]) {
		out_text(s);
		return;
	}
	out_char('"');
	for (; *s; s++)
		out_print(*s == '"' ? "\"\"" : "%c", *s);
	out_char('"');
}

static void csv_row(const struct column *c, int heading)
{
	for (int i = 0; i < COLUMNS; i++) {
		if (i)
			out_char(',');
		if (heading || c[i].text)
			csv_text(heading ? c[i].name : c[i].text);
		else
			out_print("%.10g", c[i].number);
	}
	out_char('\n');
}

static struct json_writer json;

static void json_row(const struct column *c)
{
	char number[32];

	json_open(&json, '{');
	for (int i = 0; i < COLUMNS; i++) {
		json_key(&json, c[i].name, strlen(c[i].name));
		if (c[i].text) {
			json_string(&json, c[i].text, strlen(c[i].text));
		} else {
			snprintf(number, sizeof number, "%.10g", c[i].number);
			json_raw(&json, number);
		}
	}
	json_close(&json, '}');
}

/* ---- markdown ---- */

static void md_row(const struct bench_row *row, const struct test_name *test)
{
	const struct bench_result *r = &row->result;
	double of[] = {
		[BOUND_NONE] = 0, [BOUND_READ] = r->of.read * 1e-9, [BOUND_CODES] = r->of.codes * 1e-9,
		[BOUND_FLOATS] = r->of.floats * 2e-9
	};
	static const char *const units[] = {
		[BOUND_NONE] = "", [BOUND_READ] = "GB/s", [BOUND_CODES] = "G madd/s", [BOUND_FLOATS] = "GFLOP/s"
	};

	out_print("| %-22s | %7.1f | %-7s | %2zu | %-14s | %8.2f | %4.1f%% | %8.2f | %4.0f%% | %-4s %6.1f %-8s |\n",
		row->model, (double)row->bytes / (1 << 20), row->backend, row->threads, test->s, r->rate,
		50 * (r->high - r->low) / r->rate, r->limit, 100 * r->rate / r->limit, bound_name[r->bound],
		of[r->bound], units[r->bound]);
}

/* ---- any style ---- */

void print_start(enum style style)
{
	static const struct bench_row none;
	static const struct test_name unnamed;
	struct column c[COLUMNS];

	if (style == STYLE_CSV) {
		columns(&none, &unnamed, c);
		csv_row(c, 1);
	} else if (style == STYLE_JSON) {
		json = json_to_out();
		json.indent = "  ";
		json.comma = ",";
		json_open(&json, '[');
	} else {
		out_text("| model                  |     MiB | backend |  t | test           "
		     "| tokens/s |     ± |    limit |    of | the limit            |\n"
		     "| ---------------------- | ------: | ------- | -: | -------------- "
		     "| -------: | ----: | -------: | ----: | -------------------- |\n");
	}
	show();
}

void print_row(enum style style, const struct bench_row *row)
{
	struct test_name test = name_of(&row->test);
	struct column c[COLUMNS];

	columns(row, &test, c);
	if (style == STYLE_CSV)
		csv_row(c, 0);
	else if (style == STYLE_JSON)
		json_row(c);
	else
		md_row(row, &test);
	show();
}

void print_end(enum style style)
{
	if (style == STYLE_JSON) {
		json_close(&json, ']');
		out_char('\n');
	}
}
