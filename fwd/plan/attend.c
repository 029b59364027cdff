/* attend: from queries, keys and values to the heads' results. A work item is some rows of one run and one KV head,
 * whose K and V then stay in the cache for all of them. If a few rows see a long context, items are blocks of the
 * context instead, and join combines their results. */
#include "kinds.h"

#include "lib/base/size.h"

/* bytes of K and V of a KV head in an item when blocks are shared; number of items per thread that is enough without
 * sharing */
enum { ITEM_BYTES = 1 << 17, ITEMS_ENOUGH = 8 };

/* The attention of one run. */
struct run_blocks {
	const struct run *run;
	size_t first, n;        /* rows of the batch, */
	size_t pos;             /* position of the first */
	size_t out;             /* output row of the first */
	size_t from, to;        /* blocks of the context that they see */
	int shared;             /* the blocks are shared among threads */
	size_t before;          /* shared blocks of earlier runs */
	size_t each;            /* blocks, or rows, per item */
	size_t items;           /* items per KV head */
};

/* Bytes of K and V of one position and KV head. */
static double position_bytes(const struct attend *d)
{
	return (double)kv_block_bytes(d->type, d->dim_k, attend_stored_v(d)) / KV_EXTENT;
}

/* Whether the blocks of all runs fit in memory and sharing them helps: for one run, or a few with one row each, whose
 * heads give too few items for the threads. */
static int may_share(const struct op_attention *a, const struct step *s)
{
	const struct run *last = s->run + s->n_runs - 1;

	return s->n_runs == 1 || (s->n_runs <= ATTEND_FEW && last->first + last->n == s->n_runs
		&& s->n_runs * a->heads.n_head_kv < ITEMS_ENOUGH * s->threads);
}

static size_t blocks_to(const struct run *r)
{
	return size_divide_up(r->pos + r->n, ATTEND_BLOCK);
}

/* The op's parameters for the rows of a run. */
static struct attend heads_of(const struct op_attention *a, const struct run *r)
{
	struct attend d = a->heads;

	d.type = r->state->shape.kv_type;
	if (a->sight == SIGHT_ANSWER)
		d.first = r->text - 1;
	else if (a->sight != SIGHT_PAST)
		d.end = r->text;
	return d;
}

/* With sparse attention, rows that see more positions than it chooses are left to attend_groups. */
static struct run_blocks span_of(const struct op *op, const struct step *s, const struct run *r)
{
	const struct op_attention *a = op->bound;
	const struct attend d = heads_of(a, r);
	struct run_blocks t = { .run = r, .first = r->first, .n = r->n, .out = r->first };

	if (op->wanted) {
		t.first += r->n - r->after - r->wanted;
		t.n = r->wanted;
		t.out = r->first_wanted;
	}
	t.pos = r->pos + t.first - r->first;
	if (a->top)
		t.n = size_min(t.n, a->top - size_min(a->top, t.pos));
	t.from = attend_from(&d, t.pos) / ATTEND_BLOCK;
	t.to = size_divide_up(attend_end(&d, t.pos + t.n - 1), ATTEND_BLOCK);
	if (t.n && t.n <= ATTEND_FEW && may_share(a, s)) {
		t.each = size_max((size_t)(ITEM_BYTES / (ATTEND_BLOCK * position_bytes(&d))), 1);
		t.shared = t.to - t.from > t.each;
	}
	for (const struct run *other = s->run; t.shared && other < r; other++)
		t.before += blocks_to(other);
	if (!t.shared)
		t.each = size_divide_up(KV_TILE, s->k->attend_rows) * s->k->attend_rows;
	t.items = size_divide_up(t.shared ? t.to - t.from : t.n, t.each);
	return t;
}

static size_t items(const struct op *op, const struct step *s)
{
	const struct op_attention *a = op->bound;
	size_t n = 0;

	for (size_t i = 0; i < s->n_runs; i++) {
		s->first_item[i] = n;
		n += span_of(op, s, s->run + i).items * a->heads.n_head_kv;
	}
	return n;
}

static struct attend attend_of(const struct op_attention *a, const struct run_blocks *t)
{
	struct attend d = heads_of(a, t->run);

	d.q = buffer_row(&a->q, t->first);
	d.q_stride = a->q.stride;
	d.out = buffer_row(&a->out, t->out);
	d.pos = t->pos;
	return d;
}

