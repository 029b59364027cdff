/* bf16_tiles: products of BF16 weights with many columns by x86's AMX. A tdpbf16ps adds both chains of a span to a
 * lane's sums (kernels.h), of sixteen rows of weights and a tile of columns. */
#include <immintrin.h>
#include <string.h>

#include "bf16_panel.h"
#include "product.h"

/* Two tiles of columns at a time, because loading the weights takes as long as the products. */
enum { TILES_TWO = 2 * ACTS_COLUMNS };

/* Registers 0 to 3 have the sums, for each tile of columns and each half of the panel's rows; 4 and 5 the columns; 6
 * and 7 the weights of each half. Intrinsics take these numbers as literals. */
enum { TILE_X = 4, TILE_W = 6, TILE_REGISTERS = 8 };

/* The shapes of the registers, as ldtilecfg takes them. */
struct tile_shapes {
	uint8_t palette, start, zero[14];
	uint16_t bytes[16];     /* of a row */
	uint8_t rows[16];
};

_Static_assert(sizeof(struct tile_shapes) == 64, "as in Intel's manual");

/* Compilers do not know that tiles and their shapes are loaded from memory, and stored to it. */
#define TILES_ORDERED(p) __asm__ volatile("" : : "r"(p) : "memory")

/* For a tile of `first` columns and one of `second`. */
static void load_shapes(size_t first, size_t second)
{
	struct tile_shapes s = { .palette = 1 };

	for (int i = 0; i < TILE_REGISTERS; i++) {
		s.bytes[i] = 64;
		s.rows[i] = (uint8_t)(i >= TILE_W ? 16 : i < 2 || i == TILE_X ? first : second);
	}
	TILES_ORDERED(&s);
	_tile_loadconfig(&s);
}

/* Rows [r, r + 32) as int32[16 lanes in visiting order][spans][16 pairs of both chains][32 rows]. */
static void fill(struct panel *p, const struct matrix *w, size_t r, size_t r1)
{
	size_t spans = bf16_spans(w->cols), bytes = w->cols * sizeof(uint16_t);

	for (size_t rows = 0; rows < KERNELS_ROWS; rows += 16) {
		const uint8_t *row[16];

		for (size_t i = 0; i < 16; i++)
			row[i] = (const uint8_t *)w->data + size_min(r + rows + i, r1 - 1) * w->row_bytes;
		for (size_t s = 0; s < spans; s++)
			for (size_t j = 0; j < BF16_CHAIN; j++) {
				i32x16 first[16], second[16];

				bf16_transposed(row, bytes, s * BF16_SPAN + j, first);
				bf16_transposed(row, bytes, s * BF16_SPAN + j + BF16_CHAIN, second);
				for (size_t lane = 0; lane < 16; lane++) {
					int32_t *to = (int32_t *)p->data + residues[lane] * bf16_tiles_lane(w->cols)
						+ (s * BF16_SPAN + 2 * j) * KERNELS_ROWS + rows;
					i32x16 odd, even;

					bf16_chains(first[lane], second[lane], &odd, &even);
					vi_store(to, odd);
					vi_store(to + KERNELS_ROWS, even);
				}
			}
	}
	TILES_ORDERED(p->data);
}

/* sum[columns][32 rows] of a lane, for the tile of `width` columns at x and that of `width2` at x2, if not NULL. */
INLINE void multiply_lane(size_t spans, const int32_t *w, const int32_t *x, size_t width, const int32_t *x2,
                          size_t width2, float (*sum)[KERNELS_ROWS])
{
	const int step = KERNELS_ROWS * 4;

	_tile_zero(0);
	_tile_zero(1);
	_tile_zero(2);
	_tile_zero(3);
	for (; spans; spans--, w += 16 * KERNELS_ROWS, x += width * 16) {
		_tile_loadd(4, x, 64);
		_tile_loadd(6, w, step);
		_tile_loadd(7, w + 16, step);
		_tile_dpbf16ps(0, 4, 6);
		_tile_dpbf16ps(1, 4, 7);
		if (x2) {
			_tile_loadd(5, x2, 64);
			_tile_dpbf16ps(2, 5, 6);
			_tile_dpbf16ps(3, 5, 7);
			x2 += width2 * 16;
		}
	}
	_tile_stored(0, sum[0], step);
	_tile_stored(1, sum[0] + 16, step);
	if (x2) {
		_tile_stored(2, sum[width], step);
		_tile_stored(3, sum[width] + 16, step);
	}
	TILES_ORDERED(sum);
}

