/* ids: a growing array of token ids. Starts as zeroes; its owner calls free(ids.id). */
#ifndef IDS_H
#define IDS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/grow.h"

struct ids {
	int32_t *id;
	size_t n, room;
};

/* Appends one id; -1 when there is no memory. */
static inline int ids_add(struct ids *ids, int32_t id)
{
	if (ids->n == ids->room && grow(&ids->id, &ids->room, sizeof *ids->id, 256))
		return -1;
	ids->id[ids->n++] = id;
	return 0;
}

#endif
