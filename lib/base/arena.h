/* arena: memory that is allocated bit by bit and freed all at once, with a limit: for a parsed JSON text, a template,
 * one rendering of it. Initialise with `struct arena a = { .limit = N }`. */
#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	size_t limit;               /* bytes that may be allocated in all */
	size_t used;                /* bytes allocated from the system so far */
	struct arena_block *block;
	char *top, *end;            /* the free part of the newest block */
};

/* n bytes aligned for any type, not cleared; NULL when the limit or the system's memory is reached. Owned by the
 * arena. */
void *arena_alloc(struct arena *a, size_t n);

/* n cleared elements of the given size; NULL as above, and when the product overflows. */
void *arena_array(struct arena *a, size_t n, size_t size);

/* n bytes without alignment, for text. */
char *arena_text(struct arena *a, size_t n);

/* Extends the text s[n] in place by `more` bytes. Returns 0, or -1, with nothing changed, if s[n] does not end where
 * the free part starts or the block has no room. The bytes of s[n] stay where they are, so pointers to it remain
 * valid. */
int arena_extend(struct arena *a, const char *s, size_t n, size_t more);

/* Frees everything. The arena is empty again and keeps its limit. */
void arena_free(struct arena *a);

#endif
