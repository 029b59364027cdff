/* scalar_product: the specification of weights times activations, written to be read. kernels.h says what each
 * function does; scalar.c puts them into its table. */
#ifndef SCALAR_PRODUCT_H
#define SCALAR_PRODUCT_H

#include "fwd/kernels/kernels.h"

enum acts_kind scalar_acts_kind(const struct format *format, int wide);
size_t scalar_acts_bytes(enum acts_kind kind, size_t k, size_t n);
void scalar_acts_pack(struct acts *a, const float *x, size_t stride, size_t c0, size_t c1);
size_t scalar_product_scratch(size_t k);
void scalar_product(const struct product_job *job);

#endif
