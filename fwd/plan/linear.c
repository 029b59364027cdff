/* linear: attention without softmax (Katharopoulos et al. 2020), whose state has one size whatever the context: gated
 * delta nets (Yang et al. 2024) and Mamba 2 (Dao and Gu 2024). kinds.h has the arithmetic. A piece is a head of one
 * run, or some of its values where there are fewer heads than threads can share; its chunks come in order. */
#include "kinds.h"

#include <string.h>

#include "lib/base/size.h"

/* Values whose part of the state lies together; rows whose sums over earlier rows are made at once. */
enum { TILE = 32, BLOCK = 6 };

enum { KEYS, QUERIES, READERS };        /* what the state is read with */

/* Rows [from, to) of a chunk, for values [v, v + n) of a head. The rows before them came in earlier batches. */
struct chunk {
	const struct op_linear *o;
	const struct kernels *k;
	const struct run *run;
	size_t head, head_k, v, n;
	size_t start, from, to;         /* start: position of row 0 */
	const float *state;             /* of the head at `start`; NULL: zero */
	/* scratch */
	float *next;                    /* a state */
	float *sum, *decay;             /* [STATE_CHUNK]: G of the rows; e^ of it, or of differences */
	float *weight[READERS];         /* [STATE_CHUNK][STATE_CHUNK] */
	float *read[READERS];           /* [STATE_CHUNK][n] */
};

/* Something of all rows of a chunk: those before `from` in the ring, the others in the batch. */
struct rows {
	const float *kept, *own;        /* row 0, row `from` */
	size_t kept_row, own_row;
};

static struct rows rows_of(const struct chunk *c, const struct buffer *b, size_t ring, size_t width, size_t column)
{
	const float *kept = segment_row(c->run->state, ring, width * sizeof *kept, c->start);

	return (struct rows){ .kept = kept + column,
		.own = buffer_row(b, c->run->first + c->start + c->from - c->run->pos) + column,
		.kept_row = width, .own_row = b->stride };
}

static struct rows keys_of(const struct chunk *c)
{
	return rows_of(c, &c->o->k, c->o->ring_k, c->o->n_head_k * c->o->dim_k, c->head_k * c->o->dim_k);
}

static struct rows deltas_of(const struct chunk *c)
{
	return rows_of(c, &c->o->d, c->o->ring_d, c->o->n_head * c->o->dim_v, c->head * c->o->dim_v + c->v);
}

static const float *row_of(const struct chunk *c, const struct rows *x, size_t t)
{
	return t < c->from ? x->kept + t * x->kept_row : x->own + (t - c->from) * x->own_row;
}

/* This row of a buffer of the batch, a head's of n elements. */
static float *batch_row(const struct chunk *c, const struct buffer *b, size_t t, size_t head, size_t n)
{
	return buffer_row(b, c->run->first + c->start + t - c->run->pos) + head * n;
}

/* A chain over rows [0, job.n) of a chunk, which are b. */
static void chain_over(const struct chunk *c, const struct rows *x, struct chain_job job)
{
	struct chain_job kept = job;

	kept.n = size_min(job.n, c->from);
	kept.b = x->kept;
	kept.b_row = x->kept_row;
	c->k->chain(&kept);
	job.n -= kept.n;
	job.a += kept.n * job.a_step;
	job.b = x->own;
	job.b_row = x->own_row;
	c->k->chain(&job);
}

/* ---- decays and weights ---- */

static void sum_decays(const struct chunk *c)
{
	struct rows g = rows_of(c, &c->o->decay, c->o->ring_g, c->o->n_head, c->head);
	float sum = 0;

	for (size_t t = 0; t < c->to; t++)
		c->sum[t] = sum += *row_of(c, &g, t);
}

