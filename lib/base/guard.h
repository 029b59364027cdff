/* guard: turns signals that are not bugs into one line on stderr and exit status 1: SIGBUS when a mapped file or
 * segment is truncated by others, and SIGSEGV when the stack limit is too small. Apart from cli, this is the only part
 * of lib/ that prints or exits. */
#ifndef GUARD_H
#define GUARD_H

#include <stddef.h>

/* From now on a stack overflow of the calling thread ends the program with "PROGRAM: ... stack ...". Other faults are
 * not handled. */
void guard_stack(const char *program);

/* From now on a SIGBUS ends the program with "PROGRAM: NAME: became shorter while in use". */
void guard_arm(const char *program);

/* Registers p[0..n) under a name, which is copied. For other addresses, and beyond 64 entries, the line says "a mapped
 * file". */
void guard_add(const void *p, size_t n, const char *name);
void guard_remove(const void *p);

#endif
