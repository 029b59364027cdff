/* bf16_panel: sizes of the panels of BF16 weights, and how their rows are read. A panel is laid out like a tile of
 * activations (bf16.h), with 32 rows in place of the columns. */
#ifndef BF16_PANEL_H
#define BF16_PANEL_H

#include <string.h>

#include "bf16.h"
#include "tiles.h"

/* int32s of a lane's pairs in a panel, and of the panel. */
static inline size_t bf16_lane(int dot, size_t k)
{
	return bf16_vectors(k) * bf16_parts(dot) * KERNELS_ROWS + FLOAT_GAP;
}

/* The same for BF16_TILES. */
static inline size_t bf16_tiles_lane(size_t k)
{
	return bf16_spans(k) * BF16_SPAN * KERNELS_ROWS + FLOAT_GAP;
}

static inline size_t bf16_panel_bytes(size_t k)
{
	return 16 * size_max(bf16_lane(0, k), bf16_tiles_lane(k)) * sizeof(int32_t);
}

enum { TILES_SPLIT = 8192 };    /* elements of a row in one part, for products of tiles */

static inline size_t bf16_scratch(size_t k)
{
	return bf16_panel_bytes(k) + size_max(pending_bytes(splits_of(k, FLOAT_SPLIT)),
	                                      pending_bytes(splits_of(k, TILES_SPLIT)));
}

/* Vector v of sixteen rows of `bytes` bytes, transposed; zeros where the rows have ended. */
INLINE void bf16_transposed(const uint8_t *const row[16], size_t bytes, size_t v, i32x16 t[16])
{
	size_t at = v * BF16_VECTOR * sizeof(uint16_t);

	if (at + sizeof(t[0]) > bytes)
		for (int i = 0; i < 16; i++) {
			uint8_t rest[64] = { 0 };

			if (at < bytes)
				memcpy(rest, row[i] + at, bytes - at);
			t[i] = vi_bf16_pairs(rest);
		}
	else {
		UNROLL
		for (int i = 0; i < 16; i++) {
			__builtin_prefetch(row[i] + at + FLOAT_FILL_AHEAD, 0, 3);
			t[i] = vi_bf16_pairs(row[i] + at);
		}
	}
	vi_transpose(t);
}

#endif
