/* neon_intrinsics: arm_neon.h, whole: before version 16, clang declares only what the compiler was told that every CPU
 * has. */
#ifndef NEON_INTRINSICS_H
#define NEON_INTRINSICS_H

#if defined __clang__ && !defined __ARM_FEATURE_DOTPROD
#define __ARM_FEATURE_DOTPROD 1
#endif
#if defined __clang__ && !defined __ARM_FEATURE_MATMUL_INT8
#define __ARM_FEATURE_MATMUL_INT8 1
#endif
#include <arm_neon.h>

#endif
