/* npy: the header of a .npy file, numpy's format of one array: magic, version, length, and a Python dictionary. */
#ifndef NPY_H
#define NPY_H

#include <stddef.h>

#include "lib/base/why.h"

struct npy {
	size_t start;           /* where the elements begin */
	size_t rows, cols;
};

/* Whether p[n] begins as a .npy file. */
int npy_is(const char *p, size_t n);

/* Reads the header of p[n]: of an array of little-endian floats of 32 bits with two dimensions, in the order of C, all
 * of whose elements are there. -1 with a reason. */
int npy_read(struct npy *a, const char *p, size_t n, struct why *w);

#endif
