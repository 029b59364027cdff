/* neon: aarch64's vectors in the functions of simd/vocabulary.h, but for those that depend on how bytes are multiplied:
 * neon.c, dotprod.c and i8mm.c have vd_dot_4(), va_dot_4(), va_values(), tile_pair() and tile_dot(). */
#ifndef NEON_H
#define NEON_H

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fwd/kernels/simd/lanes.h"

typedef struct { float32x4_t a, b, c, d; } f32x16;      /* four registers */
typedef struct { int32x4_t a, b, c, d; } i32x16;
typedef struct { uint8x16_t a, b, c, d; } b64;
typedef uint8x16_t b16;
typedef b64 attend_codes;

enum {
	DOT_AT_ONCE = 0, SIGNED_BIAS = 0,
	COLUMNS_ROWS = 1, COLUMNS_UNPACKED = 8, COLUMNS_SIDE = 4, COLUMNS_SIDE_2 = 4, COLUMNS_AHEAD = 0,
	CODES_FEW = 9, CODES_FEW_PARTIAL = 9,
	PANEL_SPLIT = 256, PANEL_SPLIT_I16 = 256,
	TILE_I16 = 0, TILE_BIAS = 0, TILE_PAIRS = 0, TILE_STRIP = 0, TILE_VECTORS = 1,
	TILE_COLUMNS = 6, TILE_COLUMNS_2 = 6,   /* 24 of the 32 registers hold sums, four hold weights */
	FLOAT_COLUMNS = 6, FLOAT_FEW = 16, BF16_FEW = 16, BF16_DOT = 0, BF16_DOT_FEW = 0, BF16_TILES = 0,
	BF16_TILES_FEW = 0, FLOAT_ROWS = 2, FLOAT_SIDE = 3,
	PEAK_COLUMNS = 4,
	ATTEND_RESIDUES = 1, ATTEND_VECTORS = 1, ATTEND_I16 = 0, ATTEND_SIDE = 1, ATTEND_EXPS = 2, CODES_COLUMNS = 4,
	KEY_BIAS = 0
};

#define EIGHTS 0
#define PAIRS 0

#include "fwd/kernels/simd/vocabulary.h"

static inline f32x16 vf_of(float32x4_t a, float32x4_t b, float32x4_t c, float32x4_t d)
{
	return (f32x16){ a, b, c, d };
}
static inline i32x16 vi_of(int32x4_t a, int32x4_t b, int32x4_t c, int32x4_t d) { return (i32x16){ a, b, c, d }; }
static inline b64 vb_of(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) { return (b64){ a, b, c, d }; }

/* A function of one, two or three vectors that does op to each register. */
#define EACH_1(name, of, to, from, op) \
	static inline to name(from x) { return of(op(x.a), op(x.b), op(x.c), op(x.d)); }
#define EACH_2(name, of, type, op) \
	static inline type name(type x, type y) { return of(op(x.a, y.a), op(x.b, y.b), op(x.c, y.c), op(x.d, y.d)); }
#define EACH_3(name, of, type, op) \
	static inline type name(type x, type y, type z) \
	{ \
		return of(op(x.a, y.a, z.a), op(x.b, y.b, z.b), op(x.c, y.c, z.c), op(x.d, y.d, z.d)); \
	}

static inline uint8x16_t vb_16(const void *p)
{
	uint8x16_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static inline float32x4_t vf_4(const void *p) { return vreinterpretq_f32_u8(vb_16(p)); }
static inline int32x4_t vi_4(const void *p) { return vreinterpretq_s32_u8(vb_16(p)); }

/* ---- sixteen integers ---- */

static inline i32x16 vi_set1(int32_t x) { int32x4_t v = vdupq_n_s32(x); return vi_of(v, v, v, v); }
static inline i32x16 vi_bytes(b16 v)
{
	uint16x8_t x = vmovl_u8(vget_low_u8(v)), y = vmovl_high_u8(v);

	return vi_of(vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(x))), vreinterpretq_s32_u32(vmovl_high_u16(x)),
	             vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(y))), vreinterpretq_s32_u32(vmovl_high_u16(y)));
}
static inline i32x16 vi_u16s(b16 a, b16 b)
{
	uint16x8_t x = vreinterpretq_u16_u8(a), y = vreinterpretq_u16_u8(b);

	return vi_of(vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(x))), vreinterpretq_s32_u32(vmovl_high_u16(x)),
	             vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(y))), vreinterpretq_s32_u32(vmovl_high_u16(y)));
}

