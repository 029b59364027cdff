/* list: segments as a table that fits the terminal, or as lines of JSON. */
#ifndef KV_LIST_H
#define KV_LIST_H

#include <stddef.h>

#include "lib/base/why.h"

/* Prints these segments, one per line. n = 0: all of this user's whose names have no slash. If a segment cannot be
 * read, prints the reason instead. Returns -1 if that segment was named, or memory is short. */
int list_print(char **name, size_t n, int json, struct why *w);

#endif
