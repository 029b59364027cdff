/* inbox: the lines of a descriptor that is watched: each is returned when it has come, and nothing waits for more. */
#ifndef INBOX_H
#define INBOX_H

#include <stddef.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"

enum { INBOX_LINE_MAX = 64 << 20 };     /* bytes; longer lines are dropped */

struct inbox {                  /* inbox_open(); inbox_close() at the end */
	int fd;
	const char *name;       /* for messages; borrowed */
	int ended;              /* nothing more will be read */

	struct bytes text;      /* private: up to `at` it has been returned, */
	size_t at, searched;    /* and from there to `searched` there is no line end */
	int dropping;           /* the line is too long */
};

/* name NULL or "-": standard input. */
int inbox_open(struct inbox *in, const char *name, struct why *w);
void inbox_close(struct inbox *in);

/* Reads what has come, and waits only if nothing has. -1 with a reason. */
int inbox_read(struct inbox *in, struct why *w);

/* The next line, line[n], without its end, valid until the next call of either function. Returns 1; 0 if none is
 * complete; INBOX_LONG: a line was dropped. */
enum { INBOX_LONG = 2 };
int inbox_line(struct inbox *in, const char **line, size_t *n);

#endif
