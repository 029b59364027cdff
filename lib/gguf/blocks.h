/* blocks: the structs of GGUF's quantised tensor types, as stored in the file: only bytes, so that they need no
 * alignment, and little-endian. Layouts are ggml's; blocks.c defines what the bits mean. Private to lib/gguf and the
 * kernels. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <stdint.h>

#include "formats.h"

typedef unsigned char f16_bytes[2];

/* blocks of 32 elements */
struct q4_0 { f16_bytes d; uint8_t qs[16]; };
struct q4_1 { f16_bytes d, m; uint8_t qs[16]; };
struct q5_0 { f16_bytes d; uint8_t qh[4], qs[16]; };
struct q5_1 { f16_bytes d, m; uint8_t qh[4], qs[16]; };
struct q8_0 { f16_bytes d; int8_t qs[32]; };
struct iq4_nl { f16_bytes d; uint8_t qs[16]; };
struct mxfp4 { uint8_t e, qs[16]; };

/* of 64 and 128 */
struct nvfp4 { uint8_t scales[4], qs[32]; };
struct q2_0 { f16_bytes d; uint8_t qs[16]; };
struct q1_0 { f16_bytes d; uint8_t qs[16]; };

/* super-blocks of 256 elements */
struct q2_k { uint8_t scales[16], qs[64]; f16_bytes d, dmin; };
struct q3_k { uint8_t hmask[32], qs[64], scales[12]; f16_bytes d; };
struct q4_k { f16_bytes d, dmin; uint8_t scales[12], qs[128]; };
struct q5_k { f16_bytes d, dmin; uint8_t scales[12], qh[32], qs[128]; };
struct q6_k { uint8_t ql[128], qh[64]; int8_t scales[16]; f16_bytes d; };
struct iq4_xs { f16_bytes d; uint8_t high[2], low[4], qs[128]; };
struct iq3_xxs { f16_bytes d; uint8_t qs[64], signs[8][4]; };
struct iq3_s { f16_bytes d; uint8_t qs[64], qh[8], signs[32], scales[4]; };
struct iq2_xxs { f16_bytes d; struct { uint8_t qs[4], signs[4]; } run[8]; };
struct iq2_xs { f16_bytes d; uint8_t qs[32][2], scales[8]; };
struct iq2_s { f16_bytes d; uint8_t qs[32], signs[32], qh[8], scales[8]; };
struct iq1_s { f16_bytes d; uint8_t qs[32], qh[8][2]; };
struct iq1_m { uint8_t qs[32], qh[16], scales[4][2]; };
struct tq1_0 { uint8_t qs[48], qh[4]; f16_bytes d; };
struct tq2_0 { uint8_t qs[64]; f16_bytes d; };

_Static_assert(sizeof(struct q4_0) == 18 && sizeof(struct q4_1) == 20, "4 bits by 32");
_Static_assert(sizeof(struct q5_0) == 22 && sizeof(struct q5_1) == 24, "5 bits by 32");
_Static_assert(sizeof(struct q8_0) == 34, "8 bits by 32");
_Static_assert(sizeof(struct q2_k) == 84 && sizeof(struct q3_k) == 110, "2 and 3 bits by 256");
_Static_assert(sizeof(struct q4_k) == 144 && sizeof(struct q5_k) == 176 && sizeof(struct q6_k) == 210,
               "4, 5 and 6 bits by 256");

_Static_assert(sizeof(struct iq4_nl) == 18 && sizeof(struct iq4_xs) == 136, "codebook of 16");
_Static_assert(sizeof(struct mxfp4) == 17 && sizeof(struct nvfp4) == 36, "4-bit floats");
_Static_assert(sizeof(struct iq3_xxs) == 98 && sizeof(struct iq3_s) == 110, "codebooks of 3 bits");
_Static_assert(sizeof(struct iq2_xxs) == 66 && sizeof(struct iq2_xs) == 74 && sizeof(struct iq2_s) == 82,
               "codebooks of 2 bits");
_Static_assert(sizeof(struct iq1_s) == 50 && sizeof(struct iq1_m) == 56, "codebook of ternary rows");
_Static_assert(sizeof(struct tq1_0) == 54 && sizeof(struct tq2_0) == 66, "ternary by 256");
_Static_assert(sizeof(struct q1_0) == 18 && sizeof(struct q2_0) == 18, "1 bit by 128, 2 bits by 64");

/* The values of the 4-bit codes of IQ4_NL and IQ4_XS. */
extern const int8_t iq4_values[16];
#define IQ4_VALUES(o) \
	{ o - 127, o - 104, o - 83, o - 65, o - 49, o - 35, o - 22, o - 10, \
	  o + 1, o + 13, o + 25, o + 38, o + 53, o + 69, o + 89, o + 113 }
#define E2M1_VALUES(o) \
	{ o, o + 1, o + 2, o + 3, o + 4, o + 6, o + 8, o + 12, o, o - 1, o - 2, o - 3, o - 4, o - 6, o - 8, o - 12 }

/* One reader for each row of formats.h, written from the type's definition. Scales and minima are products of two
 * numbers of at most 11 bits, and so exact. */
#define READER(id, NAME, name, ...) void read_##name(const void *block, struct block_values *out);
FORMATS_QUANTISED(READER)
#undef READER

#define WIDENER(id, NAME, name, bytes) float widen_##name(const void *element);
FORMATS_FLOAT(WIDENER)
#undef WIDENER

#endif
