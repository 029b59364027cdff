/* scalar: the specification, written to be read. kernels.h says what each function does; scalar.c puts them into its
 * table. */
#ifndef SCALAR_H
#define SCALAR_H

#include "fwd/kernels/kernels.h"

float scalar_tree(const float acc[16]);         /* the sum of 16 accumulators: 8, 4, 2, 1 */

/* scalar_product.c */
struct acts_block {     /* a block of 32 activations: dx times integers of 8 bits (ACTS_Q8) or 16 (ACTS_Q16) */
	float dx;
	int16_t q[32];
};

/* x·inverse, exact, rounded to the nearest integer, ties to even: the sum with 1.5·2^23 has no bits below 1. */
float scalar_nearest(float x, float inverse);
/* A block that holds an infinity or a NaN has the scale NaN and integers of zero; one below ACTS_LEAST becomes all
 * zeros. */
void scalar_pack_block(enum acts_kind kind, const float x[32], struct acts_block *b);
enum acts_kind scalar_acts_kind(const struct format *format, int wide);
int scalar_takes(enum acts_kind kind);
size_t scalar_acts_bytes(enum acts_kind kind, size_t k, size_t n);
size_t scalar_acts_together(enum acts_kind kind, size_t k, size_t n);
void scalar_acts_pack(struct acts *a, const float *x, size_t stride, struct acts_part part);
size_t scalar_product_scratch(size_t k);
void scalar_product(const struct product_job *job);

/* scalar_vector.c */
void scalar_norm(const struct norm *norm, const float *x, float *y, size_t n);
void scalar_add(float *y, const float *a, const float *b, size_t n);
void scalar_add_scaled(float *y, const float *x, float s, size_t n);
void scalar_scale(float *y, const float *x, float s, size_t n);
void scalar_multiply(float *y, const float *a, const float *b, size_t n);
void scalar_cap(float *x, float cap, size_t n);
void scalar_clamp(float *x, float most, size_t n);
void scalar_sparsify(float *x, float deviations, size_t n);
void scalar_glu(enum unary f, float *y, const float *gate, const float *up, size_t n);
void scalar_unary(enum unary f, float *y, const float *x, size_t n);
void scalar_xielu(const struct xielu *f, float *y, const float *x, size_t n);
void scalar_taps(float *y, const float *const w[], const float *const x[], size_t taps, const float *bias, size_t n);
void scalar_chain(const struct chain_job *d);
void scalar_dots(const struct chain_job *d);
void scalar_rope(enum rope_pairs pairs, float *x, const float *cos, const float *sin, size_t n_rot);

/* scalar_attend.c */
void scalar_kv_store(enum kv_type type, const struct kv_block *kv, size_t dim_k, size_t dim_v, size_t j, const float *k,
	const float *v);
size_t scalar_attend_scratch(size_t dim_k, size_t dim_v, size_t group);
void scalar_attend(const struct attend *a, const struct kv_head *kv, size_t i0, size_t i1, void *scratch);
size_t scalar_attend_partial(size_t dim_v, size_t columns);
void scalar_attend_blocks(const struct attend *a, const struct kv_head *kv, size_t n, size_t b0, size_t b1,
	void *partials, void *scratch);
void scalar_attend_join(const struct attend *a, size_t h, size_t n, void *partials, void *scratch);

/* scalar_codes.c. x[n] is rotated in blocks (kv_rotated()). */
void scalar_rotate(float *x, size_t n, size_t block);
void scalar_store_codes(enum kv_type type, const struct kv_block *kv, size_t dim_k, size_t dim_v, size_t j,
	const float *k, const float *v);
/* For a query q[dim_k] and the first n positions of a block of codes: s[n], the products with K, times
 * a->scale; o[dim_v], the sums of V's rows, times p[n]. */
void scalar_code_scores(const struct attend *a, const struct kv_block *kv, const float *q, size_t n, float *s);
void scalar_code_sums(const struct attend *a, const struct kv_block *kv, const float *p, size_t n, float *o);

#endif
