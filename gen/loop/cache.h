/* cache: what fwd has already of a text: the sequences of a loop with `calls`. Those that are over stay in fwd until
 * their positions are more than loop->cache; then those go first that were not used for the longest time. */
#ifndef CACHE_H
#define CACHE_H

#include "live.h"

/* The sequence that has the most of the beginning of ids[n], but not its last id; *shared: how many of them. NULL:
 * none, or no memory. */
struct live *cache_find(struct loop *l, const int32_t *ids, size_t n, size_t *shared);

/* Keeps a sequence that is over, unless another has all of its ids; those whose ids it has all are dropped. Returns -1
 * with a reason on failure. */
int cache_keep(struct loop *l, struct live *s, struct why *w);

#endif
