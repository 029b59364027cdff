/* class: a set of code points, as a class in brackets makes it. Private to the two that read classes, of GBNF and of a schema's patterns. */
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

/* Puts the ranges in order, without overlap and as few as there can be, surrogates left out; `not` takes all the other points instead. */
int points_settle(struct points *c, int not);

void points_free(struct points *c);

#endif
