/* Sorting by keys: bottom-up merging, which is stable and never worse than n log n. */
#include "value.h"

#include <string.h>

static void merge(struct env *e, struct jv_pair *to, const struct jv_pair *from, size_t start, size_t middle,
	size_t end, bool reverse)
{
	size_t i = start, j = middle;

	for (size_t k = start; k < end; k++) {
		int order = i < middle && j < end ? jv_order(e, from[j].key, from[i].key, "<") : 0;

		to[k] = i == middle || (j < end && (reverse ? order > 0 : order < 0)) ? from[j++] : from[i++];
	}
}

void jv_sort(struct env *e, struct jv_pair *pairs, uint32_t n, bool reverse)
{
	struct jv_pair *from = pairs, *to = env_array(e, n, sizeof *to), *swap;

	for (size_t width = 1; width < n; width *= 2) {
		env_tick(e, n);
		for (size_t start = 0; start < n; start += 2 * width)
			merge(e, to, from, start, start + width < n ? start + width : n,
				start + 2 * width < n ? start + 2 * width : n, reverse);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != pairs)
		memcpy(pairs, from, n * sizeof *pairs);
}

struct jv_pair *jv_sorted_pairs(struct env *e, const struct jv_dict *d)
{
	struct jv_pair *pairs = env_array(e, d->n, sizeof *pairs);

	if (d->n)
		memcpy(pairs, d->pairs, d->n * sizeof *pairs);
	jv_sort(e, pairs, d->n, false);
	return pairs;
}
