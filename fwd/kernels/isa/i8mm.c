/* i8mm: compiles one file of simd/ for aarch64 with the product of matrices of bytes, which prompts use, and the dot
 * product of bytes. The Makefile compiles this file once for each and names it in KERNELS. Empty on other
 * architectures. */
#include "fwd/kernels/kernels.h"

#if defined __aarch64__
#include "neon_intrinsics.h"

#define ISA i8mm
#if defined __clang__
#pragma clang attribute push(__attribute__((target("dotprod,i8mm"))), apply_to = function)
#elif !defined __ARM_FEATURE_DOTPROD || !defined __ARM_FEATURE_MATMUL_INT8
#pragma GCC target("arch=armv8.2-a+dotprod+i8mm")
#endif

#include "neon.h"
#include "neon_dot.h"
#include "neon_eights.h"
#include KERNELS

#if defined __clang__
#pragma clang attribute pop
#endif
#endif
