/* avx2: AVX2 with FMA and F16C in the functions of simd/vocabulary.h. */
#ifndef AVX2_H
#define AVX2_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fwd/kernels/simd/lanes.h"

typedef struct { __m256 a, b; } f32x16;     /* two registers */
typedef struct { __m256i a, b; } i32x16;
typedef i32x16 b64;
typedef __m128i b16;
typedef __m256i i32x8;
typedef struct { i32x16 even, odd; } attend_codes;      /* int16: codes 0 and 2 of each four, 1 and 3 */

enum {
	DOT_AT_ONCE = 1,        /* sixteen registers hold no more */
	SIGNED_BIAS = 0,
	COLUMNS_ROWS = 1, COLUMNS_UNPACKED = 8, COLUMNS_SIDE = 4, COLUMNS_SIDE_2 = 4, COLUMNS_AHEAD = 0,
	CODES_FEW = 16,         /* 16 columns: 1.07 times as fast as with a panel; 24: 0.9 */
	CODES_FEW_PARTIAL = 16,
	TILE_I16 = 1, TILE_BIAS = 128, TILE_PAIRS = 1,
	PANEL_SPLIT = 128, PANEL_SPLIT_I16 = 64,        /* of Zen 3's 512 KB: twice as much takes 0.03 more time */
	TILE_STRIP = 4, TILE_VECTORS = 1, TILE_COLUMNS = 4, TILE_COLUMNS_2 = 4,
	FLOAT_COLUMNS = 6, FLOAT_FEW = 16, BF16_FEW = 16, BF16_DOT = 0, BF16_DOT_FEW = 0, BF16_TILES = 0,
	BF16_TILES_FEW = 0, FLOAT_ROWS = 2, FLOAT_SIDE = 3,
	PEAK_COLUMNS = 3,
	ATTEND_RESIDUES = 1, ATTEND_VECTORS = 1, ATTEND_I16 = 1, ATTEND_SIDE = 1, ATTEND_EXPS = 2, CODES_COLUMNS = 4,
	KEY_BIAS = 0, VALUE_BIAS = 0
};

#define EIGHTS 1
#define PAIRS 0

#include "fwd/kernels/simd/vocabulary.h"

