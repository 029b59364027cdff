/* arena: memory that is given out piece by piece and returned all at once, with a limit. For trees and values whose pieces live equally
 * long (a parsed JSON text, a template, one rendering of it). Start from `struct arena a = { .limit = N }`. */
#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	size_t limit;               /* bytes that may be given out in all */
	size_t used;                /* bytes taken from the system so far */
	struct arena_block *block;
	char *top, *end;            /* the free part of the newest block */
};

/* n bytes aligned for any type, not cleared; NULL when the limit or the system's memory is reached. Owned by the arena. */
void *arena_alloc(struct arena *a, size_t n);

/* n cleared elements of the given size; NULL as above, and when the product overflows. */
void *arena_array(struct arena *a, size_t n, size_t size);

/* n bytes without alignment, for text. */
char *arena_text(struct arena *a, size_t n);

/* Makes the piece of text s[n] longer by `more` where it lies, if it ends where the free part begins; 0 if it did, else -1 and nothing
 * has changed. What s[n] held is untouched, so others may go on using it. */
int arena_extend(struct arena *a, const char *s, size_t n, size_t more);

/* Gives everything back; the arena is as new, with the same limit. */
void arena_free(struct arena *a);

#endif
