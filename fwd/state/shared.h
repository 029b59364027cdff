/* shared: reference-counted memory for the states of a process's sequences. It is copied before a write while others
 * use it. Blocks are aligned to 64 bytes. Not thread-safe. */
#ifndef SHARED_H
#define SHARED_H

#include <stddef.h>

/* Allocates a block with one user, not cleared. NULL: out of memory. */
void *shared_new(size_t bytes);

/* Adds a user and returns the block. block may be NULL. */
void *shared_use(void *block);

/* Removes a user; the last one frees the block. block may be NULL. */
void shared_drop(void *block);

/* Returns the block itself if the caller is its only user; otherwise a copy of its `bytes` bytes, and the caller stops
 * being a user of the block. NULL: out of memory; then nothing has changed. */
void *shared_own(void *block, size_t bytes);

#endif
