/* linear: linear attention (Katharopoulos et al. 2020), whose state has a fixed size, however long the context: gated
 * delta nets (Yang et al. 2024), Kimi delta attention (Moonshot 2025) and Mamba 2 (Dao and Gu 2024). linear.h defines
 * the arithmetic. A work item is one head of one run, or some of its values if there are fewer heads than threads; its
 * chunks are processed in order. */
#include "linear.h"

#include <string.h>

#include "lib/base/size.h"

/* TILE: values whose part of the state is contiguous. BLOCK: rows of a chunk, at absolute places, whose sums over the
 * rows before them are computed together. */
enum { TILE = 32, BLOCK = 8 };

enum { KEYS, QUERIES, READERS };        /* the two readers of the state */

/* A quantity of all rows of a chunk: for rows of earlier batches it is in the ring, for the others in the batch. */
struct rows {
	const float *kept, *own;        /* kept: of row 0, in the ring; own: of the first row in the batch */
	size_t kept_row, own_row;
};

/* Rows [from, to) of a chunk, for values [v, v + n) of a head. Rows before `from` came in earlier batches. */
struct chunk {
	const struct op_linear *o;
	const struct kernels *k;
	const struct run *run;
	size_t head, head_k, v, n;
	size_t start, from, to;         /* start: position of row 0 */
	struct rows keys, deltas;       /* k and d of all heads */
	const float *state;             /* the head's state at `start`; NULL: zero */
	/* scratch */
	float *next;                    /* the state after the chunk */
	float *sum;                     /* [STATE_CHUNK][linear_decays()]: G of each row */
	float *decay;                   /* e^G, or e^ of a difference of two */
	float *weight[READERS];         /* [STATE_CHUNK][STATE_CHUNK] */
	float *read[READERS];           /* [STATE_CHUNK][n] */
	float *gathered[READERS];       /* [STATE_CHUNK][dim_k]: rows of k and of q, decayed by key */
};

static struct rows chunk_rows(const struct chunk *c, const struct buffer *b, size_t ring, size_t width, size_t column)
{
	const float *kept = segment_row(c->run->state, ring, width * sizeof *kept, c->start);

	return (struct rows){ .kept = kept + column,
		.own = buffer_row(b, c->run->first + c->start + c->from - c->run->pos) + column,
		.kept_row = width, .own_row = b->stride };
}

static const float *row_of(const struct chunk *c, const struct rows *x, size_t t)
{
	return t < c->from ? x->kept + t * x->kept_row : x->own + (t - c->from) * x->own_row;
}

/* A head of n elements in row t of the chunk, in a buffer of the batch. */
static float *head_row(const struct chunk *c, const struct buffer *b, size_t t, size_t head, size_t n)
{
	return buffer_row(b, c->run->first + c->start + t - c->run->pos) + head * n;
}

/* ---- decays and weights ---- */

static void sum_decays(const struct chunk *c)
{
	size_t n = linear_decays(c->o);
	struct rows g = chunk_rows(c, &c->o->decay, c->o->ring_g, c->o->n_head * n, c->head * n);

	for (size_t t = 0; t < c->to; t++) {
		const float *row = row_of(c, &g, t);

		for (size_t i = 0; i < n; i++)
			c->sum[t * n + i] = t ? c->sum[(t - 1) * n + i] + row[i] : row[i];
	}
}

/* Decays a row of k or q from one place to another, given the sums of decays there; early NULL: from the chunk's
 * start. */
static void decay_row(const struct chunk *c, float *to, const float *row, const float *late, const float *early)
{
	size_t n = c->o->dim_k;

	memcpy(c->decay, late, n * sizeof *late);
	if (early)
		c->k->add_scaled(c->decay, early, -1, n);
	c->k->unary(UNARY_EXP, c->decay, c->decay, n);
	c->k->multiply(to, row, c->decay, n);
}

/* Computes the weights of rows [t0, t1) of one block if decays differ by key. To keep factors at most 1, both rows are
 * decayed towards a row between them, the last one before the block. Within the block, each pair of rows has separate
 * factors. */
