/* Attention residuals (Moonshot 2026). At each block of layers, the residual stream is banked and starts again at 0;
 * each part of a layer reads a weighted sum of it and of the banked streams. */
#include "attn_res.h"

#include <math.h>
#include <string.h>

#include "fwd/builder/build.h"
#include "lib/base/size.h"

struct attn_res *attn_res_of(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(struct attn_res));
}

/* ---- the ops: a work item is a row ---- */

/* A row has the residual stream, then what it was before each block of layers.
 * attn_res: out = the sum of streams 0 to `blocks`, weighted by a softmax of the sums of norm(stream) · weight. bank:
 * copies the residual stream to that of the latest block, and sets it to 0. */
struct op_attn_res {
	size_t n, blocks;
	float gate;                     /* out = x + gate · (the sum − x) */
	struct buffer x, scores, out;   /* [1 + blocks][n] per row; [1 + blocks]; [n] */
	const float *weight;            /* [n] */
	float eps;
};

/* The sum of norm(x[n]) · weights. */
static float score(const struct op_attn_res *o, const float *x)
{
	double sum = 0, square = 0;

	for (size_t i = 0; i < o->n; i++) {
		sum += (double)x[i] * (double)o->weight[i];
		square += (double)x[i] * (double)x[i];
	}
	return (float)(sum / sqrt(square / (double)o->n + (double)o->eps));
}

static void attend_blocks(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_attn_res *o = op->bound;
	const float *x = buffer_row(&o->x, row);
	float *to = buffer_row(&o->out, row), *p = buffer_row(&o->scores, row);

	for (size_t i = 0; i <= o->blocks; i++)
		p[i] = score(o, x + i * o->n);
	op_softmax(p, o->blocks + 1);
	for (size_t i = 0; i <= o->blocks; i++)
		p[i] *= o->gate;
	p[0] += 1 - o->gate;
	s->k->scale(to, x, p[0], o->n);
	for (size_t i = 1; i <= o->blocks; i++)
		s->k->add_scaled(to, x + i * o->n, p[i], o->n);
}

static void bank_row(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_attn_res *o = op->bound;
	float *x = buffer_row(&o->x, row);

	memcpy(x + o->blocks * o->n, x, o->n * sizeof *x);
	memset(x, 0, o->n * sizeof *x);
}

static void uses(void *bound, struct uses *u)
{
	struct op_attn_res *o = bound;

	u->rows(u, &o->x, (1 + o->blocks) * o->n, USE_READ);
	u->rows(u, &o->scores, 1 + o->blocks, USE_MAKE);
	u->rows(u, &o->out, o->n, USE_MAKE);
}

static void bank_uses(void *bound, struct uses *u)
{
	struct op_attn_res *o = bound;

	u->rows(u, &o->x, (1 + o->blocks) * o->n, USE_FILL);
}

static const struct op_kind op_attn_res = { .name = "attn_res", .uses = uses, .items = op_each_row,
	.item = attend_blocks };
static const struct op_kind op_bank = { .name = "bank", .uses = bank_uses, .items = op_each_row, .item = bank_row };

/* ---- building ---- */

/* The number of blocks that began before layer il. */
static size_t begun(const struct builder *b, size_t il)
{
	return size_divide_up(il, attn_res_of(b->model)->block_layers);
}

/* out = the sum of streams 0 to `blocks` of x, weighted by scores with the vector NAME. */
static void weigh(struct builder *b, const char *name, struct value *x, size_t blocks, float gate, struct value *out)
{
	struct op_attn_res o = { .n = b->model->n_embd, .blocks = blocks, .x = rows_of(x), .out = rows_of(out),
		.scores = rows_of(build_value(b, 1 + blocks)), .gate = gate, .eps = b->model->eps,
		.weight = build_vector(b, name, "weight", b->model->n_embd) };

	build_output(b, build_append(b, &op_attn_res, name, &o, sizeof o), 0, "", out, o.n);
}

/* Banks the residual stream as that of a block, and sets it to 0. */
static void bank(struct builder *b, size_t block)
{
	struct value *all = build_streams(b);
	struct op_attn_res o = { .n = b->model->n_embd, .blocks = block, .x = rows_of(all) };

	build_append(b, &op_bank, NULL, &o, sizeof o);
	b->x = build_part(b, all, 0, o.n);
}

static struct value *read_blocks(struct builder *b, const char *norm)
{
	int attention = !strcmp(norm, "attn_norm");
	size_t blocks = begun(b, attention ? b->il : b->il + 1), n = b->model->n_embd;
	struct op_rows o = { .norm = build_norm_of(b, norm, n) };
	struct value *out = build_value(b, n), *in = b->x;

	if (blocks) {
		weigh(b, attention ? "attn_res_score" : "ffn_res_score", build_streams(b), blocks, 1, out);
		in = out;
		out = build_part(b, out, 0, n);
	} else
		build_vector(b, attention ? "attn_res_score" : "ffn_res_score", "weight", n);
	out = build_rows_shown(b, norm, o, in, out);
	if (attention && b->il % attn_res_of(b->model)->block_layers == 0)
		bank(b, blocks + 1);
	return out;
}

static struct value *unite(struct builder *b, struct value *all)
{
	struct value *out = build_value(b, b->model->n_embd);

	weigh(b, "output_res_score", all, begun(b, (size_t)(b->layer - b->model->layer) + 1), 1, out);
	return out;
}

void build_gated_attn_res(struct builder *b)
{
	size_t n = b->model->n_embd, block = 1 + b->il / attn_res_of(b->model)->block_layers;
	float gate = build_number(b, "attn_res_gate");

	if (b->il % attn_res_of(b->model)->block_layers == 0)
		build_copy_into(b, "attn_res_block", b->x, build_columns(b, b->x, block * n, n));
	b->x = build_columns(b, b->x, 0, n);
	weigh(b, "attn_res_score", build_streams(b), block, gate, b->x);
}

const struct stream_kind attn_res_streams = { .read = read_blocks, .unite = unite };
