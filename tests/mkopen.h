/* mkopen: a random model of a family (mkfamilies.h), made and opened, for tests of the engine. */
#ifndef MKOPEN_H
#define MKOPEN_H

#include <stdint.h>

#include "fwd/model/model.h"

/* The tiny shape with this type of matrices; layers 0: as many as the family's row has, or the shape. What fails ends
 * the program. */
struct model *mkopen(const char *family, const char *type, uint32_t layers, uint32_t n_vocab, uint32_t n_ctx);

/* Only the file. */
void mkopen_file(const char *path, const char *family, const char *type, uint32_t layers, uint32_t n_vocab,
	uint32_t n_ctx);

#endif
