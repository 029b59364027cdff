/* avx2_bytes: the bytes of avx2.h, which includes this file: 64 codes in two registers, two blocks of 32; the scales of
 * sixteen blocks. */
#ifndef AVX2_BYTES_H
#define AVX2_BYTES_H

INLINE void vb_transpose_quarters(b64 v[4])
{
	__m256i t[8];

	UNROLL
	for (int i = 0; i < 4; i++)
		t[i] = v[i].a, t[i + 4] = v[i].b;
	vi_transpose_4(t);
	vi_transpose_4(t + 4);
	UNROLL
	for (int i = 0; i < 4; i++)
		v[i] = vi_of(t[i], t[i + 4]);
}

INLINE void vb_split_nibbles(b64 v, b64 *odd, b64 *even)
{
	*odd = vb_low(v);
	*even = vb_shr(v, 4, 15);
	vi_zip_halves(&odd->a, &even->a);
	vi_zip_halves(&odd->b, &even->b);
}

INLINE void vb_transpose(b64 v[8])
{
	UNROLL
	for (int i = 0; i < 8; i += 4) {
		__m256i t[8];

		UNROLL
		for (int j = 0; j < 4; j++)
			t[j] = v[i + j].a, t[j + 4] = v[i + j].b;
		vi_transpose_8(t);
		UNROLL
		for (int j = 0; j < 4; j++)
			v[i + j] = vi_of(t[j], t[j + 4]);
	}
	UNROLL
	for (int j = 0; j < 4; j++) {
		b64 low = v[j], high = v[j + 4];

		v[j] = vi_of(low.a, high.a);
		v[j + 4] = vi_of(low.b, high.b);
	}
}

static inline __m256i vb_32(const void *p) { return _mm256_loadu_si256(p); }

static inline b64 vb_load(const void *p) { return vi_of(vb_32(p), vb_32((const char *)p + 32)); }

static inline void vb_store(void *p, b64 v) { vi_store(p, v); }

/* Shifted right by n (left where negative), bits outside of mask cleared. */
static inline __m256i vb_shr_32(__m256i v, int n, int mask)
{
	return _mm256_and_si256(n < 0 ? _mm256_slli_epi16(v, -n) : _mm256_srli_epi16(v, n),
	                        _mm256_set1_epi8((char)mask));
}

static inline b64 vb_of(b16 a, b16 b, b16 c, b16 d)
{
	return vi_of(_mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1),
	             _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1));
}

static inline b64 vb_lookup(const int8_t table[16], b64 v)
{
	__m256i t = _mm256_broadcastsi128_si256(vb_16(table));

	return vi_of(_mm256_shuffle_epi8(t, v.a), _mm256_shuffle_epi8(t, v.b));
}

static inline b64 vb_four(const uint8_t *p, size_t step)
{
	return vi_of(x86_two_16(p, p + step), x86_two_16(p + 2 * step, p + 3 * step));
}

static inline b64 vb_alternate(const uint8_t *p, int second) { return vb_four(p + 16 * second, 32); }

static inline b64 vb_join(const void *p, const void *q) { return vi_of(vb_32(p), vb_32(q)); }

/* The low nibbles of 16 bytes of p, the high ones, the same of q. */
static inline __m256i vb_nibbles_16(const void *p)
{
	__m256i twice = _mm256_broadcastsi128_si256(_mm_loadu_si128(p));

	return _mm256_and_si256(_mm256_srlv_epi32(twice, _mm256_setr_epi32(0, 0, 0, 0, 4, 4, 4, 4)),
	                        _mm256_set1_epi8(15));
}

static inline b64 vb_nibbles(const void *p, const void *q) { return vi_of(vb_nibbles_16(p), vb_nibbles_16(q)); }

static inline b64 vb_nibble_groups(const void *p)
{
	__m256i v = _mm256_permute4x64_epi64(vb_32(p), 0xd8);   /* eights 0 2 1 3 */
	__m256i low = vb_shr_32(v, 0, 15), high = vb_shr_32(v, 4, 15);

	return vi_of(_mm256_unpacklo_epi64(low, high), _mm256_unpackhi_epi64(low, high));
}

static inline b64 vb_fields(const void *p, int a, int b, int mask)
{
	__m256i v = vb_32(p);

	return vi_of(vb_shr_32(v, a, mask), vb_shr_32(v, b, mask));
}

static inline b64 vb_zip_eights(b64 v)
{
	return vi_of(_mm256_unpacklo_epi64(v.a, v.b), _mm256_unpackhi_epi64(v.a, v.b));
}

