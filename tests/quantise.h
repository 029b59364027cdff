/* quantise: floats to blocks of every tensor type that lib/formats reads. For test models only: valid and near, not the
 * best there is. Layouts are ggml's, written out here by byte offsets, apart from lib/formats, so that the two check
 * each other. */
#ifndef QUANTISE_H
#define QUANTISE_H

#include <stddef.h>
#include <stdint.h>

/* blocks = x[n], n a multiple of the type's block. -1 for a type that it does not know. */
int quantise(uint32_t type, const float *x, void *blocks, size_t n);

#endif
