/* families: what is known of each model architecture, and the builder of its plan. A new family is one row and one function here, and no
 * new kernel where it can be. */
#ifndef FAMILIES_H
#define FAMILIES_H

#include "fwd/kernels/kernels.h"

struct builder;

struct family {
	const char *arch;               /* general.architecture */
	enum norm_kind norm;            /* decides which key holds the epsilon */
	enum rope_pairs pairs;
	int learned_positions;          /* a table of positions; no rotation */
	void (*build)(struct builder *b);       /* appends the ops of the whole model; failures stick to b */
};

const struct family *family_of(const char *arch);       /* or NULL */

#endif
