/* neon_bytes: the bytes of neon.h, which includes this file: 64 codes in four registers, and the scales of sixteen
 * blocks. */
#ifndef NEON_BYTES_H
#define NEON_BYTES_H

static inline b64 vb_load(const void *p)
{
	const char *at = p;

	return vb_of(vb_16(at), vb_16(at + 16), vb_16(at + 32), vb_16(at + 48));
}

static inline void vb_store(void *p, b64 v) { memcpy(p, &v, sizeof v); }

static inline b64 vb_set1(uint8x16_t v) { return vb_of(v, v, v, v); }

EACH_2(vb_or, vb_of, b64, vorrq_u8)
EACH_2(vb_plus, vb_of, b64, vaddq_u8)
EACH_1(vb_as_int, vi_of, i32x16, b64, vreinterpretq_s32_u8)
EACH_1(vi_as_bytes, vb_of, b64, i32x16, vreinterpretq_u8_s32)

INLINE void vb_transpose_quarters(b64 v[4])
{
	int32x4_t t[4][4];

	UNROLL
	for (int i = 0; i < 4; i++) {
		i32x16 row = vb_as_int(v[i]);

		t[0][i] = row.a, t[1][i] = row.b, t[2][i] = row.c, t[3][i] = row.d;
	}
	UNROLL
	for (int i = 0; i < 4; i++)
		vi_transpose_4(t[i]);
	UNROLL
	for (int i = 0; i < 4; i++)
		v[i] = vi_as_bytes(vi_of(t[0][i], t[1][i], t[2][i], t[3][i]));
}

INLINE void vb_split_nibbles(b64 v, b64 *odd, b64 *even)
{
	b64 low = vb_low(v), high = vb_shr(v, 4, 15);

	*odd = vb_of(low.a, high.a, low.c, high.c);
	*even = vb_of(low.b, high.b, low.d, high.d);
}

INLINE void vb_transpose(b64 v[8])
{
	int32x4_t t[4][8];      /* the lanes of even, then of odd blocks from 0 on; the same from 8 on */

	UNROLL
	for (int i = 0; i < 8; i++) {
		i32x16 two = vb_as_int(v[i]);
		int32x4_t *even = t[i / 4 * 2] + i % 4, *odd = t[i / 4 * 2 + 1] + i % 4;

		even[0] = two.a, even[4] = two.b, odd[0] = two.c, odd[4] = two.d;
	}
	UNROLL
	for (int i = 0; i < 8; i++)
		vi_transpose_4(t[i / 2] + i % 2 * 4);
	UNROLL
	for (int i = 0; i < 8; i++)
		v[i] = vi_as_bytes(vi_of(t[0][i], t[1][i], t[2][i], t[3][i]));
}

static inline b64 vb_add(b64 v, int n) { return vb_plus(v, vb_set1(vdupq_n_u8((uint8_t)n))); }

INLINE uint64_t four_u16s(const uint8_t *p, size_t step)
{
	uint16_t u[4];

	UNROLL
	for (int i = 0; i < 4; i++)
		memcpy(&u[i], p + (size_t)i * step, sizeof u[i]);
	return u[0] | (uint64_t)u[1] << 16 | (uint64_t)u[2] << 32 | (uint64_t)u[3] << 48;
}

/* Shifted right by n (left where negative), bits outside of mask cleared. */
static inline uint8x16_t vb_shr_16(uint8x16_t v, int n, int mask)
{
	return vandq_u8(n ? vshlq_u8(v, vdupq_n_s8((int8_t)-n)) : v, vdupq_n_u8((uint8_t)mask));
}

static inline b64 vb_shr(b64 v, int n, int mask)
{
	return vb_of(vb_shr_16(v.a, n, mask), vb_shr_16(v.b, n, mask), vb_shr_16(v.c, n, mask),
	             vb_shr_16(v.d, n, mask));
}

/* One where v · power mod 256 is above 85, and one more where it is above 170. */
static inline uint8x16_t vb_digits_16(uint8x16_t v, uint8x16_t power)
{
	v = vmulq_u8(v, power);
	return vsubq_u8(vdupq_n_u8(0), vaddq_u8(vcgtq_u8(v, vdupq_n_u8(85)), vcgtq_u8(v, vdupq_n_u8(170))));
}

