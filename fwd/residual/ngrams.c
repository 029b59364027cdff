/* Embeddings of n-grams (ngrams.h). Keys and a value are products of the rows of the table. Each stream's gate is
 * computed from its key and the normed stream. The gated value is added to the stream, and so is a convolution of
 * it. */
#include "ngrams.h"

#include <math.h>

#include "fwd/kernels/exp.h"
#include "fwd/mixers/convolution.h"
#include "fwd/model/keys.h"
#include "fwd/state/ids.h"
#include "fwd/state/segment.h"

/* ---- keys ---- */

struct ngrams *ngrams_of(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(struct ngrams));
}

/* Reads the multipliers of the hash and the rows of each head. */
static int read_heads(struct model *m, struct why *w)
{
	struct ngrams *g = ngrams_of(m);
	const struct gguf_tensor *t = gguf_tensor(m->gguf, "per_layer_token_embd.weight");
	size_t heads = (g->longest - 1) * g->heads;

	if (!t)
		return why(w, "tensor per_layer_token_embd.weight: missing");
	if (heads * g->n != m->n_embd)
		return why(w, "%s: %zu heads of %zu elements do not make up the %zu of a row",
			key_name(m, "ple.heads_per_ngram").s, heads, g->n, m->n_embd);
	g->rows = (size_t)t->dim[1];
	if (key_integers(m, "ple.layer_multipliers", g->longest, 0, INT64_MAX, g->multiplier, w) < 0
	    || key_integers(m, "ple.head_offsets", heads, 0, (int64_t)g->rows - 1, g->first, w) < 0
	    || key_integers(m, "ple.head_vocab_sizes", heads, 1, (int64_t)g->rows, g->count, w) < 0)
		return -1;
	for (size_t i = 0; i < heads; i++)
		if (g->count[i] > g->rows - g->first[i])
			return why(w, "%s: rows of head %zu end past the table's %zu",
				key_name(m, "ple.head_offsets").s, i, g->rows);
	return 0;
}

int ngrams_read(struct model *m, struct why *w)
{
	struct ngrams *g = ngrams_of(m);
	struct key_name key = key_name(m, "ple.layers");
	const struct gguf_value *v = gguf_find(m->gguf, key.s);
	uint64_t layer;

	if (!v)
		return 0;
	if (v->n > 1)
		return why(w, "%s: %llu layers: not supported", key.s, (unsigned long long)v->n);
	if (key_integers(m, "ple.layers", 1, 0, (int64_t)m->n_layer - 1, &layer, w) < 0
	    || key_required(m, "ple.ngram_size", 2, NGRAM_MAX, &g->longest, w) < 0
	    || key_required(m, "ple.heads_per_ngram", 1, NGRAM_HEADS_MAX / (g->longest - 1), &g->heads, w) < 0
	    || key_required(m, "ple.conv_kernel", 1, STATE_CHUNK / g->longest, &g->taps, w) < 0
	    || key_required(m, "ple.eos_token_id", 0, INT32_MAX, &g->end, w) < 0
	    || key_required(m, "embedding_length_per_layer_input", 1, m->n_embd, &g->n, w) < 0)
		return -1;
	g->layer = (size_t)layer;
	return read_heads(m, w);
}

/* ---- the ops: a work item is a row ---- */

/* ngrams: out = the table's rows of the n-grams that end at this position (ngrams.h), head by head. ngram_gates: each
 * stream's key becomes the value, times sigmoid(s), where s is the square root of |key · query / √n|, with its sign. */
struct op_ngrams {
	const struct ngrams *ngrams;
	struct matrix table;
	struct buffer out;
};

struct op_ngram_gates {
	size_t streams, n;
	struct buffer keys, queries, value;     /* [streams][n] per row; the same; [n] */
};

/* id[longest]: the row's id and those before it. From the last end of a text backwards, all are that end. */
static void last_ids(const struct ngrams *g, const struct batch_row *r, uint64_t *id)
{
	int ended = 0;

	for (size_t i = 0; i < g->longest; i++) {
		id[i] = ended || i > r->pos ? g->end : (uint64_t)segment_id(r->run->state, r->pos - i);
		ended = i && id[i] == g->end;
	}
}

static void look_up_row(const struct op *op, const struct step *s, size_t row, size_t thread)
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

static void uses(void *bound, struct uses *u)
{
	struct op_ngrams *o = bound;

	u->rows(u, &o->out, (o->ngrams->longest - 1) * o->ngrams->heads * o->ngrams->n, USE_MAKE);
}

static void gate_uses(void *bound, struct uses *u)
{
	struct op_ngram_gates *o = bound;

	u->rows(u, &o->queries, o->streams * o->n, USE_READ);
	u->rows(u, &o->value, o->n, USE_READ);
	u->rows(u, &o->keys, o->streams * o->n, USE_CHANGE);
}

static const struct op_kind op_ngrams = { .name = "ngrams", .uses = uses, .items = op_each_row, .item = look_up_row,
	.work = work };
static const struct op_kind op_ngram_gates = { .name = "ngram_gates", .uses = gate_uses, .items = op_each_row,
	.item = gate };

/* ---- building ---- */

/* Norms each stream of x with its own weights. */
static struct value *norm_streams(struct builder *b, const char *name, struct value *x, struct value *to)
{
	struct op_rows o = { .norms = b->model->n_streams };

	build_unfold(b, name, 1, o.norms, b->model->n_embd);
	o.norm = build_norms_of(b, name, o.norms, b->model->n_embd);
	return build_rows(b, name, o, x, to);
}

static void add_streams(struct builder *b, const char *name, struct value *from)
{
	struct value *all = build_sum(b, name, build_streams(b), from, 0);

	b->x = build_part(b, all, 0, b->model->n_embd);
}

/* The table's rows of all heads, side by side. */
static struct value *look_up(struct builder *b)
{
	const struct ngrams *g = ngrams_of(b->model);
	struct value *rows = build_value(b, b->model->n_embd);
	struct op_ngrams o = { .ngrams = g, .out = rows_of(rows) };
	size_t il = b->il;

	b->il = OP_NO_LAYER;
	build_matrices(b, "per_layer_token_embd", 1, g->rows, g->n, &o.table);
	b->il = il;
	build_output(b, build_append(b, &op_ngrams, NULL, &o, sizeof o), 0, "", rows, rows->n);
	return rows;
}

void build_ngrams(struct builder *b)
{
	const struct ngrams *g = ngrams_of(b->model);
	size_t n = b->model->n_embd, all = b->model->n_streams * n;
	struct value *keys = build_value(b, all), *value = build_value(b, n), *spare = build_value(b, all);
	struct op_ngram_gates gates = { .streams = b->model->n_streams, .n = n, .value = rows_of(value) };
	struct op_product o = build_products_of(b, look_up(b));

	build_add_product(b, &o, "ple_key", NARROW, keys);
	build_add_product(b, &o, "ple_value", NARROW, value);
	build_products(b, "ple_key", &o);
	keys = norm_streams(b, "ple_norm_key", keys, build_part(b, keys, 0, all));
	gates.keys = rows_of(keys);
	gates.queries = rows_of(norm_streams(b, "ple_norm_query", build_streams(b), spare));
	build_output(b, build_append(b, &op_ngram_gates, NULL, &gates, sizeof gates), 0, "", keys, all);
	spare = norm_streams(b, "ple_norm_conv", keys, build_part(b, spare, 0, all));
	spare = convolve(b, "ple_conv1d", spare, g->taps, g->longest);
	add_streams(b, "ple_add", keys);
	add_streams(b, "ple_add_conv", spare);
}
