/* A .npy file begins with the number of its rows, so these are collected in a file first. */
#include "output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/base/le.h"
#include "lib/base/out.h"
#include "lib/gguf/description.h"
#include "lib/process/stages.h"

enum { MODEL_NAME_MAX = 256 };

int output_is_text(enum output_kind kind)
{
	return kind == OUTPUT_JSON || kind == OUTPUT_ANSWERS;
}

int output_open(struct output *o, enum output_kind kind, struct why *w)
{
	*o = (struct output){ .kind = kind, .spool = -1 };
	return kind == OUTPUT_NPY && (o->spool = stage_file(w)) < 0 ? -1 : 0;
}

/* ---- lines of JSON ---- */

static void begin_object(const struct bytes *members)
{
	out_char('{');
	if (members && members->n) {
		out_bytes(members->p, members->n);
		out_text(", ");
	}
}

/* Nine digits are enough to read the same float. */
static void put_numbers(const float *row, size_t n)
{
	out_char('[');
	for (size_t i = 0; i < n; i++)
		out_print(i ? ", %.9g" : "%.9g", (double)row[i]);
	out_char(']');
}

static void put_object(const struct output *o, const struct bytes *members, const struct embedding *e)
{
	int rank = e->pooling == POOLING_RANK, nested = e->pooling == POOLING_NONE;

	begin_object(members);
	out_print("\"%s\": ", !rank ? "embedding" : e->cols > 1 ? "scores" : "score");
	if (rank && e->cols == 1)
		out_print("%.9g", (double)*e->row);
	else if (!nested)
		put_numbers(e->row, e->rows * e->cols);
	for (size_t i = 0; nested && i < e->rows; i++) {
		out_text(i ? ", " : "[");
		put_numbers(e->row + i * e->cols, e->cols);
	}
	if (nested)
		out_char(']');
	if (o->kind == OUTPUT_ANSWERS)
		out_print(", \"usage\": {\"prompt_tokens\": %" PRIu32 ", \"total_tokens\": %" PRIu32 "}", e->tokens,
			e->tokens);
	out_text("}\n");
}

static void put_error(const struct output *o, const struct bytes *members, const char *error)
{
	struct json_writer j = json_to_out();

	begin_object(members);
	out_text(o->kind == OUTPUT_ANSWERS ? "\"error\": {\"message\": " : "\"error\": ");
	json_string(&j, error, strlen(error));
	if (o->kind == OUTPUT_ANSWERS)
		out_text(", \"type\": \"invalid_request_error\", \"param\": null, \"code\": null}");
	out_text("}\n");
}

int output_model(const struct bytes *members, const struct gguf *g, const struct card *card, struct why *w)
{
	struct json_writer j = json_to_out();
	char name[MODEL_NAME_MAX];

	description_name(name, sizeof name, g->path);
	begin_object(members);
	out_text("\"model\": ");
	description_write(&j, name, g, card->n_vocab, card->n_ctx, card->vocab);
	out_text("}\n");
	return out_flush(w);
}

/* ---- floats ---- */

static int write_floats(const struct output *o, const float *x, size_t n, struct why *w)
{
	float part[1024];

	for (size_t k; n; n -= k, x += k) {
		k = n < sizeof part / sizeof *part ? n : sizeof part / sizeof *part;
		memcpy(part, x, k * sizeof *x);
		le_convert(part, sizeof *part, k);
		if (o->spool < 0)
			out_bytes(part, k * sizeof *part);
		else if (io_write(o->spool, part, k * sizeof *part, w))
			return why_in(w, "temporary file");
	}
	return 0;
}

/* Writes the rows of NaN that are due. */
static int write_missing(struct output *o, struct why *w)
{
	float *row = malloc(o->cols * sizeof *row);
	int failed = row ? 0 : why(w, "out of memory");

	for (size_t i = 0; row && i < o->cols; i++)
		row[i] = NAN;
	for (; o->missing && !failed; o->missing--, o->rows++)
		failed = write_floats(o, row, o->cols, w);
	free(row);
	return failed;
}

static int put_rows(struct output *o, const float *row, size_t rows, size_t cols, struct why *w)
{
	if (o->cols && o->cols != cols)
		return why(w, "embeddings of %zu elements after those of %zu", cols, o->cols);
	o->cols = cols;
	if ((o->missing && write_missing(o, w)) || write_floats(o, row, rows * cols, w))
		return -1;
	o->rows += rows;
	return 0;
}

/* ---- both ---- */

int output_put(struct output *o, const struct bytes *members, const struct embedding *e, struct why *w)
{
	if (output_is_text(o->kind))
		put_object(o, members, e);
	else if (put_rows(o, e->row, e->rows, e->cols, w))
		return -1;
	return out_flush(w);
}

int output_fail(struct output *o, const struct bytes *members, const char *error, struct why *w)
{
	if (output_is_text(o->kind)) {
		put_error(o, members, error);
	} else {
		o->missing++;
		if (o->cols && write_missing(o, w))
			return -1;
	}
	return out_flush(w);
}

/* The header of version 1: its length and that of the magic number are a multiple of 64. */
static void write_header(const struct output *o)
{
	char text[119];
	int n = snprintf(text, sizeof text, "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu), }", o->rows,
		o->cols);

	out_bytes("\x93NUMPY\1\0\x76\0", 10);
	out_print("%s%*s\n", text, 117 - n, "");
}

static int copy_spool(const struct output *o, struct why *w)
{
	char part[1 << 16];
	ssize_t got;

	if (stage_rewind(o->spool, w))
		return -1;
	while ((got = io_read(o->spool, part, sizeof part)) > 0)
		out_bytes(part, (size_t)got);
	return got < 0 ? why(w, "temporary file: cannot be read") : 0;
}

int output_end(struct output *o, struct why *w)
{
	int failed = 0;

	if (o->kind == OUTPUT_NPY) {
		write_header(o);
		failed = copy_spool(o, w);
		close(o->spool);
	}
	return failed || out_flush(w) ? -1 : 0;
}
