/* avx512_test: the intrinsics of avx512_emulated.h against the real ones on random operands, where the CPU has them. */
#include "check.h"
#include "random.h"

#if defined __x86_64__
#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/system.h"

/* Each intrinsic with operands from p, 64 bytes each, and a mask or a scalar in the last 64; its result goes to r[64].
 * Expanded twice: before avx512_emulated.h is included and after. What an intrinsic leaves undefined is not stored. */
enum { OPERANDS = 5, ROUNDS = 1000 };
#define AT(n) (p + 64 * (n))
#define INT(n) _mm512_loadu_si512(AT(n))
#define FLOAT(n) _mm512_loadu_ps((const void *)AT(n))
#define HALF _mm256_loadu_si256((const void *)p)
#define QUARTER _mm_loadu_si128((const void *)p)
#define SCALAR(type) (*(const type *)(const void *)AT(4))
#define INTS(v) _mm512_storeu_si512(r, v)
#define FLOATS(v) _mm512_storeu_ps((void *)r, v)
#define PART(type, v) type part = v; memcpy(r, &part, sizeof part)
/* From random bits: floats from 1 to 2 or from -2 to -1; integers from -126 to 129. */
#define ONE_TO_TWO(v) _mm512_castsi512_ps(_mm512_or_si512(_mm512_set1_epi32(0x3f800000), \
	_mm512_and_si512(v, _mm512_set1_epi32((int)0x807fffff))))
/* From random bits: numbers of BF16 from 2^-63 to 2, or negative. */
#define SMALL(v) _mm512_or_si512(_mm512_set1_epi32(0x20002000), \
	_mm512_and_si512(v, _mm512_set1_epi32((int)0xbfffbfff)))
#define PAIRS(v) (__m512bh)SMALL(v)
#define POWER(v) _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_srli_epi32(v, 24), _mm512_set1_epi32(126)))

