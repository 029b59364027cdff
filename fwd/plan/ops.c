/* The ops, each cut into pieces for the pool. Pieces are of rows of the batch, of rows of a matrix, or of heads: never of a sum. */
#include "op.h"

#include <string.h>

#include "lib/base/size.h"

static float *row(const struct buffer *b, size_t i)
{
	return b->at + i * b->stride;
}

static size_t pieces_of(size_t n, size_t each)
{
	return (n + each - 1) / each;
}

/* One op under way, as its pieces see it. */
struct job {
	struct step *s;
	const struct op *op;
	size_t first, n;        /* rows of the batch */
	size_t each;            /* rows of a piece, of the batch or of a matrix; or attention's blocks */
	struct attend attend;
	size_t blocks;          /* of the context that attention sees */
};

/* ---- embed ---- */

static void embed_piece(void *context, size_t piece, size_t thread)
{
	struct job *j = context;
	const struct op_embed *e = &j->op->embed;
	const struct step *s = j->s;
	const struct matrix *m = &e->ids;
	size_t i = j->first + piece;

	m->format->dequantise((const unsigned char *)m->data + (size_t)s->ids[i] * m->row_bytes, row(&e->x, i), m->cols);
	if (!e->positions.rows)
		return;
	m = &e->positions;
	m->format->dequantise((const unsigned char *)m->data + (s->pos + i) * m->row_bytes, row(&e->spare, i), m->cols);
	s->k->add(row(&e->x, i), row(&e->x, i), row(&e->spare, i), m->cols);
}

/* ---- rows ---- */

static void rows_piece(void *context, size_t piece, size_t thread)
{
	struct job *j = context;
	const struct op_rows *o = &j->op->rows;
	const struct kernels *k = j->s->k;
	size_t from = piece * j->each, to = size_min(from + j->each, j->n), i;

	for (i = j->first + from; i < j->first + to; i++) {
		if (o->branch.at)
			k->add(row(&o->x, i), row(&o->x, i), row(&o->branch, i), o->n);
		if (o->f == ROWS_NORM)
			k->norm(o->norm, row(&o->in, i), o->weight, o->bias, o->eps, row(&o->out, i), o->n);
		else if (o->f == ROWS_UNARY)
			k->unary(o->unary, row(&o->out, i), row(&o->in, i), o->n);
		else if (o->f == ROWS_GLU)
			k->glu(o->unary, row(&o->out, i), row(&o->in, i), row(&o->in, i) + o->n, o->n);
	}
	for (size_t kind = 0; kind < ACTS_KINDS; kind++)
		if (o->pack[kind])
			k->acts_pack(&j->s->acts[kind], row(&o->out, j->first), o->out.stride, from, to);
}

static void run_rows(struct job *j)
{
	for (size_t kind = 0; kind < ACTS_KINDS; kind++)
		if (j->op->rows.pack[kind]) {
			j->s->acts[kind].k = j->op->rows.n;
			j->s->acts[kind].n = j->n;
		}
	j->each = j->s->k->acts_columns;
	pool_run(j->s->pool, pieces_of(j->n, j->each), rows_piece, j);
}

/* ---- product ---- */

/* Weights of one piece, when one row makes them all that there is to read: an eighth of a thread's share, so that the threads end together, but neither
 * so little that to take it costs more than to wait, nor so much that a thread which the scheduler took away with one is missed for long. For a batch
 * each piece is as small as it can be. */
enum { PIECES_EACH = 8, PIECE_LEAST = 1 << 16, PIECE_MOST = 1 << 19 };

static size_t piece_rows(const struct job *j, const struct matrix *w)
{
	size_t each = w->rows / (PIECES_EACH * pool_threads(j->s->pool));

	each = size_min(size_max(each, PIECE_LEAST / w->row_bytes), PIECE_MOST / w->row_bytes) / KERNELS_ROWS * KERNELS_ROWS;
	return j->n > 1 ? KERNELS_ROWS : size_max(each, KERNELS_ROWS);
}

