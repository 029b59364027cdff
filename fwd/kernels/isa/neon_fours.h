/* neon_fours: tile_dot() of neon.c and dotprod.c: four products in each lane. */
#ifndef NEON_FOURS_H
#define NEON_FOURS_H

INLINE void tile_pair(i32x16 *fours, i32x16 *next) { }

INLINE void tile_dot(struct tile_shape t, i32x16 (*s)[TILE_VECTORS], const uint8_t *w, const int32_t *x, int quads,
                     const int32_t *start)
{
	UNROLL
	for (int k = 0; k < quads; k++) {
		b64 codes = vb_load(w + k * 128);

		UNROLL
		for (int c = 0; c < t.columns; c++) {
			uint8x16_t q = vreinterpretq_u8_s32(vdupq_n_s32(x[k * t.width + c]));

			s[c][0] = vd_more(s[c][0], codes, vb_of(q, q, q, q));
		}
	}
}

#endif
