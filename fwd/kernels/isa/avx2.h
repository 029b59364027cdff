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

enum {
	DOT_AT_ONCE = 1,        /* sixteen registers hold no more */
	SIGNED_BIAS = 0,
	COLUMNS_ROWS = 1, COLUMNS_UNPACKED = 8, COLUMNS_SIDE = 4,
	CODES_FEW = 16,         /* 16 columns: 1.07 times as fast as with a panel; 24: 0.9 */
	TILE_I16 = 1, TILE_BIAS = 128, TILE_PAIRS = 1,
	PANEL_SPLIT = 128, PANEL_SPLIT_I16 = 64,        /* of Zen 3's 512 KB: twice as much takes 0.03 more time */
	TILE_STRIP = 4, TILE_VECTORS = 1, TILE_COLUMNS = 4, TILE_COLUMNS_2 = 4,
	FLOAT_COLUMNS = 6, FLOAT_FEW = 16, FLOAT_ROWS = 2, FLOAT_SIDE = 3,
	PEAK_COLUMNS = 3,
	ATTEND_RESIDUES = 1, ATTEND_VECTORS = 1
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

/* ---- sixty-four bytes: two blocks of 32 codes ---- */

INLINE void vb_turn_quarters(b64 v[4])
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

INLINE void vb_zip_quarters(b64 *v, b64 *w)
{
	vi_zip_halves(&v->a, &w->a);
	vi_zip_halves(&v->b, &w->b);
}

INLINE void vb_turn(b64 v[8])
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

/* All ones where the bit is set, bit 0 for the first byte. */
static inline __m256i vb_mask_32(int32_t bits)
{
	const __m256i byte = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
	const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201);
	__m256i v = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(bits), byte), bit);

	return _mm256_cmpeq_epi8(v, bit);
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

/* Four bytes of each of four blocks: those of blocks 0 and 2, the same shifted right by one; likewise of 1 and 3. */
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

#include "avx2_dot.h"

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
