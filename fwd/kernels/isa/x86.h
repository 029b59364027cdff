/* x86: what avx2.h and avx512.h share. Before including it, each of them defines how an intrinsic, named without its
 * _mm256_ or _mm512_, is applied to the registers of a vector: EACH_SET to a scalar, EACH_1 to EACH_3 to as many
 * vectors, EACH_SHIFT to a vector and an int. */
#ifndef X86_H
#define X86_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

EACH_SET(vf_set1, f32x16, float, set1_ps)
EACH_2(vf_add, f32x16, add_ps)
EACH_2(vf_sub, f32x16, sub_ps)
EACH_2(vf_mul, f32x16, mul_ps)
EACH_2(vf_div, f32x16, div_ps)
EACH_2(vf_max, f32x16, max_ps)
EACH_2(vf_min, f32x16, min_ps)
EACH_3(vf_fma, f32x16, fmadd_ps)
EACH_3(vf_fms, f32x16, fmsub_ps)

EACH_SET(vi_set1, i32x16, int32_t, set1_epi32)
EACH_2(vi_add, i32x16, add_epi32)
EACH_2(vi_sub, i32x16, sub_epi32)
EACH_2(vi_max, i32x16, max_epi32)
EACH_SHIFT(vi_shl, i32x16, slli_epi32)
EACH_SHIFT(vi_shr, i32x16, srli_epi32)
EACH_2(vi_shr_each, i32x16, srlv_epi32)
EACH_1(vi_to_float, f32x16, i32x16, cvtepi32_ps)

EACH_SET(vb_set1, b64, char, set1_epi8)
EACH_2(vb_plus, b64, add_epi8)
EACH_SHIFT(vb_right, b64, srli_epi16)
EACH_SHIFT(vb_left, b64, slli_epi16)
static inline b64 vb_add(b64 v, int n) { return vb_plus(v, vb_set1((char)n)); }
static inline b64 vb_or(b64 v, b64 u) { return vi_or(v, u); }
static inline b64 vb_shr(b64 v, int n, int mask) { return vi_and(vb_right(v, n), vb_set1((char)mask)); }
static inline i32x16 vb_as_int(b64 v) { return v; }
static inline b64 vi_as_bytes(i32x16 v) { return v; }

EACH_2(vb_mul_i16, b64, mullo_epi16)
EACH_2(vb_mul_upper, b64, mulhi_epu16)
/* In int16. Of a byte in the upper half, the product modulo 2^16 is that of the byte modulo 256, in the same place; the
 * digit is what exceeds sixteen bits in three times that. */
static inline b64 vb_digits(b64 v, const uint8_t powers[64])
{
	const b64 upper = vi_set1((int)0xff00ff00), three = vi_set1(0x00030003), power = vb_load(powers);
	b64 even = vb_mul_upper(vb_mul_i16(vb_left(v, 8), power), three);
	b64 odd = vb_mul_upper(vb_mul_i16(vi_and(v, upper), power), three);

	return vi_or(even, vb_left(odd, 8));
}

static inline b16 vb_16(const void *p) { return _mm_loadu_si128(p); }
static inline __m256i x86_two(b16 a, b16 b) { return _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1); }
static inline __m256i x86_two_16(const void *p, const void *q) { return x86_two(vb_16(p), vb_16(q)); }
static inline b16 vb_two(uint64_t a, uint64_t b) { return _mm_set_epi64x((long long)b, (long long)a); }
static inline b16 vb_zip(uint64_t a, uint64_t b)
{
	return _mm_unpacklo_epi8(_mm_cvtsi64_si128((long long)a), _mm_cvtsi64_si128((long long)b));
}

/* movw replaces the low 16 bits of a register: a load and an OR in one. From C, compilers make two or three
 * instructions of it. The loads descend. */
