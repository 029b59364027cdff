/* The memory of an array doubles; products are checked for overflow. */
#include "grow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int grow(void *array, size_t *room, size_t size, size_t first)
{
	size_t more = *room ? *room * 2 : first;
	void *old, *p;

	memcpy(&old, array, sizeof old);        /* whatever it points to */
	p = *room > SIZE_MAX / size / 2 ? NULL : realloc(old, more * size);
	if (!p)
		return -1;
	memcpy(array, &p, sizeof p);
	*room = more;
	return 0;
}

int grow_scratch(void *p, size_t *room, size_t n)
{
	size_t more = n < 256 ? 256 : n;
	void *old, *new;

	if (n <= *room)
		return 0;
	new = malloc(more);
	if (!new)
		return -1;
	memcpy(&old, p, sizeof old);
	free(old);
	memcpy(p, &new, sizeof new);
	*room = more;
	return 0;
}