#define EACH_SET(name, type, from, op) \
	static inline type name(from x) { return (type){ _mm256_##op(x), _mm256_##op(x) }; }
#define EACH_1(name, type, from, op) \
	static inline type name(from x) { return (type){ _mm256_##op(x.a), _mm256_##op(x.b) }; }
#define EACH_2(name, type, op) \
	static inline type name(type x, type y) { return (type){ _mm256_##op(x.a, y.a), _mm256_##op(x.b, y.b) }; }
#define EACH_3(name, type, op) \
	static inline type name(type x, type y, type z) \
	{ \
		return (type){ _mm256_##op(x.a, y.a, z.a), _mm256_##op(x.b, y.b, z.b) }; \
	}
#define EACH_SHIFT(name, type, op) \
	static inline type name(type v, int n) { return (type){ _mm256_##op(v.a, n), _mm256_##op(v.b, n) }; }

EACH_2(vi_and, i32x16, and_si256)
EACH_2(vi_or, i32x16, or_si256)
EACH_1(vi_as_float, f32x16, i32x16, castsi256_ps)
EACH_1(vf_as_int, i32x16, f32x16, castps_si256)

#include "x86.h"

/* ---- sixteen floats in two registers ---- */

static inline f32x16 vf_of(__m256 a, __m256 b) { return (f32x16){ a, b }; }

static inline f32x16 vf_load(const float *p) { return vf_of(_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)); }
static inline void vf_store(float *p, f32x16 v) { _mm256_storeu_ps(p, v.a); _mm256_storeu_ps(p + 8, v.b); }

/* The first n lanes alone, n < 16; the others load as zero. vf_first clears them. */
static inline __m256i vf_lanes(size_t n, int from)
{
	return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n - from), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline f32x16 vf_load_n(const float *p, size_t n)
{
	return vf_of(_mm256_maskload_ps(p, vf_lanes(n, 0)), _mm256_maskload_ps(p + 8, vf_lanes(n, 8)));
}

static inline void vf_store_n(float *p, f32x16 v, size_t n)
{
	_mm256_maskstore_ps(p, vf_lanes(n, 0), v.a);
	_mm256_maskstore_ps(p + 8, vf_lanes(n, 8), v.b);
}

static inline f32x16 vf_first(f32x16 v, size_t n)
{
	return vf_of(_mm256_and_ps(v.a, _mm256_castsi256_ps(vf_lanes(n, 0))),
	             _mm256_and_ps(v.b, _mm256_castsi256_ps(vf_lanes(n, 8))));
}

/* Pairs: a takes the even elements of p[32], b the odd ones. */
static inline void vf_unzip(const float *p, __m256 *even, __m256 *odd)
{
	__m256 x = _mm256_loadu_ps(p), y = _mm256_loadu_ps(p + 8);
	__m256 low = _mm256_permute2f128_ps(x, y, 0x20), high = _mm256_permute2f128_ps(x, y, 0x31);

	*even = _mm256_shuffle_ps(low, high, 0x88);
	*odd = _mm256_shuffle_ps(low, high, 0xdd);
}

static inline void vf_load_pairs(const float *p, f32x16 *a, f32x16 *b)
{
	vf_unzip(p, &a->a, &b->a);
	vf_unzip(p + 16, &a->b, &b->b);
}

static inline void vf_zip(float *p, __m256 even, __m256 odd)
{
	__m256 low = _mm256_unpacklo_ps(even, odd), high = _mm256_unpackhi_ps(even, odd);

	_mm256_storeu_ps(p, _mm256_permute2f128_ps(low, high, 0x20));
	_mm256_storeu_ps(p + 8, _mm256_permute2f128_ps(low, high, 0x31));
}

static inline void vf_store_pairs(float *p, f32x16 a, f32x16 b)
{
	vf_zip(p, a.a, b.a);
	vf_zip(p + 16, a.b, b.b);
}

static inline f32x16 vf_load_f16(const uint16_t *p)
{
	return vf_of(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)),
	             _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p + 8))));
}

static inline void vf_store_f16(uint16_t *p, f32x16 v)
{
	_mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(v.a, _MM_FROUND_TO_NEAREST_INT));
	_mm_storeu_si128((__m128i *)(p + 8), _mm256_cvtps_ph(v.b, _MM_FROUND_TO_NEAREST_INT));
}

static inline f32x16 vf_zero_if_less(f32x16 x, f32x16 y, f32x16 z)
{
	return vf_of(_mm256_andnot_ps(_mm256_cmp_ps(x.a, y.a, _CMP_LT_OQ), z.a),
	             _mm256_andnot_ps(_mm256_cmp_ps(x.b, y.b, _CMP_LT_OQ), z.b));
}

/* v · 2^n for integral n in [-126, 128], in two factors as 2^128 is no float; rounds once at most where v is in
 * [1/2, 2]. */
static inline __m256 vf_scale2n_8(__m256 v, __m256 n)
{
	const __m256i bias = _mm256_set1_epi32(127);
	__m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1), rest = _mm256_sub_epi32(whole, half);

	v = _mm256_mul_ps(v, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(half, bias), 23)));
	return _mm256_mul_ps(v, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(rest, bias), 23)));
}

static inline f32x16 vf_scale2n(f32x16 v, f32x16 n) { return vf_of(vf_scale2n_8(v.a, n.a), vf_scale2n_8(v.b, n.b)); }

/* Adds n to the exponent. */
static inline __m256 vf_scale2n_low_8(__m256 v, __m256 n)
{
	__m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);

	return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(v), exponent));
}

static inline f32x16 vf_scale2n_low(f32x16 v, f32x16 n)
{
	return vf_of(vf_scale2n_low_8(v.a, n.a), vf_scale2n_low_8(v.b, n.b));
}

static inline float vf_tree(f32x16 v)
{
	return x86_tree(_mm256_add_ps(v.a, v.b));
}

static inline float vf_largest(f32x16 v)
{
	__m256 w = _mm256_max_ps(v.a, v.b);
	__m128 x = _mm_max_ps(_mm256_castps256_ps128(w), _mm256_extractf128_ps(w, 1));

	x = _mm_max_ps(x, _mm_movehl_ps(x, x));
	return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
}

