/* avx512_emulated: the backend avx512 for CPUs that have AVX2 alone, built for tests instead of avx512.c (Makefile:
 * AVX512). */
#include "fwd/kernels/kernels.h"

#if defined __x86_64__
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define ISA avx512
#define NEEDS SYSTEM_AVX2
#define BF16_DOT_NEEDS SYSTEM_AVX2
#if defined __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c")
#endif

#include "avx512_emulated.h"
#include "avx512.h"
#include KERNELS

#if defined __clang__
#pragma clang attribute pop
#endif
#endif
