/* tensors: the functions of tensors.c that model.c needs, besides those in model.h. */
#ifndef TENSORS_H
#define TENSORS_H

#include "model.h"

enum { TENSORS_LAYERS = 1 << 14 };      /* upper bound of a layer's number */

/* The number N of a tensor named "blk.N...."; SIZE_MAX if it belongs to no layer. */
size_t tensors_layer(struct gguf_string name);

/* Sets all of *out from the tensor, whose type must be supported, if it has n matrices [rows × cols]; otherwise returns
 * 0. */
int tensor_matrices(const struct gguf_tensor *t, size_t n, size_t rows, size_t cols, struct matrix *out);

/* Frees what model_vector() and model_floats() returned. */
void tensors_close(struct model *m);

#endif
