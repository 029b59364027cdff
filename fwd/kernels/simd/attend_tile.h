/* attend_tile: a tile of rows for one KV head: its columns, which of them see what, and its scratch memory. A column is
 * a query, that is one head of one row; a row has a column for each head that shares the KV head. */
#ifndef ATTEND_TILE_H
#define ATTEND_TILE_H

#include "attend_sums.h"
#include "cache.h"
#include "fwd/kernels/kernels.h"
#include "lib/base/size.h"

enum {
	ATTEND_MOST = 256,      /* columns of a tile of rows, unless one row has more */
	ATTEND_DIRECT = 2 * ATTEND_COLUMNS,     /* up to this many columns read K and V in place */
	CODES_FOURS = KV_SCALED / KV_FOUR,      /* fours of codes in a group, and the int32s that hold them */
	CODES_GROUP = CODES_FOURS * (1 + ATTEND_I16),
	CODES_VECTORS = KV_SCALED / LANES       /* vectors of V's elements in a group */
};

_Static_assert((int)CODES_COLUMNS >= (int)ATTEND_COLUMNS, "attend_filled() pads for the wider panel");

struct attend_state {   /* the result for each column of one block, or of all blocks so far */
	float *max, *sum;       /* [columns] */
	float *o;               /* [columns][dim_v rounded up to LANES] */
};

struct attend_tile {
	const struct attend *a;
	const struct kv_head *kv;
	struct kv_block now, next;      /* the current block; the one to prefetch meanwhile */
	size_t row, group;      /* the first row; columns of a row */
	size_t columns;
	size_t width, panels;   /* columns of a panel, the last one padded with zeros; panels */
	size_t out_dim;         /* dim_v rounded up to LANES */
	int direct;             /* K and V are read in place */
	float *q;               /* [panels][dim_k][width] */
	float *s;               /* [columns of the panels][ATTEND_BLOCK]: scores, then their exponentials */
	struct attend_state all, part;
	float *keep, *take;     /* [columns]: the factors of a merge */
	float *k;               /* a block of K: [ATTEND_BLOCK/16][dim_k][16]; codes: see codes_copy_k() */
	float *v;               /* a block of V: [out_dim/16][ATTEND_BLOCK][16]; codes: see codes_copy_v() */

	/* K and V in codes (attend_codes.h): */
	size_t groups;          /* of a query: kv_scales(dim_k) */
	int32_t *codes;         /* [panels][groups][CODES_FOURS][width][1 + ATTEND_I16]: the queries' */
	float *code_scale;      /* [panels][groups][width] */
	int32_t *code_start;    /* likewise: what the sums of products begin with */
	float *k_scale;         /* of this block: [ATTEND_BLOCK/16][groups][16] */
	float *v_scale;         /* [kv_scales of dim_v][ATTEND_BLOCK] */
};

/* ---- columns and positions ---- */

static inline size_t attend_position(const struct attend_tile *t, size_t c)
{
	return t->a->pos + t->row + c / t->group;
}

/* How many positions of the block at `first` are not after the last that column c sees. */
static inline size_t attend_seen(const struct attend_tile *t, size_t c, size_t first)
{
	size_t n = attend_end(t->a, attend_position(t, c));

	return n <= first ? 0 : n - first < ATTEND_BLOCK ? n - first : ATTEND_BLOCK;
}

/* How many of them are hidden from it, as they lie before what it sees. */
static inline size_t attend_hidden(const struct attend_tile *t, size_t c, size_t first)
{
	size_t from = attend_from(t->a, attend_position(t, c));

	return from <= first ? 0 : from - first < ATTEND_BLOCK ? from - first : ATTEND_BLOCK;
}

/* The first position of the block in which those that column c sees begin. */
static inline size_t attend_first_block(const struct attend_tile *t, size_t c)
{
	return attend_from(t->a, attend_position(t, c)) / ATTEND_BLOCK * ATTEND_BLOCK;
}

/* The first column that sees any of the block at `first`, if those before it begin late enough. */
static inline size_t attend_first_seeing(const struct attend_tile *t, size_t first)
{
	size_t pos = t->a->pos + t->row, reach = t->a->end ? t->a->window : 1;

	return !reach || first < pos + reach ? 0 : (first + 1 - reach - pos) * t->group;
}

/* The first column whose positions begin in the block at `first` or after it. They begin no earlier for a later
 * column. */
static size_t attend_first_beginning(const struct attend_tile *t, size_t first)
{
	size_t c = t->columns;

	while (c > 0 && attend_first_block(t, c - 1) >= first)
		c = t->group < c ? c - t->group : 0;
	return c;
}

/* ---- memory ---- */

/* Divides this many columns into panels. */
static void attend_panels(struct attend_tile *t, size_t columns)
{
	int coded = kv_coded(t->a->type), direct = columns <= ATTEND_DIRECT && !t->a->v_in_k;
	size_t widest = coded && !direct ? CODES_COLUMNS : ATTEND_COLUMNS;

	t->columns = columns;
	t->direct = direct && (coded || t->a->dim_v % LANES == 0);
	t->panels = (columns + widest - 1) / widest;
	t->width = coded && !direct ? widest : (columns + t->panels - 1) / t->panels;
}

