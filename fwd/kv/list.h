/* list: segments as a table that fits the terminal, or as lines of JSON. */
#ifndef KV_LIST_H
#define KV_LIST_H

#include <stddef.h>

#include "lib/base/why.h"

/* Prints these segments, one a line; n = 0: all of this user's that have no slash in their names. Of one that cannot be
 * read, the reason is printed; -1 if it was named, or if memory is short. */
int list_print(char **name, size_t n, int json, struct why *w);

#endif
