/* lines: reads a file or standard input line by line; each line is returned as soon as it is complete. */
#ifndef LINES_H
#define LINES_H

#include <stddef.h>

#include "bytes.h"
#include "why.h"

struct lines {                  /* private but for name and number */
	int fd;
	const char *name;       /* for messages; borrowed */
	size_t number;          /* of the last line, from 1 */
	struct bytes text;      /* what was read; the lines up to `at` are done, */
	size_t at, searched;    /* and up to `searched` there is no line end after that */
	int ended;
};

/* name "-": standard input. -1 with a reason that names the file. lines_close() in any case. */
int lines_open(struct lines *l, const char *name, struct why *w);
void lines_close(struct lines *l);

/* The next line, line[n], without the '\n' that ends it; the last one may have none. Any other byte belongs to it, and
 * the caller may change it; it is valid until the next call. 1; 0: there are no more; -1 with a reason. */
int lines_next(struct lines *l, char **line, size_t *n, struct why *w);

#endif
