/* Doubling a hash table. */
#include "slots.h"

#include <stdlib.h>

int slots_double(struct slots *t)
{
	struct slots more = { .n = t->n, .room = t->room ? t->room * 2 : 256 };

	more.slot = more.room ? calloc(more.room, sizeof *more.slot) : NULL;
	if (!more.slot)
		return -1;
	for (uint32_t i = 0; i < t->room; i++) {
		struct slot *s = slots_first(&more, t->slot[i].hash);

		while (t->slot[i].index && s->index)
			s = slots_next(&more, s);
		if (t->slot[i].index)
			*s = t->slot[i];
	}
	free(t->slot);
	*t = more;
	return 0;
}
