/* compare: where two dumps (dump.h) begin to differ. Tensors are matched by layer and name, because the numbers of ops
 * differ from build to build, and rows by position. */
#ifndef COMPARE_H
#define COMPARE_H

#include "lib/base/why.h"

/* Prints the first op, in the order of dump a, with rows of other bits, and how far apart they are. Tensors and rows
 * that only one of the dumps has are not compared. Returns 0: the same bits; 1: not; -1 with a reason: there is nothing
 * to compare, or something cannot be read. */
int compare_dumps(const char *a, const char *b, struct why *w);

#endif
