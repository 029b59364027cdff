/* product: the products of one instruction set. The files of simd/ are compiled once for each set, with ISA as its name
 * (isa/NAME.c). */
#ifndef PRODUCT_H
#define PRODUCT_H

#include "fwd/kernels/kernels.h"

#define ISA_JOIN(name, isa) name##_##isa
#define ISA_NAME(name, isa) ISA_JOIN(name, isa)
#define product_floats ISA_NAME(product_floats, ISA)     /* as in product_floats_avx2 */
#define product_few(planes) ISA_NAME(ISA_NAME(product_few, planes), ISA)        /* as in product_few_1_avx2 */
#define product_columns(planes) ISA_NAME(ISA_NAME(product_columns, planes), ISA)
#define product_bf16(dot) ISA_NAME(ISA_NAME(product_bf16, dot), ISA)
#define product_bf16_tiles ISA_NAME(product_bf16_tiles, ISA)
#define product_many ISA_NAME(product_many, ISA)
#define product_many_scratch ISA_NAME(product_many_scratch, ISA)

/* Planes of the activations that decode.c and columns.c take: two in decode_wide.c and columns_wide.c. */
#ifndef PLANES
#define PLANES 1
#endif

/* y = W · x for few columns (acts_few() in acts.h): of quantised weights, with activations of one and of two planes
 * (decode.c), and of float weights (float_rows.c). For many: prompt.c. */
void product_few(1)(const struct product_job *job);
void product_few(2)(const struct product_job *job);
void product_floats(const struct product_job *job);
void product_many(const struct product_job *job);

/* The same as product_few() in the way that suits several columns (columns.c). */
void product_columns(1)(const struct product_job *job);
void product_columns(2)(const struct product_job *job);

/* BF16 weights with activations rounded to BF16, any number of columns: by FMA (bf16.c) and by products of pairs
 * (bf16_dot.c). */
void product_bf16(0)(const struct product_job *job);
void product_bf16(1)(const struct product_job *job);
/* The same by products of tiles, for many columns (bf16_tiles.c). */
void product_bf16_tiles(const struct product_job *job);

/* Bytes that product_many() and the others need for columns of k elements. */
size_t product_many_scratch(size_t k);

#endif
