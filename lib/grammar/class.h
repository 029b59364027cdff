/* class: a set of code points, as a class in brackets defines it. For the readers of GBNF and of patterns in
 * schemas. */
#ifndef GRAMMAR_CLASS_H
#define GRAMMAR_CLASS_H

#include <stddef.h>
#include <stdint.h>

struct points {
	struct points_range {
		uint32_t first, last;   /* both included */
	} *range;
	size_t n, room;
};

/* Adds the points first to last, first <= last <= U+10FFFF. -1: no memory. */
int points_add(struct points *c, uint32_t first, uint32_t last);

/* Sorts and merges the ranges and removes surrogates; with `not`, replaces the set by its complement. -1: no memory. */
int points_settle(struct points *c, int not);

void points_free(struct points *c);

#endif
