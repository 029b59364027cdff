/* blocks: the structs of GGUF's quantised tensor types, as they lie in the file: bytes only, so that they need no
 * alignment, little-endian. Layouts are ggml's; blocks.c says what the bits mean. Private to lib/gguf and the
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

/* super-blocks of 256 elements */
struct q2_k { uint8_t scales[16], qs[64]; f16_bytes d, dmin; };
struct q3_k { uint8_t hmask[32], qs[64], scales[12]; f16_bytes d; };
struct q4_k { f16_bytes d, dmin; uint8_t scales[12], qs[128]; };
struct q5_k { f16_bytes d, dmin; uint8_t scales[12], qh[32], qs[128]; };
struct q6_k { uint8_t ql[128], qh[64]; int8_t scales[16]; f16_bytes d; };

_Static_assert(sizeof(struct q4_0) == 18 && sizeof(struct q4_1) == 20, "4 bits by 32");
_Static_assert(sizeof(struct q5_0) == 22 && sizeof(struct q5_1) == 24, "5 bits by 32");
_Static_assert(sizeof(struct q8_0) == 34, "8 bits by 32");
_Static_assert(sizeof(struct q2_k) == 84 && sizeof(struct q3_k) == 110, "2 and 3 bits by 256");
_Static_assert(sizeof(struct q4_k) == 144 && sizeof(struct q5_k) == 176 && sizeof(struct q6_k) == 210,
               "4, 5 and 6 bits by 256");

/* One reader for each row of formats.h, written from the type's definition. Scales and minima are products of two
 * numbers of at most 11 bits, and so exact. */
#define READER(id, NAME, name, ...) void read_##name(const void *block, struct block_values *out);
FORMATS_QUANTISED(READER)
#undef READER

#define WIDENER(id, NAME, name, bytes) float widen_##name(const void *element);
FORMATS_FLOAT(WIDENER)
#undef WIDENER

#endif