static inline f32x16 vf_select_less(f32x16 x, f32x16 y, f32x16 u, f32x16 v)
{
	return vf_of(_mm256_blendv_ps(v.a, u.a, _mm256_cmp_ps(x.a, y.a, _CMP_LT_OQ)),
	             _mm256_blendv_ps(v.b, u.b, _mm256_cmp_ps(x.b, y.b, _CMP_LT_OQ)));
}

/* ---- sixteen integers ---- */

static inline i32x16 vi_of(__m256i a, __m256i b) { return (i32x16){ a, b }; }

static inline i32x16 vi_load(const int32_t *p)
{
	return vi_of(_mm256_loadu_si256((const void *)p), _mm256_loadu_si256((const void *)(p + 8)));
}

static inline void vi_store(int32_t *p, i32x16 v)
{
	_mm256_storeu_si256((void *)p, v.a);
	_mm256_storeu_si256((void *)(p + 8), v.b);
}

/* n <= 16. Stores with masks are slow, so those of the tiles of activations, 8 and 12 columns, do without. */
static inline void vi_store_n(int32_t *p, i32x16 v, size_t n)
{
	if (n == 8 || n == 12) {
		_mm256_storeu_si256((void *)p, v.a);
		if (n == 12)
			_mm_storeu_si128((void *)(p + 8), _mm256_castsi256_si128(v.b));
		return;
	}
	_mm256_maskstore_epi32(p, vf_lanes(n, 0), v.a);
	_mm256_maskstore_epi32(p + 8, vf_lanes(n, 8), v.b);
}

static inline i32x16 vi_bytes(b16 v)
{
	return vi_of(_mm256_cvtepu8_epi32(v), _mm256_cvtepu8_epi32(_mm_srli_si128(v, 8)));
}

static inline i32x16 vi_u16s(b16 a, b16 b) { return vi_of(_mm256_cvtepu16_epi32(a), _mm256_cvtepu16_epi32(b)); }

static inline i32x16 vi_two_words(const void *p, const void *q)
{
	int32_t a, b;

	memcpy(&a, p, 4), memcpy(&b, q, 4);
	return vi_of(_mm256_set1_epi32(a), _mm256_set1_epi32(b));
}

static inline i32x16 vi_words(const void *p, const void *q, size_t step)
{
	return vi_of(x86_words(p, step), x86_words(q, step));
}

static inline i32x16 vi_lanes(i32x16 v)
{
	const __m256i block = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);

	return vi_of(_mm256_permutevar8x32_epi32(v.a, block), _mm256_permutevar8x32_epi32(v.b, block));
}

/* Within each 128 bits: lane i of v[j] becomes lane j of v[i], for four. */
INLINE void vi_transpose_4(__m256i v[4])
{
	__m256i a = _mm256_unpacklo_epi32(v[0], v[1]), b = _mm256_unpackhi_epi32(v[0], v[1]);
	__m256i c = _mm256_unpacklo_epi32(v[2], v[3]), d = _mm256_unpackhi_epi32(v[2], v[3]);

	v[0] = _mm256_unpacklo_epi64(a, c), v[1] = _mm256_unpackhi_epi64(a, c);
	v[2] = _mm256_unpacklo_epi64(b, d), v[3] = _mm256_unpackhi_epi64(b, d);
}

/* a: the first 128 bits of each; b: the second. */
INLINE void vi_zip_halves(__m256i *a, __m256i *b)
{
	__m256i first = _mm256_permute2x128_si256(*a, *b, 0x20);

	*b = _mm256_permute2x128_si256(*a, *b, 0x31);
	*a = first;
}

/* Lane i of v[j] becomes lane j of v[i], for eight. */
INLINE void vi_transpose_8(__m256i v[8])
{
	vi_transpose_4(v);
	vi_transpose_4(v + 4);
	UNROLL
	for (int i = 0; i < 4; i++)
		vi_zip_halves(&v[i], &v[i + 4]);
}

