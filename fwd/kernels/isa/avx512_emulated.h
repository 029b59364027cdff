/* avx512_emulated: the intrinsics of AVX-512 that the kernels use, in those of AVX2, to run the backend avx512 on CPUs
 * that have no AVX-512 (isa/avx512_emulated.c). Slow. avx512_test compares each with the real one where there is one.
 *
 * A register is a struct of two halves, so that an intrinsic that is missing here does not compile. What the real ones
 * leave undefined is filled with numbers that spoil a result. A load that has to be aligned aborts where it is not. */
#ifndef AVX512_EMULATED_H
#define AVX512_EMULATED_H

#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct emulated_i {
	__m256i low, high;
};

struct emulated_f {
	__m256 low, high;
};

#define IN_REGISTER(v)
#define PREFETCH_AFTER(v, level, p)
#define DOT_PAIRS(sum, w, x) _mm512_dpbf16_ps(sum, w, x)
#define __m512i struct emulated_i
#define __m512 struct emulated_f

#define EMULATED(type) static inline __attribute__((always_inline)) type
#define EMULATED_LANES(n) for (int i = 0; i < (n); i++)

/* A register's lanes. */
union emulated {
	__m512i v;
	__m512 f;
	uint8_t u8[64];
	uint16_t u16[32];
	uint32_t u32[16];
	uint64_t u64[8];
};

#define _mm512_castps_si512 emulated_castps_si512
EMULATED(__m512i) emulated_castps_si512(__m512 a)
{
	return (__m512i){ _mm256_castps_si256(a.low), _mm256_castps_si256(a.high) };
}

#define _mm512_castsi512_ps emulated_castsi512_ps
EMULATED(__m512) emulated_castsi512_ps(__m512i a)
{
	return (__m512){ _mm256_castsi256_ps(a.low), _mm256_castsi256_ps(a.high) };
}

/* ---- what AVX2 does the same way, half by half ---- */

#define EMULATED_1(op, to, from) \
	EMULATED(to) emulated_##op(from a) { return (to){ _mm256_##op(a.low), _mm256_##op(a.high) }; }
