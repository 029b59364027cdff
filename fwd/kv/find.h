/* find: which segment has the most of a text's beginning. */
#ifndef KV_FIND_H
#define KV_FIND_H

#include "lib/base/why.h"

/* Reads a stream of ids from descriptor fd, and prints the name of the segment that begins with the most of them, and
 * how many. Only segments that no process has open are looked at; of several, the first by name wins. model: only those
 * that this file has made, by its real path; NULL: any. Returns -1 with a reason, also if there is none. */
int find_print(int fd, const char *model, struct why *w);

#endif
