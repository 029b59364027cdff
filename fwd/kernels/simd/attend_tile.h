/* attend_tile: a tile of rows for one KV head: its columns, which of them see what, and its scratch memory. A column is
 * a query, that is one head of one row; a row has a column for each head that shares the KV head. */
#ifndef ATTEND_TILE_H
#define ATTEND_TILE_H

#include "attend_sums.h"
#include "cache.h"
#include "fwd/kernels/kernels.h"

enum {
	ATTEND_MOST = 256,      /* columns of a tile of rows, unless one row has more */
	ATTEND_DIRECT = 2 * ATTEND_COLUMNS,     /* up to this many columns read floats in place */
	CODES_FOURS = KV_SCALED / KV_FOUR,      /* fours of codes in a group, and the int32s that hold them */
	CODES_GROUP = CODES_FOURS * (1 + ATTEND_I16)
};

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
	float *k;               /* a block of K: [ATTEND_BLOCK/16][dim_k][16] */
	float *v;               /* a block of V: [out_dim/16][ATTEND_BLOCK][16] */

	/* K and V in codes (attend_codes.h): */
	size_t groups;          /* of a query: kv_scales(dim_k) */
	int32_t *codes;         /* [columns of the panels][groups][CODES_GROUP]: the queries' */
	float *code_scale;      /* [columns of the panels][groups] */
	int32_t *code_start;    /* likewise: what the sums of products begin with */
	const char *values;     /* V of this block */
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
	t->columns = columns;
	t->direct = columns <= ATTEND_DIRECT && t->a->dim_v % LANES == 0 && !t->a->v_in_k;
	t->panels = (columns + ATTEND_COLUMNS - 1) / ATTEND_COLUMNS;
	t->width = (columns + t->panels - 1) / t->panels;
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

/* Lays scratch out for tiles of up to `columns` columns, a multiple of ATTEND_COLUMNS; returns the number of floats.
 * With NULL it only counts. */
static size_t attend_layout(struct attend_tile *t, float *scratch, size_t columns, size_t dim_k, size_t dim_v)
{
	size_t out_dim = attend_out_dim(dim_v), each = attend_each(columns), used = 0;
	size_t groups = kv_scales(dim_k), group_numbers = (columns * groups + LANES - 1) / LANES * LANES;
	struct { float **field; size_t n; } fields[] = {
		{ &t->k, ATTEND_BLOCK * dim_k }, { &t->v, ATTEND_BLOCK * out_dim }, { &t->s, columns * ATTEND_BLOCK },
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

/* Columns, including those that pad the last panel. */
static size_t attend_filled(size_t columns)
{
	return (columns + ATTEND_COLUMNS - 1) / ATTEND_COLUMNS * ATTEND_COLUMNS;
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

/* From the scores s[ATTEND_BLOCK] of column c to their exponentials. */
static void attend_weigh(const struct attend_tile *t, size_t c, size_t first, float *s, struct attend_state *part)
{
	const struct attend *a = t->a;
	size_t n = attend_seen(t, c, first), head = t->kv->h * t->group + c % t->group;

	if (a->cap > 0)
		vector_cap(s, a->cap, n);
	if (a->slope)
		attend_bias(s, n, a->slope[head], (float)first - (float)attend_position(t, c));
	if (a->bias)
		attend_add(s, n, attend_biases(a, head, attend_position(t, c), first));
	attend_softmax(s, attend_hidden(t, c, first), n, &part->max[c], &part->sum[c]);
}

#endif