#define EMULATED_2(op, type) \
	EMULATED(type) emulated_##op(type a, type b) \
	{ \
		return (type){ _mm256_##op(a.low, b.low), _mm256_##op(a.high, b.high) }; \
	}
#define EMULATED_3(op, type) \
	EMULATED(type) emulated_##op(type a, type b, type c) \
	{ \
		return (type){ _mm256_##op(a.low, b.low, c.low), _mm256_##op(a.high, b.high, c.high) }; \
	}
#define EMULATED_SHIFT(op) \
	EMULATED(__m512i) emulated_##op(__m512i a, unsigned n) \
	{ \
		return (__m512i){ _mm256_##op(a.low, (int)n), _mm256_##op(a.high, (int)n) }; \
	}
#define EMULATED_SET(op, to, from) \
	EMULATED(to) emulated_##op(from x) { return (to){ _mm256_##op(x), _mm256_##op(x) }; }

#define _mm512_set1_ps emulated_set1_ps
EMULATED_SET(set1_ps, __m512, float)
#define _mm512_set1_epi8 emulated_set1_epi8
EMULATED_SET(set1_epi8, __m512i, char)
#define _mm512_set1_epi16 emulated_set1_epi16
EMULATED_SET(set1_epi16, __m512i, short)
#define _mm512_set1_epi32 emulated_set1_epi32
EMULATED_SET(set1_epi32, __m512i, int)

#define _mm512_add_ps emulated_add_ps
EMULATED_2(add_ps, __m512)
#define _mm512_sub_ps emulated_sub_ps
EMULATED_2(sub_ps, __m512)
#define _mm512_mul_ps emulated_mul_ps
EMULATED_2(mul_ps, __m512)
#define _mm512_div_ps emulated_div_ps
EMULATED_2(div_ps, __m512)
#define _mm512_max_ps emulated_max_ps
EMULATED_2(max_ps, __m512)
#define _mm512_min_ps emulated_min_ps
EMULATED_2(min_ps, __m512)
#define _mm512_fmadd_ps emulated_fmadd_ps
EMULATED_3(fmadd_ps, __m512)
#define _mm512_fmsub_ps emulated_fmsub_ps
EMULATED_3(fmsub_ps, __m512)
#define _mm512_cvtepi32_ps emulated_cvtepi32_ps
EMULATED_1(cvtepi32_ps, __m512, __m512i)

#define _mm512_add_epi8 emulated_add_epi8
EMULATED_2(add_epi8, __m512i)
#define _mm512_shuffle_epi8 emulated_shuffle_epi8
EMULATED_2(shuffle_epi8, __m512i)
#define _mm512_mullo_epi16 emulated_mullo_epi16
EMULATED_2(mullo_epi16, __m512i)
#define _mm512_mulhi_epu16 emulated_mulhi_epu16
EMULATED_2(mulhi_epu16, __m512i)
#define _mm512_madd_epi16 emulated_madd_epi16
EMULATED_2(madd_epi16, __m512i)
#define _mm512_add_epi32 emulated_add_epi32
EMULATED_2(add_epi32, __m512i)
#define _mm512_sub_epi32 emulated_sub_epi32
EMULATED_2(sub_epi32, __m512i)
#define _mm512_max_epi32 emulated_max_epi32
EMULATED_2(max_epi32, __m512i)
#define _mm512_packs_epi32 emulated_packs_epi32
EMULATED_2(packs_epi32, __m512i)
#define _mm512_unpacklo_epi32 emulated_unpacklo_epi32
EMULATED_2(unpacklo_epi32, __m512i)
#define _mm512_unpackhi_epi32 emulated_unpackhi_epi32
EMULATED_2(unpackhi_epi32, __m512i)
#define _mm512_unpacklo_epi64 emulated_unpacklo_epi64
EMULATED_2(unpacklo_epi64, __m512i)
#define _mm512_unpackhi_epi64 emulated_unpackhi_epi64
EMULATED_2(unpackhi_epi64, __m512i)
#define _mm512_srlv_epi64 emulated_srlv_epi64
EMULATED_2(srlv_epi64, __m512i)
#define _mm512_srlv_epi32 emulated_srlv_epi32
EMULATED_2(srlv_epi32, __m512i)

/* Some compilers have these as macros. */
#undef _mm512_slli_epi16
#define _mm512_slli_epi16 emulated_slli_epi16
EMULATED_SHIFT(slli_epi16)
#undef _mm512_srli_epi16
#define _mm512_srli_epi16 emulated_srli_epi16
EMULATED_SHIFT(srli_epi16)
#undef _mm512_mask_srli_epi16
#define _mm512_mask_srli_epi16 emulated_mask_srli_epi16
EMULATED(__m512i) emulated_mask_srli_epi16(__m512i other, __mmask32 mask, __m512i a, unsigned n)
{
	union emulated x = { other }, shifted = { emulated_srli_epi16(a, n) };

	EMULATED_LANES(32)
		if (mask >> i & 1)
			x.u16[i] = shifted.u16[i];
	return x.v;
}

#undef _mm512_slli_epi32
#define _mm512_slli_epi32 emulated_slli_epi32
EMULATED_SHIFT(slli_epi32)
#undef _mm512_srai_epi32
#define _mm512_srai_epi32 emulated_srai_epi32
EMULATED_SHIFT(srai_epi32)
#undef _mm512_srli_epi32
#define _mm512_srli_epi32 emulated_srli_epi32
EMULATED_SHIFT(srli_epi32)

/* ---- what it does under other names ---- */

#define _mm512_setzero_si512 emulated_setzero_si512
EMULATED(__m512i) emulated_setzero_si512(void)
{
	return (__m512i){ _mm256_setzero_si256(), _mm256_setzero_si256() };
}

#define EMULATED_BITS(op) \
	EMULATED(__m512i) emulated_##op##_si512(__m512i a, __m512i b) \
	{ \
		return (__m512i){ _mm256_##op##_si256(a.low, b.low), _mm256_##op##_si256(a.high, b.high) }; \
	}
#define _mm512_and_si512 emulated_and_si512
EMULATED_BITS(and)
#define _mm512_or_si512 emulated_or_si512
EMULATED_BITS(or)
#define _mm512_xor_si512 emulated_xor_si512
EMULATED_BITS(xor)

#define _mm512_rolv_epi64 emulated_rolv_epi64
EMULATED(__m256i) emulated_rolv_half(__m256i a, __m256i n)
{
	__m256i left = _mm256_and_si256(n, _mm256_set1_epi64x(63));

	return _mm256_or_si256(_mm256_sllv_epi64(a, left),
	                       _mm256_srlv_epi64(a, _mm256_sub_epi64(_mm256_set1_epi64x(64), left)));
}
EMULATED(__m512i) emulated_rolv_epi64(__m512i a, __m512i n)
{
	return (__m512i){ emulated_rolv_half(a.low, n.low), emulated_rolv_half(a.high, n.high) };
}

#define _mm512_cvtph_ps emulated_cvtph_ps
EMULATED(__m512) emulated_cvtph_ps(__m256i a)
{
	return (__m512){ _mm256_cvtph_ps(_mm256_castsi256_si128(a)), _mm256_cvtph_ps(_mm256_extracti128_si256(a, 1)) };
}

#define _mm512_cvtepi32_epi8 emulated_cvtepi32_epi8
EMULATED(__m128i) emulated_cvtepi32_epi8(__m512i a)
{
	const __m256i byte = _mm256_set1_epi32(255);
	__m256i words = _mm256_packus_epi32(_mm256_and_si256(a.low, byte), _mm256_and_si256(a.high, byte));

	words = _mm256_permute4x64_epi64(words, 0xd8);
	return _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

/* Integers from the halves of a narrower register. */
#define EMULATED_WIDEN(op, from, low_half, high_half) \
	EMULATED(__m512i) emulated_##op(from a) \
	{ \
		return (__m512i){ _mm256_##op(low_half), _mm256_##op(high_half) }; \
	}
#define _mm512_cvtepi8_epi32 emulated_cvtepi8_epi32
EMULATED_WIDEN(cvtepi8_epi32, __m128i, a, _mm_srli_si128(a, 8))
#define _mm512_cvtepu8_epi32 emulated_cvtepu8_epi32
EMULATED_WIDEN(cvtepu8_epi32, __m128i, a, _mm_srli_si128(a, 8))
#define _mm512_cvtepu16_epi32 emulated_cvtepu16_epi32
EMULATED_WIDEN(cvtepu16_epi32, __m256i, _mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1))
#define _mm512_cvtepu8_epi16 emulated_cvtepu8_epi16
EMULATED_WIDEN(cvtepu8_epi16, __m256i, _mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1))

/* ---- memory ---- */

#define _mm512_loadu_si512 emulated_loadu_si512
EMULATED(__m512i) emulated_loadu_si512(const void *p)
{
	return (__m512i){ _mm256_loadu_si256(p), _mm256_loadu_si256((const void *)((const char *)p + 32)) };
}

#define _mm512_load_si512 emulated_load_si512
EMULATED(__m512i) emulated_load_si512(const void *p)
{
	if ((uintptr_t)p % 64)
		abort();
	return emulated_loadu_si512(p);
}

#define _mm512_storeu_si512 emulated_storeu_si512
EMULATED(void) emulated_storeu_si512(void *p, __m512i v)
{
	_mm256_storeu_si256(p, v.low);
	_mm256_storeu_si256((void *)((char *)p + 32), v.high);
}

#define _mm512_loadu_ps emulated_loadu_ps
EMULATED(__m512) emulated_loadu_ps(const void *p) { return emulated_castsi512_ps(emulated_loadu_si512(p)); }

#define _mm512_storeu_ps emulated_storeu_ps
EMULATED(void) emulated_storeu_ps(void *p, __m512 v) { emulated_storeu_si512(p, emulated_castps_si512(v)); }

/* Elements whose bit is zero are neither read nor written. */
#define _mm512_mask_loadu_epi16 emulated_mask_loadu_epi16
EMULATED(__m512i) emulated_mask_loadu_epi16(__m512i other, __mmask32 mask, const void *p)
{
	union emulated r = { other };

	EMULATED_LANES(32)
		if (mask >> i & 1)
			memcpy(&r.u16[i], (const char *)p + 2 * i, 2);
	return r.v;
}

#define _mm512_maskz_loadu_ps emulated_maskz_loadu_ps
EMULATED(__m512) emulated_maskz_loadu_ps(__mmask16 mask, const void *p)
{
	union emulated r = { emulated_setzero_si512() };

	EMULATED_LANES(16)
		if (mask >> i & 1)
			memcpy(&r.u32[i], (const char *)p + 4 * i, 4);
	return r.f;
}

#define _mm512_mask_storeu_epi32 emulated_mask_storeu_epi32
EMULATED(void) emulated_mask_storeu_epi32(void *p, __mmask16 mask, __m512i v)
{
	const union emulated a = { v };

	EMULATED_LANES(16)
		if (mask >> i & 1)
			memcpy((char *)p + 4 * i, &a.u32[i], 4);
}

#define _mm512_mask_storeu_ps emulated_mask_storeu_ps
EMULATED(void) emulated_mask_storeu_ps(void *p, __mmask16 mask, __m512 v)
{
	emulated_mask_storeu_epi32(p, mask, emulated_castps_si512(v));
}

/* ---- masks ---- */

#undef _mm512_cmp_ps_mask
#define _mm512_cmp_ps_mask emulated_cmp_ps_mask
EMULATED(__mmask16) emulated_cmp_ps_mask(__m512 a, __m512 b, int op)
{
	__m256 low = _mm256_cmp_ps(a.low, b.low, _CMP_LT_OQ), high = _mm256_cmp_ps(a.high, b.high, _CMP_LT_OQ);
	int less = _mm256_movemask_ps(low) | _mm256_movemask_ps(high) << 8;

	if (op != _CMP_LT_OQ && op != _CMP_NLT_UQ)
		abort();
	return (__mmask16)(op == _CMP_LT_OQ ? less : ~less);
}

#define _mm512_mask_blend_ps emulated_mask_blend_ps
EMULATED(__m512) emulated_mask_blend_ps(__mmask16 mask, __m512 a, __m512 b)
{
	union emulated r = { .f = a }, other = { .f = b };

	EMULATED_LANES(16)
		if (mask >> i & 1)
			r.u32[i] = other.u32[i];
	return r.f;
}

#define _mm512_maskz_mov_ps emulated_maskz_mov_ps
EMULATED(__m512) emulated_maskz_mov_ps(__mmask16 mask, __m512 a)
{
	return emulated_mask_blend_ps(mask, emulated_set1_ps(0), a);
}

#define _mm512_test_epi16_mask emulated_test_epi16_mask
EMULATED(__mmask32) emulated_test_epi16_mask(__m512i a, __m512i b)
{
	union emulated x = { .v = a }, y = { .v = b };
	__mmask32 mask = 0;

	EMULATED_LANES(32)
		mask |= (__mmask32)((x.u16[i] & y.u16[i]) != 0) << i;
	return mask;
}

#define _mm512_maskz_mov_epi16 emulated_maskz_mov_epi16
EMULATED(__m512i) emulated_maskz_mov_epi16(__mmask32 mask, __m512i a)
{
	union emulated r = { .v = a };

	EMULATED_LANES(32)
		r.u16[i] = mask >> i & 1 ? r.u16[i] : 0;
	return r.v;
}

#define _mm512_mask_sub_epi8 emulated_mask_sub_epi8
EMULATED(__m512i) emulated_mask_sub_epi8(__m512i other, __mmask64 mask, __m512i a, __m512i b)
{
	union emulated r = { other }, x = { a }, y = { b };

	EMULATED_LANES(64)
		if (mask >> i & 1)
			r.u8[i] = (uint8_t)(x.u8[i] - y.u8[i]);
	return r.v;
}

#define _mm512_mask_shuffle_epi8 emulated_mask_shuffle_epi8
EMULATED(__m512i) emulated_mask_shuffle_epi8(__m512i other, __mmask64 mask, __m512i a, __m512i from)
{
	union emulated r = { other }, x = { emulated_shuffle_epi8(a, from) };

	EMULATED_LANES(64)
		if (mask >> i & 1)
			r.u8[i] = x.u8[i];
	return r.v;
}

#define _mm512_mask_add_epi8 emulated_mask_add_epi8
EMULATED(__m512i) emulated_mask_add_epi8(__m512i other, __mmask64 mask, __m512i a, __m512i b)
{
	union emulated r = { other }, x = { a }, y = { b };

	EMULATED_LANES(64)
		if (mask >> i & 1)
			r.u8[i] = (uint8_t)(x.u8[i] + y.u8[i]);
	return r.v;
}

#define _mm512_maskz_set1_epi8 emulated_maskz_set1_epi8
EMULATED(__m512i) emulated_maskz_set1_epi8(__mmask64 mask, char c)
{
	union emulated r;

	EMULATED_LANES(64)
		r.u8[i] = mask >> i & 1 ? (uint8_t)c : 0;
	return r.v;
}

/* ---- lanes moved ---- */

#undef _mm512_setr_epi32
#define _mm512_setr_epi32 emulated_setr_epi32
EMULATED(__m512i) emulated_setr_epi32(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k,
                                      int l, int m, int n, int o, int p)
{
	return (__m512i){ _mm256_setr_epi32(a, b, c, d, e, f, g, h), _mm256_setr_epi32(i, j, k, l, m, n, o, p) };
}

#undef _mm512_setr_epi64
#define _mm512_setr_epi64 emulated_setr_epi64
EMULATED(__m512i) emulated_setr_epi64(long long a, long long b, long long c, long long d, long long e, long long f,
                                      long long g, long long h)
{
	return (__m512i){ _mm256_setr_epi64x(a, b, c, d), _mm256_setr_epi64x(e, f, g, h) };
}

#define _mm512_castsi256_si512 emulated_castsi256_si512
EMULATED(__m512i) emulated_castsi256_si512(__m256i a) { return (__m512i){ a, _mm256_set1_epi32(0x7fa5a5a5) }; }

#define _mm512_castps128_ps512 emulated_castps128_ps512
EMULATED(__m512) emulated_castps128_ps512(__m128 a)
{
	__m256 rest = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fa5a5a5));

	return (__m512){ _mm256_insertf128_ps(rest, a, 0), rest };
}

#define _mm512_castsi512_si256 emulated_castsi512_si256
EMULATED(__m256i) emulated_castsi512_si256(__m512i a) { return a.low; }

#define _mm512_castps512_ps256 emulated_castps512_ps256
EMULATED(__m256) emulated_castps512_ps256(__m512 a) { return a.low; }

#undef _mm512_extractf32x8_ps
#define _mm512_extractf32x8_ps emulated_extractf32x8_ps
EMULATED(__m256) emulated_extractf32x8_ps(__m512 a, int at) { return at % 2 ? a.high : a.low; }

#undef _mm512_inserti64x4
#define _mm512_inserti64x4 emulated_inserti64x4
EMULATED(__m512i) emulated_inserti64x4(__m512i a, __m256i b, int at)
{
	return at % 2 ? (__m512i){ a.low, b } : (__m512i){ b, a.high };
}

#define _mm512_broadcast_i64x4 emulated_broadcast_i64x4
EMULATED(__m512i) emulated_broadcast_i64x4(__m256i a) { return (__m512i){ a, a }; }

#define _mm512_broadcast_i32x4 emulated_broadcast_i32x4
EMULATED(__m512i) emulated_broadcast_i32x4(__m128i a) { return emulated_broadcast_i64x4(_mm256_set_m128i(a, a)); }

#define _mm512_broadcastq_epi64 emulated_broadcastq_epi64
EMULATED(__m512i) emulated_broadcastq_epi64(__m128i a) { return emulated_broadcast_i64x4(_mm256_broadcastq_epi64(a)); }

#define _mm512_mask_broadcast_i32x4 emulated_mask_broadcast_i32x4
EMULATED(__m512i) emulated_mask_broadcast_i32x4(__m512i other, __mmask16 mask, __m128i a)
{
	return emulated_castps_si512(emulated_mask_blend_ps(mask, emulated_castsi512_ps(other),
	                                                    emulated_castsi512_ps(emulated_broadcast_i32x4(a))));
}

/* In eight lanes: of b where the top bit is set, otherwise of a. */
#define EMULATED_SELECT(a, b, top) _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(a), \
	_mm256_castsi256_ps(b), _mm256_castsi256_ps(top)))