/* Dot products of the rows [t0, t1) of k or q with all k up to the last of them, decayed. */
static void weigh(const struct chunk *c, size_t t0, size_t t1)
{
	struct rows keys = keys_of(c);
	struct chain_job job = { .n = c->o->dim_k, .rows = t1 - t0, .a_step = 1, .y_row = STATE_CHUNK };

	for (int i = c->o->delta ? KEYS : QUERIES; i < READERS; i++) {
		const struct buffer *from = i == KEYS ? &c->o->k : &c->o->q;

		job.a = batch_row(c, from, t0, c->head_k, c->o->dim_k);
		job.a_row = from->stride;
		job.y = c->weight[i] + t0 * STATE_CHUNK;
		job.b = keys.kept;
		job.b_row = keys.kept_row;
		job.cols = c->from;
		c->k->dots(&job);
		job.y += c->from;
		job.b = keys.own;
		job.b_row = keys.own_row;
		job.cols = t1 - c->from;
		c->k->dots(&job);
	}
	for (size_t t = t0; t < t1; t++) {
		float *w = c->weight[KEYS] + t * STATE_CHUNK, *w_q = c->weight[QUERIES] + t * STATE_CHUNK;

		for (size_t s = 0; s <= t; s++)
			c->decay[s] = c->sum[t] - c->sum[s];
		c->k->unary(UNARY_EXP, c->decay, c->decay, t + 1);
		c->k->multiply(w_q, w_q, c->decay, t + 1);
		if (!c->o->delta)
			continue;
		c->k->multiply(w, w, c->decay, t);
		c->k->scale(w, w, -1, t);
	}
}

/* ---- rows ---- */

static size_t tile_width(const struct chunk *c, size_t v)
{
	return size_min(TILE, c->o->dim_v - v);
}

/* What k, negated, and q read from the state, decayed. */
static void read_state(const struct chunk *c)
{
	const struct op_linear *o = c->o;
	size_t rows = c->to - c->from, at = c->from * c->n;
	struct chain_job job = { .rows = rows, .n = o->dim_k, .a_step = 1, .y_row = c->n };
	int first = o->delta ? KEYS : QUERIES;

	for (int i = first; i < READERS; i++)
		memset(c->read[i] + at, 0, rows * c->n * sizeof(float));
	if (!c->state)
		return;
	for (size_t v = c->v; v < c->v + c->n; v += TILE)
		for (int i = first; i < READERS; i++) {
			const struct buffer *from = i == KEYS ? &o->k : &o->q;

			job.a = batch_row(c, from, c->from, c->head_k, o->dim_k);
			job.a_row = from->stride;
			job.b = c->state + v * o->dim_k;
			job.b_row = job.cols = tile_width(c, v);
			job.y = c->read[i] + at + v - c->v;
			c->k->chain(&job);
		}
	c->k->unary(UNARY_EXP, c->decay, c->sum, c->to);
	for (size_t t = c->from; t < c->to; t++) {
		float *k = c->read[KEYS] + t * c->n, *q = c->read[QUERIES] + t * c->n;

		if (o->delta)
			c->k->scale(k, k, -c->decay[t], c->n);
		c->k->scale(q, q, c->decay[t], c->n);
	}
}

/* Adds to what rows [t0, t1) have read what rows [s0, s1) of the chunk left. */
static void read_rows(const struct chunk *c, int reader, size_t t0, size_t t1, size_t s0, size_t s1)
{
	struct rows d = deltas_of(c);
	struct chain_job job = { .rows = t1 - t0, .cols = c->n, .n = s1 - s0,
		.a = c->weight[reader] + t0 * STATE_CHUNK + s0, .a_row = STATE_CHUNK, .a_step = 1,
		.y = c->read[reader] + t0 * c->n, .y_row = c->n };

	if (s0 == 0) {
		chain_over(c, &d, job);
		return;
	}
	job.b = row_of(c, &d, s0);
	job.b_row = d.own_row;
	c->k->chain(&job);
}

/* d of row t, and out as far as v has a part in it. */
static void make_delta(const struct chunk *c, size_t t)
{
	const struct op_linear *o = c->o;
	float *v = batch_row(c, &o->v, t, c->head, o->dim_v) + c->v;
	float *d = batch_row(c, &o->d, t, c->head, o->dim_v) + c->v;
	float beta = *batch_row(c, &o->beta, t, c->head, 1);

	if (o->delta) {
		c->k->add(d, v, c->read[KEYS] + t * c->n, c->n);
		v = d;
	}
	c->k->scale(d, v, beta, c->n);
	if (o->skip)
		c->k->scale(batch_row(c, &o->out, t, c->head, o->dim_v) + c->v, v, o->skip[c->head], c->n);
}