static inline b64 vb_digits(b64 v, const uint8_t powers[64])
{
	b64 p;

	/* Otherwise the powers are constants to the compiler, and LLVM 16 overwrites a register that holds one (LLVM 14
	 * and 19 do not). */
	OPAQUE(powers);
	p = vb_load(powers);
	return vb_of(vb_digits_16(v.a, p.a), vb_digits_16(v.b, p.b), vb_digits_16(v.c, p.c), vb_digits_16(v.d, p.d));
}

static inline b64 vb_lookup(const int8_t table[16], b64 v)
{
	uint8x16_t t = vb_16(table);

	return vb_of(vqtbl1q_u8(t, v.a), vqtbl1q_u8(t, v.b), vqtbl1q_u8(t, v.c), vqtbl1q_u8(t, v.d));
}

static inline b64 vb_four(const uint8_t *p, size_t step)
{
	return vb_of(vb_16(p), vb_16(p + step), vb_16(p + 2 * step), vb_16(p + 3 * step));
}

static inline b64 vb_alternate(const uint8_t *p, int second) { return vb_four(p + 16 * second, 32); }

static inline b64 vb_join(const void *p, const void *q)
{
	return vb_of(vb_16(p), vb_16((const char *)p + 16), vb_16(q), vb_16((const char *)q + 16));
}

static inline b64 vb_nibbles(const void *p, const void *q)
{
	const uint8x16_t low = vdupq_n_u8(15);
	uint8x16_t a = vb_16(p), b = vb_16(q);

	return vb_of(vandq_u8(a, low), vshrq_n_u8(a, 4), vandq_u8(b, low), vshrq_n_u8(b, 4));
}

static inline b64 vb_nibble_groups(const void *p)
{
	b64 v = vb_nibbles(p, (const char *)p + 16);
	uint64x2_t a = vreinterpretq_u64_u8(v.a), b = vreinterpretq_u64_u8(v.b), c = vreinterpretq_u64_u8(v.c),
	        d = vreinterpretq_u64_u8(v.d);

	return vb_of(vreinterpretq_u8_u64(vzip1q_u64(a, b)), vreinterpretq_u8_u64(vzip2q_u64(a, b)),
	             vreinterpretq_u8_u64(vzip1q_u64(c, d)), vreinterpretq_u8_u64(vzip2q_u64(c, d)));
}

static inline b64 vb_fields(const void *p, int a, int b, int mask)
{
	uint8x16_t x = vb_16(p), y = vb_16((const char *)p + 16);

	return vb_of(vb_shr_16(x, a, mask), vb_shr_16(y, a, mask), vb_shr_16(x, b, mask), vb_shr_16(y, b, mask));
}

static inline b16 vb_two(uint64_t a, uint64_t b) { return vcombine_u8(vcreate_u8(a), vcreate_u8(b)); }

static inline void vi_indices(uint16_t to[16], const void *low, const void *high, const struct upper_bits *u)
{
	uint8x16_t eight = vcombine_u8(vld1_u8(high), vdup_n_u8(0));

	for (int i = 0; i < 2; i++) {
		uint16x8_t v = vreinterpretq_u16_u8(vqtbl1q_u8(eight, vb_16(u->from[8 * i])));

		v = vandq_u16(vmulq_u16(v, vld1q_u16(u->times + 8 * i)), vdupq_n_u16((uint16_t)u->mask));
		vst1q_u16(to + 8 * i, vorrq_u16(v, vmovl_u8(vld1_u8((const uint8_t *)low + 8 * i))));
	}
}

static inline b16 vb_two_rows(const uint64_t *const row[2])
{
	return vcombine_u8(vcreate_u8(*row[0]), vcreate_u8(*row[1]));
}

static inline b64 vb_long_rows(const uint64_t *const row[8])
{
	return vb_of(vb_two_rows(row), vb_two_rows(row + 2), vb_two_rows(row + 4), vb_two_rows(row + 6));
}

static inline b16 vb_four_rows(const uint32_t *const row[4])
{
	return vb_two(*row[0] | (uint64_t)*row[1] << 32, *row[2] | (uint64_t)*row[3] << 32);
}

static inline b64 vb_short_rows(const uint32_t *const row[16])
{
	return vb_of(vb_four_rows(row), vb_four_rows(row + 4), vb_four_rows(row + 8), vb_four_rows(row + 12));
}

static inline b16 vb_zip(uint64_t a, uint64_t b) { return vzip1q_u8(vb_two(a, 0), vb_two(b, 0)); }

