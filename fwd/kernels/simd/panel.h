/* panel: products with many columns, for prompts. Thirty-two rows at a time are unpacked into a panel in the cache: codes of one byte with the
 * rows in the lanes, four codes of a row in each, block after block in visiting order (lanes.h), beside each block its scales. Then every tile
 * of columns goes along the panel, with its integer sums in registers. From there on the format no longer matters, but for whether it has two
 * scales a block and minima. tiles.h says in what order. Included once per instruction set. */
#ifndef PANEL_H
#define PANEL_H

#include <string.h>

#include "acts.h"
#include "fwd/kernels/kernels.h"
#include "tiles.h"
#include "unpack.h"

/* Bytes of a block's codes: [8][32 rows][4]; as words, the even and the odd of each four apart, [2][8][32 rows][2] of 16 bits (TILE_WORDS). */
INLINE size_t panel_codes(int words)
{
	return (size_t)TILE_ODD << words;
}

/* After a block's codes: [32 rows] of each that its format has. */
enum panel_field {
	/* With one plane of activations the integer is made as the float MAGIC_FLOAT + isum, and scale·MAGIC_FLOAT, which is exact, is taken away in
	 * the fma: that is the addend. With two the integer is converted, and the addend is nothing. Either way it is NaN where the scale is not finite. */
	PANEL_SCALE, PANEL_ADDEND,
	PANEL_SECOND,                   /* the second half's scale */
	PANEL_MINIMA = PANEL_SECOND     /* the minima: here where blocks have one scale, else one further (panel_min) */
};

INLINE int panel_min(int scales)
{
	return PANEL_MINIMA + scales - 1;
}

enum { PANEL_CHUNK = 256 };     /* blocks of a chunk at most */

INLINE size_t panel_block(int words, int scales, int minima)
{
	return panel_codes(words) + (size_t)(panel_min(scales) + (minima ? scales : 0)) * KERNELS_ROWS * 4;
}

static inline size_t panel_bytes(size_t k)
{
	return k / 32 * panel_block(TILE_WORDS, 2, 1);
}

/* ---- filling it ---- */

struct panel {
	uint8_t *data;          /* [blocks][block] */
	size_t first[16];       /* places of the residues */
	size_t blocks, block;   /* their number; bytes of one */
	int words;
};

static inline float *panel_field(struct panel *p, size_t g, int block, int f)
{
	return (float *)(p->data + (p->first[block] + g) * p->block + panel_codes(p->words)) + f * KERNELS_ROWS;
}

/* v[row], lanes over blocks in lane order, to the field of each block. */
INLINE void spread(struct panel *p, const f32x16 v[16], size_t g, size_t count, size_t rows, int f)
{
	i32x16 t[16];

	UNROLL
	for (int i = 0; i < 16; i++)
		t[i] = vf_as_int(v[i]);
	vi_transpose(t);
	UNROLL
	for (int i = 0; i < 16; i++)
		if (lane_block[i] < count)
			vf_store(panel_field(p, g, lane_block[i], f) + rows, vi_as_float(t[i]));
}

/* Codes of 16 rows: four of a row in each lane; as words, first those of elements 0 and 2, then, TILE_ODD further, of 1 and 3. */
INLINE void store_codes(uint8_t *to, i32x16 codes, int words)
{
	const i32x16 even = vi_set1(0x00ff00ff);

	if (words)
		vi_store((int32_t *)(to + TILE_ODD), vi_and(vi_shr(codes, 8), even));
	vi_store((int32_t *)to, words ? vi_and(codes, even) : codes);
}

