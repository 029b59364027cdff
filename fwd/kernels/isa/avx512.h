/* avx512: AVX-512 F, BW, DQ, VL and VNNI in the functions of simd/vocabulary.h. IN_REGISTER, PREFETCH_AFTER and
 * DOT_PAIRS must be defined before (isa/avx512.c; isa/avx512_emulated.h, where they do nothing). */
#ifndef AVX512_H
#define AVX512_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fwd/kernels/simd/lanes.h"

typedef __m512 f32x16;
typedef __m512i i32x16;
typedef __m512i b64;
typedef __m128i b16;
typedef b64 attend_codes;

enum {
	DOT_AT_ONCE = 1,        /* against unpacking a span first: codebooks 1.05 to 1.28 times as fast, others equal */
	SIGNED_BIAS = 128, COLUMNS_ROWS = 2, COLUMNS_UNPACKED = 2,
	COLUMNS_SIDE = 4,       /* against 2: Q4_K, 8 columns: 4% less time (Intel) */
	COLUMNS_SIDE_2 = 2,     /* two scales a block, or two planes, need two kinds of sums */
	COLUMNS_AHEAD = 256,    /* against 0: 4 columns: Q8_0 8% less time, Q4_K 4%; two scales a block equal (Intel) */
	CODES_FEW = 28,         /* against a panel: 24 columns 1.09 times as fast, 28 1.06 */
	CODES_FEW_PARTIAL = 8,  /* against a panel, k = 768: 8 columns equally fast, 12 0.8 times as fast, 16 0.7 */
	PANEL_SPLIT = 256, PANEL_SPLIT_I16 = 256,
	TILE_I16 = 1, TILE_BIAS = 128, TILE_PAIRS = 0, TILE_STRIP = 0, TILE_VECTORS = 2,
	TILE_COLUMNS = 6,       /* of each vector's sums, integers and floats: 24 of 32 registers */
	TILE_COLUMNS_2 = 4,     /* two scales a block need a third kind of sums */
	FLOAT_COLUMNS = 12,
	FLOAT_FEW = 32,         /* against a panel: F16, 16 columns 1.5 times as fast (Zen 4), 32 equal (Intel) */
	BF16_DOT = 1, BF16_TILES = 1, BF16_FEW = 64, BF16_DOT_FEW = 64, BF16_TILES_FEW = 16,
	FLOAT_ROWS = 4, FLOAT_SIDE = 6,
	PEAK_COLUMNS = 6,
	ATTEND_RESIDUES = 4, ATTEND_VECTORS = 4, ATTEND_I16 = 0, ATTEND_SIDE = 2, ATTEND_EXPS = 8, CODES_COLUMNS = 6,
	KEY_BIAS = 128, VALUE_BIAS = 0
};

#define EIGHTS 0
#define PAIRS 1

#include "fwd/kernels/simd/vocabulary.h"

static inline i32x16 vi_and(i32x16 a, i32x16 b) { return _mm512_and_si512(a, b); }
static inline i32x16 vi_or(i32x16 a, i32x16 b) { return _mm512_or_si512(a, b); }
static inline f32x16 vi_as_float(i32x16 v) { return _mm512_castsi512_ps(v); }
static inline i32x16 vf_as_int(f32x16 v) { return _mm512_castps_si512(v); }

#define EACH_SET(name, type, from, op) static inline type name(from x) { return _mm512_##op(x); }
#define EACH_1(name, type, from, op) static inline type name(from x) { return _mm512_##op(x); }
#define EACH_2(name, type, op) static inline type name(type x, type y) { return _mm512_##op(x, y); }
#define EACH_3(name, type, op) static inline type name(type x, type y, type z) { return _mm512_##op(x, y, z); }
#define EACH_SHIFT(name, type, op) static inline type name(type v, int n) { return _mm512_##op(v, (unsigned)n); }
#include "x86.h"

/* ---- sixteen floats ---- */

static inline f32x16 vf_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void vf_store(float *p, f32x16 v) { _mm512_storeu_ps(p, v); }

