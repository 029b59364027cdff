/* routing: the assignment of a batch's rows to experts. */
#ifndef ROUTING_H
#define ROUTING_H

#include <stddef.h>
#include <stdint.h>

#include "op.h"

/* Rows of one expert that are packed together: places [from, to). */
struct expert_group {
	uint32_t expert, from, to;
};

/* A slot is a row and one of its experts: slot = row · used + rank, where the best expert has rank 0. op_route chooses
 * the experts. op_expert_rows sorts slots by expert; the place of a slot is its index in that order. */
struct routing {
	size_t n, used;                 /* number of experts; per row */
	uint16_t *expert;               /* [slots] */
	float *weight;                  /* [slots] */
	uint32_t *place, *slot;         /* [slots]: place of each slot; slot of each place */
	uint32_t *first;                /* [n + 1]: the first place of each expert */
	uint16_t *active;               /* [n_active]: experts that have rows, ascending */
	struct expert_group *group;     /* [n_groups] */
	size_t n_active, n_groups;
	struct value *value;            /* as in struct buffer */
};

#endif
