/* adapters: chooses the adapter of each row from all ids up to it. A work item is a run. */
#include "kinds.h"

#include <math.h>

#include "fwd/state/ids.h"

static size_t items(const struct op *op, const struct step *s)
{
	return s->n_runs;
}

/* Other processes may write to the segment's memory, so an id may be outside the vocabulary. */
static uint16_t switched(const struct op_adapters *o, const struct segment *state, size_t pos)
{
	uint32_t id = (uint32_t)segment_id(state, pos);

	return id < o->n_vocab ? o->switched[id] : 0;
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_adapters *o = op->bound;
	const struct run *run = &s->run[item];
	size_t rows = op->wanted ? run->wanted : run->n, end = run->pos + run->n, sum = 0, count = 0;
	uint16_t *adapter = o->routing->expert + (op->wanted ? run->first_wanted : run->first);

	for (size_t pos = 0; pos < end; pos++) {
		uint16_t on = switched(o, run->state, pos);

		sum += on;
		count += on > 0;
		if (pos + rows >= end)
			*adapter++ = (uint16_t)roundf((float)((double)sum
				/ ((double)count + (double)(pos + 1 - count) * o->other)));
	}
}

const struct op_kind op_adapters = { .name = "adapters", .items = items, .item = item };