static inline f32x16 vf_load_n(const float *p, size_t n)
{
	return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}
static inline void vf_store_n(float *p, f32x16 v, size_t n) { _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), v); }
static inline f32x16 vf_first(f32x16 v, size_t n) { return _mm512_maskz_mov_ps((__mmask16)((1u << n) - 1), v); }

static inline void vf_load_pairs(const float *p, f32x16 *a, f32x16 *b)
{
	const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
	__m512 low = _mm512_loadu_ps(p), high = _mm512_loadu_ps(p + 16);

	*a = _mm512_permutex2var_ps(low, even, high);
	*b = _mm512_permutex2var_ps(low, _mm512_or_si512(even, _mm512_set1_epi32(1)), high);
}

static inline void vf_store_pairs(float *p, f32x16 a, f32x16 b)
{
	const __m512i zip = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);

	_mm512_storeu_ps(p, _mm512_permutex2var_ps(a, zip, b));
	_mm512_storeu_ps(p + 16, _mm512_permutex2var_ps(a, _mm512_add_epi32(zip, _mm512_set1_epi32(8)), b));
}

static inline f32x16 vf_load_f16(const uint16_t *p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p)); }

static inline void vf_store_f16(uint16_t *p, f32x16 v)
{
	_mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

static inline f32x16 vf_zero_if_less(f32x16 a, f32x16 b, f32x16 x)
{
	return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, b, _CMP_NLT_UQ), x);
}

static inline f32x16 vf_scale2n(f32x16 v, f32x16 n) { return _mm512_scalef_ps(v, n); }
static inline f32x16 vf_scale2n_low(f32x16 v, f32x16 n) { return vf_scale2n(v, n); }

#if defined KERNELS_bf16_dot
static inline f32x16 vf_dot_pairs(i32x16 w, i32x16 x, f32x16 sum)
{
	return DOT_PAIRS(sum, w, x);
}
#endif

static inline float vf_tree(f32x16 v)
{
	return x86_tree(_mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1)));
}

static inline float vf_largest(f32x16 v) { return _mm512_reduce_max_ps(v); }

/* Folds n vectors into one: lane i has op applied to all lanes of v[i]. */
INLINE __m512i x512_fold_each(const __m512i *v, size_t n, __m512i (*op)(__m512i, __m512i))
{
	__m512i u[8], w[4], x[2];

	UNROLL
	for (size_t i = 0; i < n; i += 2) {
		const __m512i *next = v + (i + 1 < n ? i + 1 : i);

		u[i / 2] = op(_mm512_unpacklo_epi32(v[i], *next), _mm512_unpackhi_epi32(v[i], *next));
	}
	UNROLL
	for (size_t i = 0; i < n; i += 4) {
		size_t at = i / 2, next = i + 2 < n ? at + 1 : at;

		w[i / 4] = op(_mm512_unpacklo_epi64(u[at], u[next]), _mm512_unpackhi_epi64(u[at], u[next]));
	}
	UNROLL
	for (size_t i = 0; i < n; i += 8) {
		size_t at = i / 4, next = i + 4 < n ? at + 1 : at;

		x[i / 8] = op(_mm512_shuffle_i32x4(w[at], w[next], 0x88), _mm512_shuffle_i32x4(w[at], w[next], 0xdd));
	}
	return op(_mm512_shuffle_i32x4(x[0], x[n > 8], 0x88), _mm512_shuffle_i32x4(x[0], x[n > 8], 0xdd));
}

static inline __m512i x512_max_ps(__m512i a, __m512i b) { return vf_as_int(vf_max(vi_as_float(a), vi_as_float(b))); }

INLINE f32x16 vf_largest_each(const f32x16 *v, size_t n)
{
	__m512i bits[16];

	UNROLL
	for (size_t i = 0; i < n; i++)
		bits[i] = vf_as_int(v[i]);
	return vi_as_float(x512_fold_each(bits, n, x512_max_ps));
}

