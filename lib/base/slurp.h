/* slurp: reads a whole file, or standard input. */
#ifndef SLURP_H
#define SLURP_H

#include "bytes.h"
#include "why.h"

/* Appends the contents of the file `name` ("-": standard input) to *out, whose limit bounds them. Returns 0, or -1
 * with a reason that names the file. */
int slurp(const char *name, struct bytes *out, struct why *w);

/* The same for a text that is parsed: a byte-order mark at its start is left out. */
int slurp_text(const char *name, struct bytes *out, struct why *w);

/* slurp() from an open descriptor; the name is for messages. */
int slurp_fd(int fd, const char *name, struct bytes *out, struct why *w);

/* Whether the name is one of standard input: "-", or /dev/stdin and the like. */
int slurp_is_stdin(const char *name);

#endif
