#include "keep.h"

#include <stdlib.h>
#include <string.h>

#include "fwd/state/named.h"
#include "fwd/state/object.h"
#include "lib/base/grow.h"

struct kept {
	char *name;
	size_t bytes;
	time_t used;
	int busy;
};

struct keep {
	struct kept *list;      /* [n] */
	size_t n, room;
	unsigned long long bytes;       /* of all */
};

static int add(struct keep *k, const char *name, struct why *w)
{
	struct segment_info i;
	char *copy;

	if (segment_inspect(name, &i, w))
		return -1;
	if ((k->n == k->room && grow(&k->list, &k->room, sizeof *k->list, 16)) || !(copy = strdup(name)))
		return why(w, "out of memory");
	k->list[k->n++] = (struct kept){ copy, i.bytes, i.used, i.owner != 0 };
	k->bytes += i.bytes;
	return 0;
}

static int visit(const char *name, void *context)
{
	struct why ignored;

	/* one that cannot be read stays: its age is unknown */
	add(context, name, &ignored);
	return 0;
}

/* The one that goes next: the least recently used that nobody has open. NULL: there is none. */
static struct kept *oldest(const struct keep *k)
{
	struct kept *found = NULL;

	for (size_t i = 0; i < k->n; i++)
		if (!k->list[i].busy && (!found || k->list[i].used < found->used))
			found = &k->list[i];
	return found;
}

int keep_most(char **name, size_t n, unsigned long long bytes, struct why *w)
{
	struct keep k = { .list = NULL };
	int failed = !n && object_each(visit, &k, w);
	struct kept *last;

	for (size_t i = 0; i < n && !failed; i++)
		failed = add(&k, name[i], w);
	while (!failed && k.bytes > bytes && (last = oldest(&k))) {
		failed = segment_remove(last->name, w);
		last->busy = 1;
		k.bytes -= last->bytes;
	}
	for (size_t i = 0; i < k.n; i++)
		free(k.list[i].name);
	free(k.list);
	return failed ? -1 : 0;
}