/* Four uint32, `step` bytes apart. Nothing is read after the last, as it may be the end of the mapping. */
static inline int32x4_t vi_words_4(const void *p, size_t step)
{
	const char *at = p;

	return step == 4 ? vi_4(p) : vuzp2q_s32(vi_4(at - 4), vi_4(at + 12));
}

static inline i32x16 vi_two_words(const void *p, const void *q)
{
	int32_t a, b;

	memcpy(&a, p, 4), memcpy(&b, q, 4);
	return vi_of(vdupq_n_s32(a), vdupq_n_s32(a), vdupq_n_s32(b), vdupq_n_s32(b));
}

static inline i32x16 vi_words(const void *p, const void *q, size_t step)
{
	const char *x = p, *y = q;

	return vi_of(vi_words_4(x, step), vi_words_4(x + 4 * step, step), vi_words_4(y, step),
	             vi_words_4(y + 4 * step, step));
}

static inline i32x16 vi_lanes(i32x16 v)
{
	return vi_of(vuzp1q_s32(v.a, v.b), vuzp2q_s32(v.a, v.b), vuzp1q_s32(v.c, v.d), vuzp2q_s32(v.c, v.d));
}

static inline i32x16 vi_load(const int32_t *p) { return vi_of(vi_4(p), vi_4(p + 4), vi_4(p + 8), vi_4(p + 12)); }
static inline void vi_store(int32_t *p, i32x16 v) { memcpy(p, &v, sizeof v); }

static inline void vi_store_n(int32_t *p, i32x16 v, size_t n)   /* n <= 16 */
{
	if (n == 16) {
		vi_store(p, v);
		return;
	}
	if (n & 8) {
		memcpy(p, &v.a, 16), memcpy(p + 4, &v.b, 16);
		v.a = v.c, v.b = v.d, p += 8;
	}
	if (n & 4) {
		memcpy(p, &v.a, 16);
		v.a = v.b, p += 4;
	}
	if (n & 2) {
		memcpy(p, &v.a, 8);
		v.a = vextq_s32(v.a, v.a, 2), p += 2;
	}
	if (n & 1)
		memcpy(p, &v.a, 4);
}

EACH_2(vi_add, vi_of, i32x16, vaddq_s32)
EACH_2(vi_sub, vi_of, i32x16, vsubq_s32)
EACH_2(vi_and, vi_of, i32x16, vandq_s32)
EACH_2(vi_or, vi_of, i32x16, vorrq_s32)
EACH_2(vi_max, vi_of, i32x16, vmaxq_s32)

/* As unsigned; to the left, or to the right where by is negative. */
static inline int32x4_t vi_shift_4(int32x4_t v, int32x4_t by)
{
	return vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(v), by));
}

EACH_2(vi_shift, vi_of, i32x16, vi_shift_4)
static inline i32x16 vi_shl(i32x16 v, int n) { return vi_shift(v, vi_set1(n)); }
static inline i32x16 vi_shr(i32x16 v, int n) { return vi_shift(v, vi_set1(-n)); }
static inline i32x16 vi_shr_each(i32x16 v, i32x16 n) { return vi_shift(v, vi_sub(vi_set1(0), n)); }

EACH_1(vi_to_float, vf_of, f32x16, i32x16, vcvtq_f32_s32)
EACH_1(vi_as_float, vf_of, f32x16, i32x16, vreinterpretq_f32_s32)      /* the same bits */
EACH_1(vf_as_int, vi_of, i32x16, f32x16, vreinterpretq_s32_f32)

/* Lane i of v[j] becomes lane j of v[i], for four. */
INLINE void vi_transpose_4(int32x4_t v[4])
{
	int64x2_t a = vreinterpretq_s64_s32(vtrn1q_s32(v[0], v[1])), b = vreinterpretq_s64_s32(vtrn2q_s32(v[0], v[1]));
	int64x2_t c = vreinterpretq_s64_s32(vtrn1q_s32(v[2], v[3])), d = vreinterpretq_s64_s32(vtrn2q_s32(v[2], v[3]));

	v[0] = vreinterpretq_s32_s64(vtrn1q_s64(a, c)), v[1] = vreinterpretq_s32_s64(vtrn1q_s64(b, d));
	v[2] = vreinterpretq_s32_s64(vtrn2q_s64(a, c)), v[3] = vreinterpretq_s32_s64(vtrn2q_s64(b, d));
}

