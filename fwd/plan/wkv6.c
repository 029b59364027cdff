/* wkv6: the recurrence of RWKV 6 (Peng et al. 2024). */
#include "wkv.h"

#include <math.h>

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
	const struct op_wkv *o = op->bound;
	size_t n = o->size;
	float *w = buffer_row(&o->rows, row) + at, *key = w + o->n, *v = key + o->n, *r = v + o->n, *g = r + o->n;
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

const struct op_kind op_wkv6 = { .name = "wkv", .items = wkv_items, .item = item, .work = wkv_work };
