/* ids: a growing array of token ids. Starts as zeros; its owner calls free(ids.id). */
#ifndef IDS_H
#define IDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/why.h"

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

/* Appends n ids. */
static inline int ids_append(struct ids *ids, const int32_t *id, size_t n, struct why *w)
{
	while (ids->room - ids->n < n)
		if (grow(&ids->id, &ids->room, sizeof *ids->id, 256))
			return why(w, "out of memory");
	if (n)
		memcpy(ids->id + ids->n, id, n * sizeof *id);
	ids->n += n;
	return 0;
}

#endif