INLINE void vi_transpose(i32x16 v[16])
{
	int32x4_t q[4][16];     /* lanes 4i to 4i + 3 of all rows */

	UNROLL
	for (int i = 0; i < 16; i++)
		q[0][i] = v[i].a, q[1][i] = v[i].b, q[2][i] = v[i].c, q[3][i] = v[i].d;
	UNROLL
	for (int i = 0; i < 4; i++) {
		UNROLL
		for (int j = 0; j < 16; j += 4)
			vi_transpose_4(q[i] + j);
	}
	UNROLL
	for (int i = 0; i < 16; i++)
		v[i] = vi_of(q[i / 4][i % 4], q[i / 4][4 + i % 4], q[i / 4][8 + i % 4], q[i / 4][12 + i % 4]);
}

/* ---- sixteen floats ---- */

static inline f32x16 vf_set1(float x) { float32x4_t v = vdupq_n_f32(x); return vf_of(v, v, v, v); }
static inline f32x16 vf_load(const float *p) { return vf_of(vf_4(p), vf_4(p + 4), vf_4(p + 8), vf_4(p + 12)); }
static inline void vf_store(float *p, f32x16 v) { memcpy(p, &v, sizeof v); }

static inline f32x16 vf_load_n(const float *p, size_t n)
{
	float lanes[16] = { 0 };

	memcpy(lanes, p, n * sizeof *p);
	return vf_load(lanes);
}

static inline void vf_store_n(float *p, f32x16 v, size_t n) { vi_store_n((int32_t *)(void *)p, vf_as_int(v), n); }

static inline f32x16 vf_first(f32x16 v, size_t n)
{
	float lanes[16];

	vf_store(lanes, v);
	return vf_load_n(lanes, n);
}

static inline void vf_load_pairs(const float *p, f32x16 *a, f32x16 *b)
{
	f32x16 x = vf_load(p), y = vf_load(p + 16);

	*a = vf_of(vuzp1q_f32(x.a, x.b), vuzp1q_f32(x.c, x.d), vuzp1q_f32(y.a, y.b), vuzp1q_f32(y.c, y.d));
	*b = vf_of(vuzp2q_f32(x.a, x.b), vuzp2q_f32(x.c, x.d), vuzp2q_f32(y.a, y.b), vuzp2q_f32(y.c, y.d));
}

static inline void vf_store_pairs(float *p, f32x16 a, f32x16 b)
{
	vf_store(p, vf_of(vzip1q_f32(a.a, b.a), vzip2q_f32(a.a, b.a), vzip1q_f32(a.b, b.b), vzip2q_f32(a.b, b.b)));
	vf_store(p + 16, vf_of(vzip1q_f32(a.c, b.c), vzip2q_f32(a.c, b.c), vzip1q_f32(a.d, b.d), vzip2q_f32(a.d, b.d)));
}

/* Sixteen halves in two registers. */
static inline f32x16 vf_sixteen_f16s(uint8x16_t x, uint8x16_t y)
{
	float16x8_t a = vreinterpretq_f16_u8(x), b = vreinterpretq_f16_u8(y);

	return vf_of(vcvt_f32_f16(vget_low_f16(a)), vcvt_high_f32_f16(a), vcvt_f32_f16(vget_low_f16(b)),
	             vcvt_high_f32_f16(b));
}

static inline f32x16 vf_load_f16(const uint16_t *p) { return vf_sixteen_f16s(vb_16(p), vb_16(p + 8)); }

static inline void vf_store_f16(uint16_t *p, f32x16 v)
{
	float16x8_t a = vcvt_high_f16_f32(vcvt_f16_f32(v.a), v.b), b = vcvt_high_f16_f32(vcvt_f16_f32(v.c), v.d);

	memcpy(p, &a, sizeof a), memcpy(p + 8, &b, sizeof b);
}

static inline f32x16 vf_load_bf16(const void *p)
{
	uint16x8_t x = vreinterpretq_u16_u8(vb_16(p)), y = vreinterpretq_u16_u8(vb_16((const char *)p + 16));

	return vf_of(vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(x), 16)),
	             vreinterpretq_f32_u32(vshll_high_n_u16(x, 16)),
	             vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(y), 16)),
	             vreinterpretq_f32_u32(vshll_high_n_u16(y, 16)));
}

