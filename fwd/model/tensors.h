/* tensors: what model.c needs of tensors.c, beside the functions in model.h. */
#ifndef TENSORS_H
#define TENSORS_H

#include "model.h"

enum { TENSORS_LAYERS = 1 << 14 };      /* no model has more */

/* The layer that a tensor of this name belongs to; SIZE_MAX: none. */
size_t tensors_layer(struct gguf_string name);

/* Frees what model_vector() and model_floats() have given out. */
void tensors_close(struct model *m);

#endif
