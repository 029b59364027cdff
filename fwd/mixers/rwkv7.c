/* wkv7: the recurrence of RWKV 7 (Peng et al. 2025). */
#include "rwkv.h"

#include <math.h>
#include <string.h>

#include "fwd/model/keys.h"

/* One head of a row; parts that there are not are NULL. */
struct head_row {
	float *r, *w, *k, *v, *a, *g, *first;
};

static float *head_of(const struct buffer *b, size_t row, size_t at)
{
	return b->at ? buffer_row(b, row) + at : NULL;
}

static struct head_row head_row(const struct op_wkv7 *o, size_t row, size_t at)
{
	return (struct head_row){ head_of(&o->r, row, at), head_of(&o->w, row, at), head_of(&o->k, row, at),
		head_of(&o->v, row, at), head_of(&o->a, row, at), head_of(&o->g, row, at),
		head_of(&o->first, row, at) };
}

/* Turns the products of the row into w, k, v, a · kk, and kk, the key by which the delta rule corrects the state. */
static void prepare(const struct op_wkv7 *o, const struct kernels *k, const struct head_row *p, float *v_first,
	size_t at, float *kk)
{
	size_t n = o->wkv.size;
	float change[RWKV_HEAD_MAX];

	k->unary(UNARY_SIGMOID, p->w, p->w, n);
	k->scale(p->w, p->w, -0.606531f, n);    /* -e^-0.5 */
	k->unary(UNARY_EXP, p->w, p->w, n);
	k->unary(UNARY_SIGMOID, p->a, p->a, n);
	if (o->is_first)
		memcpy(v_first, p->v, n * sizeof *v_first);
	else {
		k->unary(UNARY_SIGMOID, p->first, p->first, n);
		memcpy(change, v_first, n * sizeof *change);
		k->add_scaled(change, p->v, -1, n);
		k->multiply(change, change, p->first, n);
		k->add(p->v, p->v, change, n);
	}
	k->multiply(kk, p->k, o->key_norm + at, n);
	k->scale(kk, kk, 1 / sqrtf(wkv_dot(k, kk, kk, n) + 1e-12f), n);
	/* k · (1 + (a - 1) · key_rate) */
	k->multiply(change, p->k, o->key_rate + at, n);
	k->add_scaled(p->k, change, -1, n);
	k->multiply(change, change, p->a, n);
	k->add(p->k, p->k, change, n);
	k->multiply(p->a, p->a, kk, n);
}

static void move(const struct op *op, const struct kernels *k, size_t row, size_t at, float *state)
{
	const struct op_wkv7 *o = op->bound;
	size_t n = o->wkv.size;
	struct head_row p = head_row(o, row, at);
	/* the state += the sum of keys[i] ⊗ values[i]: k with v, and -a · kk with what kk reads from the state */
	float keys[2][RWKV_HEAD_MAX], values[2][RWKV_HEAD_MAX], kk[RWKV_HEAD_MAX], out[RWKV_HEAD_MAX] = { 0 };
	struct chain_job read = { .rows = 1, .cols = n, .n = n, .a = kk, .a_step = 1, .b = state, .b_row = n,
		.y = values[1] }, write = { .rows = n, .cols = n, .n = 2, .a = keys[0], .a_row = 1,
		.a_step = RWKV_HEAD_MAX, .b = values[0], .b_row = RWKV_HEAD_MAX, .y = state, .y_row = n };

	prepare(o, k, &p, buffer_row(&o->v_first, row) + at, at, kk);
	memcpy(keys[0], p.k, n * sizeof *kk);
	k->scale(keys[1], p.a, -1, n);
	memcpy(values[0], p.v, n * sizeof *kk);
	memset(values[1], 0, n * sizeof *kk);
	k->chain(&read);
	for (size_t i = 0; i < n; i++)
		k->scale(state + i * n, state + i * n, p.w[i], n);
	k->chain(&write);
	read.a = p.r;
	read.y = out;
	k->chain(&read);
	wkv_norm(&o->wkv, k, out, at);
	k->multiply(p.k, p.k, o->wkv.bonus + at, n);
	k->add_scaled(out, p.v, wkv_dot(k, p.r, p.k, n), n);
	if (p.g)
		k->multiply(p.r, out, p.g, n);
	else
		memcpy(p.r, out, n * sizeof *out);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	wkv_rows(op, s, item, move);
}

