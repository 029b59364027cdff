/* shared: reference-counted memory for the states of a process's sequences, copied before a write while others use it.
 * Blocks are aligned to 64 bytes. Not thread-safe. */
#ifndef SHARED_H
#define SHARED_H

#include <stddef.h>

/* A block with one user, not cleared; NULL: out of memory. */
void *shared_new(size_t bytes);

/* Adds a user; returns the block. NULL is allowed. */
void *shared_use(void *block);

/* Removes a user; the last one frees the block. NULL is allowed. */
void shared_drop(void *block);

/* The block itself if the caller is its only user; else a copy of its `bytes` bytes, and the caller is no longer a user
 * of the block. NULL: out of memory, and nothing has changed. */
void *shared_own(void *block, size_t bytes);

#endif
