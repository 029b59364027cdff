/* wkv6: the recurrence of RWKV 6 (Peng et al. 2024). */
#include "rwkv.h"

#include <math.h>

#include "fwd/model/keys.h"

/* s[i] = w[i] · s[i] + k[i] · v */
static void move_state(const struct kernels *k, const float *w, const float *key, const float *v, float *state,
	size_t n)
{
	for (size_t i = 0; i < n; i++) {
		k->scale(state + i * n, state + i * n, w[i], n);
		k->add_scaled(state + i * n, v, key[i], n);
	}
}

static void move(const struct op *op, const struct kernels *k, size_t row, size_t at, float *state)
{
	const struct op_wkv6 *p = op->bound;
	const struct op_wkv *o = &p->wkv;
	size_t n = o->size;
	float *w = buffer_row(&p->w, row) + at, *key = buffer_row(&p->k, row) + at, *v = buffer_row(&p->v, row) + at;
	float *r = buffer_row(&p->r, row) + at, *g = buffer_row(&p->g, row) + at;
	float out[RWKV_HEAD_MAX] = { 0 }, change[RWKV_HEAD_MAX];
	struct chain_job read = { .rows = 1, .cols = n, .n = n, .a = r, .a_step = 1, .b = state, .b_row = n, .y = out };

	k->unary(UNARY_EXP, w, w, n);
	k->scale(w, w, -1, n);
	k->unary(UNARY_EXP, w, w, n);
	if (o->bonus) {
		k->chain(&read);
		k->multiply(change, r, o->bonus + at, n);
		k->add_scaled(out, v, wkv_dot(k, change, key, n), n);
		move_state(k, w, key, v, state, n);
	} else {
		k->multiply(change, key, w, n);
		k->add_scaled(key, change, -1, n);
		move_state(k, w, key, v, state, n);
		k->chain(&read);
		k->scale(out, out, 1 / sqrtf((float)n), n);
	}
	wkv_norm(o, k, out, at);
	k->glu(o->bonus ? UNARY_SILU : UNARY_SIGMOID, r, g, out, n);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	wkv_rows(op, s, item, move);
}

static void uses(void *bound, struct uses *u)
{
	struct op_wkv6 *o = bound;
	size_t n = o->wkv.n;

	u->rows(u, &o->w, n, USE_SPOIL);
	u->rows(u, &o->k, n, USE_SPOIL);
	u->rows(u, &o->v, n, USE_READ);
	u->rows(u, &o->g, n, USE_READ);
	u->rows(u, &o->r, n, USE_CHANGE);
}

const struct op_kind op_wkv6 = { .name = "wkv", .uses = uses, .all_rows = 1, .items = wkv_items, .item = item,
	.work = wkv_work };

/* ---- building ---- */

/* The outputs of the time mix's shift. */
enum { W, K, V, R, G, OUTPUTS };

/* The five outputs of the shift, [OUTPUTS][n_embd]. How much of the row before each takes in depends on the row
 * itself. */
static struct value *shift_outputs(struct builder *b, struct value *x)
{
	static const char *const lerp[] = { "time_mix_lerp_w", "time_mix_lerp_k", "time_mix_lerp_v", "time_mix_lerp_r",
		"time_mix_lerp_g" };
	size_t n = b->model->n_embd, rank = rwkv_of(b->model)->rank_a;
	struct value *shifted = build_value(b, n), *change = build_value(b, n), *out = build_value(b, OUTPUTS * n);
	struct value *low;
	struct op_shift shift = { .n = n, .outputs = 1, .in = rows_of(x), .out = rows_of(shifted),
		.change = rows_of(change), .weight = build_vector(b, "time_mix_lerp_x", "weight", n),
		.state = build_state(b, n, 1) };
	struct op_rows tanh = { .f = ROW_TANH };
	struct op_blend blend = { .n = n, .outputs = OUTPUTS, .x = rows_of(x), .change = rows_of(change),
		.out = rows_of(out) };