INLINE i32x16 vi_sum_each(const i32x16 *v, size_t n) { return x512_fold_each(v, n, vi_add); }

static inline f32x16 vf_select_less(f32x16 a, f32x16 b, f32x16 x, f32x16 y)
{
	return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), y, x);
}

/* ---- sixteen integers ---- */

static inline i32x16 vi_load(const int32_t *p) { return _mm512_loadu_si512(p); }
static inline void vi_store(int32_t *p, i32x16 v) { _mm512_storeu_si512(p, v); }
/* n <= 16 */
static inline void vi_store_n(int32_t *p, i32x16 v, size_t n)
{
	_mm512_mask_storeu_epi32(p, (__mmask16)((1u << n) - 1), v);
}

static inline i32x16 vi_bytes(b16 v) { return _mm512_cvtepu8_epi32(v); }
static inline i32x16 vi_u16s(b16 a, b16 b)
{
	return _mm512_cvtepu16_epi32(_mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1));
}

static inline i32x16 vi_two_words(const void *p, const void *q)
{
	int32_t a, b;

	memcpy(&a, p, 4), memcpy(&b, q, 4);
	return _mm512_inserti64x4(_mm512_set1_epi32(a), _mm256_set1_epi32(b), 1);
}

static inline i32x16 vi_words(const void *p, const void *q, size_t step)
{
	return _mm512_inserti64x4(_mm512_castsi256_si512(x86_words(p, step)), x86_words(q, step), 1);
}

static inline i32x16 vi_lanes(i32x16 v)
{
	const __m512i block = _mm512_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);

	return _mm512_permutexvar_epi32(block, v);
}

INLINE void vb_transpose_quarters(b64 v[4])
{
	__m512i a = _mm512_unpacklo_epi32(v[0], v[1]), b = _mm512_unpackhi_epi32(v[0], v[1]);
	__m512i c = _mm512_unpacklo_epi32(v[2], v[3]), d = _mm512_unpackhi_epi32(v[2], v[3]);

	v[0] = _mm512_unpacklo_epi64(a, c), v[1] = _mm512_unpackhi_epi64(a, c);
	v[2] = _mm512_unpacklo_epi64(b, d), v[3] = _mm512_unpackhi_epi64(b, d);
}

INLINE void vi_transpose(i32x16 v[16])
{
	UNROLL
	for (int i = 0; i < 16; i += 4)
		vb_transpose_quarters(v + i);
	UNROLL
	for (int i = 0; i < 4; i++) {   /* v[i + 4j]: lane i of each quarter of rows 4j to 4j + 3 */
		__m512i a = _mm512_shuffle_i32x4(v[i], v[i + 4], 0x88), b = _mm512_shuffle_i32x4(v[i], v[i + 4], 0xdd);
		__m512i c = _mm512_shuffle_i32x4(v[i + 8], v[i + 12], 0x88),
		        d = _mm512_shuffle_i32x4(v[i + 8], v[i + 12], 0xdd);

		v[i] = _mm512_shuffle_i32x4(a, c, 0x88), v[i + 8] = _mm512_shuffle_i32x4(a, c, 0xdd);
		v[i + 4] = _mm512_shuffle_i32x4(b, d, 0x88), v[i + 12] = _mm512_shuffle_i32x4(b, d, 0xdd);
	}
}

#include "avx512_bytes.h"

/* ---- dot products of bytes ---- */

static inline i32x16 vd_dot(b64 w, b64 x, int top)
{
	return _mm512_dpbusd_epi32(_mm512_setzero_si512(), w, x);
}

static inline i32x16 vd_dot_signed(b64 w, b64 x)
{
	return vd_dot(_mm512_xor_si512(w, _mm512_set1_epi8((char)0x80)), x, 255);
}

/* Neighbours within each 128 bits added: two of a, then two of b. */
INLINE __m512i vd_add_pairs(__m512i a, __m512i b)
{
	__m512i even = _mm512_castps_si512(_mm512_shuffle_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), 0x88));
	__m512i odd = _mm512_castps_si512(_mm512_shuffle_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), 0xdd));

	return _mm512_add_epi32(even, odd);
}