/* Those eight of the sixteen lanes of a that the last four bits name. */
EMULATED(__m256i) emulated_pick(__m512i a, __m256i from)
{
	__m256i low = _mm256_permutevar8x32_epi32(a.low, from), high = _mm256_permutevar8x32_epi32(a.high, from);

	return EMULATED_SELECT(low, high, _mm256_slli_epi32(from, 28));
}

#define _mm512_permutexvar_epi32 emulated_permutexvar_epi32
EMULATED(__m512i) emulated_permutexvar_epi32(__m512i from, __m512i a)
{
	return (__m512i){ emulated_pick(a, from.low), emulated_pick(a, from.high) };
}

#define _mm512_permutexvar_ps emulated_permutexvar_ps
EMULATED(__m512) emulated_permutexvar_ps(__m512i from, __m512 a)
{
	return emulated_castsi512_ps(emulated_permutexvar_epi32(from, emulated_castps_si512(a)));
}

#define _mm512_permutex2var_epi32 emulated_permutex2var_epi32
EMULATED(__m512i) emulated_permutex2var_epi32(__m512i a, __m512i from, __m512i b)
{
	__m512i x = emulated_permutexvar_epi32(from, a), y = emulated_permutexvar_epi32(from, b);

	return (__m512i){ EMULATED_SELECT(x.low, y.low, _mm256_slli_epi32(from.low, 27)),
		EMULATED_SELECT(x.high, y.high, _mm256_slli_epi32(from.high, 27)) };
}