static inline b64 vb_long_rows(const uint64_t *const row[8])
{
	return vi_of(x86_long_rows(row), x86_long_rows(row + 4));
}

static inline b64 vb_short_rows(const uint32_t *const row[16])
{
	return vi_of(x86_short_rows(row), x86_short_rows(row + 8));
}

static inline void vb_swap_inner(b64 *v, b64 *w)
{
	__m256i inner = v->b;

	v->b = w->a;
	w->a = inner;
}

static inline __m256i vb_pair_eights_32(const char *p)
{
	__m256i v = _mm256_broadcastq_epi64(_mm_loadl_epi64((const void *)p));

	return _mm256_and_si256(_mm256_srlv_epi64(v, _mm256_setr_epi64x(0, 4, 2, 6)), _mm256_set1_epi8(3));
}

static inline b64 vb_pair_eights(const void *p)
{
	return vi_of(vb_pair_eights_32(p), vb_pair_eights_32((const char *)p + 8));
}

/* Each eight bytes are the same byte eight times: all ones where its bit is set, bit 0 for the first. */
static inline __m256i vb_masks(__m256i v)
{
	const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201);

	return _mm256_cmpeq_epi8(_mm256_and_si256(v, bit), bit);
}

static inline __m256i vb_mask_32(int32_t bits)
{
	const __m256i byte = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);

	return vb_masks(_mm256_shuffle_epi8(_mm256_set1_epi32(bits), byte));
}

/* blocks: in each 128 bits, the bits of four blocks. `value` where a bit of a block's byte number `eight` is set. */
static inline __m256i vb_eight_of_bits(__m256i blocks, int eight, int value)
{
	const __m256i first = _mm256_setr_epi64x(0, 0x0808080808080808, 0x0404040404040404, 0x0c0c0c0c0c0c0c0c);
	__m256i v = _mm256_shuffle_epi8(blocks, _mm256_add_epi8(first, _mm256_set1_epi8((char)eight)));

	return _mm256_and_si256(vb_masks(v), _mm256_set1_epi8((char)value));
}

static inline void vb_eights_of_bits(const void *p, int value, b64 codes[2])
{
	__m256i blocks = _mm256_broadcastsi128_si256(vb_16(p));

	UNROLL
	for (int i = 0; i < 2; i++)
		codes[i] = vi_of(vb_eight_of_bits(blocks, 2 * i, value), vb_eight_of_bits(blocks, 2 * i + 1, value));
}

/* nibbles: in each 128 bits, those of four bytes of a block, then of another. The codes of the first or the second two
 * of these bytes. A nibble holds two codes: the mask leaves one of them in its place, and the table moves it down. */
static inline __m256i vb_eight_of_pairs(__m256i nibbles, int second)
{
	const __m256i twice = _mm256_setr_epi64x(0x0303020201010000, 0x0b0b0a0a09090808,
	                                         0x0303020201010000, 0x0b0b0a0a09090808);
	const b16 code = _mm_setr_epi8(0, 1, 2, 3, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0);
	__m256i v = _mm256_shuffle_epi8(nibbles, _mm256_add_epi8(twice, _mm256_set1_epi8((char)(4 * second))));

	return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(code), _mm256_and_si256(v, _mm256_set1_epi16(0x0c03)));
}

static inline void vb_eights_of_pairs(const void *p, const void *q, b64 codes[2])
{
	__m256i blocks = _mm256_permute4x64_epi64(x86_two_16(p, q), 0xd8);      /* 0 2 1 3 */
	__m256i fours = _mm256_shuffle_epi32(blocks, 0xd8), high = _mm256_srli_epi16(fours, 4);
	__m256i nibbles[2] = { _mm256_unpacklo_epi8(fours, high), _mm256_unpackhi_epi8(fours, high) };

	UNROLL
	for (int i = 0; i < 2; i++)
		codes[i] = vi_of(vb_eight_of_pairs(nibbles[i], 0), vb_eight_of_pairs(nibbles[i], 1));
}

/* value where the bit is set: bits of p for the first 32, of q for the others. */
static inline b64 vb_bits(const void *p, const void *q, int value)
{
	__m256i all = _mm256_set1_epi8((char)value);
	int32_t low, high;

	memcpy(&low, p, sizeof low), memcpy(&high, q, sizeof high);
	return vi_of(_mm256_and_si256(vb_mask_32(low), all), _mm256_and_si256(vb_mask_32(high), all));
}

