/* The number of users is stored before the block. */
#include "shared.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BEFORE = 64 };

static size_t *users(void *block)
{
	return (size_t *)(void *)((char *)block - BEFORE);
}

void *shared_new(size_t bytes)
{
	void *p;

	if (bytes > SIZE_MAX - BEFORE || posix_memalign(&p, BEFORE, BEFORE + bytes))
		return NULL;
	p = (char *)p + BEFORE;
	*users(p) = 1;
	return p;
}

void *shared_use(void *block)
{
	if (block)
		++*users(block);
	return block;
}

void shared_drop(void *block)
{
	if (block && --*users(block) == 0)
		free(users(block));
}

void *shared_own(void *block, size_t bytes)
{
	void *copy;

	if (*users(block) == 1)
		return block;
	copy = shared_new(bytes);
	if (copy) {
		memcpy(copy, block, bytes);
		shared_drop(block);
	}
	return copy;
}