static void make_rows(const struct chunk *c, size_t t0, size_t t1)
{
	const struct op_linear *o = c->o;

	weigh(c, t0, t1);
	if (o->delta)
		read_rows(c, KEYS, t0, t1, 0, t0);
	for (size_t t = t0; t < t1; t++) {
		if (o->delta && t > t0)
			read_rows(c, KEYS, t, t + 1, t0, t);
		make_delta(c, t);
	}
	read_rows(c, QUERIES, t0, t1, 0, t0);
	for (size_t t = t0; t < t1; t++) {
		float *out = batch_row(c, &o->out, t, c->head, o->dim_v) + c->v, *read = c->read[QUERIES] + t * c->n;

		read_rows(c, QUERIES, t, t + 1, t0, t + 1);
		if (o->skip)
			c->k->add(out, out, read, c->n);
		else
			memcpy(out, read, c->n * sizeof *out);
	}
}

/* ---- states ---- */

/* The state behind the chunk, into `to`, which may be the one before it. */
static void make_state(const struct chunk *c, float *to)
{
	const struct op_linear *o = c->o;
	struct rows d = deltas_of(c), k = keys_of(c);
	struct chain_job kept = { .rows = o->dim_k, .n = c->from, .a = k.kept, .a_row = 1, .a_step = k.kept_row,
		.b_row = c->n }, own = kept;
	float last = c->sum[STATE_CHUNK - 1], *scaled = c->read[KEYS];

	own.n = STATE_CHUNK - c->from;
	own.a = k.own;
	own.a_step = k.own_row;
	for (size_t s = 0; s < STATE_CHUNK; s++)
		c->decay[s] = last - c->sum[s];
	c->k->unary(UNARY_EXP, c->decay, c->decay, STATE_CHUNK);
	for (size_t s = 0; s < STATE_CHUNK; s++)
		c->k->scale(scaled + s * c->n, row_of(c, &d, s), c->decay[s], c->n);
	c->k->unary(UNARY_EXP, &last, &last, 1);
	for (size_t v = c->v; v < c->v + c->n; v += TILE) {
		size_t width = tile_width(c, v), n = o->dim_k * width;

		if (c->state)
			c->k->scale(to + v * o->dim_k, c->state + v * o->dim_k, last, n);
		else
			memset(to + v * o->dim_k, 0, n * sizeof *to);
		kept.cols = kept.y_row = own.cols = own.y_row = width;
		kept.y = own.y = to + v * o->dim_k;
		kept.b = scaled + v - c->v;
		own.b = kept.b + c->from * c->n;
		c->k->chain(&kept);
		c->k->chain(&own);
	}
}

static float *kept_state(const struct chunk *c, size_t pos)
{
	float *state = segment_state(c->run->state, pos, c->o->state);

	return state ? state + c->head * c->o->dim_k * c->o->dim_v : NULL;
}

/* ---- pieces ---- */

/* Into how many parts the values of a head are divided: each makes the same weights. */
static size_t parts(const struct op_linear *o, const struct step *s)
{
	return size_max(size_min(op_pieces(2 * s->threads, s->n_runs * o->n_head), op_pieces(o->dim_v, TILE)), 1);
}

static size_t pieces(const struct op *op, const struct step *s)
{
	const struct op_linear *o = op->bound;

	return s->n_runs * o->n_head * parts(o, s);
}

size_t linear_scratch(const struct op_linear *o)
{
	return (o->dim_k * o->dim_v + 2 * STATE_CHUNK * (1 + STATE_CHUNK + o->dim_v)) * sizeof(float);
}

static struct chunk chunk_of(const struct op_linear *o, const struct step *s, size_t piece, size_t thread)
{
	size_t n_parts = parts(o, s), part = piece % n_parts, tiles = op_pieces(o->dim_v, TILE);
	struct chunk c = { .o = o, .k = s->k, .head = piece / n_parts % o->n_head,
		.run = &s->run[piece / n_parts / o->n_head], .v = tiles * part / n_parts * TILE,
		.next = (float *)step_scratch(s, thread) };