/* Bits of bytes from[i] of eights for v's eight bytes i. A multiplication shifts to the left: within 16 bits, one bit
 * of a byte goes to the top of the low byte, the next to the top of the high byte, which comes from the same byte
 * shifted right by one. */
static inline __m256i vb_negate_32(__m256i v, __m256i eights, __m256i from)
{
	const __m256i times = _mm256_set1_epi64x(0x0002000800200080);
	__m256i sign = _mm256_shuffle_epi8(eights, from);

	return _mm256_sign_epi8(v, _mm256_or_si256(_mm256_mullo_epi16(sign, times), _mm256_set1_epi8(1)));
}

static inline b64 vb_negate(b64 v, const void *bits)
{
	const __m256i from = _mm256_setr_epi64x(0x0800080008000800, 0x0901090109010901, 0x0a020a020a020a02,
	                                        0x0b030b030b030b03);
	__m256i eight = _mm256_broadcastq_epi64(_mm_loadl_epi64(bits));
	__m256i eights = _mm256_srlv_epi64(eight, _mm256_setr_epi64x(0, 1, 0, 1));

	return vi_of(vb_negate_32(v.a, eights, from),
	             vb_negate_32(v.b, eights, _mm256_add_epi8(from, _mm256_set1_epi8(4))));
}

/* p has four bytes b of each of four blocks. Returns four pairs: (b0, b2), (b0, b2) >> 1, (b1, b3), (b1, b3) >> 1;
 * pairs are shifted as 64 bits. */
static inline __m256i vb_blocks_zipped(const void *p)
{
	const __m256i blocks = _mm256_setr_epi32(0, 2, 0, 2, 1, 3, 1, 3);
	__m256 both = _mm256_castsi256_ps(_mm256_broadcastsi128_si256(vb_16(p)));
	__m256i v = _mm256_castps_si256(_mm256_permutevar_ps(both, blocks));

	return _mm256_srlv_epi64(v, _mm256_setr_epi64x(0, 1, 0, 1));
}

static inline b64 vb_negate_eights(b64 v, const void *bits, int vector)
{
	const __m256i from = _mm256_setr_epi64x(0x0800080008000800, 0x0c040c040c040c04, 0x0800080008000800,
	                                        0x0c040c040c040c04);
	__m256i blocks = vb_blocks_zipped(bits);

	return vi_of(vb_negate_32(v.a, blocks, _mm256_add_epi8(from, _mm256_set1_epi8((char)(2 * vector)))),
	             vb_negate_32(v.b, blocks, _mm256_add_epi8(from, _mm256_set1_epi8((char)(2 * vector + 1)))));
}

static inline b64 vb_spread_eights(const void *p, int vector)
{
	const __m256i from = _mm256_setr_epi64x(0, 0x0404040404040404, 0, 0x0404040404040404);
	__m256i v = vb_blocks_zipped(p);

	return vi_of(_mm256_shuffle_epi8(v, _mm256_add_epi8(from, _mm256_set1_epi8((char)(2 * vector)))),
	             _mm256_shuffle_epi8(v, _mm256_add_epi8(from, _mm256_set1_epi8((char)(2 * vector + 1)))));
}

static inline b64 vb_spread(const void *p)
{
	const __m256i from = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
	__m256i v = _mm256_broadcastq_epi64(_mm_loadl_epi64(p));

	return vi_of(_mm256_shuffle_epi8(v, from), _mm256_shuffle_epi8(v, _mm256_add_epi8(from, _mm256_set1_epi8(4))));
}

static inline b64 vb_widened(const void *p, const void *q)
{
	return vi_of(_mm256_cvtepu8_epi16(vb_16(p)), _mm256_cvtepu8_epi16(vb_16(q)));
}

static inline __m256i vb_uppers_32(const char *p)
{
	return _mm256_permute4x64_epi64(_mm256_packus_epi16(_mm256_srli_epi16(vb_32(p), 9),
	                                                    _mm256_srli_epi16(vb_32(p + 32), 9)), 0xd8);
}

static inline b64 vb_uppers(const void *p, const void *q) { return vi_of(vb_uppers_32(p), vb_uppers_32(q)); }

static inline f32x16 vf_load_bf16(const void *p)
{
	__m256i v = vb_32(p);
	__m256i a = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(v)),
	        b = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(v, 1));

	return vi_as_float(vi_of(_mm256_slli_epi32(a, 16), _mm256_slli_epi32(b, 16)));
}

