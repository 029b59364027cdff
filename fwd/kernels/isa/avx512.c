/* avx512: compiles one file of simd/ for AVX-512 F, BW, DQ, VL and VNNI with FMA and F16C. The Makefile compiles this
 * file once for each and names it in KERNELS; bf16_dot.c also has AVX-512 BF16, and bf16_tiles.c AMX. Empty on other
 * architectures. */
#include "fwd/kernels/kernels.h"

#if defined __x86_64__
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define ISA avx512
#if defined __clang__ && defined KERNELS_bf16_dot
#pragma clang attribute push(__attribute__((target( \
	"avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,fma,f16c"))), apply_to = function)
#elif defined __clang__ && defined KERNELS_bf16_tiles
#pragma clang attribute push(__attribute__((target( \
	"avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,amx-tile,amx-bf16,fma,f16c"))), apply_to = function)
#elif defined __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c"))), \
	apply_to = function)
#elif defined KERNELS_bf16_dot
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,fma,f16c")
#elif defined KERNELS_bf16_tiles
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,amx-tile,amx-bf16,fma,f16c")
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c")
#endif

/* Like OPAQUE() for a vector: the compiler forgets where it came from. */
#define IN_REGISTER(v) __asm__("" : "+v"(v))
/* Prefetches a line after v is computed. If it did not depend on v, GCC would move all prefetches to the front. Clang
 * keeps volatile statements in order, and with the dependency spills v: 16 columns take 2.5 times as long. */
#ifdef __clang__
#define PREFETCH_AFTER(v, level, p) __asm__ volatile("prefetch" level " %0" : : "m"(*(const char *)(p)))
#else
#define PREFETCH_AFTER(v, level, p) __asm__("prefetch" level " %1" : "+v"(v) : "m"(*(const char *)(p)))
#endif

#define DOT_PAIRS(sum, w, x) _mm512_dpbf16_ps(sum, (__m512bh)(w), (__m512bh)(x))

#include "avx512.h"
#include KERNELS

#if defined __clang__
#pragma clang attribute pop
#endif
#endif