	build_append(b, &op_shift, "time_mix_lerp_x", &shift, sizeof shift);
	low = build_product(b, shifted, "time_mix_w1", WIDE, OUTPUTS * rank);
	low = build_rows(b, "time_mix_w1", tanh, low, build_part(b, low, 0, low->n));
	build_by_head(b, "time_mix_w2", (struct by_head){ .x = low, .heads = OUTPUTS, .n = rank, .step = rank,
		.y = out, .rows = n, .to_step = n });
	blend.weight = build_has(b, "time_mix_lerp_fused")
		? build_table(b, "time_mix_lerp_fused", "weight", OUTPUTS, n) : rwkv_shift_weights(b, lerp, OUTPUTS);
	build_output(b, build_append(b, &op_blend, NULL, &blend, sizeof blend), 0, "", out, OUTPUTS * n);
	return out;
}

/* Copies the result of n_head_kv heads, each to the heads of its group, so that there are n_embd elements. */
static struct value *repeat_heads(struct builder *b, struct value *x)
{
	size_t size = rwkv_of(b->model)->head_size, heads = b->layer->n_head_kv, n = b->model->n_embd;
	size_t group = n / size / heads;
	struct value *to = build_value(b, n);

	for (size_t i = 0; i < group; i++) {
		struct op_copy o = { .copies = 1, .copy = { { .from = rows_of(x),
			.to = rows_of(build_part(b, to, i * size, n - i * size)), .heads = heads, .n = size,
			.from_step = size, .to_step = group * size } } };

		build_append(b, &op_copy, "repeat", &o, sizeof o);
	}
	return build_columns(b, to, 0, n);
}

static struct value *time_mix(struct builder *b, struct value *x)
{
	static const char *const whole[OUTPUTS] = { [K] = "time_mix_key", [V] = "time_mix_value",
		[R] = "time_mix_receptance", [G] = "time_mix_gate" };
	const struct rwkv *s = rwkv_of(b->model);
	const struct rwkv_low_rank decay = { "time_mix_decay_w1", "time_mix_decay_w2", "time_mix_decay", s->rank_w,
		ROW_TANH };
	size_t n = b->model->n_embd, n_kv = b->layer->n_head_kv * s->head_size;
	struct value *outputs = shift_outputs(b, x), *part[OUTPUTS];
	struct op_wkv6 o = { .wkv = { .n = n, .size = s->head_size } };

	for (size_t i = W; i < OUTPUTS; i++) {
		int fewer = n_kv && n_kv < n && (i == K || i == V);

		x = build_part(b, outputs, i * n, n);
		part[i] = build_part(b, outputs, i * n, n);
		if (!whole[i])
			rwkv_low_rank(b, x, &decay, part[i]);
		else if (fewer)
			part[i] = repeat_heads(b, build_product(b, x, whole[i], WIDE, n_kv));
		else
			build_product_into(b, x, whole[i], WIDE, part[i]);
	}
	o.w = rows_of(part[W]);
	o.k = rows_of(part[K]);
	o.v = rows_of(part[V]);
	o.r = rows_of(part[R]);
	o.g = rows_of(part[G]);
	if (build_has(b, "time_mix_first"))
		o.wkv.bonus = build_table(b, "time_mix_first", "weight", n / s->head_size, s->head_size);
	o.wkv.norm = rwkv_norm(b);
	o.wkv.state = build_state(b, n * s->head_size, 1);
	build_output(b, build_append(b, &op_wkv6, NULL, &o, sizeof o), 0, "", part[R], n);
	return build_branch(b, part[R], "time_mix_output");
}

static int read(struct model *m, struct why *w)
{
	struct rwkv *r = rwkv_of(m);

	return rwkv_read(m, w) < 0 || key_required(m, "time_decay_extra_dim", 1, RANK_MAX, &r->rank_w, w) < 0
		|| key_required(m, "time_mix_extra_dim", 1, RANK_MAX, &r->rank_a, w) < 0 ? -1 : 0;
}

const struct mixer mixer_rwkv6 = { .read = read, .build = time_mix };
