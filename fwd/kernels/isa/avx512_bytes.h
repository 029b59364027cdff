/* avx512_bytes: the bytes of avx512.h, which includes this file: 64 codes in a register, two blocks of 32; the scales
 * of sixteen blocks. */
#ifndef AVX512_BYTES_H
#define AVX512_BYTES_H

static inline b64 vb_load(const void *p) { return _mm512_loadu_si512(p); }
static inline void vb_store(void *p, b64 v) { _mm512_storeu_si512(p, v); }

/* Shuffles across quarters compete with multiplications for ports, so this takes one, not two (Zen 4: four columns of
 * Q4_K take 0.97 of the time). */
INLINE void vb_split_nibbles(b64 v, b64 *odd, b64 *even)
{
	const __mmask32 high = 0xff00ff00;      /* the words of the second and fourth quarters */
	b64 w = _mm512_shuffle_i32x4(v, v, 0xb1);

	*odd = vb_low(_mm512_mask_srli_epi16(v, high, w, 4));
	*even = vb_low(_mm512_mask_srli_epi16(w, high, v, 4));
}

INLINE void vb_transpose(b64 v[8])
{
	vb_transpose_quarters(v);
	vb_transpose_quarters(v + 4);
	UNROLL
	for (int i = 0; i < 4; i++) {   /* in quarters: the halves of even blocks, then those of odd blocks */
		b64 low = v[i], high = v[i + 4];

		v[i] = _mm512_shuffle_i32x4(low, high, 0x88);
		v[i + 4] = _mm512_shuffle_i32x4(low, high, 0xdd);
	}
}

static inline b64 vb_add_where(b64 v, uint64_t bits, int n)
{
	return _mm512_mask_add_epi8(v, bits, v, _mm512_set1_epi8((char)n));
}

static inline b64 vb_quarter_fields(const void *p, int a, int mask)
{
	const __m512i left = _mm512_setr_epi64(-a, -a, -a - 2, -a - 2, -a - 4, -a - 4, -a - 6, -a - 6);
	__m512i v = _mm512_rolv_epi64(_mm512_broadcast_i32x4(vb_16(p)), left);

	return _mm512_and_si512(v, _mm512_set1_epi8((char)mask));
}

INLINE void vb_zip_halves(b64 *v, b64 *w)
{
	b64 even = _mm512_unpacklo_epi64(*v, *w);

	*w = _mm512_unpackhi_epi64(*v, *w);
	*v = even;
}

static inline b64 vb_of(b16 a, b16 b, b16 c, b16 d)
{
	__m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1),
	        high = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);

	return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

static inline b64 vb_long_rows(const uint64_t *const row[8])
{
	return _mm512_inserti64x4(_mm512_castsi256_si512(x86_long_rows(row)), x86_long_rows(row + 4), 1);
}

static inline b64 vb_short_rows(const uint32_t *const row[16])
{
	return _mm512_inserti64x4(_mm512_castsi256_si512(x86_short_rows(row)), x86_short_rows(row + 8), 1);
}

static inline b64 vb_negate(b64 v, const void *bits)
{
	uint64_t mask;

	memcpy(&mask, bits, sizeof mask);
	return _mm512_mask_sub_epi8(v, mask, _mm512_setzero_si512(), v);
}

static inline b64 vb_spread(const void *p)
{
	const __m512i from = _mm512_setr_epi64(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303,
	                                       0x0404040404040404, 0x0505050505050505, 0x0606060606060606,
	                                       0x0707070707070707);

	return _mm512_shuffle_epi8(_mm512_broadcastq_epi64(_mm_loadl_epi64(p)), from);
}

static inline b64 vb_widened(const void *p, const void *q) { return _mm512_cvtepu8_epi16(x86_two_16(p, q)); }

static inline b64 vb_uppers(const void *p, const void *q)
{
	__m256i a = _mm512_cvtepi16_epi8(_mm512_srli_epi16(_mm512_loadu_si512(p), 9)),
	        b = _mm512_cvtepi16_epi8(_mm512_srli_epi16(_mm512_loadu_si512(q), 9));

	return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

static inline b64 vb_lookup(const int8_t table[16], b64 v)
{
	return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128((const void *)table)), v);
}

static inline b64 vb_four(const uint8_t *p, size_t step)
{
	return _mm512_inserti64x4(_mm512_castsi256_si512(x86_two_16(p, p + step)),
	                          x86_two_16(p + 2 * step, p + 3 * step), 1);
}

static inline b64 vb_alternate(const uint8_t *p, int second)
{
	__m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512(p + 64);

	return second ? _mm512_shuffle_i32x4(a, b, 0xdd) : _mm512_shuffle_i32x4(a, b, 0x88);
}

static inline b64 vb_join(const void *p, const void *q)
{
	return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(p)), _mm256_loadu_si256(q), 1);
}

static inline b64 vb_nibbles(const void *p, const void *q)
{
	const __m512i shifts = _mm512_setr_epi64(0, 0, 4, 4, 0, 0, 4, 4);
	__m512i a = _mm512_broadcast_i32x4(_mm_loadu_si128(p)),
	        v = _mm512_mask_broadcast_i32x4(a, 0xff00, _mm_loadu_si128(q));

	return _mm512_and_si512(_mm512_srlv_epi64(v, shifts), _mm512_set1_epi8(15));
}

static inline b64 vb_nibble_groups(const void *p)
{
	const __m512i twice = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3);
	const __m512i shifts = _mm512_setr_epi64(0, 4, 0, 4, 0, 4, 0, 4);
	__m512i v = _mm512_permutexvar_epi64(twice, _mm512_castsi256_si512(_mm256_loadu_si256(p)));

	return _mm512_and_si512(_mm512_srlv_epi64(v, shifts), _mm512_set1_epi8(15));
}