/* vd_add_pairs() for values of 16 bits: one shuffle less, as a product with ones adds two neighbours. */
INLINE __m512i vd_fold(__m512i a, __m512i b)
{
	return _mm512_madd_epi16(_mm512_packs_epi32(a, b), _mm512_set1_epi16(1));
}

/* The faster of them that fits. Each value is a sum of products with codes that add up to at most `most`. */
INLINE __m512i vd_pairs(__m512i a, __m512i b, int most)
{
	return most * 127 < 32768 ? vd_fold(a, b) : vd_add_pairs(a, b);
}

INLINE void vd_fold_halves(i32x16 v[8], int c, int top) { }
INLINE void vd_fold_quarters(i32x16 v[4], int c) { }

INLINE void vd_half_sums(const i32x16 v[8], int top, i32x16 *first, i32x16 *second)
{
	__m512i u[4], t[2];

	UNROLL
	for (int i = 0; i < 4; i++)
		u[i] = vd_pairs(v[2 * i], v[2 * i + 1], 4 * top);
	UNROLL
	for (int i = 0; i < 2; i++)
		t[i] = vd_pairs(u[2 * i], u[2 * i + 1], 8 * top);
	*first = _mm512_shuffle_i32x4(t[0], t[1], 0x88);
	*second = _mm512_shuffle_i32x4(t[0], t[1], 0xdd);
}

static inline i32x16 vd_dot_two(b64 w, b64 x, b64 w2, b64 x2) { return _mm512_dpbusd_epi32(vd_dot(w, x, 15), w2, x2); }

INLINE i32x16 vd_quarter_sums(const i32x16 v[4], int top)
{
	const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
	__m512i a = vd_pairs(v[0], v[1], 8 * top), b = vd_pairs(v[2], v[3], 8 * top);

	return _mm512_permutexvar_epi32(order, vd_pairs(a, b, 16 * top));
}

/* From v[4], each sixteen bytes of which are two sums of two: lanes at and at + second of the sums. */
INLINE void vd_sums_at(const i32x16 v[4], int top, __m512i at, int second, i32x16 sum[2])
{
	__m512i a = vd_pairs(v[0], v[1], 8 * top), b = vd_pairs(v[2], v[3], 8 * top);

	sum[0] = _mm512_permutex2var_epi32(a, at, b);
	sum[1] = _mm512_permutex2var_epi32(a, _mm512_add_epi32(at, _mm512_set1_epi32(second)), b);
}

static inline i32x16 vi_from_place(i32x16 sum, int place) { return _mm512_srai_epi32(sum, (unsigned)place); }

INLINE void vd_field_sums(const i32x16 v[4], int top, i32x16 sum[2])
{
	vd_sums_at(v, top, _mm512_setr_epi32(0, 16, 8, 24, 2, 18, 10, 26, 1, 17, 9, 25, 3, 19, 11, 27), 4, sum);
}

INLINE void vd_group_sums(const i32x16 v[4], int top, i32x16 sum[2])
{
	vd_sums_at(v, top, _mm512_setr_epi32(0, 8, 2, 10, 4, 12, 6, 14, 16, 24, 18, 26, 20, 28, 22, 30), 1, sum);
}

INLINE void vd_columns(struct column_shape s, struct column_ahead a, i32x16 (*sum)[COLUMNS_SIDE], const b64 *w,
                       const int8_t *x)
{
	UNROLL
	for (size_t k = 0; k < (size_t)s.quads; k++) {
		UNROLL
		for (int c = 0; c < s.columns; c++) {
			b64 q = vb_load(x + (size_t)c * s.step + 64 * k);

			IN_REGISTER(q);         /* otherwise the compiler loads it once for each row */
			UNROLL
			for (int r = 0; r < s.rows; r++)
				sum[r][c] = _mm512_dpbusd_epi32(sum[r][c], w[(size_t)r * s.row_step + k], q);
		}
		if (s.prefetches) {
			PREFETCH_AFTER(sum[0][0], "t1", a.far + 64 * k);
			PREFETCH_AFTER(sum[COLUMNS_ROWS - 1][s.columns - 1], "t0",
			               a.near[k % COLUMNS_ROWS] + 64 * (k / COLUMNS_ROWS));
		}
	}
}