/* One of the upper two bits of the exponent is set from 2^-63 on. */
static inline __m256i vi_bf16_pairs_8(__m256i v)
{
	__m256i upper = _mm256_and_si256(v, _mm256_set1_epi16(0x6000));

	return _mm256_andnot_si256(_mm256_cmpeq_epi16(upper, _mm256_setzero_si256()), v);
}

static inline i32x16 vi_bf16_pairs(const void *p)
{
	return vi_of(vi_bf16_pairs_8(vb_32(p)), vi_bf16_pairs_8(vb_32((const char *)p + 32)));
}

/* ---- scales of sixteen blocks, in lane order (lanes.h) ---- */

static inline f32x16 vf_sixteen_f16s(__m128i a, __m128i b) { return vf_of(_mm256_cvtph_ps(a), _mm256_cvtph_ps(b)); }

/* Replaces f16 i of v by that of a block: loads it together with what precedes it, so that it comes to lie there. */
#define F16_OF_BLOCK(v, p, step, block, i) _mm_blend_epi16(v, vb_16((p) + (step) * (block) - 2 * (i)), 1 << (i))

/* Of eight blocks, in lane order. All that is loaded lies in them. */
static inline __m128i vf_eight_f16s(const uint8_t *p, size_t step)
{
	__m128i v = F16_OF_BLOCK(vb_16(p), p, step, 2, 1);

	v = F16_OF_BLOCK(F16_OF_BLOCK(v, p, step, 4, 2), p, step, 6, 3);
	v = F16_OF_BLOCK(F16_OF_BLOCK(v, p, step, 1, 4), p, step, 3, 5);
	return F16_OF_BLOCK(F16_OF_BLOCK(v, p, step, 5, 6), p, step, 7, 7);
}

static inline f32x16 vf_f16s(const uint8_t *p, size_t step)
{
	return vf_sixteen_f16s(vf_eight_f16s(p, step), vf_eight_f16s(p + 8 * step, step));
}

static inline f32x16 vf_two_f16s(const void *p, const void *q)
{
	short a, b;

	memcpy(&a, p, 2), memcpy(&b, q, 2);
	return vf_sixteen_f16s(_mm_set1_epi16(a), _mm_set1_epi16(b));
}

static inline void vf_two_pairs(const void *p, const void *q, f32x16 *first, f32x16 *second)
{
	*first = vf_two_f16s(p, q);
	*second = vf_two_f16s((const char *)p + 2, (const char *)q + 2);
}

static inline i32x16 vi_signed_bytes(__m128i a, __m128i b)
{
	return vi_of(_mm256_cvtepi8_epi32(a), _mm256_cvtepi8_epi32(b));
}

static inline f32x16 vf_signed_bytes(__m128i a, __m128i b) { return vi_to_float(vi_signed_bytes(a, b)); }

static inline f32x16 vf_load_i8(const int8_t *p)
{
	return vf_signed_bytes(_mm_loadl_epi64((const __m128i *)p), _mm_loadl_epi64((const __m128i *)(p + 8)));
}

static inline void vf_six_bits(const uint8_t *p, const uint8_t *q, f32x16 *scale, f32x16 *min)
{
	__m256i v = x86_six_bits(p, q);
	__m128i a = _mm256_castsi256_si128(v), b = _mm256_extracti128_si256(v, 1);

	*scale = vf_signed_bytes(a, b);
	*min = vf_signed_bytes(_mm_srli_si128(a, 8), _mm_srli_si128(b, 8));
}

static inline b64 vb_twice(const void *p, const void *q)
{
	return vi_of(_mm256_broadcastsi128_si256(vb_16(p)), _mm256_broadcastsi128_si256(vb_16(q)));
}

static inline void vi_pairs(b64 v, i32x16 *first, i32x16 *second)
{
	const __m256i even = _mm256_setr_epi32(X86_PAIRS), odd = _mm256_add_epi8(even, _mm256_set1_epi32(1));

	*first = vi_of(_mm256_shuffle_epi8(v.a, even), _mm256_shuffle_epi8(v.b, even));
	*second = vi_of(_mm256_shuffle_epi8(v.a, odd), _mm256_shuffle_epi8(v.b, odd));
}

static inline void vi_byte_pairs(b16 p, b16 q, i32x16 *first, i32x16 *second)
{
	__m128i a = x86_byte_pairs(p), b = x86_byte_pairs(q);

	*first = vi_signed_bytes(a, b);
	*second = vi_signed_bytes(_mm_srli_si128(a, 8), _mm_srli_si128(b, 8));
}

#endif
