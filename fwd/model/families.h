/* families: what is known of each model architecture. A new family is a struct family in a file of this folder, with a
 * function that appends the ops of a layer (builder.h), and a row in families.c. */
#ifndef FAMILIES_H
#define FAMILIES_H

#include <stddef.h>

#include "fwd/kernels/kernels.h"

struct builder;

struct family {
	const char *arch;               /* general.architecture */
	enum norm_kind norm;            /* decides which key holds the epsilon */
	enum rope_pairs pairs;
	int learned_positions;          /* a table of positions instead of RoPE */
	void (*layer)(struct builder *b, size_t il);    /* appends the ops of layer il; failures stick to b */
};

const struct family *family_of(const char *arch);       /* or NULL */

#endif
