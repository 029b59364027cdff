/* product: the products of one instruction set. The files of simd/ are compiled once for each set, with ISA as its name
 * (isa/NAME.c). */
#ifndef PRODUCT_H
#define PRODUCT_H

#include "fwd/kernels/kernels.h"

#define ISA_JOIN(name, isa) name##_##isa
#define ISA_NAME(name, isa) ISA_JOIN(name, isa)
#define product_few ISA_NAME(product_few, ISA)          /* as in product_few_avx2 */
#define product_columns ISA_NAME(product_columns, ISA)
#define product_many ISA_NAME(product_many, ISA)
#define product_many_scratch ISA_NAME(product_many_scratch, ISA)

/* y = W · x for few columns (acts_few() in acts.h; decode.c), and for many (prompt.c). */
void product_few(const struct product_job *job);
void product_many(const struct product_job *job);

/* The same as product_few() for quantised weights, in the way that suits several columns (columns.c). */
void product_columns(const struct product_job *job);

/* Bytes that product_many() needs for columns of k elements. */
size_t product_many_scratch(size_t k);

#endif
