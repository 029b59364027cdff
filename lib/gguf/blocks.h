/* blocks: the structs of GGUF's quantised tensor types, as they lie in the file: bytes only, so that they need no alignment, little-endian.
 * Layouts are ggml's; the functions pick one element's bits. How codes become values is in dequantise.c. Private to lib/ and the kernels. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <stdint.h>

#include "formats.h"

typedef unsigned char half_bytes[2];    /* an IEEE half, unaligned */

/* blocks of 32 elements; element i is the low nibble of qs[i] for i < 16, the high one of qs[i - 16] after that */
struct q4_0 { half_bytes d; uint8_t qs[16]; };
struct q4_1 { half_bytes d, m; uint8_t qs[16]; };
struct q5_0 { half_bytes d; uint8_t qh[4], qs[16]; };           /* bit i of qh: the fifth bit of element i */
struct q5_1 { half_bytes d, m; uint8_t qh[4], qs[16]; };
struct q8_0 { half_bytes d; int8_t qs[32]; };

/* super-blocks of 256 elements */
struct q2_k { uint8_t scales[16], qs[64]; half_bytes d, dmin; };
struct q3_k { uint8_t hmask[32], qs[64], scales[12]; half_bytes d; };
struct q4_k { half_bytes d, dmin; uint8_t scales[12], qs[128]; };
struct q5_k { half_bytes d, dmin; uint8_t scales[12], qh[32], qs[128]; };
struct q6_k { uint8_t ql[128], qh[64]; int8_t scales[16]; half_bytes d; };

_Static_assert(sizeof(struct q4_0) == 18 && sizeof(struct q4_1) == 20, "4 bits by 32");
_Static_assert(sizeof(struct q5_0) == 22 && sizeof(struct q5_1) == 24, "5 bits by 32");
_Static_assert(sizeof(struct q8_0) == 34, "8 bits by 32");
_Static_assert(sizeof(struct q2_k) == 84 && sizeof(struct q3_k) == 110, "2 and 3 bits by 256");
_Static_assert(sizeof(struct q4_k) == 144 && sizeof(struct q5_k) == 176 && sizeof(struct q6_k) == 210, "4, 5 and 6 bits by 256");

static inline uint16_t block_u16(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline float block_half(const half_bytes h)
{
	return f16_to_f32(block_u16(h));
}

/* Code i of a block of 32 nibbles. */
static inline int block_nibble(const uint8_t *qs, int i)
{
	return i < 16 ? qs[i] & 15 : qs[i - 16] >> 4;
}

static inline int block_fifth_bit(const uint8_t *qh, int i)
{
	return (qh[i / 8] >> i % 8 & 1) << 4;
}

/* Two bits of element i of 256: each run of 32 bytes holds 128 elements, the four quarters of 32 in its four bit pairs. */
static inline int block_bit_pair(const uint8_t *q, int i)
{
	return q[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
}

/* Sub-scale j of 16, six bits less 32: the low four are nibbles of the first eight bytes, the high two are bit pairs of the last four. */
static inline int block_q3_k_scale(const uint8_t *scales, int j)
{
	int low = j < 8 ? scales[j] & 15 : scales[j - 8] >> 4;
	return (low | (scales[8 + j % 4] >> j / 4 * 2 & 3) << 4) - 32;
}

/* Scale and minimum of run j of 8, six bits each, of Q4_K and Q5_K: the first four lie whole in bytes 0-3 and 4-7, whose upper bit pairs hold the
 * high bits of the last four; these have their low four bits in bytes 8-11. */
static inline void block_k_scale_min(const uint8_t *scales, int j, int *scale, int *min)
{
	if (j < 4) {
		*scale = scales[j] & 63;
		*min = scales[j + 4] & 63;
	} else {
		*scale = (scales[j + 4] & 15) | scales[j - 4] >> 6 << 4;
		*min = scales[j + 4] >> 4 | scales[j] >> 6 << 4;
	}
}

/* Four bits of element i of 256: each run of 32 bytes holds 64 elements, the second 32 in the high nibbles. */
static inline int block_k_nibble(const uint8_t *qs, int i)
{
	return qs[i / 64 * 32 + i % 32] >> i % 64 / 32 * 4 & 15;
}

/* Low four bits of element i of 256: each run of 64 bytes holds 128 elements, the second 64 in the high nibbles. */
static inline int block_q6_k_low(const uint8_t *ql, int i)
{
	return ql[i / 128 * 64 + i % 64] >> i % 128 / 64 * 4 & 15;
}

#endif
