/* avx512: a file of simd/, KERNELS (Makefile), for AVX-512 with BW, DQ, VL and VNNI. Nothing on other architectures. */
#include "fwd/kernels/kernels.h"

#if defined __x86_64__
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define ISA avx512
#define NEEDS SYSTEM_AVX512
#if defined __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c"))), \
	apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c")
#endif

/* Makes the compiler forget where a vector came from. */
#define IN_REGISTER(v) __asm__("" : "+v"(v))
/* Prefetches a line once v is computed: compilers would collect prefetches in front of the computations. */
#ifdef __clang__                /* keeps their order, and would spill v: 16 columns take 2.5 times as long */
#define PREFETCH_AFTER(v, level, p) __asm__ volatile("prefetch" level " %0" : : "m"(*(const char *)(p)))
#else
#define PREFETCH_AFTER(v, level, p) __asm__("prefetch" level " %1" : "+v"(v) : "m"(*(const char *)(p)))
#endif

#include "avx512.h"
#include KERNELS

#if defined __clang__
#pragma clang attribute pop
#endif
#endif