/* Where the partial results of a KV head's blocks are. */
static unsigned char *head_shared(const struct op_attention *a, const struct step *s, const struct run_blocks *t,
	size_t head)
{
	size_t group = a->heads.n_head / a->heads.n_head_kv, blocks = t->before * a->heads.n_head_kv + head * t->to;

	return s->shared + blocks * s->k->attend_partial(a->heads.dim_v, t->n * group);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_attention *a = op->bound;
	const struct run *r = step_run(s, item);
	struct run_blocks t = span_of(op, s, r);
	struct attend d = attend_of(a, &t);
	size_t head, from;
	struct kv_head kv;

	item -= s->first_item[r - s->run];
	head = item / t.items;
	item %= t.items;
	kv = kv_head_of(a, r->state, head);
	if (t.shared) {
		from = t.from + item * t.each;
		s->k->attend_blocks(&d, &kv, t.n, from, size_min(from + t.each, t.to), head_shared(a, s, &t, head),
			step_scratch(s, thread));
		return;
	}
	/* the last rows see most, so they come first, and no long item is left for the end */
	from = (t.items - 1 - item) * t.each;
	s->k->attend(&d, &kv, from, size_min(from + t.each, t.n), step_scratch(s, thread));
}

/* With one row per run, the items of this op and of store are the KV heads. */
static int follows(const struct op *op, const struct step *s)
{
	for (const struct run *r = s->run; r < s->run + s->n_runs; r++) {
		struct run_blocks t = span_of(op, s, r);

		if (r->n != 1 || t.n != 1 || t.shared)
			return 0;
	}
	return 1;
}

/* Each row reads what it sees; K and V that several rows see are read once. */
static void work(const struct op *op, const struct step *s, struct work *w)
{
	const struct op_attention *a = op->bound;

	for (const struct run *r = s->run; r < s->run + s->n_runs; r++) {
		const struct attend d = heads_of(a, r);
		struct run_blocks t = span_of(op, s, r);
		size_t end = t.pos + t.n, seen = 0;

		if (!t.n)
			continue;
		for (size_t p = t.pos; p < end; p++)
			seen += attend_end(&d, p) - attend_from(&d, p);
		w->bytes += (double)(attend_end(&d, end - 1) - attend_from(&d, t.pos)) * (double)d.n_head_kv
			* position_bytes(&d);
		w->attention += (double)seen * (double)d.n_head * (double)(d.dim_k + d.dim_v);
	}
}

static void uses(void *bound, struct uses *u)
{
	struct op_attention *a = bound;

	u->rows(u, &a->q, a->heads.n_head * a->heads.dim_k, USE_READ_ALL);
	u->rows(u, &a->out, a->heads.n_head * a->heads.dim_v, USE_MAKE);
}

const struct op_kind op_attend = { .name = "attend", .uses = uses, .items = items, .item = item, .follows = follows,
	.work = work };

/* ---- join ---- */

static size_t join_items(const struct op *op, const struct step *s)
{
	const struct op_attention *a = op->bound;
	size_t shared = 0;

	for (const struct run *r = s->run; r < s->run + s->n_runs; r++)
		shared += (size_t)span_of(op, s, r).shared;
	return shared * a->heads.n_head_kv;
}

static void join_item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_attention *a = op->bound;
	size_t skip = item / a->heads.n_head_kv, head = item % a->heads.n_head_kv;
	const struct run *r = s->run;
	struct run_blocks t = span_of(op, s, r);
	struct attend d;

	while (!t.shared || skip) {
		skip -= (size_t)t.shared;
		t = span_of(op, s, ++r);
	}
	d = attend_of(a, &t);
	s->k->attend_join(&d, head, t.n, head_shared(a, s, &t, head), step_scratch(s, thread));
}

static void join_uses(void *bound, struct uses *u)
{
	struct op_attention *a = bound;

	u->rows(u, &a->q, a->heads.n_head * a->heads.dim_k, USE_READ_ALL);
	u->rows(u, &a->out, a->heads.n_head * a->heads.dim_v, USE_CHANGE);
}

const struct op_kind op_join = { .name = "join", .uses = join_uses, .items = join_items, .item = join_item };
