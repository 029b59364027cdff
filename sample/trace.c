/* trace: a line for each sampler: its name, the number of candidates, and as many of the best as fit. */
#include "trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sampler/topk.h"
#include "lib/base/fmath.h"
#include "lib/base/quote.h"

enum { COLUMNS = 79, BEST = 8, PIECE = 16, LINES = 16, BYTES = LINES * 4 * (COLUMNS + 1) };

struct trace {
	const struct vocab *v;
	float *x, *p, *scratch;
	int32_t at[BEST];
	size_t n;
	char text[BYTES];       /* [n] the lines not yet written */
};

struct trace *trace_open(int32_t n_vocab, const struct vocab *v)
{
	struct trace *t = calloc(1, sizeof *t);
	size_t n = (size_t)n_vocab;

	if (!t)
		return NULL;
	t->v = v;
	t->x = malloc(n * sizeof *t->x);
	t->p = malloc(n * sizeof *t->p);
	t->scratch = malloc(TOPK_SCRATCH(n) * sizeof *t->scratch);
	if (t->x && t->p && t->scratch)
		return t;
	trace_close(t);
	return NULL;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	free(t->x);
	free(t->p);
	free(t->scratch);
	free(t);
}

__attribute__((format(printf, 2, 3))) static void put(struct trace *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->text + t->n, sizeof t->text - t->n, format, ap);
	va_end(ap);
	t->n += n > 0 && (size_t)n < sizeof t->text - t->n ? (size_t)n : 0;
}

/* The id as shown, with at most PIECE columns of its piece; returns its width. */
static int spell(const struct trace *t, int32_t id, char out[128])
{
	int width = snprintf(out, 128, "%" PRId32, id), columns = 0, quoted;
	size_t n = (size_t)width, len, size = 0, i;
	const char *s;
	char c[QUOTE_ROOM];
	unsigned used;

	if (!t->v)
		return width;
	s = vocab_piece(t->v, id, 1, &len);
	quoted = !vocab_is_special(t->v, id);
	n += (size_t)sprintf(out + n, quoted ? " \"" : " ");
	for (i = 0; i < len; i += used) {
		size = quote_next(s + i, len - i, quoted ? '\\' : 0, c, &used);
		if (columns + (*c & 0x80 ? 1 : (int)size) > PIECE)
			break;
		columns += *c & 0x80 ? 1 : (int)size;
		memcpy(out + n, c, size);
		n += size;
	}
	n += (size_t)sprintf(out + n, "%s%s", i < len ? "~" : "", quoted ? "\"" : "");
	return width + 1 + columns + (i < len) + 2 * quoted;
}

void trace_observe(void *context, const struct sampler_view *v)
{
	struct trace *t = context;
	size_t n, i, left = 0;
	int column, width;
	char id[128], percent[16];
	double sum, share;

	/* a new row: what a draw that failed has left is dropped */
	if (!strcmp(v->name, "logits"))
		t->n = 0;
	for (i = 0; i < v->n; i++)
		left += v->logit[i] > -INFINITY;
	n = topk_sorted(v->logit, v->n, BEST, t->at, t->scratch);
	for (i = 0; n && i < v->n; i++)
		t->x[i] = (v->logit[i] - v->logit[t->at[0]]) / v->temp;
	sum = n ? fmath_softmax(t->x, 0, t->p, v->n) : 1;
	put(t, "  %-11s %8zu ", v->name, left);
	for (column = 23, i = 0; i < n; i++) {
		width = spell(t, v->id ? v->id[t->at[i]] : t->at[i], id);
		share = 100 * t->p[t->at[i]] / sum;
		width += snprintf(percent, sizeof percent, " %.*f%%", share < 9.995 ? 2 : 1, share);
		if ((column += 2 + width) > COLUMNS)
			break;
		put(t, "  %s%s", id, percent);
	}
	put(t, "\n");
}

void trace_drawn(struct trace *t, uint32_t position, uint32_t seq, int32_t id)
{
	char shown[128];

	spell(t, id, shown);
	put(t, "  %-11s %8s   %s at %" PRIu32, "drawn", "", shown, position);
	if (seq)
		put(t, ", sequence %" PRIu32, seq);
	put(t, "\n");
	fwrite(t->text, 1, t->n, stderr);
	t->n = 0;
}
