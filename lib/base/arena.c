/* A bump allocator over blocks. */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
	struct arena_block *older;
	max_align_t bytes[];
};

enum { FIRST_BLOCK = 8192, LARGEST_BLOCK = 1 << 20 };

static int refill(struct arena *a, size_t n)
{
	struct arena_block *b;
	size_t size = a->used < FIRST_BLOCK ? FIRST_BLOCK : a->used < LARGEST_BLOCK ? a->used : LARGEST_BLOCK;

	if (a->used >= a->limit || n > a->limit - a->used)
		return -1;
	if (size < n)
		size = n;
	if (size > a->limit - a->used)
		size = a->limit - a->used;
	b = malloc(sizeof *b + size);
	if (!b)
		return -1;
	b->older = a->block;
	a->block = b;
	a->used += size;
	a->top = (char *)b->bytes;
	a->end = a->top + size;
	return 0;
}

char *arena_text(struct arena *a, size_t n)
{
	char *p;

	if ((!a->top || n > (size_t)(a->end - a->top)) && refill(a, n))
		return NULL;
	p = a->top;
	a->top += n;
	return p;
}

void *arena_alloc(struct arena *a, size_t n)
{
	size_t align = _Alignof(max_align_t);
	size_t skip = (align - (uintptr_t)a->top % align) % align;

	if (!a->top || skip > (size_t)(a->end - a->top) || n > (size_t)(a->end - a->top) - skip) {
		if (refill(a, n))
			return NULL;
		skip = 0;
	}
	a->top += skip;
	return arena_text(a, n);
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	void *p;

	if (size && n > SIZE_MAX / size)
		return NULL;
	p = arena_alloc(a, n * size);
	if (p)
		memset(p, 0, n * size);
	return p;
}

int arena_extend(struct arena *a, const char *s, size_t n, size_t more)
{
	if (!a->top || s + n != a->top || more > (size_t)(a->end - a->top))
		return -1;
	a->top += more;
	return 0;
}

void arena_free(struct arena *a)
{
	while (a->block) {
		struct arena_block *b = a->block;

		a->block = b->older;
		free(b);
	}
	*a = (struct arena){ .limit = a->limit };
}
