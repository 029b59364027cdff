/* control: control vectors (Zou et al. 2023): directions that are added to the residual stream after some layers. A
 * file has tensors direction.N, and scale · direction.N is added after layer N, counted from 0; there is none for
 * layer 0. Those of several files add up. */
#ifndef CONTROL_H
#define CONTROL_H

#include <stddef.h>

#include "lora.h"

struct control_setup {
	const struct scaled_file *file; /* [n] */
	size_t n;
	size_t first, end;              /* only layers [first, end) */
};

/* Checks an open file by itself: its directions have one width, and finite values. */
int control_check(const struct gguf *g, struct why *w);

/* Reads the files, checks them, and sets m->control. Directions of layers that the model does not have are ignored. -1
 * with a reason if a file is faulty, or if the model has no single residual stream. */
int control_read(struct model *m, const struct control_setup *setup, struct why *w);

#endif
