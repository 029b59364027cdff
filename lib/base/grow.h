/* grow: makes arrays larger. */
#ifndef GROW_H
#define GROW_H

#include <stddef.h>

/* Doubles an array. array: the address of a pointer to *room elements of `size` bytes each; if it is empty (NULL, *room
 * 0), it gets `first` elements. -1: out of memory, and nothing has changed. */
int grow(void *array, size_t *room, size_t size, size_t first);

/* Makes *p, which holds *room bytes, hold at least n. The contents may be lost. -1: out of memory, and nothing has
 * changed. */
int grow_scratch(void *p, size_t *room, size_t n);

#endif
