/* check: whether tok, fwd and chat take a model file, and every reason why they do not. */
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>

/* The programs that read the file in different ways; detok, sample and gen take what these take. */
enum check_program { CHECK_TOK, CHECK_FWD, CHECK_CHAT, CHECK_PROGRAMS };

struct check {
	const char *path;       /* borrowed */
	size_t n;               /* faults found, */
	size_t of[CHECK_PROGRAMS];      /* and those that each program would meet */
};

/* Prints a line for each fault with out_print(). */
struct check check_file(const char *path);

#endif