#define _mm512_permutex2var_ps emulated_permutex2var_ps
EMULATED(__m512) emulated_permutex2var_ps(__m512 a, __m512i from, __m512 b)
{
	return emulated_castsi512_ps(emulated_permutex2var_epi32(emulated_castps_si512(a), from,
	                                                         emulated_castps_si512(b)));
}

#define _mm512_permutexvar_epi64 emulated_permutexvar_epi64
EMULATED(__m512i) emulated_permutexvar_epi64(__m512i from, __m512i a)
{
	union emulated at = { from }, x = { a }, r;

	EMULATED_LANES(8)
		r.u64[i] = x.u64[at.u64[i] % 8];
	return r.v;
}

#define _mm512_permutex2var_epi16 emulated_permutex2var_epi16
EMULATED(__m512i) emulated_permutex2var_epi16(__m512i a, __m512i from, __m512i b)
{
	union emulated at = { from }, x = { a }, y = { b }, r;

	EMULATED_LANES(32)
		r.u16[i] = at.u16[i] & 32 ? y.u16[at.u16[i] % 32] : x.u16[at.u16[i] % 32];
	return r.v;
}

/* A quarter: the last two bits of `at` count. */
EMULATED(__m128i) emulated_quarter(__m512i a, int at)
{
	__m256i half = at & 2 ? a.high : a.low;

	return at & 1 ? _mm256_extracti128_si256(half, 1) : _mm256_castsi256_si128(half);
}

