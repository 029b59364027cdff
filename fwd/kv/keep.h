/* keep: removes segments until those that are left are small enough. */
#ifndef KV_KEEP_H
#define KV_KEEP_H

#include <stddef.h>

#include "lib/base/why.h"

/* Of these segments, or with n = 0 of all of this user's whose names have no slash, removes those that were not used
 * for the longest time, until the others have at most this many bytes. Those in use are never removed, but count.
 * Returns -1 with a reason if one that was named cannot be read, or one cannot be removed. */
int keep_most(char **name, size_t n, unsigned long long bytes, struct why *w);

#endif