static void weigh_by_key(const struct chunk *c, size_t t0, size_t t1)
{
	size_t n = c->o->dim_k, first = t0 / BLOCK * BLOCK;
	const float *between = c->sum + (first ? first - 1 : 0) * n;
	float *row = c->gathered[1], *near = row + n;
	struct chain_job job = { .rows = 1, .n = n, .a_step = 1, .b_row = n };

	for (size_t s = 0; s < first; s++)
		decay_row(c, c->gathered[0] + s * n, row_of(c, &c->keys, s), between, c->sum + s * n);
	for (size_t t = t0; t < t1; t++) {
		for (size_t s = first; s <= t; s++)
			decay_row(c, near + (s - first) * n, row_of(c, &c->keys, s), c->sum + t * n, c->sum + s * n);
		for (int i = KEYS; i < READERS; i++) {
			float *x = head_row(c, i == KEYS ? &c->o->k : &c->o->q, t, c->head_k, n);

			job.y = c->weight[i] + t * STATE_CHUNK;
			if (first) {
				decay_row(c, row, x, c->sum + t * n, between);
				job.a = row, job.b = c->gathered[0], job.cols = first;
				c->k->dots(&job);
			}
			job.y += first;
			job.a = x, job.b = near, job.cols = t + 1 - first;
			c->k->dots(&job);
		}
		c->k->scale(c->weight[KEYS] + t * STATE_CHUNK, c->weight[KEYS] + t * STATE_CHUNK, -1, t);
	}
}