#undef _mm512_shuffle_i32x4
#define _mm512_shuffle_i32x4 emulated_shuffle_i32x4
EMULATED(__m512i) emulated_shuffle_i32x4(__m512i a, __m512i b, int from)
{
	return (__m512i){ _mm256_set_m128i(emulated_quarter(a, from >> 2), emulated_quarter(a, from)),
		_mm256_set_m128i(emulated_quarter(b, from >> 6), emulated_quarter(b, from >> 4)) };
}

#undef _mm512_shuffle_ps
#define _mm512_shuffle_ps emulated_shuffle_ps
EMULATED(__m256) emulated_shuffle_half(__m256 a, __m256 b, int from)
{
	__m256i at = _mm256_setr_epi32(from, from >> 2, from >> 4, from >> 6, from, from >> 2, from >> 4, from >> 6);

	return _mm256_blend_ps(_mm256_permutevar_ps(a, at), _mm256_permutevar_ps(b, at), 0xcc);
}
EMULATED(__m512) emulated_shuffle_ps(__m512 a, __m512 b, int from)
{
	return (__m512){ emulated_shuffle_half(a.low, b.low, from), emulated_shuffle_half(a.high, b.high, from) };
}

/* ---- arithmetic ---- */

#define _mm512_cvtepi16_epi8 emulated_cvtepi16_epi8
EMULATED(__m256i) emulated_cvtepi16_epi8(__m512i a)
{
	union emulated x = { a }, r = { emulated_setzero_si512() };

	EMULATED_LANES(32)
		r.u8[i] = (uint8_t)x.u16[i];
	return r.v.low;
}