INLINE uint64_t four_u16s(const uint8_t *p, size_t step)
{
	uint16_t last;
	uint64_t v;

	memcpy(&last, p + 3 * step, sizeof last);
	v = last;
	UNROLL
	for (int i = 2; i >= 0; i--) {
		v <<= 16;
		__asm__("movw %1, %w0" : "+r"(v) : "m"(*(const uint8_t (*)[2])(p + (size_t)i * step)));
	}
	return v;
}

INLINE void vi_indices(uint16_t to[16], const void *low, const void *high, const struct upper_bits *u)
{
	__m256i eight = _mm256_broadcastq_epi64(_mm_loadl_epi64(high));
	__m256i v = _mm256_shuffle_epi8(eight, _mm256_loadu_si256((const void *)u->from));

	v = _mm256_mullo_epi16(v, _mm256_loadu_si256((const void *)u->times));
	v = _mm256_and_si256(v, _mm256_set1_epi16((short)u->mask));
	_mm256_storeu_si256((void *)to, _mm256_or_si256(v, _mm256_cvtepu8_epi16(vb_16(low))));
}

static inline b16 x86_two_rows(const uint64_t *const row[2])
{
	__m128 first = _mm_castsi128_ps(_mm_loadl_epi64((const void *)row[0]));

	return _mm_castps_si128(_mm_loadh_pi(first, (const void *)row[1]));
}

static inline __m256i x86_long_rows(const uint64_t *const row[4])
{
	return x86_two(x86_two_rows(row), x86_two_rows(row + 2));
}

/* Replaces lanes of v, those of mask, by a row of a codebook: loads it together with `before` bytes that precede it in
 * the grids, so that it comes to lie there. One instruction, where inserting an element takes two. */
#define X86_ROW(v, row, before, mask) \
	_mm_blend_epi32(v, vb_16((const char *)(row) - (before)), mask)

static inline __m128i x86_four_rows(const uint32_t *const row[4])
{
	__m128i v = _mm_cvtsi32_si128((int)*row[0]);

	return X86_ROW(X86_ROW(X86_ROW(v, row[1], 4, 2), row[2], 8, 4), row[3], 12, 8);
}

static inline __m256i x86_short_rows(const uint32_t *const row[8])
{
	return x86_two(x86_four_rows(row), x86_four_rows(row + 4));
}

/* Eight uint32 at p, `step` bytes apart. Nothing is read after the last, as it may be the end of the mapping. */
INLINE __m256i x86_words(const void *p, size_t step)
{
	const char *at = p;
	__m256 low, high;

	if (step == 4)
		return _mm256_loadu_si256(p);
	low = _mm256_loadu_ps((const float *)(const void *)(at - 4));
	high = _mm256_loadu_ps((const float *)(const void *)(at + 28));
	return _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(low, high, 0xdd)), 0xd8);
}

/* The first byte of eight pairs as int32s in lane order; the upper bytes become zero. */
#define X86_PAIRS -256, -252, -248, -244, -254, -250, -246, -242

/* Eight pairs of bytes: the first of each in lane order, then the second. */
static inline __m128i x86_byte_pairs(b16 v)
{
	return _mm_shuffle_epi8(v, _mm_setr_epi8(0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15));
}

/* Shifted left by seven bits these floats are f16, but for the exponent's bias. */
static inline __m128i x86_ue4m3_bits(b16 v)
{
	const __m128i most = _mm_set1_epi8(0x7f);

	return _mm_andnot_si128(_mm_cmpeq_epi8(v, most), _mm_and_si128(v, most));
}

static inline f32x16 x86_half_ue4m3(__m128i p, __m128i q, __m128i from)
{
	return vf_mul(vf_sixteen_f16s(_mm_slli_epi16(_mm_shuffle_epi8(p, from), 7),
	                              _mm_slli_epi16(_mm_shuffle_epi8(q, from), 7)), vf_set1(0x1p7f));
}

static inline void vf_ue4m3_pairs(b16 p, b16 q, f32x16 *first, f32x16 *second)
{
	const __m128i from = _mm_setr_epi16(X86_PAIRS);
	__m128i a = x86_ue4m3_bits(p), b = x86_ue4m3_bits(q);

	*first = x86_half_ue4m3(a, b, from);
	*second = x86_half_ue4m3(a, b, _mm_add_epi16(from, _mm_set1_epi16(1)));
}