static inline float vd_close(f32x16 v)
{
	return x86_close(_mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1)));
}

INLINE void vd_close_eight(const f32x16 *v, size_t step, float y[8])
{
	__m256 w[8];

	UNROLL
	for (size_t i = 0; i < 8; i++)
		w[i] = _mm256_add_ps(_mm512_castps512_ps256(v[i * step]), _mm512_extractf32x8_ps(v[i * step], 1));
	x86_close_eight(w, y);
}

/* ---- attention in integers ---- */

static inline attend_codes va_keys(b64 v) { return _mm512_xor_si512(v, _mm512_set1_epi8((char)KEY_BIAS)); }
static inline attend_codes va_values(b64 v) { return v; }
static inline attend_codes va_small(b64 v) { return v; }

static inline i32x16 va_add_keys(i32x16 sum, attend_codes k, const int32_t *x)
{
	return _mm512_dpbusd_epi32(sum, k, _mm512_set1_epi32(*x));
}

static inline i32x16 va_add_values(i32x16 sum, attend_codes v, const int32_t *x)
{
	return _mm512_dpbusd_epi32(sum, _mm512_set1_epi32(*x), v);
}

static inline i32x16 va_weights(int32_t *to, const i32x16 v[4], int is_signed)
{
	const __m512i from = _mm512_broadcast_i32x4(_mm_set1_epi32(0x0c080400));
	const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
	const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi8(1);
	__m512i bytes = _mm512_shuffle_epi8(v[0], from);        /* the low bytes of each quarter, in all its lanes */

	bytes = _mm512_mask_shuffle_epi8(bytes, 0x00f000f000f000f0, v[1], from);
	bytes = _mm512_mask_shuffle_epi8(bytes, 0x0f000f000f000f00, v[2], from);
	bytes = _mm512_mask_shuffle_epi8(bytes, 0xf000f000f000f000, v[3], from);
	_mm512_storeu_si512(to, _mm512_permutexvar_epi32(order, bytes));
	return is_signed ? _mm512_dpbusd_epi32(zero, one, bytes) : _mm512_dpbusd_epi32(zero, bytes, one);
}

/* ---- a tile of a prompt's product ---- */

#define TILE_BYTES(ROW) \
	ROW(kernel_1, 1, 0, 1, 0) ROW(kernel_1_minima, 1, 1, 1, 0) \
	ROW(kernel_2, 2, 0, 1, 0) ROW(kernel_2_minima, 2, 1, 1, 0)

INLINE void tile_dot(struct tile_shape t, i32x16 (*s)[TILE_VECTORS], const uint8_t *w, const int32_t *x, int quads,
                     const int32_t *start)
{
	UNROLL
	for (int k = 0; k < quads << t.i16; k++) {
		int at = t.i16 ? k / 2 : k, odd = t.i16 ? k % 2 : 0;
		const uint8_t *p = w + odd * TILE_ODD + at * 128;
		i32x16 a = _mm512_load_si512(p), b = _mm512_load_si512(p + 64);

		UNROLL
		for (int c = 0; c < t.columns; c++) {
			i32x16 q = _mm512_set1_epi32(x[(odd * 8 + at) * t.width + c]);

			s[c][0] = t.i16 ? _mm512_dpwssd_epi32(s[c][0], a, q) : _mm512_dpbusd_epi32(s[c][0], a, q);
			s[c][1] = t.i16 ? _mm512_dpwssd_epi32(s[c][1], b, q) : _mm512_dpbusd_epi32(s[c][1], b, q);
		}
	}
}

#endif