#undef _mm512_cvtps_ph
#define _mm512_cvtps_ph emulated_cvtps_ph
EMULATED(__m256i) emulated_cvtps_ph(__m512 a, int mode)
{
	if (mode != (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))
		abort();
	return _mm256_set_m128i(_mm256_cvtps_ph(a.high, _MM_FROUND_TO_NEAREST_INT),
	                        _mm256_cvtps_ph(a.low, _MM_FROUND_TO_NEAREST_INT));
}

/* a · 2^n, as a double it is exact, for integers n from -1022 to 1023. */
#define _mm512_scalef_ps emulated_scalef_ps
EMULATED(__m128) emulated_scalef_quarter(__m128 a, __m128 n)
{
	__m256i exponent = _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm_cvtps_epi32(n)), _mm256_set1_epi64x(1023));
	__m256d power = _mm256_castsi256_pd(_mm256_slli_epi64(exponent, 52));

	return _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_cvtps_pd(a), power));
}
EMULATED(__m256) emulated_scalef_half(__m256 a, __m256 n)
{
	return _mm256_set_m128(emulated_scalef_quarter(_mm256_extractf128_ps(a, 1), _mm256_extractf128_ps(n, 1)),
	                       emulated_scalef_quarter(_mm256_castps256_ps128(a), _mm256_castps256_ps128(n)));
}
EMULATED(__m512) emulated_scalef_ps(__m512 a, __m512 n)
{
	return (__m512){ emulated_scalef_half(a.low, n.low), emulated_scalef_half(a.high, n.high) };
}