	c.head_k = o->runs ? c.head / (o->n_head / o->n_head_k) : c.head % o->n_head_k;
	c.n = size_min(tiles * (part + 1) / n_parts * TILE, o->dim_v) - c.v;
	c.sum = c.next + o->dim_k * o->dim_v;
	c.decay = c.sum + STATE_CHUNK;
	c.weight[KEYS] = c.decay + STATE_CHUNK;
	c.weight[QUERIES] = c.weight[KEYS] + STATE_CHUNK * STATE_CHUNK;
	c.read[KEYS] = c.weight[QUERIES] + STATE_CHUNK * STATE_CHUNK;
	c.read[QUERIES] = c.read[KEYS] + STATE_CHUNK * c.n;
	return c;
}

static void piece(const struct op *op, const struct step *s, size_t piece, size_t thread)
{
	struct chunk c = chunk_of(op->bound, s, piece, thread);
	size_t pos = c.run->pos, end = pos + c.run->n;

	c.state = kept_state(&c, pos / STATE_CHUNK * STATE_CHUNK);
	for (; pos < end; pos = c.start + STATE_CHUNK) {
		float *to = c.next;

		c.start = pos / STATE_CHUNK * STATE_CHUNK;
		c.from = pos - c.start;
		c.to = size_min(STATE_CHUNK, end - c.start);
		sum_decays(&c);
		read_state(&c);
		for (size_t t = c.from; t < c.to; t += BLOCK)
			make_rows(&c, t, size_min(t + BLOCK, c.to));
		if (c.to < STATE_CHUNK)
			break;
		if (segment_keeps(c.start + STATE_CHUNK, end))
			to = kept_state(&c, c.start + STATE_CHUNK);
		make_state(&c, to);
		c.state = to;
	}
}

const struct op_kind op_linear = { .name = "linear", .pieces = pieces, .piece = piece };

/* ---- gates: what the rows need before ---- */

static size_t gates_pieces(const struct op *op, const struct step *s)
{
	return s->n;
}

static void norm_heads(const struct op_linear *o, const struct kernels *k, const struct norm *norm, float *x)
{
	for (size_t head = 0; norm->kind && head < o->n_head_k; head++)
		k->norm(norm, x + head * o->dim_k, x + head * o->dim_k, o->dim_k);
}

static void gates_piece(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_linear *o = op->bound;
	float *decay = buffer_row(&o->decay, row), *beta = buffer_row(&o->beta, row);

	norm_heads(o, s->k, &o->q_norm, buffer_row(&o->q, row));
	norm_heads(o, s->k, &o->k_norm, buffer_row(&o->k, row));
	s->k->add(decay, decay, o->bias, o->n_head);
	s->k->unary(UNARY_SOFTPLUS, decay, decay, o->n_head);
	if (o->delta)
		s->k->unary(UNARY_SIGMOID, beta, beta, o->n_head);
	else
		memcpy(beta, decay, o->n_head * sizeof *beta);
	s->k->multiply(decay, decay, o->a, o->n_head);
}

const struct op_kind op_linear_gates = { .name = "linear_gates", .pieces = gates_pieces, .piece = gates_piece };

/* ---- keep: rows of the last two chunks, for the batches that follow ---- */

static size_t keep_pieces(const struct op *op, const struct step *s)
{
	return s->n_runs;
}

static void keep(const struct run *r, size_t ring, const struct buffer *b, size_t n, size_t pos)
{
	memcpy(segment_row(r->state, ring, n * sizeof(float), pos), buffer_row(b, r->first + pos - r->pos),
		n * sizeof(float));
}

static void keep_piece(const struct op *op, const struct step *s, size_t piece, size_t thread)
{
	const struct op_linear *o = op->bound;
	const struct run *r = &s->run[piece];
	size_t end = r->pos + r->n, last = (end - 1) / STATE_CHUNK * STATE_CHUNK;

	for (size_t pos = size_max(r->pos, last - size_min(last, STATE_CHUNK)); pos < end; pos++) {
		keep(r, o->ring_k, &o->k, o->n_head_k * o->dim_k, pos);
		keep(r, o->ring_d, &o->d, o->n_head * o->dim_v, pos);
		keep(r, o->ring_g, &o->decay, o->n_head, pos);
	}
}

const struct op_kind op_linear_keep = { .name = "linear_keep", .pieces = keep_pieces, .piece = keep_piece };
