/* ngrams: rows of a table, by hashes of the last ids; ngram_gates: how much of them each residual stream adds. A work
 * item is a row. */
#include "kinds.h"

#include <math.h>

#include "fwd/kernels/exp.h"
#include "fwd/state/ids.h"

/* id[longest]: the row's id and those before it. From the last end of a text backwards, all are that end. */
static void last_ids(const struct ngrams *g, const struct batch_row *r, uint64_t *id)
{
	int ended = 0;

	for (size_t i = 0; i < g->longest; i++) {
		id[i] = ended || i > r->pos ? g->end : (uint64_t)segment_id(r->run->state, r->pos - i);
		ended = i && id[i] == g->end;
	}
}

static void look_up(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_ngrams *o = op->bound;
	const struct ngrams *g = o->ngrams;
	const struct batch_row r = step_row(op, s, row);
	float *to = buffer_row(&o->out, row);
	uint64_t id[NGRAM_MAX], hash;

	last_ids(g, &r, id);
	hash = id[0] * g->multiplier[0];
	for (size_t i = 1, head = 0; i < g->longest; i++) {
		hash ^= id[i] * g->multiplier[i];
		for (size_t end = i * g->heads; head < end; head++, to += g->n) {
			size_t at = g->first[head] + (size_t)(hash % g->count[head]);

			format_dequantise(o->table.format, (const unsigned char *)o->table.data
				+ at * o->table.row_bytes, to, g->n);
		}
	}
}

static void work(const struct op *op, const struct step *s, struct work *w)
{
	const struct op_ngrams *o = op->bound;
	const struct ngrams *g = o->ngrams;

	w->bytes += (double)(s->n * (g->longest - 1) * g->heads) * (double)o->table.row_bytes;
}

/* s = x · y / √n; returns √|s| with the sign of s. */
static float root_score(const float *x, const float *y, size_t n)
{
	double sum = 0;
	float score, root;

	for (size_t i = 0; i < n; i++)
		sum += (double)x[i] * (double)y[i];
	score = (float)(sum / sqrt((double)n));
	root = sqrtf(fmaxf(fabsf(score), 1e-6f));
	return score > 0 ? root : score < 0 ? -root : 0;
}

static void gate(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_ngram_gates *o = op->bound;
	const float *query = buffer_row(&o->queries, row), *value = buffer_row(&o->value, row);
	float *key = buffer_row(&o->keys, row);

	for (size_t i = 0; i < o->streams; i++, key += o->n, query += o->n)
		s->k->scale(key, value, exp_sigmoid(root_score(key, query, o->n)), o->n);
}

const struct op_kind op_ngrams = { .name = "ngrams", .items = op_each_row, .item = look_up, .work = work };
const struct op_kind op_ngram_gates = { .name = "ngram_gates", .items = op_each_row, .item = gate };
