/* quantise_blocks: the blocks of quantise.c that are made elsewhere, and what those need of it. */
#ifndef QUANTISE_BLOCKS_H
#define QUANTISE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

void put16(unsigned char *to, uint16_t v);

/* Stores a scale as f16 and returns its rounded value, which readers will use. */
float put_half(unsigned char *to, float scale);

/* x / scale rounded to the nearest integer in [low, high]; for a zero scale, the one nearest to 0. */
int level(float x, float scale, int low, int high);

/* The value of largest magnitude, with its sign. */
float extreme(const float *x, size_t n);

/* quantise_few.c: codebooks of 16 values, 4-bit floats, one and two bits, ternary digits */
void iq4_nl_block(const float *x, unsigned char *b);
void iq4_xs_block(const float *x, unsigned char *b);
void mxfp4_block(const float *x, unsigned char *b);
void nvfp4_block(const float *x, unsigned char *b);
void q1_0_block(const float *x, unsigned char *b);
void q2_0_block(const float *x, unsigned char *b);
void tq1_0_block(const float *x, unsigned char *b);
void tq2_0_block(const float *x, unsigned char *b);

/* quantise_grid.c: codebooks of rows */
void iq1_s_block(const float *x, unsigned char *b);
void iq1_m_block(const float *x, unsigned char *b);
void iq2_xxs_block(const float *x, unsigned char *b);
void iq2_xs_block(const float *x, unsigned char *b);
void iq2_s_block(const float *x, unsigned char *b);
void iq3_xxs_block(const float *x, unsigned char *b);
void iq3_s_block(const float *x, unsigned char *b);

#endif
