/* mkopen: makes and opens a random model of a family (mkfamilies.h), for tests of the engine. */
#ifndef MKOPEN_H
#define MKOPEN_H

#include <stdint.h>

#include "fwd/model/model.h"

/* The tiny shape with matrices of this type. layers 0: as many as the family's row or else the shape has. A failure
 * ends the program. */
struct model *mkopen(const char *family, const char *type, uint32_t layers, uint32_t n_vocab, uint32_t n_ctx);

/* Makes only the file. */
void mkopen_file(const char *path, const char *family, const char *type, uint32_t layers, uint32_t n_vocab,
	uint32_t n_ctx);

#endif