/* All ones where the bit is set, bit 0 for the first byte: bits of low for eight, of high for the others. */
static inline uint8x16_t vb_mask_16(uint8_t low, uint8_t high)
{
	const uint8x16_t bit = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));

	return vtstq_u8(vcombine_u8(vdup_n_u8(low), vdup_n_u8(high)), bit);
}

/* value where the bit is set: bits of p for the first 32, of q for the others. */
static inline uint8x16_t vb_bits_16(const void *p, int value)
{
	const uint8_t *bits = p;

	return vandq_u8(vb_mask_16(bits[0], bits[1]), vdupq_n_u8((uint8_t)value));
}

/* -byte where the bit is set */
static inline uint8x16_t vb_negate_16(uint8x16_t v, uint64_t bits)
{
	uint8x16_t mask = vb_mask_16((uint8_t)bits, (uint8_t)(bits >> 8));

	return vsubq_u8(veorq_u8(v, mask), mask);
}

static inline b64 vb_negate(b64 v, const void *p)
{
	uint64_t bits;

	memcpy(&bits, p, sizeof bits);
	return vb_of(vb_negate_16(v.a, bits), vb_negate_16(v.b, bits >> 16), vb_negate_16(v.c, bits >> 32),
	             vb_negate_16(v.d, bits >> 48));
}

/* Bytes i and i + 1 of eight, each eight times. */
static inline uint8x16_t vb_spread_16(const uint8_t *p) { return vcombine_u8(vdup_n_u8(p[0]), vdup_n_u8(p[1])); }

static inline b64 vb_spread(const void *p)
{
	const uint8_t *at = p;

	return vb_of(vb_spread_16(at), vb_spread_16(at + 2), vb_spread_16(at + 4), vb_spread_16(at + 6));
}

static inline b64 vb_widened(const void *p, const void *q)
{
	uint8x16_t x = vb_16(p), y = vb_16(q);

	return vb_of(vreinterpretq_u8_u16(vmovl_u8(vget_low_u8(x))), vreinterpretq_u8_u16(vmovl_high_u8(x)),
	             vreinterpretq_u8_u16(vmovl_u8(vget_low_u8(y))), vreinterpretq_u8_u16(vmovl_high_u8(y)));
}

/* The upper seven bits of 16 uint16. */
static inline uint8x16_t vb_uppers_16(const void *p)
{
	uint16x8_t x = vreinterpretq_u16_u8(vb_16(p)), y = vreinterpretq_u16_u8(vb_16((const char *)p + 16));

	return vcombine_u8(vmovn_u16(vshrq_n_u16(x, 9)), vmovn_u16(vshrq_n_u16(y, 9)));
}

static inline b64 vb_uppers(const void *p, const void *q)
{
	return vb_of(vb_uppers_16(p), vb_uppers_16((const char *)p + 32), vb_uppers_16(q),
	             vb_uppers_16((const char *)q + 32));
}

static inline b64 vb_bits(const void *p, const void *q, int value)
{
	return vb_of(vb_bits_16(p, value), vb_bits_16((const char *)p + 2, value), vb_bits_16(q, value),
	             vb_bits_16((const char *)q + 2, value));
}

/* ---- scales of sixteen blocks, in lane order (lanes.h) ---- */

/* Few instructions load into a lane. */
static inline f32x16 vf_f16s(const uint8_t *p, size_t step) { return vf_f16s_by_fours(p, step); }

static inline f32x16 vf_two_f16s(const void *p, const void *q)
{
	uint16_t a, b;

	memcpy(&a, p, 2), memcpy(&b, q, 2);
	return vf_sixteen_f16s(vreinterpretq_u8_u16(vdupq_n_u16(a)), vreinterpretq_u8_u16(vdupq_n_u16(b)));
}

static inline void vf_two_pairs(const void *p, const void *q, f32x16 *first, f32x16 *second)
{
	*first = vf_two_f16s(p, q);
	*second = vf_two_f16s((const char *)p + 2, (const char *)q + 2);
}

static inline i32x16 vi_signed_bytes(uint8x8_t a, uint8x8_t b)
{
	int16x8_t x = vmovl_s8(vreinterpret_s8_u8(a)), y = vmovl_s8(vreinterpret_s8_u8(b));

	return vi_of(vmovl_s16(vget_low_s16(x)), vmovl_high_s16(x), vmovl_s16(vget_low_s16(y)), vmovl_high_s16(y));
}

