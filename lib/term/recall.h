/* recall: lines that were typed before, and the file that keeps them: one a line, with \n for a new line and \\ for a
 * backslash, the last few thousand of them. Other programs may append to it at the same time. */
#ifndef RECALL_H
#define RECALL_H

#include <stddef.h>

enum { RECALL_MAX = 2000 };     /* lines that are kept */

struct recall {                 /* starts as zeroes */
	char **line;            /* [n], the oldest first; without NULs */
	size_t n, room;
	int fd;                 /* private: of the file; 0: none */
};

/* Reads the file, made for its owner alone with its folders if need be. One that cannot be opened is no error: the
 * lines are then forgotten at the end. */
void recall_open(struct recall *r, const char *path);

/* Adds text[n], unless it is the last one once more, or empty. */
void recall_add(struct recall *r, const char *text, size_t n);

void recall_close(struct recall *r);

#endif