/* sum += other, columns [0, n) */
INLINE void add_columns(float (*sum)[KERNELS_ROWS], float (*other)[KERNELS_ROWS], size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t v = 0; v < KERNELS_ROWS; v += 16)
			vf_store(&sum[i][v], vf_add(vf_load(&sum[i][v]), vf_load(&other[i][v])));
}

/* Stores the sums of a tile. */
static void close_columns(const struct tiling *d, float (*sum)[KERNELS_ROWS], size_t c, size_t width)
{
	struct tile t = { c, width, d->r, KERNELS_ROWS / 16 };
	f32x16 v[ACTS_COLUMNS * KERNELS_ROWS / 16];

	for (size_t i = 0; i < width * KERNELS_ROWS / 16; i++)
		v[i] = vf_load(sum[0] + 16 * i);
	close_tile(d, v, t);
}

/* A panel_kernel. It also multiplies the next tile, and does nothing when it is called for that one. */
static void multiply(struct tiling *d, const struct panel *p, size_t c)
{
	const struct acts *x = d->job->x;
	size_t next = c + ACTS_COLUMNS, end = size_min(d->c + SLAB, x->n), spans = bf16_spans(x->k);
	size_t width = tile_width(c, x->n), width2 = next < end ? tile_width(next, x->n) : 0;
	size_t count = 16 / (size_t)d->splits, from = (size_t)d->split * count, lane = bf16_tiles_lane(x->k);
	size_t column = bf16_tile_ints(x->kind, x->k);
	const int32_t *w = (const int32_t *)p->data + from * lane;
	const int32_t *x1 = (const int32_t *)x->data + c * column + from * spans * width * 16;
	const int32_t *x2 = (const int32_t *)x->data + next * column + from * spans * width2 * 16;
	float sums[5][TILES_TWO][KERNELS_ROWS], (*stack)[TILES_TWO][KERNELS_ROWS] = sums;
	int usual = width == ACTS_COLUMNS && (width2 == ACTS_COLUMNS || !width2);

	if ((c - d->c) % TILES_TWO)
		return;
	if (!usual)
		load_shapes(width, width2 ? width2 : ACTS_COLUMNS);
	open_tile(d, (struct tile){ c, width, d->r, KERNELS_ROWS / 16 });
	if (width2)
		open_tile(d, (struct tile){ next, width2, d->r, KERNELS_ROWS / 16 });
	for (size_t u = 0; u < count; u++, stack++) {
		tiles_ahead(d);
		tiles_ahead(d);
		multiply_lane(spans, w + u * lane, x1 + u * spans * width * 16, width,
		              width2 ? x2 + u * spans * width2 * 16 : NULL, width2, *stack);
		for (size_t odd = u; odd & 1; odd >>= 1, stack--)
			add_columns(stack[-1], stack[0], width + width2);
	}
	if (!usual)
		load_shapes(ACTS_COLUMNS, ACTS_COLUMNS);
	close_columns(d, sums[0], c, width);
	if (width2)
		close_columns(d, sums[0] + width, next, width2);
}

void product_bf16_tiles(const struct product_job *j)
{
	size_t k = j->w->cols;
	struct panel p = { .data = j->scratch };
	struct tiling d = { .job = j, .splits = splits_of(k, TILES_SPLIT),
		.pending = (float *)(p.data + bf16_panel_bytes(k)) };

	load_shapes(ACTS_COLUMNS, ACTS_COLUMNS);
	run_panels(&d, &p, fill, multiply, ACTS_COLUMNS);
	_tile_release();
}