/* One of the upper two bits of the exponent is set from 2^-63 on. */
static inline int32x4_t vi_bf16_pairs_4(const void *p)
{
	uint16x8_t v = vreinterpretq_u16_u8(vb_16(p));

	return vreinterpretq_s32_u16(vandq_u16(v, vtstq_u16(v, vdupq_n_u16(0x6000))));
}

static inline i32x16 vi_bf16_pairs(const void *p)
{
	const char *at = p;

	return vi_of(vi_bf16_pairs_4(at), vi_bf16_pairs_4(at + 16), vi_bf16_pairs_4(at + 32), vi_bf16_pairs_4(at + 48));
}

EACH_2(vf_add, vf_of, f32x16, vaddq_f32)
EACH_2(vf_sub, vf_of, f32x16, vsubq_f32)
EACH_2(vf_mul, vf_of, f32x16, vmulq_f32)
EACH_2(vf_div, vf_of, f32x16, vdivq_f32)

/* x·y + z, x·y − z */
static inline float32x4_t vf_fma_4(float32x4_t x, float32x4_t y, float32x4_t z) { return vfmaq_f32(z, x, y); }
static inline float32x4_t vf_fms_4(float32x4_t x, float32x4_t y, float32x4_t z)
{
	return vfmaq_f32(vnegq_f32(z), x, y);
}

EACH_3(vf_fma, vf_of, f32x16, vf_fma_4)
EACH_3(vf_fms, vf_of, f32x16, vf_fms_4)

/* x > y ? x : y, and so y where either is NaN; x < y ? x : y. */
static inline float32x4_t vf_max_4(float32x4_t x, float32x4_t y) { return vbslq_f32(vcgtq_f32(x, y), x, y); }
static inline float32x4_t vf_min_4(float32x4_t x, float32x4_t y) { return vbslq_f32(vcltq_f32(x, y), x, y); }

EACH_2(vf_max, vf_of, f32x16, vf_max_4)
EACH_2(vf_min, vf_of, f32x16, vf_min_4)

/* x < y ? 0 : z */
static inline float32x4_t vf_zero_if_less_4(float32x4_t x, float32x4_t y, float32x4_t z)
{
	return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(z), vcltq_f32(x, y)));
}

EACH_3(vf_zero_if_less, vf_of, f32x16, vf_zero_if_less_4)

static inline f32x16 vf_select_less(f32x16 x, f32x16 y, f32x16 u, f32x16 v)
{
	return vf_of(vbslq_f32(vcltq_f32(x.a, y.a), u.a, v.a), vbslq_f32(vcltq_f32(x.b, y.b), u.b, v.b),
	             vbslq_f32(vcltq_f32(x.c, y.c), u.c, v.c), vbslq_f32(vcltq_f32(x.d, y.d), u.d, v.d));
}

/* v · 2^n for integral n in [-126, 128], in two factors as 2^128 is no float; rounds once at most where v is in
 * [1/2, 2]. */
static inline float32x4_t vf_scale2n_4(float32x4_t v, float32x4_t n)
{
	const int32x4_t bias = vdupq_n_s32(127);
	int32x4_t whole = vcvtnq_s32_f32(n), half = vshrq_n_s32(whole, 1), rest = vsubq_s32(whole, half);

	v = vmulq_f32(v, vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(half, bias), 23)));
	return vmulq_f32(v, vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(rest, bias), 23)));
}

EACH_2(vf_scale2n, vf_of, f32x16, vf_scale2n_4)

/* Adds n to the exponent. */
static inline float32x4_t vf_scale2n_low_4(float32x4_t v, float32x4_t n)
{
	int32x4_t exponent = vshlq_n_s32(vcvtnq_s32_f32(n), 23);

	return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(v), exponent));
}

EACH_2(vf_scale2n_low, vf_of, f32x16, vf_scale2n_low_4)

static inline float vf_tree(f32x16 v)
{
	float32x4_t x = vaddq_f32(vaddq_f32(v.a, v.c), vaddq_f32(v.b, v.d));
	float32x2_t y = vadd_f32(vget_low_f32(x), vget_high_f32(x));

	return vget_lane_f32(y, 0) + vget_lane_f32(y, 1);
}

static inline float32x4_t vf_largest_4(f32x16 v) { return vmaxq_f32(vmaxq_f32(v.a, v.b), vmaxq_f32(v.c, v.d)); }
static inline float vf_largest(f32x16 v) { return vmaxvq_f32(vf_largest_4(v)); }

