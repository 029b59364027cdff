/* recall: earlier input lines, and the file that keeps the last RECALL_MAX of them: one per line, with \n for a newline
 * and \\ for a backslash. Other processes may append to the file at the same time. */
#ifndef RECALL_H
#define RECALL_H

#include <stddef.h>

enum { RECALL_MAX = 2000 };     /* lines that are kept */

struct recall {                 /* starts as zeroes */
	char **line;            /* [n], the oldest first; without NULs */
	size_t n, room;
	int fd;                 /* private: of the file; 0: none */
};

/* Reads the file; creates it if need be, with its directories, readable by its owner only. If it cannot be opened,
 * which is not an error, lines are kept in memory only. */
void recall_open(struct recall *r, const char *path);

/* Adds text[n], unless it is empty or equals the last line. */
void recall_add(struct recall *r, const char *text, size_t n);

void recall_close(struct recall *r);

#endif
