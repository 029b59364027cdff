/* attend_groups (kinds.h): attention over compressed rows and a window, or over chosen positions. A work item is some
 * heads of a row, which read the same KV head. */
#include "kinds.h"

#include "lib/base/size.h"

enum { HEADS_EACH = 16 };       /* queries that read a block while it is in the cache */

/* Heads that read one KV head; those of an item; items of one KV head. */
static size_t heads_of_kv(const struct op_attend_groups *o)
{
	return o->attention.heads.n_head / o->attention.heads.n_head_kv;
}

static size_t heads_each(const struct op_attend_groups *o)
{
	return size_min(HEADS_EACH, heads_of_kv(o));
}

static size_t parts(const struct op_attend_groups *o)
{
	return size_divide_up(heads_of_kv(o), heads_each(o));
}

static size_t aligned(size_t bytes)
{
	return size_divide_up(bytes, 64) * 64;
}

/* Where things begin in a thread's scratch: a block of compressed rows; the sines of the rotation back; the kernel's
 * scratch; partial results. */
struct room {
	size_t block, sin, attend, partials;
};

static struct room room_of(const struct op_attend_groups *o, const struct kernels *k)
{
	const struct attend *a = &o->attention.heads;
	struct room r = { .block = 0 };

	r.sin = r.block + kv_block_bytes(KV_F32, a->dim_k, attend_stored_v(a));
	r.attend = r.sin + aligned(a->dim_k * sizeof(float));
	r.partials = r.attend + aligned(k->attend_scratch(a->dim_k, a->dim_v, heads_each(o)));
	return r;
}

size_t attend_groups_scratch(const struct op_attend_groups *o, const struct kernels *k, size_t n_ctx)
{
	const struct attend *a = &o->attention.heads;
	size_t groups = !o->ratio ? 0 : o->top ? o->top : n_ctx / o->ratio;
	size_t rows = o->kept ? groups : (groups + 1) * o->ratio;
	size_t blocks = size_divide_up(rows, ATTEND_BLOCK) + size_divide_up(a->window, ATTEND_BLOCK) + 1;

	return room_of(o, k).partials + blocks * k->attend_partial(a->dim_v, heads_each(o));
}

static size_t items(const struct op *op, const struct step *s)
{
	const struct op_attend_groups *o = op->bound;

	return s->n * o->attention.heads.n_head_kv * parts(o);
}

/* Complete groups up to a position. */
static size_t complete(const struct op_attend_groups *o, size_t pos)
{
	return o->ratio ? (pos + 1) / o->ratio : 0;
}

/* Whether the row at a position sees all that it could, and this op has nothing to do. */
static int sees_all(const struct op_attend_groups *o, size_t pos)
{
	return !o->kept && o->top && complete(o, o->by_head ? pos + o->ratio - 1 : pos) <= o->top;
}

/* Compressed rows, or positions, that the row at a position sees, besides its window. */
static size_t n_seen(const struct op_attend_groups *o, size_t pos)
{
	size_t all = complete(o, pos), groups = o->top ? size_min(all, o->top) : all;

	if (o->by_head)
		return (o->top - 1) * o->ratio + pos % o->ratio + 1;
	return o->kept || !o->ratio ? groups : groups * o->ratio + (pos + 1) % o->ratio;
}

/* The j-th of them. Positions after the last complete group come last. */
static size_t nth_seen(const struct op_attend_groups *o, const struct batch_row *row, size_t kv_head, size_t j)
{
	size_t all = complete(o, row->pos), group = o->kept ? j : j / o->ratio;
	const int32_t *chosen = o->by_head || (o->top && all > o->top) ? (int32_t *)buffer_row(&o->chosen, row->row)
		: NULL;

	if (o->by_head)
		return (size_t)chosen[kv_head * o->top + group] * o->ratio + j % o->ratio;
	if (o->kept)
		return chosen ? (size_t)chosen[j] : j;
	return (group < o->top ? (size_t)chosen[group] : all) * o->ratio + j % o->ratio;
}

/* The type of that block: the segment's, but floats of kept rows where that has floats. */
static enum kv_type block_type(const struct op_attend_groups *o, const struct segment *state)
{
	enum kv_type type = (enum kv_type)state->shape.kv_type;

	return o->kept && !kv_coded(type) ? KV_F32 : type;
}

/* Fills a block with n keys, and values, of a KV head: those from the first-th on that this row sees. */
static void fill(const struct op_attend_groups *o, const struct step *s, const struct batch_row *row, size_t kv_head,
	size_t first, size_t n, unsigned char *to)
{
	size_t dim_k = o->attention.heads.dim_k, dim_v = attend_stored_v(&o->attention.heads);
	const struct segment *state = row->run->state;
	enum kv_type type = block_type(o, state);
	struct kv_block block = kv_block_at(type, dim_k, dim_v, to);
	const struct kv_head kv = kv_head_of(&o->attention, state, kv_head);

	for (size_t j = 0; j < n; j++) {
		size_t at = nth_seen(o, row, kv_head, first + j);

		if (o->kept) {
			const float *k = grouped_at(o->kept, state, o->offset, at);

			s->k->kv_store(type, &block, dim_k, 0, j, k, k);
		} else {
			const struct kv_block own = kv_block_at(type, dim_k, dim_v,
				kv.extent[at / KV_EXTENT] + kv.offset);

			kv_copy(type, dim_k, dim_v, &own, at % KV_EXTENT, &block, j);
		}
	}
	if (n % KV_TILE)
		kv_block_clear(type, dim_k, dim_v, to, n);
}

