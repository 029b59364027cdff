/* check: whether tok, fwd and chat accept a model file, and all the reasons if they do not. */
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>

#include "lib/base/why.h"

/* The programs that read the file, each in its own way. What they accept, detok, sample and gen accept, too. */
enum check_program { CHECK_TOK, CHECK_FWD, CHECK_CHAT, CHECK_PROGRAMS };

struct check {
	const char *path;       /* borrowed */
	int quiet;              /* nothing is printed */
	size_t n;               /* number of faults, */
	size_t of[CHECK_PROGRAMS];      /* and of those that each program would report */
	char first[256];        /* the first fault */
};

/* Prints a line for each fault with out_print(), unless it is to be quiet. */
struct check check_file(const char *path, int quiet);

/* For adapters and control vectors, which are no models: prints what the file is. Returns 1; 0 for any other file, and
 * for one that cannot be opened; -1 with a reason if it is faulty. */
int check_added(const char *path, struct why *w);

#endif
