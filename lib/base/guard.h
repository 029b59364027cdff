/* guard: one line and exit status 1 instead of death by a signal, where what happened is not a bug: a file or segment that others make shorter while it is
 * mapped (SIGBUS), and a stack limit too small for the program (SIGSEGV). With cli the only part of lib/ that prints and exits. */
#ifndef GUARD_H
#define GUARD_H

#include <stddef.h>

/* From here on, on the calling thread, a stack overflow ends the program with "PROGRAM: ... stack ...". Other faults stay what they are. */
void guard_stack(const char *program);

/* From here on a SIGBUS ends the program with "PROGRAM: NAME: became shorter while in use". */
void guard_arm(const char *program);

/* Says whose bytes p[0..n) are: the name is copied. Without it, or beyond the table's 64 entries, the line says "a mapped file". */
void guard_add(const void *p, size_t n, const char *name);
void guard_remove(const void *p);

#endif
