/* dotprod: compiles one file of simd/ for aarch64 with the dot product of bytes. The Makefile compiles this file once
 * for each and names it in KERNELS. Empty on other architectures. */
#include "fwd/kernels/kernels.h"

#if defined __aarch64__
#include "neon_intrinsics.h"

#define ISA dotprod
#if defined __clang__
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#elif !defined __ARM_FEATURE_DOTPROD
#pragma GCC target("arch=armv8.2-a+dotprod")
#endif

#include "neon.h"
#include "neon_dot.h"
#include "neon_fours.h"
#include KERNELS

#if defined __clang__
#pragma clang attribute pop
#endif
#endif