/* None is NaN. */
#define _mm512_reduce_max_ps emulated_reduce_max_ps
EMULATED(float) emulated_reduce_max_ps(__m512 a)
{
	float lane[16], most;

	emulated_storeu_ps(lane, a);
	most = lane[0];
	EMULATED_LANES(16)
		most = lane[i] > most ? lane[i] : most;
	return most;
}

#define _mm512_dpwssd_epi32 emulated_dpwssd_epi32
EMULATED(__m512i) emulated_dpwssd_epi32(__m512i sum, __m512i a, __m512i b)
{
	return emulated_add_epi32(sum, emulated_madd_epi16(a, b));
}

/* Unsigned bytes of a times signed ones of b, four in each lane: as 16 bits first the even ones, then the odd ones. */
#define _mm512_dpbusd_epi32 emulated_dpbusd_epi32
EMULATED(__m256i) emulated_dpbusd_half(__m256i sum, __m256i a, __m256i b)
{
	__m256i even = _mm256_madd_epi16(_mm256_and_si256(a, _mm256_set1_epi16(255)),
	                                 _mm256_srai_epi16(_mm256_slli_epi16(b, 8), 8));
	__m256i odd = _mm256_madd_epi16(_mm256_srli_epi16(a, 8), _mm256_srai_epi16(b, 8));

	return _mm256_add_epi32(sum, _mm256_add_epi32(even, odd));
}
EMULATED(__m512i) emulated_dpbusd_epi32(__m512i sum, __m512i a, __m512i b)
{
	return (__m512i){ emulated_dpbusd_half(sum.low, a.low, b.low), emulated_dpbusd_half(sum.high, a.high, b.high) };
}

/* ---- products of pairs of BF16, none of which is subnormal ---- */

EMULATED(__m256) emulated_half_dpbf16_ps(__m256 sum, __m256i a, __m256i b)
{
	const __m256i upper = _mm256_set1_epi32((int)0xffff0000);
	__m256 odd = _mm256_castsi256_ps(_mm256_and_si256(a, upper));
	__m256 even = _mm256_castsi256_ps(_mm256_slli_epi32(a, 16));

	sum = _mm256_fmadd_ps(odd, _mm256_castsi256_ps(_mm256_and_si256(b, upper)), sum);
	return _mm256_fmadd_ps(even, _mm256_castsi256_ps(_mm256_slli_epi32(b, 16)), sum);
}

#define _mm512_dpbf16_ps emulated_dpbf16_ps
EMULATED(__m512) emulated_dpbf16_ps(__m512 sum, __m512i a, __m512i b)
{
	return (__m512){ emulated_half_dpbf16_ps(sum.low, a.low, b.low),
		emulated_half_dpbf16_ps(sum.high, a.high, b.high) };
}

#endif
