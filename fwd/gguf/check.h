/* check: whether tok and fwd take a model file, and every reason why they do not. */
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>

struct check {
	const char *path;       /* borrowed */
	int tok, fwd;           /* whether it takes the file */
	size_t n;               /* faults found */
};

/* Prints a line for each fault with out_print(). */
struct check check_file(const char *path);

#endif
