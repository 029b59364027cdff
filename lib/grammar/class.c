/* Sets of code points as sorted ranges. */
#include "class.h"

#include <stdlib.h>

#include "lib/base/grow.h"

enum { SURROGATES = 0xd800, SURROGATES_END = 0xdfff, LAST = 0x10ffff };

int points_add(struct points *c, uint32_t first, uint32_t last)
{
	if (c->n == c->room && grow(&c->range, &c->room, sizeof *c->range, 16))
		return -1;
	c->range[c->n++] = (struct points_range){ first, last };
	return 0;
}

static int by_first(const void *x, const void *y)
{
	const struct points_range *a = x, *b = y;

	return (a->first > b->first) - (a->first < b->first);
}

static void merge(struct points *c)
{
	size_t kept = 0;

	qsort(c->range, c->n, sizeof *c->range, by_first);
	for (size_t i = 1; i < c->n; i++) {
		struct points_range *last = &c->range[kept], *r = &c->range[i];

		if (r->first > last->last + 1)
			c->range[++kept] = *r;
		else if (r->last > last->last)
			last->last = r->last;
	}
	if (c->n)
		c->n = kept + 1;
}

/* The gaps between the ranges become the ranges. There must be room for one more. */
static void complement(struct points *c)
{
	uint32_t from = 0;
	size_t kept = 0;

	for (size_t i = 0; i < c->n; i++) {
		struct points_range r = c->range[i];

		if (r.first > from)
			c->range[kept++] = (struct points_range){ from, r.first - 1 };
		from = r.last + 1;
	}
	if (from <= LAST)
		c->range[kept++] = (struct points_range){ from, LAST };
	c->n = kept;
}

/* Surrogates are removed by adding them to the complement. */
int points_settle(struct points *c, int not)
{
	if (points_add(c, 0, 0))        /* room for the complement */
		return -1;
	c->n--;
	merge(c);
	if (!not)
		complement(c);
	if (points_add(c, SURROGATES, SURROGATES_END) || points_add(c, 0, 0))
		return -1;
	c->n--;
	merge(c);
	complement(c);
	return 0;
}

void points_free(struct points *c)
{
	free(c->range);
	*c = (struct points){ 0 };
}