/* Group g of sixteen rows; rows: 0 or 16, the place of the first in the panel. */
INLINE void fill_group(struct unpacker u, enum acts_kind kind, struct panel *p, const uint8_t *const group[16], size_t g, size_t rows)
{
	int shift = tile_bias(u.scales, u.minima, p->words) - u.offset;
	size_t count = p->blocks - g * 16 < 16 ? p->blocks - g * 16 : 16;
	struct scales s;
	f32x16 scale[2][16], addend[16], min[2][16];

	for (int c = 0; c < GROUP_CHUNKS && (size_t)c * 2 < count; c++) {
		i32x16 v[16];

		UNROLL
		for (int i = 0; i < 16; i++) {
			b64 codes = u.codes(group[i], c);

			v[i] = vb_as_int(shift ? vb_add(codes, shift) : codes);
		}
		vi_transpose(v);
		UNROLL
		for (int i = 0; i < 16; i++)
			if ((size_t)(2 * c + i / 8) < count)
				store_codes(p->data + (p->first[2 * c + i / 8] + g) * p->block + ((size_t)(i % 8 * KERNELS_ROWS) + rows) * 4, v[i], p->words);
	}
	for (int i = 0; i < 16; i++) {
		u.read_scales(group[i], &s);
		scale[0][i] = s.scale[0];
		addend[i] = kind != ACTS_Q8 ? vf_sub(s.scale[0], s.scale[0]) : vf_mul(s.scale[0], vf_set1(-MAGIC_FLOAT));
		if (u.scales == 2)
			scale[1][i] = s.scale[1];
		if (u.minima)
			min[0][i] = s.min[0];
		if (u.minima && u.scales == 2)
			min[1][i] = s.min[1];
	}
	spread(p, scale[0], g, count, rows, PANEL_SCALE);
	spread(p, addend, g, count, rows, PANEL_ADDEND);
	if (u.scales == 2)
		spread(p, scale[1], g, count, rows, PANEL_SECOND);
	if (u.minima)
		spread(p, min[0], g, count, rows, panel_min(u.scales));
	if (u.minima && u.scales == 2)
		spread(p, min[1], g, count, rows, panel_min(u.scales) + 1);
}

/* Asks for a row's next group: what tiles_ahead() asked for lies in the second cache or, by now, in the third, and rows are too many streams for the
 * hardware to look ahead (AVX-512, Q8_0, other work on the machine: filling takes a fiftieth of the time, a fifteenth without). */
INLINE void prefetch_group(const uint8_t *next, size_t bytes)
{
	for (size_t line = 0; line < bytes; line += 64)
		__builtin_prefetch(next + line, 0, 3);
}

/* Rows [r, r + 32) of w, the last one again for those past r1. */
INLINE void fill_panel(struct unpacker u, enum acts_kind kind, struct panel *p, const struct matrix *w, size_t r, size_t r1)
{
	uint8_t rest[16][GROUP_BLOCKS * BLOCK_BYTES_MOST];

	for (size_t rows = 0; rows < KERNELS_ROWS; rows += 16)
		for (size_t g = 0; g * 16 < p->blocks; g++) {
			const uint8_t *group[16];
			size_t left = w->row_bytes - g * u.bytes;

			for (size_t i = 0; i < 16; i++) {
				size_t row = r + rows + i < r1 ? r + rows + i : r1 - 1;

				group[i] = (const uint8_t *)w->data + row * w->row_bytes + g * u.bytes;
				prefetch_group(group[i] + u.bytes, u.bytes);
				if (left < u.bytes) {
					memset(rest[i], 0, sizeof rest[i]);
					group[i] = memcpy(rest[i], group[i], left);
				}
			}
			fill_group(u, kind, p, group, g, rows);
		}
}

/* ---- going along it ---- */

/* What is known of a panel when its kernel is compiled. */
struct tile_shape {
	int columns, width;     /* that are computed; of the tile of activations they lie in */
	int planes, words, scales, minima;      /* planes: of the activations; with two, are they even and odd words? */
};

typedef i32x16 tile_sums[TILE_COLUMNS][TILE_VECTORS];

INLINE f32x16 tile_setf(const int32_t *x)
{
	float f;

	memcpy(&f, x, sizeof f);
	return vf_set1(f);
}