static inline f32x16 vf_signed_bytes(uint8x8_t a, uint8x8_t b) { return vi_to_float(vi_signed_bytes(a, b)); }

static inline f32x16 vf_load_i8(const int8_t *p)
{
	return vf_signed_bytes(vld1_u8((const uint8_t *)p), vld1_u8((const uint8_t *)p + 8));
}

/* The six-bit scales and minima of a super-block of Q4_K or Q5_K (lib/gguf/blocks.h): eight bytes of scales, in lane
 * order, and eight of minima. Four bytes more are read. */
static inline uint8x16_t vb_six_bits(const uint8_t *p)
{
	const uint8x16_t low = vb_two(0x0b0903010a080200, 0x0b0907050a080604),
	        high = vb_two(0x0301ffff0200ffff, 0x0705ffff0604ffff);
	const uint8x16_t mask = vb_two(0x0f0f3f3f0f0f3f3f, 0x0f0f3f3f0f0f3f3f);
	const int8x16_t shift = vreinterpretq_s8_u8(vb_two(0, 0xfcfc0000fcfc0000));
	uint8x16_t v = vb_16(p), above = vandq_u8(vshrq_n_u8(vqtbl1q_u8(v, high), 2), vdupq_n_u8(0x30));

	return vorrq_u8(vandq_u8(vshlq_u8(vqtbl1q_u8(v, low), shift), mask), above);
}

static inline void vf_six_bits(const uint8_t *p, const uint8_t *q, f32x16 *scale, f32x16 *min)
{
	uint8x16_t a = vb_six_bits(p), b = vb_six_bits(q);

	*scale = vf_signed_bytes(vget_low_u8(a), vget_low_u8(b));
	*min = vf_signed_bytes(vget_high_u8(a), vget_high_u8(b));
}

static inline b64 vb_twice(const void *p, const void *q)
{
	uint8x16_t x = vb_16(p), y = vb_16(q);

	return vb_of(x, x, y, y);
}

/* Bytes 4i of sixteen, or those n further, as int32. */
static inline int32x4_t vi_pairs_4(uint8x16_t v, int n)
{
	const int32x4_t from = { -256, -252, -248, -244 };

	return vreinterpretq_s32_u8(vqtbl1q_u8(v, vreinterpretq_u8_s32(vaddq_s32(from, vdupq_n_s32(n)))));
}

static inline void vi_pairs(b64 v, i32x16 *first, i32x16 *second)
{
	*first = vi_of(vi_pairs_4(v.a, 0), vi_pairs_4(v.b, 2), vi_pairs_4(v.c, 0), vi_pairs_4(v.d, 2));
	*second = vi_of(vi_pairs_4(v.a, 1), vi_pairs_4(v.b, 3), vi_pairs_4(v.c, 1), vi_pairs_4(v.d, 3));
}

static inline void vi_byte_pairs(b16 p, b16 q, i32x16 *first, i32x16 *second)
{
	const uint8x16_t split = vb_two(0x0e0a06020c080400, 0x0f0b07030d090501);
	uint8x16_t a = vqtbl1q_u8(p, split), b = vqtbl1q_u8(q, split);

	*first = vi_signed_bytes(vget_low_u8(a), vget_low_u8(b));
	*second = vi_signed_bytes(vget_high_u8(a), vget_high_u8(b));
}

/* Half of an unsigned float of four bits of exponent, whose bias is 7, and three of mantissa; 0x7f is zero. With x, the
 * exponent above the mantissa's bits but at least 1, the mantissa is the rest, with the bit that normal floats omit. */
static inline f32x16 half_ue4m3(i32x16 bytes)
{
	i32x16 x = vi_max(vi_and(bytes, vi_set1(0x78)), vi_set1(8));
	f32x16 mantissa = vi_to_float(vi_sub(vi_and(bytes, vi_set1(127)), vi_sub(x, vi_set1(8))));
	f32x16 power = vi_as_float(vi_add(vi_shl(x, 20), vi_set1((127 - 11) << 23)));

	return vf_select_less(vi_to_float(bytes), vf_set1(127), vf_mul(mantissa, power), vf_zero());
}

static inline void vf_ue4m3_pairs(b16 p, b16 q, f32x16 *first, f32x16 *second)
{
	i32x16 a, b;

	vi_byte_pairs(p, q, &a, &b);
	*first = half_ue4m3(a);
	*second = half_ue4m3(b);
}

#endif
