/* wkv: the recurrences of RWKV 6 and 7 (Peng et al. 2024, 2025). A piece is a head of the rows of one run, in order. */
#include "kinds.h"

#include <math.h>
#include <string.h>

static size_t pieces(const struct op *op, const struct step *s)
{
	const struct op_wkv *o = op->bound;

	return s->n_runs * (o->n / o->size);
}

/* A head's part of a row. */
struct head_row {
	float *r, *w, *k, *v, *a, *g, *first;
};

static struct head_row head_row(const struct op_wkv *o, size_t row, size_t at)
{
	float *r = buffer_row(&o->rows, row) + at;
	size_t n = o->n;

	if (o->version == 6)
		return (struct head_row){ .w = r, .k = r + n, .v = r + 2 * n, .r = r + 3 * n, .g = r + 4 * n };
	return (struct head_row){ r, r + n, r + 2 * n, r + 3 * n, r + 4 * n, r + 5 * n, r + 6 * n };
}

static float dot(const struct kernels *k, const float *a, const float *b, size_t n)
{
	float y;

	k->dots(&(struct chain_job){ .rows = 1, .cols = 1, .n = n, .a = a, .a_step = 1, .b = b, .y = &y });
	return y;
}

/* From what the matrices made to w, k, v, a · kk, and kk, the key by which the state is corrected. */
static void prepare7(const struct op_wkv *o, const struct kernels *k, const struct head_row *p, float *v_first,
	size_t at, float *kk)
{
	size_t n = o->size;
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
	k->scale(kk, kk, 1 / sqrtf(dot(k, kk, kk, n) + 1e-12f), n);
	/* k · (1 + (a - 1) · key_rate) */
	k->multiply(change, p->k, o->key_rate + at, n);
	k->add_scaled(p->k, change, -1, n);
	k->multiply(change, change, p->a, n);
	k->add(p->k, p->k, change, n);
	k->multiply(p->a, p->a, kk, n);
}

/* s[i] = w[i] · s[i] + k[i] · v */
static void move_state(const struct kernels *k, const struct head_row *p, float *state, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		k->scale(state + i * n, state + i * n, p->w[i], n);
		k->add_scaled(state + i * n, p->v, p->k[i], n);
	}
}

/* The norm of a head's result, if there is one. */
static void norm_result(const struct op_wkv *o, const struct kernels *k, float *out, size_t at)
{
	struct norm norm = o->norm;

	norm.weight += norm.weight ? at : 0;
	norm.bias += norm.bias ? at : 0;
	if (norm.kind)
		k->norm(&norm, out, out, o->size);
}

/* One row of a head of RWKV 6: moves its state on, its result over r. */
static void wkv6(const struct op_wkv *o, const struct kernels *k, const struct head_row *p, size_t at, float *state)
{
	size_t n = o->size;
	float out[RWKV_HEAD_MAX] = { 0 }, change[RWKV_HEAD_MAX];
	struct chain_job read = { .rows = 1, .cols = n, .n = n, .a = p->r, .a_step = 1, .b = state, .b_row = n,
		.y = out };

	k->unary(UNARY_EXP, p->w, p->w, n);
	k->scale(p->w, p->w, -1, n);
	k->unary(UNARY_EXP, p->w, p->w, n);
	if (o->bonus) {
		k->chain(&read);
		k->multiply(change, p->r, o->bonus + at, n);
		k->add_scaled(out, p->v, dot(k, change, p->k, n), n);
		move_state(k, p, state, n);
	} else {
		k->multiply(change, p->k, p->w, n);
		k->add_scaled(p->k, change, -1, n);
		move_state(k, p, state, n);
		k->chain(&read);
		k->scale(out, out, 1 / sqrtf((float)n), n);
	}
	norm_result(o, k, out, at);
	k->glu(o->bonus ? UNARY_SILU : UNARY_SIGMOID, p->r, p->g, out, n);
}

/* The same of RWKV 7. */
static void wkv7(const struct op_wkv *o, const struct kernels *k, const struct head_row *p, float *v_first, size_t at,
	float *state)
{
	size_t n = o->size;
	/* What is added to the state: keys k and -a · kk, and what they are multiplied by, v and what kk has read. */
	float keys[2][RWKV_HEAD_MAX], values[2][RWKV_HEAD_MAX], kk[RWKV_HEAD_MAX], out[RWKV_HEAD_MAX] = { 0 };
	struct chain_job read = { .rows = 1, .cols = n, .n = n, .a = kk, .a_step = 1, .b = state, .b_row = n,
		.y = values[1] }, write = { .rows = n, .cols = n, .n = 2, .a = keys[0], .a_row = 1,
		.a_step = RWKV_HEAD_MAX, .b = values[0], .b_row = RWKV_HEAD_MAX, .y = state, .y_row = n };

	prepare7(o, k, p, v_first, at, kk);
	memcpy(keys[0], p->k, n * sizeof *kk);
	k->scale(keys[1], p->a, -1, n);
	memcpy(values[0], p->v, n * sizeof *kk);
	memset(values[1], 0, n * sizeof *kk);
	k->chain(&read);
	for (size_t i = 0; i < n; i++)
		k->scale(state + i * n, state + i * n, p->w[i], n);
	k->chain(&write);
	read.a = p->r;
	read.y = out;
	k->chain(&read);
	norm_result(o, k, out, at);
	k->multiply(p->k, p->k, o->bonus + at, n);
	k->add_scaled(out, p->v, dot(k, p->r, p->k, n), n);
	if (o->gated)
		k->multiply(p->r, out, p->g, n);
	else
		memcpy(p->r, out, n * sizeof *out);
}

static void piece(const struct op *op, const struct step *s, size_t piece, size_t thread)
{
	const struct op_wkv *o = op->bound;
	const struct run *r = &s->run[piece / (o->n / o->size)];
	size_t head = piece % (o->n / o->size), at = head * o->size, all = o->size * o->size;
	float *state = segment_current(r->state, o->state) + head * all;

	for (size_t row = r->first, next = r->pos + 1; row < r->first + r->n; row++, next++) {
		struct head_row p = head_row(o, row, at);

		if (o->version == 6)
			wkv6(o, s->k, &p, at, state);
		else
			wkv7(o, s->k, &p, buffer_row(&o->v_first, row) + at, at, state);
		if (segment_keeps(next, r->pos + r->n))
			memcpy(segment_state(r->state, next, o->state) + head * all, state, all * sizeof *state);
	}
}

static void work(const struct op *op, const struct step *s, struct work *w)
{
	const struct op_wkv *o = op->bound;
	double state = (double)(o->n * o->size);

	w->bytes += (double)s->n_runs * state * sizeof(float);
	w->attention += (double)s->n * 5 * state;
}

const struct op_kind op_wkv = { .name = "wkv", .pieces = pieces, .piece = piece, .work = work };
