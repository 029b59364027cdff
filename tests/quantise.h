/* quantise: quantises floats to blocks of every tensor type that lib/formats reads. For test models only: valid and
 * close, not the best possible. Layouts are ggml's, written here by byte offsets and independently of lib/formats, so
 * that the two check each other. */
#ifndef QUANTISE_H
#define QUANTISE_H

#include <stddef.h>
#include <stdint.h>

/* blocks = x[n], n a multiple of the type's block. Returns -1 for an unknown type. */
int quantise(uint32_t type, const float *x, void *blocks, size_t n);

#endif