/* Four vectors from v[i] on; those past the last are the last again. */
INLINE float32x4_t vf_largest_four(const f32x16 *v, size_t n, size_t i)
{
	float32x4_t m[4];

	UNROLL
	for (size_t j = 0; j < 4; j++)
		m[j] = vf_largest_4(v[i + j < n ? i + j : n - 1]);
	return vpmaxq_f32(vpmaxq_f32(m[0], m[1]), vpmaxq_f32(m[2], m[3]));
}

INLINE f32x16 vf_largest_each(const f32x16 *v, size_t n)
{
	return vf_of(vf_largest_four(v, n, 0), vf_largest_four(v, n, 4), vf_largest_four(v, n, 8),
	             vf_largest_four(v, n, 12));
}

INLINE int32x4_t vi_sum_four(const i32x16 *v, size_t n, size_t i)
{
	int32x4_t s[4];

	UNROLL
	for (size_t j = 0; j < 4; j++) {
		i32x16 x = v[i + j < n ? i + j : n - 1];

		s[j] = vaddq_s32(vaddq_s32(x.a, x.b), vaddq_s32(x.c, x.d));
	}
	return vpaddq_s32(vpaddq_s32(s[0], s[1]), vpaddq_s32(s[2], s[3]));
}

INLINE i32x16 vi_sum_each(const i32x16 *v, size_t n)
{
	return vi_of(vi_sum_four(v, n, 0), vi_sum_four(v, n, 4), vi_sum_four(v, n, 8), vi_sum_four(v, n, 12));
}

#include "neon_bytes.h"

/* ---- dot products of bytes ---- */

/* s + the sums of four products of signed bytes: codes w, activations x. */
static inline int32x4_t vd_dot_4(int32x4_t s, int8x16_t w, int8x16_t x);

/* The same for 64 bytes. */
static inline i32x16 vd_more(i32x16 s, b64 w, b64 x)
{
	return vi_of(vd_dot_4(s.a, vreinterpretq_s8_u8(w.a), vreinterpretq_s8_u8(x.a)),
	             vd_dot_4(s.b, vreinterpretq_s8_u8(w.b), vreinterpretq_s8_u8(x.b)),
	             vd_dot_4(s.c, vreinterpretq_s8_u8(w.c), vreinterpretq_s8_u8(x.c)),
	             vd_dot_4(s.d, vreinterpretq_s8_u8(w.d), vreinterpretq_s8_u8(x.d)));
}

static inline i32x16 vd_dot_signed(b64 w, b64 x) { return vd_more(vi_zero(), w, x); }
static inline i32x16 vd_dot(b64 w, b64 x, int top) { return vd_dot_signed(w, x); }
static inline i32x16 vd_dot_two(b64 w, b64 x, b64 w2, b64 x2) { return vd_more(vd_dot_signed(w, x), w2, x2); }

/* The sums of four vectors. */
static inline int32x4_t vd_four(int32x4_t a, int32x4_t b, int32x4_t c, int32x4_t d)
{
	return vpaddq_s32(vpaddq_s32(a, b), vpaddq_s32(c, d));
}

INLINE void vd_fold_halves(i32x16 v[8], int c, int top) { }
INLINE void vd_fold_quarters(i32x16 v[4], int c) { }

INLINE void vd_half_sums(const i32x16 v[8], int top, i32x16 *first, i32x16 *second)
{
	*first = vi_of(vd_four(v[0].a, v[1].a, v[2].a, v[3].a), vd_four(v[0].c, v[1].c, v[2].c, v[3].c),
	               vd_four(v[4].a, v[5].a, v[6].a, v[7].a), vd_four(v[4].c, v[5].c, v[6].c, v[7].c));
	*second = vi_of(vd_four(v[0].b, v[1].b, v[2].b, v[3].b), vd_four(v[0].d, v[1].d, v[2].d, v[3].d),
	                vd_four(v[4].b, v[5].b, v[6].b, v[7].b), vd_four(v[4].d, v[5].d, v[6].d, v[7].d));
}