static inline b64 vb_fields(const void *p, int a, int b, int mask)
{
	const __m512i left = _mm512_setr_epi64(-a, -a, -a, -a, -b, -b, -b, -b);
	__m512i v = _mm512_broadcast_i64x4(_mm256_loadu_si256(p));

	return _mm512_and_si512(_mm512_rolv_epi64(v, left), _mm512_set1_epi8((char)mask));
}

static inline b64 vb_bits(const void *p, const void *q, int value)
{
	uint32_t low, high;

	memcpy(&low, p, sizeof low), memcpy(&high, q, sizeof high);
	return _mm512_maskz_set1_epi8(low | (uint64_t)high << 32, (char)value);
}

static inline f32x16 vf_load_bf16(const void *p)
{
	return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(p)), 16));
}

/* One of the upper two bits of the exponent is set from 2^-63 on. */
static inline i32x16 vi_bf16_pairs(const void *p)
{
	__m512i v = _mm512_loadu_si512(p);

	return _mm512_maskz_mov_epi16(_mm512_test_epi16_mask(v, _mm512_set1_epi16(0x6000)), v);
}

/* ---- scales of sixteen blocks, in lane order (lanes.h) ---- */

static inline f32x16 vf_sixteen_f16s(b16 a, b16 b)
{
	return _mm512_cvtph_ps(_mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1));
}

/* The f16 of eight blocks of 18 bytes: block b's is word 9·b mod 32. Those of the last four are in the second line. */
INLINE __m512i vb_eight_of_18(const uint8_t *p)
{
	const __mmask32 second = 1u << 4 | 1u << 13 | 1u << 22 | 1u << 31;

	return _mm512_mask_loadu_epi16(_mm512_loadu_si512(p), second, p + 64);
}

INLINE f32x16 vf_f16s_of_18(const uint8_t *p)
{
	const __m128i bytes = _mm_loadu_si128((const __m128i *)lane_block);
	const __m512i block = _mm512_cvtepu8_epi16(_mm256_castsi128_si256(bytes));
	const __m512i word = _mm512_mullo_epi16(_mm512_and_si512(block, _mm512_set1_epi16(7)), _mm512_set1_epi16(9));
	const __m512i of_second = _mm512_slli_epi16(_mm512_and_si512(block, _mm512_set1_epi16(8)), 2);
	const __m512i from = _mm512_or_si512(_mm512_and_si512(word, _mm512_set1_epi16(31)), of_second);
	__m512i v = _mm512_permutex2var_epi16(vb_eight_of_18(p), from, vb_eight_of_18(p + 8 * 18));

	return _mm512_cvtph_ps(_mm512_castsi512_si256(v));
}

/* General registers are free while vectors are multiplied: one column of Q4_1 takes 0.85 of the time, of Q8_0 0.9.
 * Blocks of 18 bytes are read by lines instead, as four lines hold all sixteen f16 (four columns of Q4_0 take 0.96). */
INLINE f32x16 vf_f16s(const uint8_t *p, size_t step)
{
	return step == 18 ? vf_f16s_of_18(p) : vf_f16s_by_fours(p, step);
}

static inline f32x16 vf_two_f16s(const void *p, const void *q)
{
	short a, b;

	memcpy(&a, p, 2), memcpy(&b, q, 2);
	return vf_sixteen_f16s(_mm_set1_epi16(a), _mm_set1_epi16(b));
}

static inline void vf_two_pairs(const void *p, const void *q, f32x16 *first, f32x16 *second)
{
	const __m512i lanes = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2);
	uint32_t a, b;

	memcpy(&a, p, 4), memcpy(&b, q, 4);
	__m512 v = _mm512_castps128_ps512(_mm_cvtph_ps(_mm_cvtsi64_si128((long long)(a | (uint64_t)b << 32))));
	*first = _mm512_permutexvar_ps(lanes, v);
	*second = _mm512_permutexvar_ps(_mm512_add_epi32(lanes, _mm512_set1_epi32(1)), v);
}

static inline f32x16 vf_load_i8(const int8_t *p)
{
	return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p)));
}

static inline void vf_six_bits(const uint8_t *p, const uint8_t *q, f32x16 *scale, f32x16 *min)
{
	__m256i v = _mm256_permute4x64_epi64(x86_six_bits(p, q), 0xd8);

	*scale = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm256_castsi256_si128(v)));
	*min = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm256_extracti128_si256(v, 1)));
}

static inline b64 vb_twice(const void *p, const void *q)
{
	return vb_of(vb_16(p), vb_16(p), vb_16(q), vb_16(q));
}

static inline void vi_pairs(b64 v, i32x16 *first, i32x16 *second)
{
	const __m512i even = _mm512_broadcast_i64x4(_mm256_setr_epi32(X86_PAIRS));

	*first = _mm512_shuffle_epi8(v, even);
	*second = _mm512_shuffle_epi8(v, _mm512_add_epi32(even, _mm512_set1_epi32(1)));
}

static inline void vi_byte_pairs(b16 p, b16 q, i32x16 *first, i32x16 *second)
{
	__m128i a = x86_byte_pairs(p), b = x86_byte_pairs(q);

	*first = _mm512_cvtepi8_epi32(_mm_unpacklo_epi64(a, b));
	*second = _mm512_cvtepi8_epi32(_mm_unpackhi_epi64(a, b));
}

#endif
