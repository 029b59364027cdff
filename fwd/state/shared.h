/* shared: memory of states that several sequences of a process may use: whoever is about to write takes a copy of what
 * others use too. Blocks are aligned to 64 bytes. For one thread. */
#ifndef SHARED_H
#define SHARED_H

#include <stddef.h>

/* A block with one user, not cleared; NULL: out of memory. */
void *shared_new(size_t bytes);

/* One more user of the block; returns it. NULL is allowed. */
void *shared_use(void *block);

/* One user less; the last one frees it. NULL is allowed. */
void shared_drop(void *block);

/* The block itself if the caller is its only user; else a copy of its `bytes` bytes, in place of what the caller used.
 * NULL: out of memory, and nothing has changed. */
void *shared_own(void *block, size_t bytes);

#endif