/* Integer sums of quads runs of four codes, from quad q0 of the block on; start[column]: where those begin that undo the panel's bias. */
INLINE void tile_integers(struct tile_shape t, i32x16 (*s)[TILE_VECTORS], const uint8_t *w, const int32_t *x, int q0, int quads, const int32_t *start)
{
	int biased = tile_bias(t.scales, t.minima, t.words);

	if (t.planes == 2 && !t.words) {
		UNROLL
		for (int c = 0; c < t.columns; c++)
			UNROLL
			for (int v = 0; v < TILE_VECTORS; v++)
				s[c][v] = vi_zero();
		tile_dot(s, w + q0 * 4 * KERNELS_ROWS, x + q0 * t.width, quads, t.columns, t.width, t.scales, t.words);
		x += 8 * t.width;
	}
	UNROLL
	for (int c = 0; c < t.columns; c++)
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++) {
			i32x16 from = biased ? vi_set1(start[c]) : t.planes == 1 ? vi_set1(MAGIC) : vi_zero();

			s[c][v] = t.planes == 1 || t.words ? from : vi_add(from, vi_sub(vi_shl(s[c][v], 8), s[c][v]));
		}
	tile_dot(s, w + q0 * 4 * KERNELS_ROWS, x + q0 * t.width, quads, t.columns, t.width, t.scales, t.words);
}

/* Asks for the activations of the block that comes TILE_AHEAD blocks later: they come from the third cache or from memory, and the kernel reads them too
 * slowly for the hardware to look far enough ahead (AVX-512, k = 8192, 512 columns: 0.72 of the peak, 0.55 without). Blocks begin anywhere in a line:
 * with 15 words more none of the last ones is left out. */
enum { TILE_AHEAD = 8 };

INLINE void tile_prefetch(struct tile_shape t, const int32_t *x, const int32_t *apart)
{
	int near = (8 * t.planes + FIELDS) * t.width, far = t.scales == 2 || t.minima ? APART * t.width : 0;

	UNROLL
	for (int i = 0; i < near + 15; i += 16)
		__builtin_prefetch(x + TILE_AHEAD * near + i, 0, 2);
	UNROLL
	for (int i = 0; i < far; i += 16)
		__builtin_prefetch(apart + TILE_AHEAD * far + i, 0, 2);
}

/* acc += one block; apart: what of its activations lies apart */
INLINE void tile_block(struct tile_shape t, f32x16 (*acc)[TILE_VECTORS], const uint8_t *w, const int32_t *x, const int32_t *apart)
{
	const float *field = (const float *)(w + panel_codes(t.words));
	const int32_t *near = x + 8 * t.planes * t.width;
	tile_sums s;
	f32x16 sum[TILE_COLUMNS][TILE_VECTORS];

	tile_integers(t, s, w, x, 0, t.scales == 2 ? 4 : 8, t.scales == 2 ? apart + APART_BIAS_FIRST * t.width : near + FIELD_BIAS * t.width);
	UNROLL
	for (int v = 0; v < TILE_VECTORS; v++) {
		f32x16 scale = vf_load(field + PANEL_SCALE * KERNELS_ROWS + 16 * v), addend = vf_load(field + PANEL_ADDEND * KERNELS_ROWS + 16 * v);

		UNROLL
		for (int c = 0; c < t.columns; c++)
			sum[c][v] = vf_fma(scale, t.planes == 1 ? vi_as_float(s[c][v]) : vi_to_float(s[c][v]), addend);
	}
	if (t.scales == 2) {
		tile_integers(t, s, w, x, 4, 4, apart + APART_BIAS_SECOND * t.width);
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++) {
			f32x16 scale = vf_load(field + PANEL_SECOND * KERNELS_ROWS + 16 * v);

			UNROLL
			for (int c = 0; c < t.columns; c++)
				sum[c][v] = vf_fma(scale, t.planes == 1 ? vf_sub(vi_as_float(s[c][v]), vf_set1(MAGIC_FLOAT)) : vi_to_float(s[c][v]), sum[c][v]);
		}
	}
	for (int m = 0; m < (t.minima ? t.scales : 0); m++) {
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++) {
			f32x16 min = vf_load(field + (panel_min(t.scales) + m) * KERNELS_ROWS + 16 * v);

			UNROLL
			for (int c = 0; c < t.columns; c++)
				sum[c][v] = vf_fma(min, tile_setf(apart + (t.scales == 2 ? APART_XSUM_FIRST + m : APART_XSUM) * t.width + c), sum[c][v]);
		}
	}
	UNROLL
	for (int c = 0; c < t.columns; c++)
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++)
			acc[c][v] = vf_fma(tile_setf(near + FIELD_DX * t.width + c), sum[c][v], acc[c][v]);
}

