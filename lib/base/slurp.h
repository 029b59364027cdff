/* slurp: a whole file, or standard input, as bytes. */
#ifndef SLURP_H
#define SLURP_H

#include "bytes.h"
#include "why.h"

/* Appends what is in the file `name` ("-": standard input) to *out, whose limit bounds it. 0, or -1 and a reason that names the file. */
int slurp(const char *name, struct bytes *out, struct why *w);

#endif
