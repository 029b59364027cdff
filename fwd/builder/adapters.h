/* adapters: low-rank deltas that some ids switch on. */
#ifndef ADAPTERS_H
#define ADAPTERS_H

#include "fwd/model/model.h"

/* Adapters (IBM 2026): low-rank deltas of the products of all layers. Some ids switch an adapter on. A row uses the
 * adapter whose number is the rounded mean of those that the ids up to it switched on. Adapters count from 1; the
 * deltas numbered 0 are for rows without an adapter. */
enum { ADAPTERS_MAX = 255 };

struct adapters {
	size_t n, rank;                 /* n 0: there are none */
	double other;                   /* weight in the mean of an id that switches none on; the others have weight
					 * 1 */
	uint64_t id[ADAPTERS_MAX];      /* the id that switches each adapter on */
	uint64_t substitute[ADAPTERS_MAX];      /* the id to embed in its place */
};

struct adapters *adapters_of(struct model *m);

#endif
