/* guard: one line and exit status 1 instead of death by SIGBUS, when a file or a segment is made shorter by others while it is mapped.
 * main() arms it; whoever maps something names the mapping. With cli the only part of lib/ that prints and exits. */
#ifndef GUARD_H
#define GUARD_H

#include <stddef.h>

/* From here on a SIGBUS ends the program with "PROGRAM: NAME: became shorter while in use" and status 1. */
void guard_arm(const char *program);

/* Says whose bytes p[0..n) are: the name is copied. Without it, or beyond the table's 64 places, the line says "a mapped file". */
void guard_add(const void *p, size_t n, const char *name);
void guard_remove(const void *p);

#endif
