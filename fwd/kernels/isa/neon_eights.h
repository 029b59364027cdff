/* neon_eights: tile_dot() of i8mm.c: products of two rows and two columns, eight elements of each. */
#ifndef NEON_EIGHTS_H
#define NEON_EIGHTS_H

/* Eight codes of a row side by side: rows 0 to 7, then rows 8 to 15. */
INLINE void tile_pair(i32x16 *fours, i32x16 *next)
{
	i32x16 x = *fours, y = *next;

	*fours = vi_of(vzip1q_s32(x.a, y.a), vzip2q_s32(x.a, y.a), vzip1q_s32(x.b, y.b), vzip2q_s32(x.b, y.b));
	*next = vi_of(vzip1q_s32(x.c, y.c), vzip2q_s32(x.c, y.c), vzip1q_s32(x.d, y.d), vzip2q_s32(x.d, y.d));
}

/* The sums of two columns, with two rows of each in a register, and back. */
INLINE void tile_join(int32x4_t s[8], const i32x16 *x, const i32x16 *y)
{
	s[0] = vzip1q_s32(x->a, y->a), s[1] = vzip2q_s32(x->a, y->a);
	s[2] = vzip1q_s32(x->b, y->b), s[3] = vzip2q_s32(x->b, y->b);
	s[4] = vzip1q_s32(x->c, y->c), s[5] = vzip2q_s32(x->c, y->c);
	s[6] = vzip1q_s32(x->d, y->d), s[7] = vzip2q_s32(x->d, y->d);
}

INLINE void tile_part(const int32x4_t s[8], i32x16 *x, i32x16 *y)
{
	*x = vi_of(vuzp1q_s32(s[0], s[1]), vuzp1q_s32(s[2], s[3]), vuzp1q_s32(s[4], s[5]), vuzp1q_s32(s[6], s[7]));
	*y = vi_of(vuzp2q_s32(s[0], s[1]), vuzp2q_s32(s[2], s[3]), vuzp2q_s32(s[4], s[5]), vuzp2q_s32(s[6], s[7]));
}

/* Columns two at a time: eight activations of one, then of the other. */
INLINE void tile_dot(struct tile_shape t, i32x16 (*s)[TILE_VECTORS], const uint8_t *w, const int32_t *x, int quads,
                     const int32_t *start)
{
	int32x4_t sum[TILE_COLUMNS / 2][8];

	UNROLL
	for (int c = 0; c < t.columns; c += 2)
		tile_join(sum[c / 2], &s[c][0], &s[c + 1][0]);
	UNROLL
	for (int k = 0; k < quads; k++) {
		b64 codes = vb_load(w + k * 128);
		const int32_t *first = x + k / 2 * 2 * t.width;

		UNROLL
		for (int c = 0; c < t.columns; c += 2) {
			int32x2_t low = vld1_s32(first + c), high = vld1_s32(first + t.width + c);
			int8x16_t q = vreinterpretq_s8_s32(vcombine_s32(vzip1_s32(low, high), vzip2_s32(low, high)));
			int32x4_t *at = sum[c / 2] + k % 2 * 4;

			at[0] = vmmlaq_s32(at[0], vreinterpretq_s8_u8(codes.a), q);
			at[1] = vmmlaq_s32(at[1], vreinterpretq_s8_u8(codes.b), q);
			at[2] = vmmlaq_s32(at[2], vreinterpretq_s8_u8(codes.c), q);
			at[3] = vmmlaq_s32(at[3], vreinterpretq_s8_u8(codes.d), q);
		}
	}
	UNROLL
	for (int c = 0; c < t.columns; c += 2)
		tile_part(sum[c / 2], &s[c][0], &s[c + 1][0]);
}

#endif