#define CALLS(CALL) \
	CALL(add_ps, FLOATS(_mm512_add_ps(FLOAT(0), FLOAT(1)))) \
	CALL(sub_ps, FLOATS(_mm512_sub_ps(FLOAT(0), FLOAT(1)))) \
	CALL(mul_ps, FLOATS(_mm512_mul_ps(FLOAT(0), FLOAT(1)))) \
	CALL(div_ps, FLOATS(_mm512_div_ps(FLOAT(0), FLOAT(1)))) \
	CALL(max_ps, FLOATS(_mm512_max_ps(FLOAT(0), FLOAT(1)))) \
	CALL(min_ps, FLOATS(_mm512_min_ps(FLOAT(0), FLOAT(1)))) \
	CALL(fmadd_ps, FLOATS(_mm512_fmadd_ps(FLOAT(0), FLOAT(1), FLOAT(2)))) \
	CALL(fmsub_ps, FLOATS(_mm512_fmsub_ps(FLOAT(0), FLOAT(1), FLOAT(2)))) \
	CALL(cvtepi32_ps, FLOATS(_mm512_cvtepi32_ps(INT(0)))) \
	CALL(add_epi8, INTS(_mm512_add_epi8(INT(0), INT(1)))) \
	CALL(shuffle_epi8, INTS(_mm512_shuffle_epi8(INT(0), INT(1)))) \
	CALL(mullo_epi16, INTS(_mm512_mullo_epi16(INT(0), INT(1)))) \
	CALL(mulhi_epu16, INTS(_mm512_mulhi_epu16(INT(0), INT(1)))) \
	CALL(madd_epi16, INTS(_mm512_madd_epi16(INT(0), INT(1)))) \
	CALL(add_epi32, INTS(_mm512_add_epi32(INT(0), INT(1)))) \
	CALL(sub_epi32, INTS(_mm512_sub_epi32(INT(0), INT(1)))) \
	CALL(max_epi32, INTS(_mm512_max_epi32(INT(0), INT(1)))) \
	CALL(packs_epi32, INTS(_mm512_packs_epi32(INT(0), INT(1)))) \
	CALL(unpacklo_epi32, INTS(_mm512_unpacklo_epi32(INT(0), INT(1)))) \
	CALL(unpackhi_epi32, INTS(_mm512_unpackhi_epi32(INT(0), INT(1)))) \
	CALL(unpacklo_epi64, INTS(_mm512_unpacklo_epi64(INT(0), INT(1)))) \
	CALL(unpackhi_epi64, INTS(_mm512_unpackhi_epi64(INT(0), INT(1)))) \
	CALL(and_si512, INTS(_mm512_and_si512(INT(0), INT(1)))) \
	CALL(or_si512, INTS(_mm512_or_si512(INT(0), INT(1)))) \
	CALL(xor_si512, INTS(_mm512_xor_si512(INT(0), INT(1)))) \
	CALL(permutexvar_epi32, INTS(_mm512_permutexvar_epi32(INT(0), INT(1)))) \
	CALL(permutexvar_epi64, INTS(_mm512_permutexvar_epi64(INT(0), INT(1)))) \
	CALL(rolv_epi64, INTS(_mm512_rolv_epi64(INT(0), INT(1)))) \
	CALL(srlv_epi64, INTS(_mm512_srlv_epi64(INT(0), _mm512_and_si512(INT(1), _mm512_set1_epi32(63))))) \
	CALL(srlv_epi32, INTS(_mm512_srlv_epi32(INT(0), _mm512_and_si512(INT(1), _mm512_set1_epi32(31))))) \
	CALL(dpwssd_epi32, INTS(_mm512_dpwssd_epi32(INT(0), INT(1), INT(2)))) \
	CALL(dpbusd_epi32, INTS(_mm512_dpbusd_epi32(INT(0), INT(1), INT(2)))) \
	CALL(permutex2var_epi32, INTS(_mm512_permutex2var_epi32(INT(0), INT(1), INT(2)))) \
	CALL(permutex2var_epi16, INTS(_mm512_permutex2var_epi16(INT(0), INT(1), INT(2)))) \
	CALL(slli_epi16, INTS(_mm512_slli_epi16(INT(0), AT(4)[0] % 40))) \
	CALL(srli_epi16, INTS(_mm512_srli_epi16(INT(0), AT(4)[0] % 40))) \
	CALL(mask_srli_epi16, INTS(_mm512_mask_srli_epi16(INT(0), SCALAR(uint32_t), INT(1), AT(4)[0] % 40))) \
	CALL(srai_epi32, INTS(_mm512_srai_epi32(INT(0), AT(4)[0] % 40))) \
	CALL(slli_epi32, INTS(_mm512_slli_epi32(INT(0), AT(4)[0] % 40))) \
	CALL(srli_epi32, INTS(_mm512_srli_epi32(INT(0), AT(4)[0] % 40))) \
	CALL(permutexvar_ps, FLOATS(_mm512_permutexvar_ps(INT(0), FLOAT(1)))) \
	CALL(permutex2var_ps, FLOATS(_mm512_permutex2var_ps(FLOAT(0), INT(1), FLOAT(2)))) \
	CALL(castps_si512, INTS(_mm512_castps_si512(FLOAT(0)))) \
	CALL(castsi512_ps, FLOATS(_mm512_castsi512_ps(INT(0)))) \
	CALL(castsi512_si256, PART(__m256i, _mm512_castsi512_si256(INT(0)))) \
	CALL(castps512_ps256, PART(__m256, _mm512_castps512_ps256(FLOAT(0)))) \
	CALL(castsi256_si512, INTS(_mm512_inserti64x4(_mm512_castsi256_si512(HALF), HALF, 1))) \
	CALL(castps128_ps512, \
	     FLOATS(_mm512_permutexvar_ps(_mm512_and_si512(INT(1), _mm512_set1_epi32(3)), \
	                                  _mm512_castps128_ps512(_mm_castsi128_ps(QUARTER))))) \
	CALL(set1_ps, FLOATS(_mm512_set1_ps(SCALAR(float)))) \
	CALL(set1_epi8, INTS(_mm512_set1_epi8(SCALAR(char)))) \
	CALL(set1_epi16, INTS(_mm512_set1_epi16(SCALAR(short)))) \
	CALL(set1_epi32, INTS(_mm512_set1_epi32(SCALAR(int)))) \
	CALL(setzero_si512, INTS(_mm512_or_si512(_mm512_setzero_si512(), INT(0)))) \
	CALL(setr_epi32, INTS(_mm512_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))) \
	CALL(setr_epi64, INTS(_mm512_setr_epi64(1, 2, 3, 4, 5, 6, 7, 8))) \
	CALL(loadu_si512, INTS(_mm512_loadu_si512(AT(0) + 1))) \
	CALL(load_si512, INTS(_mm512_load_si512(AT(1)))) \
	CALL(loadu_ps, FLOATS(_mm512_loadu_ps(AT(0) + 4))) \
	CALL(storeu_si512, _mm512_storeu_si512(r, INT(0))) \
	CALL(storeu_ps, _mm512_storeu_ps(r, FLOAT(0))) \
	CALL(mask_loadu_epi16, INTS(_mm512_mask_loadu_epi16(INT(0), SCALAR(uint32_t), AT(1)))) \
	CALL(maskz_loadu_ps, FLOATS(_mm512_maskz_loadu_ps(SCALAR(uint16_t), AT(0)))) \
	CALL(mask_storeu_epi32, _mm512_mask_storeu_epi32(r, SCALAR(uint16_t), INT(0))) \
	CALL(mask_storeu_ps, _mm512_mask_storeu_ps(r, SCALAR(uint16_t), FLOAT(0))) \
	CALL(cmp_ps_mask, uint32_t less = _mm512_cmp_ps_mask(FLOAT(0), FLOAT(1), _CMP_LT_OQ); \
	     PART(uint32_t, less | (uint32_t)_mm512_cmp_ps_mask(FLOAT(0), FLOAT(1), _CMP_NLT_UQ) << 16)) \
	CALL(mask_blend_ps, FLOATS(_mm512_mask_blend_ps(SCALAR(uint16_t), FLOAT(0), FLOAT(1)))) \
	CALL(maskz_mov_ps, FLOATS(_mm512_maskz_mov_ps(SCALAR(uint16_t), FLOAT(0)))) \
	CALL(mask_shuffle_epi8, INTS(_mm512_mask_shuffle_epi8(INT(0), SCALAR(uint64_t), INT(1), INT(2)))) \
	CALL(mask_add_epi8, INTS(_mm512_mask_add_epi8(INT(0), SCALAR(uint64_t), INT(1), INT(2)))) \
	CALL(mask_sub_epi8, INTS(_mm512_mask_sub_epi8(INT(0), SCALAR(uint64_t), INT(1), INT(2)))) \
	CALL(test_epi16_mask, PART(uint32_t, _mm512_test_epi16_mask(INT(0), INT(1)))) \
	CALL(maskz_mov_epi16, INTS(_mm512_maskz_mov_epi16(SCALAR(uint32_t), INT(0)))) \
	CALL(dpbf16_ps, FLOATS(_mm512_dpbf16_ps(ONE_TO_TWO(INT(0)), PAIRS(INT(1)), PAIRS(INT(2))))) \
	CALL(maskz_set1_epi8, INTS(_mm512_maskz_set1_epi8(SCALAR(uint64_t), (char)AT(0)[0]))) \
	CALL(extractf32x8_ps, PART(__m256, _mm512_extractf32x8_ps(FLOAT(0), 1))) \
	CALL(inserti64x4, INTS(_mm512_inserti64x4(INT(1), HALF, 1))) \
	CALL(broadcast_i64x4, INTS(_mm512_broadcast_i64x4(HALF))) \
	CALL(broadcast_i32x4, INTS(_mm512_broadcast_i32x4(QUARTER))) \
	CALL(broadcastq_epi64, INTS(_mm512_broadcastq_epi64(QUARTER))) \
	CALL(mask_broadcast_i32x4, INTS(_mm512_mask_broadcast_i32x4(INT(1), SCALAR(uint16_t), QUARTER))) \
	CALL(shuffle_i32x4, INTS(_mm512_shuffle_i32x4(INT(0), INT(1), 0x1b))) \
	CALL(shuffle_ps, FLOATS(_mm512_shuffle_ps(FLOAT(0), FLOAT(1), 0x1b))) \
	CALL(cvtepi32_epi8, PART(__m128i, _mm512_cvtepi32_epi8(INT(0)))) \
	CALL(cvtepi8_epi32, INTS(_mm512_cvtepi8_epi32(QUARTER))) \
	CALL(cvtepu8_epi32, INTS(_mm512_cvtepu8_epi32(QUARTER))) \
	CALL(cvtepu16_epi32, INTS(_mm512_cvtepu16_epi32(HALF))) \
	CALL(cvtepu8_epi16, INTS(_mm512_cvtepu8_epi16(HALF))) \
	CALL(cvtepi16_epi8, PART(__m256i, _mm512_cvtepi16_epi8(INT(0)))) \
	CALL(cvtph_ps, FLOATS(_mm512_cvtph_ps(HALF))) \
	CALL(cvtps_ph, PART(__m256i, _mm512_cvtps_ph(FLOAT(0), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))) \
	CALL(scalef_ps, FLOATS(_mm512_scalef_ps(ONE_TO_TWO(INT(0)), POWER(INT(1))))) \
	CALL(reduce_max_ps, PART(float, _mm512_reduce_max_ps(_mm512_cvtepi32_ps(INT(0)))))