/* Columns, and vectors of rows, that go along a strip before the next strip: those of the tile, or a registerful (see tile()). */
enum { STRIP_COLUMNS = TILE_STRIP ? ACTS_COLUMNS : TILE_COLUMNS, STRIP_VECTORS = TILE_STRIP ? KERNELS_ROWS / 16 : TILE_VECTORS };

typedef f32x16 tile_floats[STRIP_COLUMNS][STRIP_VECTORS];

INLINE size_t tile_panel_block(struct tile_shape t)
{
	return panel_block(t.words, t.scales, t.minima);
}

static inline size_t tile_words(struct tile_shape t)
{
	return acts_block_words(t.planes == 2 ? ACTS_Q16 : ACTS_Q8, (size_t)t.width);
}

/* Part [b0, b1) of residue u's blocks, for a registerful of columns, the first of them column c of *stack, and of rows, from vector v0 of it. *stack has the
 * sums of the part before and takes those of this one; those of a whole residue are added up with the ones they meet in the closing tree. */
INLINE void tile_strip(struct tile_shape t, tile_floats *stack, int c0, int v0, int u, const uint8_t *w, const int32_t *x, const int32_t *apart,
	size_t b0, size_t b1, size_t blocks)
{
	int ahead = !TILE_STRIP || (c0 == 0 && v0 == 0);
	f32x16 acc[TILE_COLUMNS][TILE_VECTORS];

	w += b0 * tile_panel_block(t) + (size_t)v0 * 64;
	x += b0 * tile_words(t) + (size_t)c0;
	apart += b0 * APART * (size_t)t.width + (size_t)c0;
	UNROLL
	for (int c = 0; c < t.columns; c++)
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++)
			acc[c][v] = b0 ? (*stack)[c0 + c][v0 + v] : vf_zero();
	for (size_t b = b0; b < b1; b++, w += tile_panel_block(t), x += tile_words(t), apart += APART * t.width) {
		if (ahead)
			tile_prefetch(t, x, apart);
		tile_block(t, acc, w, x, apart);
	}
	for (int odd = b1 == blocks ? u : 0; odd & 1; odd >>= 1) {
		stack--;
		UNROLL
		for (int c = 0; c < t.columns; c++)
			UNROLL
			for (int v = 0; v < TILE_VECTORS; v++)
				acc[c][v] = vf_add((*stack)[c0 + c][v0 + v], acc[c][v]);
	}
	UNROLL
	for (int c = 0; c < t.columns; c++)
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++)
			(*stack)[c0 + c][v0 + v] = acc[c][v];
}

/* A chunk of the tile of activations that begins at column c: the accumulators of its residues, one after the other, on a stack where the closing tree
 * adds them up as they come. Where there are few registers, all columns and rows of the tile go along a strip of blocks before the next, as the codes and
 * activations of a strip stay in the first cache; where there are many, a registerful of columns and rows goes along all of the chunk. */
INLINE void tile(struct tile_shape t, struct tiled *d, const struct panel *p, const struct acts *x, size_t c)
{
	int count = 16 / d->chunks, columns = TILE_STRIP ? t.width : t.columns, rows = KERNELS_ROWS / 16;
	const unsigned char *residue = residues + d->chunk * count;
	size_t place = p->first[*residue];

	for (int turn = 0; turn < t.width / columns * (rows / STRIP_VECTORS); turn++) {
		int at = turn / (rows / STRIP_VECTORS) * columns, v0 = turn % (rows / STRIP_VECTORS) * STRIP_VECTORS, depth = 0;
		const uint8_t *w = p->data + place * tile_panel_block(t) + (size_t)v0 * 64;
		const int32_t *near = acts_tile(x, c) + place * tile_words(t) + at, *apart = acts_apart(x, c) + place * APART * (size_t)t.width + at;
		tile_floats stack[5];

		open_tile(d, STRIP_VECTORS, c + (size_t)at, (size_t)columns, d->r + (size_t)v0 * 16);
		for (int u = 0; u < count; u++) {
			size_t blocks = residue_count(p->blocks, residue[u]), b = 0, end;

			tiles_ahead(d);
			do {
				end = TILE_STRIP && b + TILE_STRIP < blocks ? b + TILE_STRIP : blocks;
				for (int i = 0; i < columns; i += t.columns)
					for (int v = 0; v < STRIP_VECTORS; v += TILE_VECTORS)
						tile_strip(t, &stack[depth], i, v, u, w, near, apart, b, end, blocks);
				b = end;
			} while (b < blocks);
			w += blocks * tile_panel_block(t);
			near += blocks * tile_words(t);
			apart += blocks * APART * (size_t)t.width;
			depth = __builtin_popcount((unsigned)u + 1);
		}
		close_tile(d, stack[0][0], STRIP_VECTORS, c + (size_t)at, (size_t)columns, d->r + (size_t)v0 * 16);
	}
}

