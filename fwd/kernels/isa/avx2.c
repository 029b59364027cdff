/* avx2: compiles one file of simd/ for AVX2 with FMA and F16C. The Makefile compiles this file once for each and names
 * it in KERNELS. Empty on other architectures. */
#include "fwd/kernels/kernels.h"

#if defined __x86_64__
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define ISA avx2
#if defined __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c")
/* With sixteen registers it pays to order instructions before registers are allocated (decode of Q6_K by a tenth). */
#pragma GCC optimize("schedule-insns", "sched-pressure")
#if defined KERNELS_decode || defined KERNELS_decode_wide
/* Allocating them by regions makes decode of narrow rows slower by a tenth. */
#pragma GCC optimize("ira-region=one")
#endif
#endif

#include "avx2.h"
#include KERNELS

#if defined __clang__
#pragma clang attribute pop
#endif
#endif