struct call {
	const char *name;
	void (*real)(const unsigned char *p, unsigned char *r), (*emulated)(const unsigned char *p, unsigned char *r);
};

#define REAL(op, ...) static void real_##op(const unsigned char *p, unsigned char *r) { __VA_ARGS__; }
#define EMULATION(op, ...) static void emulation_##op(const unsigned char *p, unsigned char *r) { __VA_ARGS__; }
#define ENTRY(op, ...) { #op, real_##op, emulation_##op },

#if defined __clang__
#pragma clang attribute push(__attribute__((target( \
	"avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,fma,f16c")
#endif
CALLS(REAL)
#if defined __clang__
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif
#include "fwd/kernels/isa/avx512_emulated.h"
#undef PAIRS
#define PAIRS(v) SMALL(v)
CALLS(EMULATION)
#if defined __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

static const struct call calls[] = { CALLS(ENTRY) };

/* Every other round has floats of ordinary size, the others any bits, but NaN and infinity in one operand only: which
 * of two NaN a sum takes depends on the compiler. */
static void random_operands(unsigned char *p, int round)
{
	for (size_t i = 0; i < (OPERANDS - 1) * 64; i += 4) {
		uint32_t bits = random_bits();
		float f = (float)(int32_t)bits * 0x1p-24f;

		if ((bits & 0x7f800000) == 0x7f800000 && (int)i / 64 != round / 2 % OPERANDS)
			bits ^= 0x00800000;
		memcpy(p + i, round % 2 ? (void *)&f : (void *)&bits, 4);
	}
	for (size_t i = (OPERANDS - 1) * 64; i < OPERANDS * 64; i++)
		p[i] = (unsigned char)(random_bits() >> 24);
}

static void compare(const struct call *c)
{
	_Alignas(64) unsigned char p[OPERANDS * 64], real[64], emulated[64];

	for (int i = 0; i < ROUNDS; i++) {
		random_operands(p, i);
		memset(real, 0x55, sizeof real);
		memset(emulated, 0x55, sizeof emulated);
		c->real(p, real);
		c->emulated(p, emulated);
		if (!check(memcmp(real, emulated, sizeof real) == 0, "_mm512_%s: round %d differs", c->name, i))
			return;
	}
}

int main(void)
{
	size_t n = sizeof calls / sizeof *calls, skipped = 0;

	for (size_t i = 0; i < n; i++)
		if (system_has(strcmp(calls[i].name, "dpbf16_ps") ? SYSTEM_AVX512 : SYSTEM_BF16))
			compare(&calls[i]);
		else
			skipped++;
	if (skipped)
		check_skip("this CPU lacks AVX-512 or its BF16 (%zu cases)", skipped);
	return check_end("avx512");
}
#else
int main(void)
{
	return check_end("avx512");
}
#endif
