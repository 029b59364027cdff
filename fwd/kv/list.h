/* list: segments as a table that fits the terminal, or as lines of JSON. */
#ifndef KV_LIST_H
#define KV_LIST_H

#include <stddef.h>

#include "lib/base/why.h"

/* Prints these segments, one per line. n = 0: all of this user's whose names have no slash. One that cannot be read is
 * listed with the reason; but if it was named, it is left out. Returns -1 with the first reason if one was left out, if
 * a reason was the system's, or if memory is short. What killed loads have left is removed. */
int list_print(char **name, size_t n, int json, struct why *w);

#endif
