/* wkv7: the recurrence of RWKV 7 (Peng et al. 2025). */
#include "wkv.h"

#include <math.h>
#include <string.h>

/* One head of a row. */
struct head_row {
	float *r, *w, *k, *v, *a, *g, *first;
};

static struct head_row head_row(const struct op_wkv *o, size_t row, size_t at)
{
	float *r = buffer_row(&o->rows, row) + at;
	size_t n = o->n;

	return (struct head_row){ r, r + n, r + 2 * n, r + 3 * n, r + 4 * n, r + 5 * n, r + 6 * n };
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
	struct head_row p = head_row(&o->wkv, row, at);
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
	if (o->gated)
		k->multiply(p.r, out, p.g, n);
	else
		memcpy(p.r, out, n * sizeof *out);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	wkv_rows(op, s, item, move);
}

const struct op_kind op_wkv7 = { .name = "wkv", .items = wkv_items, .item = item, .work = wkv_work };