/* Computes the decayed dot products of rows [t0, t1) of k or q with all k up to the last of these rows. */
static void weigh(const struct chunk *c, size_t t0, size_t t1)
{
	struct chain_job job = { .n = c->o->dim_k, .rows = t1 - t0, .a_step = 1, .y_row = STATE_CHUNK };

	for (int i = c->o->delta ? KEYS : QUERIES; i < READERS; i++) {
		const struct buffer *from = i == KEYS ? &c->o->k : &c->o->q;

		job.a = head_row(c, from, t0, c->head_k, c->o->dim_k);
		job.a_row = from->stride;
		job.y = c->weight[i] + t0 * STATE_CHUNK;
		job.b = c->keys.kept;
		job.b_row = c->keys.kept_row;
		job.cols = c->from;
		c->k->dots(&job);
		job.y += c->from;
		job.b = c->keys.own;
		job.b_row = c->keys.own_row;
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

/* Copies the rows that read the state, decayed by key. */
static void gather(const struct chunk *c)
{
	size_t n = c->o->dim_k;

	for (int i = KEYS; i < READERS; i++)
		for (size_t t = c->from; t < c->to; t++) {
			const float *row = head_row(c, i == KEYS ? &c->o->k : &c->o->q, t, c->head_k, n);
			float *to = c->gathered[i] + (t - c->from) * n;

			if (c->o->by_key)
				decay_row(c, to, row, c->sum + t * n, NULL);
			else
				memcpy(to, row, n * sizeof *to);
		}
}

/* Adds what they read. For a single row, k and q read the state together, because the time is that of loading it. */
static void read_tiles(const struct chunk *c)
{
	const struct op_linear *o = c->o;
	size_t rows = c->to - c->from, n = o->dim_k;
	int together = rows == 1 && o->delta;
	struct chain_job job = { .rows = rows, .n = n, .a_step = 1, .a_row = n, .y_row = c->n };

	if (together) {
		job.rows = READERS;
		job.a_row = (size_t)(c->gathered[QUERIES] - c->gathered[KEYS]);
		job.y_row = (size_t)(c->read[QUERIES] - c->read[KEYS]);
	}
	for (size_t v = c->v; v < c->v + c->n; v += TILE)
		for (int i = o->delta ? KEYS : QUERIES; i < (together ? QUERIES : READERS); i++) {
			job.a = c->gathered[i];
			job.b = c->state + v * n;
			job.b_row = job.cols = tile_width(c, v);
			job.y = c->read[i] + c->from * c->n + v - c->v;
			c->k->chain(&job);
		}
}

/* Computes what k (negated) and q read from the state, decayed. */
static void read_state(const struct chunk *c)
{
	const struct op_linear *o = c->o;
	size_t rows = c->to - c->from, at = c->from * c->n;

	for (int i = KEYS; i < READERS; i++)
		memset(c->read[i] + at, 0, rows * c->n * sizeof(float));
	if (!c->state)
		return;
	gather(c);
	read_tiles(c);
	if (!o->by_key)
		c->k->unary(UNARY_EXP, c->decay, c->sum, c->to);
	for (size_t t = c->from; t < c->to; t++) {
		float *k = c->read[KEYS] + t * c->n, *q = c->read[QUERIES] + t * c->n;

		if (o->delta)
			c->k->scale(k, k, o->by_key ? -1 : -c->decay[t], c->n);
		if (!o->by_key)
			c->k->scale(q, q, c->decay[t], c->n);
	}
}

/* Adds what rows [t0, t1) read from rows [s0, s1) of the chunk. */
static void read_rows(const struct chunk *c, int reader, size_t t0, size_t t1, size_t s0, size_t s1)
{
	size_t middle = size_max(s0, size_min(c->from, s1));
	struct chain_job job = { .rows = t1 - t0, .cols = c->n, .n = middle - s0, .b_row = c->deltas.kept_row,
		.a = c->weight[reader] + t0 * STATE_CHUNK + s0, .a_row = STATE_CHUNK, .a_step = 1,
		.y = c->read[reader] + t0 * c->n, .y_row = c->n };

	job.b = c->deltas.kept + s0 * job.b_row;
	if (job.n)
		c->k->chain(&job);
	job.a += job.n;
	job.n = s1 - middle;
	job.b_row = c->deltas.own_row;
	job.b = c->deltas.own + (middle - c->from) * job.b_row;
	if (job.n)
		c->k->chain(&job);
}

/* Computes d of row t, and the part of out that depends on v. */
static void make_delta(const struct chunk *c, size_t t)
{
	const struct op_linear *o = c->o;
	float *v = head_row(c, &o->v, t, c->head, o->dim_v) + c->v;
	float *d = head_row(c, &o->d, t, c->head, o->dim_v) + c->v;
	float beta = *head_row(c, &o->beta, t, c->head, 1);

	if (o->delta) {
		c->k->add(d, v, c->read[KEYS] + t * c->n, c->n);
		v = d;
	}
	c->k->scale(d, v, beta, c->n);
	if (o->skip)
		c->k->scale(head_row(c, &o->out, t, c->head, o->dim_v) + c->v, v, o->skip[c->head], c->n);
}

static void make_rows(const struct chunk *c, size_t t0, size_t t1)
{
	const struct op_linear *o = c->o;

	(o->by_key ? weigh_by_key : weigh)(c, t0, t1);
	if (o->delta)
		read_rows(c, KEYS, t0, t1, 0, t0);
	for (size_t t = t0; t < t1; t++) {
		if (o->delta && t > t0)
			read_rows(c, KEYS, t, t + 1, t0, t);
		make_delta(c, t);
	}
	read_rows(c, QUERIES, t0, t1, 0, t0);
	for (size_t t = t0; t < t1; t++) {
		float *out = head_row(c, &o->out, t, c->head, o->dim_v) + c->v, *read = c->read[QUERIES] + t * c->n;

		read_rows(c, QUERIES, t, t + 1, t0, t + 1);
		if (o->skip)
			c->k->add(out, out, read, c->n);
		else
			memcpy(out, read, c->n * sizeof *out);
	}
}

/* ---- states ---- */

/* Rows of k, or of d, decayed up to the end of the chunk. */
static struct rows decay_rows(const struct chunk *c, const struct rows *x)
{
	const float *last = c->sum + (STATE_CHUNK - 1) * linear_decays(c->o);
	size_t n = c->o->by_key ? c->o->dim_k : c->n;
	float *to = c->o->by_key ? c->gathered[0] : c->read[KEYS];

	for (size_t s = 0; c->o->by_key && s < STATE_CHUNK; s++)
		decay_row(c, to + s * n, row_of(c, x, s), last, c->sum + s * n);
	if (!c->o->by_key) {
		for (size_t s = 0; s < STATE_CHUNK; s++)
			c->decay[s] = *last - c->sum[s];
		c->k->unary(UNARY_EXP, c->decay, c->decay, STATE_CHUNK);
		for (size_t s = 0; s < STATE_CHUNK; s++)
			c->k->scale(to + s * n, row_of(c, x, s), c->decay[s], n);
	}
	return (struct rows){ .kept = to, .own = to + c->from * n, .kept_row = n, .own_row = n };
}

/* Copies a tile of the state before the chunk, decayed up to the chunk's end. */
static void decay_state(const struct chunk *c, float *to, size_t v)
{
	size_t n = c->o->dim_k, width = tile_width(c, v);
	const float *from = c->state + v * n;

	if (!c->state)
		memset(to, 0, n * width * sizeof *to);
	else if (c->o->by_key)
		for (size_t i = 0; i < n; i++)
			c->k->scale(to + i * width, from + i * width, c->decay[i], width);
	else
		c->k->scale(to, from, *c->decay, n * width);
}

/* Computes the state after the chunk into `to`, which may be the state before it. */
static void make_state(const struct chunk *c, float *to)
{
	struct rows d = c->deltas, k = c->keys;
	struct chain_job kept = { .rows = c->o->dim_k, .n = c->from, .a_row = 1 }, own = kept;

	if (c->o->by_key)
		k = decay_rows(c, &k);
	else
		d = decay_rows(c, &d);
	own.n = STATE_CHUNK - c->from;
	kept.a = k.kept, kept.a_step = k.kept_row, kept.b_row = d.kept_row;
	own.a = k.own, own.a_step = k.own_row, own.b_row = d.own_row;
	c->k->unary(UNARY_EXP, c->decay, c->sum + (STATE_CHUNK - 1) * linear_decays(c->o), linear_decays(c->o));
	for (size_t v = c->v; v < c->v + c->n; v += TILE) {
		kept.cols = kept.y_row = own.cols = own.y_row = tile_width(c, v);
		kept.y = own.y = to + v * c->o->dim_k;
		kept.b = d.kept + v - c->v;
		own.b = d.own + v - c->v;
		decay_state(c, own.y, v);
		c->k->chain(&kept);
		c->k->chain(&own);
	}
}

static float *kept_state(const struct chunk *c, size_t pos)
{
	float *state = segment_state(c->run->state, pos, c->o->state);

	return state ? state + c->head * c->o->dim_k * c->o->dim_v : NULL;
}

/* ---- items ---- */

/* Number of slices of a head's values. Each slice computes the same weights, so there should be few. */
static size_t slices(const struct op_linear *o, const struct step *s)
{
	size_t wanted = size_divide_up(2 * s->threads, s->n_runs * o->n_head);

	return size_max(size_min(wanted, size_divide_up(o->dim_v, TILE)), 1);
}

size_t linear_items(const struct op *op, const struct step *s)
{
	const struct op_linear *o = op->bound;

	return s->n_runs * o->n_head * slices(o, s);
}

struct head_values linear_values(const struct op_linear *o, const struct step *s, size_t item)
{
	size_t n_slices = slices(o, s), slice = item % n_slices, tiles = size_divide_up(o->dim_v, TILE);
	struct head_values v = { .run = &s->run[item / n_slices / o->n_head], .head = item / n_slices % o->n_head,
		.v = tiles * slice / n_slices * TILE };

	v.head_k = o->consecutive ? v.head / (o->n_head / o->n_head_k) : v.head % o->n_head_k;
	v.n = size_min(tiles * (slice + 1) / n_slices * TILE, o->dim_v) - v.v;
	return v;
}

size_t linear_scratch(const struct op_linear *o)
{
	size_t n = STATE_CHUNK * (linear_decays(o) + READERS * (STATE_CHUNK + o->dim_v + o->dim_k));

	return (o->dim_k * o->dim_v + n + size_max(STATE_CHUNK, linear_decays(o))) * sizeof(float);
}

static struct chunk chunk_of(const struct op_linear *o, const struct step *s, size_t item, size_t thread)
{
	struct head_values v = linear_values(o, s, item);
	struct chunk c = { .o = o, .k = s->k, .run = v.run, .head = v.head, .head_k = v.head_k, .v = v.v, .n = v.n,
		.next = (float *)step_scratch(s, thread) };

	c.sum = c.next + o->dim_k * o->dim_v;
	c.decay = c.sum + STATE_CHUNK * linear_decays(o);
	c.weight[KEYS] = c.decay + size_max(STATE_CHUNK, linear_decays(o));
	c.weight[QUERIES] = c.weight[KEYS] + STATE_CHUNK * STATE_CHUNK;
	c.read[KEYS] = c.weight[QUERIES] + STATE_CHUNK * STATE_CHUNK;
	c.read[QUERIES] = c.read[KEYS] + STATE_CHUNK * o->dim_v;
	c.gathered[KEYS] = c.read[QUERIES] + STATE_CHUNK * o->dim_v;
	c.gathered[QUERIES] = c.gathered[KEYS] + STATE_CHUNK * o->dim_k;
	return c;
}

/* Enters the chunk of this position, in a run that ends at `end`. */
static void enter(struct chunk *c, size_t pos, size_t end)
{
	const struct op_linear *o = c->o;

	c->start = pos / STATE_CHUNK * STATE_CHUNK;
	c->from = pos - c->start;
	c->to = size_min(STATE_CHUNK, end - c->start);
	c->keys = chunk_rows(c, &o->k, o->ring_k, o->n_head_k * o->dim_k, c->head_k * o->dim_k);
	c->deltas = chunk_rows(c, &o->d, o->ring_d, o->n_head * o->dim_v, c->head * o->dim_v + c->v);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	struct chunk c = chunk_of(op->bound, s, item, thread);
	size_t pos = c.run->pos, end = pos + c.run->n;

	c.state = kept_state(&c, pos / STATE_CHUNK * STATE_CHUNK);
	for (; pos < end; pos = c.start + STATE_CHUNK) {
		float *to = c.next;

		enter(&c, pos, end);
		sum_decays(&c);
		read_state(&c);
		for (size_t t = c.from, next; t < c.to; t = next) {
			next = size_min(t / BLOCK * BLOCK + BLOCK, c.to);
			make_rows(&c, t, next);
		}
		if (c.to < STATE_CHUNK)
			break;
		if (segment_keeps(c.start + STATE_CHUNK, end))
			to = kept_state(&c, c.start + STATE_CHUNK);
		make_state(&c, to);
		c.state = to;
	}
}

/* States are read where a run begins. */
static void work(const struct op *op, const struct step *s, struct work *w)
{
	const struct op_linear *o = op->bound;
	double state = (double)(o->n_head * o->dim_k * o->dim_v), row = (double)(o->n_head * (o->dim_k + o->dim_v));

	for (const struct run *r = s->run; r < s->run + s->n_runs; r++) {
		double kept = (double)(r->pos % STATE_CHUNK), chunk = STATE_CHUNK / 2;

		w->bytes += (state + kept * row) * sizeof(float);
		w->attention += (double)r->n * ((o->delta ? 3 : 2) * state + (o->delta ? 2 : 1) * chunk * row);
	}
}

static void uses(void *bound, struct uses *u)
{
	struct op_linear *o = bound;
	size_t keys = o->n_head_k * o->dim_k, values = o->n_head * o->dim_v;

	u->rows(u, &o->q, keys, USE_READ);
	u->rows(u, &o->k, keys, USE_READ);
	u->rows(u, &o->decay, o->n_head * linear_decays(o), USE_READ);
	u->rows(u, &o->beta, o->n_head, USE_READ);
	u->rows(u, &o->v, values, USE_READ);
	u->rows(u, &o->d, values, USE_MAKE);
	u->rows(u, &o->out, values, USE_MAKE);
}

const struct op_kind op_linear = { .name = "linear", .uses = uses, .all_rows = 1, .items = linear_items, .item = item,
	.work = work };

/* ---- building ---- */

void linear_build(struct builder *b, struct op_linear *o, struct value *out)
{
	size_t keys = o->n_head_k * o->dim_k, values = o->n_head * o->dim_v;
	int number;
	struct op *op;

	o->out = rows_of(out);
	o->ring_k = build_ring(b, keys * sizeof(float));
	o->ring_d = build_ring(b, values * sizeof(float));
	o->ring_g = build_ring(b, o->n_head * (o->by_key ? o->dim_k : 1) * sizeof(float));
	o->state = build_state(b, values * o->dim_k, 0);
	build_append(b, &op_linear_gates, NULL, o, sizeof *o);
	number = build_append(b, &op_linear, NULL, o, sizeof *o);
	op = build_op(b, number);
	if (op)
		op->scratch = linear_scratch(o);
	build_output(b, number, 0, "", out, values);
	build_append(b, &op_linear_keep, NULL, o, sizeof *o);
}