/* A chunk of the slab's columns. */
INLINE void panel_columns(struct tile_shape t, struct tiled *d, const struct panel *p, const struct acts *x)
{
	size_t end = x->n - d->c < SLAB ? x->n : d->c + SLAB;

	for (size_t c = d->c; c < end; c += ACTS_COLUMNS) {
		t.columns = ACTS_STEP;
		switch (tile_width(c, x->n)) {
		case ACTS_COLUMNS: t.columns = t.scales == 2 ? TILE_HALVES : TILE_COLUMNS, t.width = ACTS_COLUMNS, tile(t, d, p, x, c); break;
		case ACTS_STEP: t.width = ACTS_STEP, tile(t, d, p, x, c); break;
		default: t.width = 2 * ACTS_STEP, tile(t, d, p, x, c); break;
		}
	}
}

/* The kernels that panels of all formats share. */
typedef void panel_kernel(struct tiled *d, const struct panel *p, const struct acts *x);

#define PANEL_KERNEL(name, ...) \
	static void name(struct tiled *d, const struct panel *p, const struct acts *x) \
	{ \
		panel_columns((struct tile_shape){ __VA_ARGS__ }, d, p, x); \
	}
PANEL_KERNEL(panel_plain, .planes = 1, .scales = 1)
PANEL_KERNEL(panel_minima, .planes = 1, .scales = 1, .minima = 1)
PANEL_KERNEL(panel_halves, .planes = 1, .scales = 2)
PANEL_KERNEL(panel_halves_minima, .planes = 1, .scales = 2, .minima = 1)
PANEL_KERNEL(panel_wide, .planes = 2, .words = TILE_WORDS, .scales = 1)
PANEL_KERNEL(panel_wide_minima, .planes = 2, .words = TILE_WORDS, .scales = 1, .minima = 1)
PANEL_KERNEL(panel_wide_halves, .planes = 2, .words = TILE_WORDS, .scales = 2)
PANEL_KERNEL(panel_wide_halves_minima, .planes = 2, .words = TILE_WORDS, .scales = 2, .minima = 1)
#undef PANEL_KERNEL

/* y = w · x for one format. */
INLINE void panel(struct unpacker u, const struct matrix *w, const struct acts *x, size_t r0, size_t r1, float *y, size_t stride, uint8_t *scratch)
{
	static panel_kernel *const kernels[2][4] = {
		{ panel_plain, panel_minima, panel_halves, panel_halves_minima },
		{ panel_wide, panel_wide_minima, panel_wide_halves, panel_wide_halves_minima },
	};
	panel_kernel *kernel = kernels[acts_tile_planes(x->kind) - 1][(u.scales - 1) * 2 + u.minima];
	struct panel p = { .data = scratch, .blocks = w->cols / 32, .words = acts_in_words(x->kind) };
	struct tiled d = { .y = y, .stride = stride, .n = x->n, .r1 = r1, .chunks = chunks_of(p.blocks, PANEL_CHUNK) };

	p.block = panel_block(p.words, u.scales, u.minima);
	d.waiting = (float *)(scratch + panel_bytes(w->cols));
	residue_places(p.blocks, p.first);
	for (d.r = r0; d.r < r1; d.r += KERNELS_ROWS) {
		fill_panel(u, x->kind, &p, w, d.r, r1);
		tiles_begin_ahead(&d, w, STRIP_COLUMNS);
		for (d.c = 0; d.c < x->n; d.c += SLAB)
			for (d.chunk = 0; d.chunk < d.chunks; d.chunk++)
				kernel(&d, &p, x);
	}
}

#endif