INLINE void vi_transpose(i32x16 v[16])
{
	__m256i q[4][8];        /* the quarters: rows 0-7 and 8-15, lanes 0-7 and 8-15 */

	UNROLL
	for (int i = 0; i < 8; i++)
		q[0][i] = v[i].a, q[1][i] = v[i].b, q[2][i] = v[i + 8].a, q[3][i] = v[i + 8].b;
	UNROLL
	for (int i = 0; i < 4; i++)
		vi_transpose_8(q[i]);
	UNROLL
	for (int i = 0; i < 8; i++) {
		v[i] = vi_of(q[0][i], q[2][i]);
		v[i + 8] = vi_of(q[1][i], q[3][i]);
	}
}

/* Folds up to eight vectors into one register: lane i has op applied to all lanes of v[i]. */
INLINE __m256i vi_fold_each(const i32x16 *v, size_t n, __m256i (*op)(__m256i, __m256i))
{
	__m256i u[4], w[2];

	UNROLL
	for (size_t i = 0; i < n; i += 2) {
		size_t next = i + 1 < n ? i + 1 : i;
		__m256i a = op(v[i].a, v[i].b), b = op(v[next].a, v[next].b);

		u[i / 2] = op(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
	}
	UNROLL
	for (size_t i = 0; i < n; i += 4) {
		size_t at = i / 2, next = i + 2 < n ? at + 1 : at;

		w[i / 4] = op(_mm256_unpacklo_epi64(u[at], u[next]), _mm256_unpackhi_epi64(u[at], u[next]));
	}
	return op(_mm256_permute2x128_si256(w[0], w[n > 4], 0x20), _mm256_permute2x128_si256(w[0], w[n > 4], 0x31));
}

INLINE i32x16 vi_fold_sixteen(const i32x16 *v, size_t n, __m256i (*op)(__m256i, __m256i))
{
	__m256i first = vi_fold_each(v, n < 8 ? n : 8, op);

	return vi_of(first, n > 8 ? vi_fold_each(v + 8, n - 8, op) : first);
}

static inline __m256i vf_max_8(__m256i a, __m256i b)
{
	return _mm256_castps_si256(_mm256_max_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
}

static inline __m256i vi_add_8(__m256i a, __m256i b) { return _mm256_add_epi32(a, b); }

INLINE f32x16 vf_largest_each(const f32x16 *v, size_t n)
{
	i32x16 bits[16];

	UNROLL
	for (size_t i = 0; i < n; i++)
		bits[i] = vf_as_int(v[i]);
	return vi_as_float(vi_fold_sixteen(bits, n, vf_max_8));
}

INLINE i32x16 vi_sum_each(const i32x16 *v, size_t n) { return vi_fold_sixteen(v, n, vi_add_8); }

#include "avx2_bytes.h"
#include "avx2_dot.h"

/* ---- attention in integers ---- */

INLINE attend_codes va_keys(b64 v)
{
	return (attend_codes){
		.even = vi_of(_mm256_srai_epi16(_mm256_slli_epi16(v.a, 8), 8),
			_mm256_srai_epi16(_mm256_slli_epi16(v.b, 8), 8)),
		.odd = vi_of(_mm256_srai_epi16(v.a, 8), _mm256_srai_epi16(v.b, 8)),
	};
}

INLINE attend_codes va_values(b64 v) { return va_keys(v); }
INLINE attend_codes va_small(b64 v) { return va_keys(v); }

INLINE i32x16 va_add_keys(i32x16 sum, attend_codes k, const int32_t *x)
{
	__m256i even = _mm256_set1_epi32(x[0]), odd = _mm256_set1_epi32(x[1]);

	sum = vi_add(sum, vi_of(_mm256_madd_epi16(k.even.a, even), _mm256_madd_epi16(k.even.b, even)));
	return vi_add(sum, vi_of(_mm256_madd_epi16(k.odd.a, odd), _mm256_madd_epi16(k.odd.b, odd)));
}

INLINE i32x16 va_add_values(i32x16 sum, attend_codes v, const int32_t *x) { return va_add_keys(sum, v, x); }

/* Lanes 0 and 2 of each four as int16, 1 and 3. */
INLINE __m256i va_pairs(i32x16 v, int is_signed)
{
	const i32x16 low = vi_and(v, vi_set1(is_signed ? 0xffff : 0xff));
	__m256i a = _mm256_or_si256(low.a, _mm256_slli_epi32(_mm256_srli_si256(low.a, 8), 16));
	__m256i b = _mm256_or_si256(low.b, _mm256_slli_epi32(_mm256_srli_si256(low.b, 8), 16));

	return _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(a, b), 0xd8);
}

INLINE i32x16 va_weights(int32_t *to, const i32x16 v[4], int is_signed)
{
	__m256i w[4];

	UNROLL
	for (int i = 0; i < 4; i++) {
		w[i] = va_pairs(v[i], is_signed);
		_mm256_storeu_si256((void *)(to + 8 * i), w[i]);
	}
	w[0] = _mm256_add_epi16(_mm256_add_epi16(w[0], w[1]), _mm256_add_epi16(w[2], w[3]));
	return vi_of(_mm256_madd_epi16(w[0], _mm256_set1_epi16(1)), _mm256_setzero_si256());
}

/* ---- a tile of a prompt's product ---- */

/* Codes from -16 to 15, or with two scales from -32 to 31, add up in the longest runs; those from -64 to 63 in short
 * ones. Others are multiplied as int16: two planes of bytes would take as many instructions. */
#define TILE_BYTES(ROW) \
	ROW(kernel_1, 1, 0, 8, 0) ROW(kernel_1_short, 1, 0, 2, 0) \
	ROW(kernel_1_minima, 1, 1, 8, 0) ROW(kernel_1_minima_less, 1, 1, 8, TILE_LESS) \
	ROW(kernel_2, 2, 0, 4, 0) ROW(kernel_2_short, 2, 0, 2, 0) ROW(kernel_2_minima, 2, 1, 4, 0)

/* Two products in each lane. */
INLINE void tile_dot_i16(struct tile_shape t, i32x16 (*s)[TILE_VECTORS], const uint8_t *w, const int32_t *x, int quads)
{
	UNROLL
	for (int k = 0; k < quads * 2; k++) {
		const uint8_t *p = w + k % 2 * TILE_ODD + k / 2 * 128;
		__m256i a = _mm256_load_si256((const void *)p), b = _mm256_load_si256((const void *)(p + 32));

		UNROLL
		for (int c = 0; c < t.columns; c++) {
			__m256i q = _mm256_set1_epi32(x[(k % 2 * 8 + k / 2) * t.width + c]);

			s[c][0] = vi_settled(vi_add(s[c][0], vi_of(_mm256_madd_epi16(a, q), _mm256_madd_epi16(b, q))));
		}
	}
}

INLINE i32x16 vd_add_pairs(i32x16 x, i32x16 y)
{
	return vi_of(_mm256_add_epi16(x.a, y.a), _mm256_add_epi16(x.b, y.b));
}

/* The products of a run are added up in 16 bits, modulo 2^16, from what undoes the bias of the codes on: in the end the
 * sums are those of the codes without it, which fit. No sum of two products saturates, as no code is above 127. */
INLINE void tile_dot(struct tile_shape t, i32x16 (*s)[TILE_VECTORS], const uint8_t *w, const int32_t *x, int quads,
                     const int32_t *start)
{
	int biased = !t.minima || t.less;

	if (t.i16) {
		tile_dot_i16(t, s, w, x, quads);
		return;
	}
	UNROLL
	for (int k = 0; k < quads; k += t.run) {
		i32x16 pairs[TILE_COLUMNS];

		UNROLL
		for (int d = 0; d < t.run; d++) {
			const uint8_t *p = w + (k + d) * 128;
			__m256i a = _mm256_load_si256((const void *)p), b = _mm256_load_si256((const void *)(p + 32));

			UNROLL
			for (int c = 0; c < t.columns; c++) {
				__m256i q = _mm256_set1_epi32(x[(k + d) * t.width + c]);
				i32x16 two = vi_of(vd_pairs(a, q), vd_pairs(b, q));

				if (d == 0)
					pairs[c] = biased ? vi_set1(start[k / t.run * t.width + c]) : vi_zero();
				pairs[c] = vi_settled(d || biased ? vd_add_pairs(pairs[c], two) : two);
			}
		}
		UNROLL
		for (int c = 0; c < t.columns; c++)
			s[c][0] = vi_settled(vi_add(s[c][0], vi_of(vd_widen(pairs[c].a), vd_widen(pairs[c].b))));
	}
}

#endif