static void product_piece(void *context, size_t piece, size_t thread)
{
	struct job *j = context;
	struct step *s = j->s;
	const struct part *p = j->op->product.part;
	struct product_job job;
	size_t each;

	/* Whose piece is it? */
	for (; piece >= pieces_of(p->w.rows, each = piece_rows(j, &p->w)); p++)
		piece -= pieces_of(p->w.rows, each);
	job = (struct product_job){ .w = &p->w, .x = &s->acts[p->kind], .r0 = piece * each, .scratch = s->scratch + thread * s->scratch_bytes };
	job.r1 = size_min(job.r0 + each, p->w.rows);
	job.y = p->y.at ? row(&p->y, j->first) : s->logits;
	job.stride = p->y.at ? p->y.stride : p->w.rows;
	s->k->product(&job);
	for (size_t i = 0; p->bias && i < j->n; i++) {
		float *y = job.y + i * job.stride + job.r0;

		s->k->add(y, y, p->bias + job.r0, job.r1 - job.r0);
	}
}

static void run_product(struct job *j)
{
	size_t pieces = 0;

	for (const struct part *p = j->op->product.part, *end = p + j->op->product.n_parts; p < end; p++)
		pieces += pieces_of(p->w.rows, piece_rows(j, &p->w));
	pool_run(j->s->pool, pieces, product_piece, j);
}

/* ---- attend ---- */

/* Bytes of K and V of one position and KV head. */
static double position_bytes(const struct attend *a)
{
	return (double)(kv_bytes(a->type, a->dim_k, KV_TILE) + kv_bytes(a->type, a->dim_v, KV_TILE)) / KV_TILE;
}

/* Blocks of a KV head's context that one piece reads. */
enum { RUN_BYTES = 1 << 17 };

static size_t piece_blocks(const struct attend *a)
{
	size_t blocks = (size_t)(RUN_BYTES / ATTEND_BLOCK / position_bytes(a));

	return blocks ? blocks : 1;
}

static void prepare_head(const struct job *j, float *x, const float *norm, size_t i)
{
	const struct op_attend *a = &j->op->attend;

	if (norm)
		j->s->k->norm(NORM_RMS, x, norm, NULL, a->eps, x, a->heads.dim_k);
	if (a->rope)
		j->s->k->rope(a->pairs, x, a->rope->cos + i * a->rope->pairs, a->rope->sin + i * a->rope->pairs, a->n_rot);
}

/* K and V of KV head h into the cache, for rows [from, to) of the batch, and the queries that will read them made ready. */
static void store(const struct job *j, size_t h, size_t from, size_t to)
{
	const struct op_attend *a = &j->op->attend;
	const struct attend *d = &a->heads;
	size_t group = d->n_head / d->n_head_kv;

	for (size_t i = from; i < to; i++) {
		float *q = row(&a->qkv, i), *k = q + d->n_head * d->dim_k, *v = k + d->n_head_kv * d->dim_k;

		prepare_head(j, k + h * d->dim_k, a->k_norm, i);
		j->s->k->kv_store(d->type, &a->kv[h], d->dim_k, d->dim_v, j->s->pos + i, k + h * d->dim_k, v + h * d->dim_v);
		for (size_t g = h * group; g < (h + 1) * group && i >= j->first; g++)
			prepare_head(j, q + g * d->dim_k, a->q_norm, i);
	}
}

static void store_piece(void *context, size_t piece, size_t thread)
{
	struct job *j = context;
	size_t heads = j->op->attend.heads.n_head_kv, from = piece / heads * KV_TILE;

	store(j, piece % heads, from, size_min(from + KV_TILE, j->s->n));
}

/* Head by head, whose K and V then stay in the cache for all rows. The last rows see most: they come first, so that no long piece is left for the end. */
static void attend_piece(void *context, size_t piece, size_t thread)
{
	struct job *j = context;
	struct step *s = j->s;
	size_t tiles = pieces_of(j->n, j->each), h = piece / tiles, from = (tiles - 1 - piece % tiles) * j->each;

	s->k->attend(&j->attend, &j->op->attend.kv[h], h, from, size_min(from + j->each, j->n), s->scratch + thread * s->scratch_bytes);
}

/* A single row: all of a KV head's work at once. */
static void head_piece(void *context, size_t piece, size_t thread)
{
	struct job *j = context;
	struct step *s = j->s;

	store(j, piece, 0, 1);
	s->k->attend(&j->attend, &j->op->attend.kv[piece], piece, 0, 1, s->scratch + thread * s->scratch_bytes);
}

static unsigned char *head_parts(const struct job *j, size_t h)
{
	const struct attend *d = &j->attend;

	return j->s->parts + h * j->blocks * j->s->k->attend_part(d->dim_v, j->n * (d->n_head / d->n_head_kv));
}