static size_t attend_out_dim(size_t dim_v)
{
	return (dim_v + LANES - 1) / LANES * LANES;
}

/* Floats for one number of each column, with room for a whole vector at any column. */
static size_t attend_each(size_t columns)
{
	return (columns + LANES) / LANES * LANES + LANES;
}

/* Lays scratch out for tiles of up to `columns` columns, those of padding included; returns the number of floats. With
 * NULL it only counts. */
static size_t attend_layout(struct attend_tile *t, float *scratch, size_t columns, size_t dim_k, size_t dim_v)
{
	size_t out_dim = attend_out_dim(dim_v), each = attend_each(columns), used = 0;
	size_t groups = kv_scales(dim_k), group_numbers = (columns * groups + LANES - 1) / LANES * LANES;
	struct { float **field; size_t n; } fields[] = {
		{ &t->k, ATTEND_BLOCK * groups * KV_SCALED }, { &t->v, ATTEND_BLOCK * out_dim },
		{ &t->s, columns * ATTEND_BLOCK },
		{ &t->k_scale, ATTEND_BLOCK * kv_scales(dim_k) }, { &t->v_scale, ATTEND_BLOCK * kv_scales(dim_v) },
		{ &t->all.o, columns * out_dim }, { &t->part.o, columns * out_dim },
		{ &t->q, (columns * dim_k + LANES - 1) / LANES * LANES },
		{ &t->all.max, each }, { &t->all.sum, each }, { &t->part.max, each }, { &t->part.sum, each },
		{ &t->keep, each }, { &t->take, each }, { &t->code_scale, group_numbers },
	};
	struct { int32_t **field; size_t n; } integers[] = {
		{ &t->codes, columns * groups * CODES_GROUP }, { &t->code_start, group_numbers },
	};

	for (size_t i = 0; i < sizeof fields / sizeof *fields; used += fields[i++].n)
		if (scratch)
			*fields[i].field = scratch + used;
	for (size_t i = 0; i < sizeof integers / sizeof *integers; used += integers[i++].n)
		if (scratch)
			*integers[i].field = (int32_t *)(void *)(scratch + used);
	t->out_dim = out_dim;
	t->groups = groups;
	return used;
}

/* Columns, including those that pad the last panel, at most. */
static size_t attend_filled(size_t columns)
{
	return columns + CODES_COLUMNS - 1;
}

/* Columns of the largest tile: at least ATTEND_FEW rows. */
static size_t attend_columns(size_t group)
{
	size_t most = ATTEND_FEW * group > ATTEND_MOST ? ATTEND_FEW * group : ATTEND_MOST;

	return attend_filled(most);
}

/* Copies the queries of KV head h, column by column, into panels. */
static void attend_pack(const struct attend_tile *t, size_t h)
{
	size_t dim_k = t->a->dim_k, width = t->width;

	for (size_t c = 0; c < t->panels * width; c++) {
		float *to = t->q + c / width * width * dim_k + c % width;
		const float *from = t->a->q + h * t->group * dim_k;

		if (c < t->columns)
			from += (t->row + c / t->group) * t->a->q_stride + c % t->group * dim_k;
		for (size_t d = 0; d < dim_k; d++)
			to[d * width] = c < t->columns ? from[d] : 0;
	}
}

/* ---- softmax ---- */

/* The scores s[ATTEND_BLOCK] of column c, capped and biased, and -inf for positions that it does not see. */
static void attend_prepare(const struct attend_tile *t, size_t c, size_t first, float *s)
{
	const struct attend *a = t->a;
	size_t n = attend_seen(t, c, first), head = t->kv->h * t->group + c % t->group;

	if (a->cap > 0)
		vector_cap(s, a->cap, n);
	if (a->slope)
		attend_bias(s, n, a->slope[head], (float)first - (float)attend_position(t, c));
	if (a->bias)
		attend_add(s, n, attend_biases(a, head, attend_position(t, c), first));
	attend_hide(s, attend_hidden(t, c, first), n);
}

/* Whether attend_prepare() does nothing for columns c to `last`: they see the whole block, and scores stay as they
 * are. */
static int attend_plain(const struct attend_tile *t, size_t c, size_t last, size_t first)
{
	const struct attend *a = t->a;

	return !(a->cap > 0) && !a->slope && !a->bias && attend_seen(t, c, first) == ATTEND_BLOCK
		&& attend_hidden(t, last, first) == 0;
}

/* From the scores s[width][ATTEND_BLOCK] of a panel to their exponentials, for its columns from c0 on. Those of columns
 * outside [begin, end), which do not see the block, are anything. */
static void attend_weigh(const struct attend_tile *t, size_t c0, size_t width, size_t begin, size_t end, size_t first,
	float *s, struct attend_state *part)
{
	size_t c = size_max(c0, begin), last = size_min(c0 + width, end) - 1;

	if (!attend_plain(t, c, last, first))
		for (; c <= last; c++)
			attend_prepare(t, c, first, s + (c - c0) * ATTEND_BLOCK);
	attend_softmax(s, width, part->max + c0, part->sum + c0);
}

#endif
