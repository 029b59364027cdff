/* grow: an array that has become full. */
#ifndef GROW_H
#define GROW_H

#include <stddef.h>

/* array: the address of a pointer to *room elements of `size` bytes each (NULL where *room is 0), made twice as many, or `first` of none. -1: no memory,
 * and nothing has changed. */
int grow(void *array, size_t *room, size_t size, size_t first);

/* Makes *p hold at least n bytes, of which *room is the number so far. What was there may be lost. -1: no memory, and nothing has changed. */
int grow_scratch(void *p, size_t *room, size_t n);

#endif