static void uses(void *bound, struct uses *u)
{
	struct op_wkv7 *o = bound;
	struct buffer *spoilt[] = { &o->w, &o->k, &o->v, &o->a, &o->g, &o->first };
	size_t n = o->wkv.n;

	for (size_t i = 0; i < sizeof spoilt / sizeof *spoilt; i++)
		u->rows(u, spoilt[i], n, USE_SPOIL);
	u->rows(u, &o->v_first, n, o->is_first ? USE_MAKE : USE_READ);
	u->rows(u, &o->r, n, USE_CHANGE);
}

const struct op_kind op_wkv7 = { .name = "wkv", .uses = uses, .all_rows = 1, .items = wkv_items, .item = item,
	.work = wkv_work };

/* ---- building ---- */

/* The outputs of the time mix's shift, and what the products make of each. FIRST: the weights of the first layer's
 * values. */
enum { R, W, K, V, A, G, FIRST, OUTPUTS };

/* Applies the products of each output of the shift, which their results replace. `outputs` leaves out the last one,
 * the gates, where a file has none. */
static void mix_outputs(struct builder *b, struct value *shifted, size_t outputs, struct value *part[OUTPUTS])
{
	static const char *const whole[OUTPUTS] = { [R] = "time_mix_receptance", [K] = "time_mix_key",
		[V] = "time_mix_value" };
	const struct rwkv *s = rwkv_of(b->model);
	const struct rwkv_low_rank low[OUTPUTS] = {
		[W] = { "time_mix_w1", "time_mix_w2", "time_mix_w0", s->rank_w, ROW_TANH },
		[A] = { "time_mix_a1", "time_mix_a2", "time_mix_a0", s->rank_a, ROW_SAME },
		[G] = { "time_mix_g1", "time_mix_g2", NULL, s->rank_g, ROW_UNARY },
		[FIRST] = { "time_mix_v1", "time_mix_v2", "time_mix_v0", s->rank_v, ROW_SAME },
	};
	size_t n = b->model->n_embd;

	for (size_t i = R; i < outputs; i++) {
		struct value *x = build_part(b, shifted, i * n, n);

		if (i == V && b->il)
			rwkv_low_rank(b, x, &low[FIRST], part[FIRST] = build_value(b, n));
		part[i] = build_part(b, shifted, i * n, n);
		if (whole[i])
			build_product_into(b, x, whole[i], WIDE, part[i]);
		else
			rwkv_low_rank(b, x, &low[i], part[i]);
	}
}

/* Files have weights for mixing in the first layer's values even in the first layer, where they have no effect. */
static void ignore_first(struct builder *b)
{
	static const char *const unused[] = { "time_mix_v0", "time_mix_v1", "time_mix_v2", NULL };

	build_ignore(b, unused, "weight");
}

static struct value *time_mix(struct builder *b, struct value *x)
{
	size_t n = b->model->n_embd, size = rwkv_of(b->model)->head_size;
	size_t outputs = build_has(b, "time_mix_g1") ? FIRST : G;
	struct value *part[OUTPUTS] = { NULL };
	struct op_wkv7 o = { .wkv = { .n = n, .size = size, .bonus = build_vector(b, "time_mix_r_k", "weight", n) },
		.is_first = b->il == 0, .key_norm = build_vector(b, "time_mix_k_k", "weight", n),
		.key_rate = build_vector(b, "time_mix_k_a", "weight", n) };

	if (o.is_first)
		b->carried = build_value(b, n);
	mix_outputs(b, rwkv_shift(b, "time_mix_lerp_fused", outputs, x), outputs, part);
	if (o.is_first)
		ignore_first(b);
	o.r = rows_of(part[R]);
	o.w = rows_of(part[W]);
	o.k = rows_of(part[K]);
	o.v = rows_of(part[V]);
	o.a = rows_of(part[A]);
	o.g = rows_of(part[G]);
	o.first = rows_of(part[FIRST]);
	o.v_first = rows_of(b->carried);
	o.wkv.norm = rwkv_norm(b);
	o.wkv.state = build_state(b, n * size, 1);
	build_output(b, build_append(b, &op_wkv7, NULL, &o, sizeof o), 0, "", part[R], n);
	return build_branch(b, part[R], "time_mix_output");
}

static int read(struct model *m, struct why *w)
{
	struct rwkv *r = rwkv_of(m);

	return rwkv_read(m, w) < 0 || key_required(m, "attention.decay_lora_rank", 1, RANK_MAX, &r->rank_w, w) < 0
		|| key_required(m, "attention.iclr_lora_rank", 1, RANK_MAX, &r->rank_a, w) < 0
		|| key_required(m, "attention.value_residual_mix_lora_rank", 1, RANK_MAX, &r->rank_v, w) < 0 ? -1 : 0;
}

const struct mixer mixer_rwkv7 = { .read = read, .build = time_mix };