INLINE i32x16 vd_quarter_sums(const i32x16 v[4], int top)
{
	int32x4_t a = vd_four(v[0].a, v[1].a, v[2].a, v[3].a), b = vd_four(v[0].b, v[1].b, v[2].b, v[3].b);
	int32x4_t c = vd_four(v[0].c, v[1].c, v[2].c, v[3].c), d = vd_four(v[0].d, v[1].d, v[2].d, v[3].d);
	int32x4_t ac = vzip1q_s32(a, c), bd = vzip1q_s32(b, d), ac2 = vzip2q_s32(a, c), bd2 = vzip2q_s32(b, d);

	return vi_of(vzip1q_s32(ac, bd), vzip2q_s32(ac, bd), vzip1q_s32(ac2, bd2), vzip2q_s32(ac2, bd2));
}

INLINE void vd_columns(struct column_shape s, struct column_ahead a, i32x16 (*sum)[COLUMNS_SIDE], const b64 *w,
                       const int8_t *x)
{
	UNROLL
	for (int k = 0; k < s.quads; k++)
		UNROLL
		for (int c = 0; c < s.columns; c++)
			sum[0][c] = vd_more(sum[0][c], w[k], vb_load(x + (size_t)c * s.step + 64 * k));
}

static inline float vd_close(f32x16 v)
{
	/* p: lanes 0 2 4 6, q: lanes 1 3 5 7, each plus the lane 8 places on */
	float32x4_t p = vaddq_f32(v.a, v.c), q = vaddq_f32(v.b, v.d);
	float32x2_t even = vadd_f32(vget_low_f32(p), vget_high_f32(p));
	float32x2_t odd = vadd_f32(vget_low_f32(q), vget_high_f32(q));

	return vaddv_f32(even) + vaddv_f32(odd);
}

INLINE void vd_close_eight(const f32x16 *v, size_t step, float y[8])
{
	UNROLL
	for (size_t i = 0; i < 8; i++)
		y[i] = vd_close(v[i * step]);
}

/* ---- attention in integers ---- */

/* s + the sums of four products of bytes: codes of va_values(), multipliers x without a sign. */
static inline int32x4_t va_dot_4(int32x4_t s, uint8x16_t v, uint8x16_t x);

static inline attend_codes va_keys(b64 v) { return v; }
static inline attend_codes va_small(b64 v) { return v; }

static inline i32x16 va_add_keys(i32x16 sum, attend_codes k, const int32_t *x)
{
	uint8x16_t q = vreinterpretq_u8_s32(vdupq_n_s32(*x));

	return vd_more(sum, k, vb_of(q, q, q, q));
}

static inline i32x16 va_add_values(i32x16 sum, attend_codes v, const int32_t *x)
{
	uint8x16_t p = vreinterpretq_u8_s32(vdupq_n_s32(*x));

	return vi_of(va_dot_4(sum.a, v.a, p), va_dot_4(sum.b, v.b, p), va_dot_4(sum.c, v.c, p),
	             va_dot_4(sum.d, v.d, p));
}

/* The low byte of each lane. */
static inline uint8x16_t va_bytes(i32x16 v)
{
	uint8x16_t low = vuzp1q_u8(vreinterpretq_u8_s32(v.a), vreinterpretq_u8_s32(v.b));
	uint8x16_t high = vuzp1q_u8(vreinterpretq_u8_s32(v.c), vreinterpretq_u8_s32(v.d));

	return vuzp1q_u8(low, high);
}

/* Their sums, four by four. */
static inline int32x4_t va_sums_4(uint8x16_t v, int is_signed)
{
	return is_signed ? vpaddlq_s16(vpaddlq_s8(vreinterpretq_s8_u8(v)))
		: vreinterpretq_s32_u32(vpaddlq_u16(vpaddlq_u8(v)));
}

static inline i32x16 va_weights(int32_t *to, const i32x16 v[4], int is_signed)
{
	b64 w = vb_of(va_bytes(v[0]), va_bytes(v[1]), va_bytes(v[2]), va_bytes(v[3]));

	memcpy(to, &w, sizeof w);
	return vi_of(va_sums_4(w.a, is_signed), va_sums_4(w.b, is_signed), va_sums_4(w.c, is_signed),
	             va_sums_4(w.d, is_signed));
}

/* ---- a tile of a prompt's product ---- */

#define TILE_BYTES(ROW) \
	ROW(kernel_1, 1, 0, 1, 0) ROW(kernel_1_minima, 1, 1, 1, 0) \
	ROW(kernel_2, 2, 0, 1, 0) ROW(kernel_2_minima, 2, 1, 1, 0)

#undef EACH_1
#undef EACH_2
#undef EACH_3

#endif