/* Few rows far into a context: a KV head's blocks in runs of `each`, then what they made put together. */
static void blocks_piece(void *context, size_t piece, size_t thread)
{
	struct job *j = context;
	struct step *s = j->s;
	size_t runs = pieces_of(j->blocks, j->each), h = piece / runs, from = piece % runs * j->each;

	s->k->attend_blocks(&j->attend, &j->op->attend.kv[h], h, j->n, from, size_min(from + j->each, j->blocks), head_parts(j, h),
		s->scratch + thread * s->scratch_bytes);
}

static void join_piece(void *context, size_t piece, size_t thread)
{
	struct job *j = context;
	struct step *s = j->s;

	s->k->attend_join(&j->attend, piece, j->n, head_parts(j, piece), s->scratch + thread * s->scratch_bytes);
}

static void run_attend(struct job *j)
{
	const struct op_attend *a = &j->op->attend;
	struct step *s = j->s;

	if (a->tail) {
		j->first = s->n - s->wanted;
		j->n = s->wanted;
	}
	j->attend = a->heads;
	j->attend.q = a->qkv.at + j->first * a->qkv.stride;
	j->attend.q_stride = a->qkv.stride;
	j->attend.out = row(&a->out, j->first);
	j->attend.pos = s->pos + j->first;
	j->blocks = pieces_of(s->pos + s->n, ATTEND_BLOCK);
	j->each = piece_blocks(&a->heads);
	if (s->n == 1 && j->n == 1 && j->blocks <= j->each) {
		pool_run(s->pool, a->heads.n_head_kv, head_piece, j);
		return;
	}
	pool_run(s->pool, pieces_of(s->n, KV_TILE) * a->heads.n_head_kv, store_piece, j);
	if (j->n && j->n <= ATTEND_FEW && j->blocks > j->each) {
		pool_run(s->pool, pieces_of(j->blocks, j->each) * a->heads.n_head_kv, blocks_piece, j);
		pool_run(s->pool, a->heads.n_head_kv, join_piece, j);
		return;
	}
	j->each = pieces_of(KV_TILE, s->k->attend_rows) * s->k->attend_rows;
	pool_run(s->pool, pieces_of(j->n, j->each) * a->heads.n_head_kv, attend_piece, j);
}

/* ---- any op ---- */

void op_run(struct step *s, const struct op *op, size_t first, size_t n)
{
	struct job j = { .s = s, .op = op, .first = first, .n = n };

	switch (op->code) {
	case OP_EMBED:
		pool_run(s->pool, n, embed_piece, &j);
		break;
	case OP_ROWS:
		run_rows(&j);
		break;
	case OP_PRODUCT:
		run_product(&j);
		break;
	case OP_ATTEND:
		run_attend(&j);
		break;
	}
}

static void product_work(const struct op_product *o, size_t n, struct work *w)
{
	for (const struct part *p = o->part; p < o->part + o->n_parts; p++) {
		w->bytes += (double)p->w.rows * (double)p->w.row_bytes;
		*(p->kind == ACTS_F32 ? &w->floats : &w->codes) += (double)n * (double)p->w.rows * (double)p->w.cols;
	}
}

/* Row i of those whose attention is asked for sees all before it and itself; together they see what the last one does. */
static void attend_work(const struct step *s, const struct op_attend *a, struct work *w)
{
	const struct attend *d = &a->heads;
	size_t rows = a->tail ? s->wanted : s->n, seen = s->pos + s->n;
	double dims = (double)(d->dim_k + d->dim_v), sum = (double)rows * ((double)seen - ((double)rows - 1) / 2);

	if (!rows)
		return;
	w->bytes += (double)seen * (double)d->n_head_kv * position_bytes(d);
	w->floats += sum * (double)d->n_head * dims;
}

void op_work(const struct step *s, const struct op *op, size_t n, struct work *w)
{
	if (op->code == OP_EMBED)
		w->bytes += (double)n * (double)(op->embed.ids.row_bytes + (op->embed.positions.rows ? op->embed.positions.row_bytes : 0));
	else if (op->code == OP_PRODUCT)
		product_work(&op->product, n, w);
	else if (op->code == OP_ATTEND)
		attend_work(s, &op->attend, w);
}
