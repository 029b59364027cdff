/* A binary heap. */
#include "nearest.h"

#include <stdlib.h>

int nearest_open(struct nearest *t, size_t most, struct why *w)
{
	*t = (struct nearest){ .most = most, .hit = calloc(most, sizeof *t->hit) };
	return t->hit ? 0 : why(w, "out of memory");
}

void nearest_close(struct nearest *t)
{
	free(t->hit);
}

static void swap(struct hit *a, struct hit *b)
{
	struct hit kept = *a;

	*a = *b;
	*b = kept;
}

/* Moves the root of hit[n] down to where it belongs. */
static void sift(struct hit *hit, size_t n)
{
	size_t at = 0, worse;

	while ((worse = 2 * at + 1) < n) {
		if (worse + 1 < n && hit_is_better(&hit[worse], &hit[worse + 1]))
			worse++;
		if (hit_is_better(&hit[worse], &hit[at]))
			return;
		swap(&hit[at], &hit[worse]);
		at = worse;
	}
}

void nearest_add(struct nearest *t, struct hit hit)
{
	size_t at = t->n, parent;

	if (t->n == t->most) {
		if (!hit_is_better(&hit, &t->hit[0]))
			return;
		t->hit[0] = hit;
		sift(t->hit, t->n);
		return;
	}
	t->hit[t->n++] = hit;
	for (; at && hit_is_better(&t->hit[parent = (at - 1) / 2], &t->hit[at]); at = parent)
		swap(&t->hit[at], &t->hit[parent]);
}

void nearest_sort(struct nearest *t)
{
	for (size_t n = t->n; n > 1; ) {
		swap(&t->hit[0], &t->hit[--n]);
		sift(t->hit, n);
	}
}