/* Computes the partial results of all blocks of a KV head, in order. Returns how many. */
static size_t attend_all(const struct op_attend_groups *o, const struct step *s, const struct batch_row *row,
	struct attend d, size_t kv_head, unsigned char *scratch)
{
	const struct room room = room_of(o, s->k);
	size_t bytes = s->k->attend_partial(d.dim_v, d.n_head), blocks = 0, from, window = d.window;
	size_t rows = n_seen(o, row->pos);
	unsigned char *const table[] = { scratch + room.block }, *partials = scratch + room.partials;
	struct kv_head kv = { .extent = table };

	d.type = block_type(o, row->run->state);
	d.window = 0;
	for (size_t first = 0; first < rows; first += ATTEND_BLOCK, blocks++) {
		d.pos = size_min(rows - first, ATTEND_BLOCK) - 1;
		fill(o, s, row, kv_head, first, d.pos + 1, table[0]);
		s->k->attend_blocks(&d, &kv, 1, 0, 1, partials + blocks * bytes, scratch + room.attend);
	}
	if (!window)
		return blocks;
	d.type = (enum kv_type)row->run->state->shape.kv_type;
	d.window = window;
	from = attend_from(&d, row->pos) / ATTEND_BLOCK;
	d.pos = row->pos - from * ATTEND_BLOCK;
	kv = kv_head_of(&o->attention, row->run->state, 0);
	kv.extent += from;
	s->k->attend_blocks(&d, &kv, 1, 0, d.pos / ATTEND_BLOCK + 1, partials + blocks * bytes, scratch + room.attend);
	return blocks + d.pos / ATTEND_BLOCK + 1;
}

/* Rotates the results of these heads back. back: [pairs], for the negated sines. */
static void rotate_back(const struct op_attend_groups *o, const struct step *s, size_t row, struct attend d,
	float *back)
{
	const struct rope *r = o->attention.rope;

	s->k->scale(back, r->sin + row * r->pairs, -1, r->pairs);
	for (size_t h = 0; h < d.n_head; h++)
		s->k->rope(o->attention.pairs, d.out + h * d.dim_v + o->attention.rope_at, r->cos + row * r->pairs,
			back, 2 * r->pairs);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_attend_groups *o = op->bound;
	const struct op_attention *a = &o->attention;
	size_t all = parts(o), kv_head = item / all % a->heads.n_head_kv, i = item / all / a->heads.n_head_kv;
	size_t first = item % all * heads_each(o), head = kv_head * heads_of_kv(o) + first;
	const struct batch_row row = step_row(op, s, i);
	const struct room room = room_of(o, s->k);
	unsigned char *scratch = step_scratch(s, thread);
	struct attend d = a->heads;

	if (sees_all(o, row.pos))
		return;
	d.n_head = size_min(heads_each(o), heads_of_kv(o) - first);
	d.n_head_kv = 1;
	d.q = buffer_row(&a->q, row.row) + head * d.dim_k;
	d.out = buffer_row(&a->out, i) + head * d.dim_v;
	d.sink = d.sink ? d.sink + head : NULL;
	d.type = block_type(o, row.run->state);
	d.pos = attend_all(o, s, &row, d, kv_head, scratch) * ATTEND_BLOCK - 1;
	d.window = 0;
	s->k->attend_join(&d, 0, 1, scratch + room.partials, scratch + room.attend);
	if (a->heads.window)
		rotate_back(o, s, row.row, d, (float *)(scratch + room.sin));
}

static void work(const struct op *op, const struct step *s, struct work *w)
{
	const struct op_attend_groups *o = op->bound;
	const struct attend *a = &o->attention.heads;

	for (size_t i = 0; i < s->n; i++) {
		size_t pos = step_row(op, s, i).pos, n = n_seen(o, pos);

		if (sees_all(o, pos))
			continue;
		n += a->window ? pos + 1 - attend_from(a, pos) : 0;
		w->attention += 2 * (double)(n * a->n_head * a->dim_k);
	}
}

static void uses(void *bound, struct uses *u)
{
	struct op_attend_groups *o = bound;
	struct op_attention *a = &o->attention;

	u->rows(u, &a->q, a->heads.n_head * a->heads.dim_k, USE_READ_ALL);
	u->rows(u, &o->chosen, o->top * (o->by_head ? a->heads.n_head_kv : 1), USE_READ_ALL);
	u->rows(u, &a->out, a->heads.n_head * a->heads.dim_v, o->alone ? USE_MAKE : USE_CHANGE);
}

const struct op_kind op_attend_groups = { .name = "attend", .uses = uses, .items = items, .item = item, .work = work };
