/* lines: reads a file or standard input line by line; each line is returned as soon as it is complete. */
#ifndef LINES_H
#define LINES_H

#include <stddef.h>

#include "bytes.h"
#include "why.h"

struct lines {                  /* all private but name and number */
	int fd;
	const char *name;       /* for messages; borrowed */
	size_t number;          /* of the last line, from 1 */
	struct bytes text;      /* what was read: up to `at` it has been returned, */
	size_t at, searched;    /* and from there to `searched` there is no line end */
	int ended;
};

/* name "-": standard input. Returns -1 with a reason that names the file. Call lines_close() in any case. */
int lines_open(struct lines *l, const char *name, struct why *w);
void lines_close(struct lines *l);

/* The same from a descriptor, which lines_close() closes unless it is standard input. */
void lines_open_fd(struct lines *l, int fd, const char *name);

/* The next line, line[n], without the '\n' or '\r\n' at its end, which the last line may lack, and without a byte-order
 * mark at the start of the file. It may contain any other byte. The caller may modify it; it is valid until the next
 * call. Returns 1; 0 after the last line; -1 with a reason. */
int lines_next(struct lines *l, char **line, size_t *n, struct why *w);

/* Whether the next line has come, or part of it, so that lines_next() will not wait for long. */
int lines_ready(const struct lines *l);

#endif