/* Unpacks the six-bit scales and minima of two super-blocks of Q4_K or Q5_K (lib/gguf/blocks.h), at p and q. Returns
 * the eight scales of p in lane order, its eight minima, then those of q. For blocks 0 to 3 they are the low six bits
 * of bytes 0 to 3 (scales) and 4 to 7 (minima). For blocks 4 to 7 the low four bits are the nibbles of bytes 8 to 11
 * and the upper two are the top bits of bytes 0 to 7. Reads 16 bytes at each, four more than there are. */
static inline __m256i x86_six_bits(const uint8_t *p, const uint8_t *q)
{
	const __m256i low = _mm256_broadcastsi128_si256(
	        _mm_setr_epi8(0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 8, 10, 5, 7, 9, 11));
	const __m256i high = _mm256_broadcastsi128_si256(
	        _mm_setr_epi8(-1, -1, 0, 2, -1, -1, 1, 3, -1, -1, 4, 6, -1, -1, 5, 7));
	const __m256i six_or_low = _mm256_setr_epi32(0x0f0f3f3f, 0x0f0f3f3f, 0x00003f3f, 0x00003f3f, 0x0f0f3f3f,
	                                             0x0f0f3f3f, 0x00003f3f, 0x00003f3f);
	const __m256i or_high = _mm256_setr_epi32(0, 0, 0x0f0f0000, 0x0f0f0000, 0, 0, 0x0f0f0000, 0x0f0f0000);
	__m256i v = x86_two_16(p, q), at = _mm256_shuffle_epi8(v, low);
	__m256i above = _mm256_and_si256(_mm256_srli_epi16(_mm256_shuffle_epi8(v, high), 2), _mm256_set1_epi8(0x30));

	at = _mm256_or_si256(_mm256_and_si256(at, six_or_low), _mm256_and_si256(_mm256_srli_epi16(at, 4), or_high));
	return _mm256_or_si256(at, above);
}

/* The rest of the closing tree, w being lanes 0 to 7, each already added to the lane 8 places on. */
static inline float x86_tree(__m256 w)
{
	__m128 x = _mm_add_ps(_mm256_castps256_ps128(w), _mm256_extractf128_ps(w, 1));

	x = _mm_add_ps(x, _mm_movehl_ps(x, x));
	return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}

/* The same, where w holds lanes 0 2 4 6, then 1 3 5 7, each already added to the lane 8 places on. */
static inline float x86_close(__m256 w)
{
	w = _mm256_add_ps(w, _mm256_permute_ps(w, 0x4e));
	w = _mm256_add_ps(w, _mm256_movehdup_ps(w));
	return _mm_cvtss_f32(_mm_add_ss(_mm256_castps256_ps128(w), _mm256_extractf128_ps(w, 1)));
}

/* The same for eight. */
INLINE void x86_close_eight(__m256 w[8], float y[8])
{
	UNROLL
	for (int i = 0; i < 4; i++)
		w[i] = _mm256_add_ps(_mm256_shuffle_ps(w[2 * i], w[2 * i + 1], 0x44),
		                     _mm256_shuffle_ps(w[2 * i], w[2 * i + 1], 0xee));
	UNROLL
	for (int i = 0; i < 2; i++)
		w[i] = _mm256_add_ps(_mm256_shuffle_ps(w[2 * i], w[2 * i + 1], 0x88),
		                     _mm256_shuffle_ps(w[2 * i], w[2 * i + 1], 0xdd));
	_mm256_storeu_ps(y, _mm256_add_ps(_mm256_permute2f128_ps(w[0], w[1], 0x20),
	                                  _mm256_permute2f128_ps(w[0], w[1], 0x31)));
}

INLINE void tile_pair(i32x16 *fours, i32x16 *next) { }

#endif
