/* mixture: the buffers of a mixture of experts, which all layers of a plan share, and which experts the rows of a
 * batch go to. */
#ifndef MIXTURE_H
#define MIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "op.h"

/* Rows of an expert that are packed together. */
struct expert_group {
	uint32_t expert, from, to;
};

/* A slot is a row and one of its experts: row · used + rank, the best expert first. op_route chooses them;
 * op_expert_rows orders them by expert, and each has its place in that order. */
struct routing {
	size_t n, used;                 /* experts; of each row */
	uint16_t *expert;               /* [slots] */
	float *weight;                  /* [slots] */
	uint32_t *place, *slot;         /* [slots]: the place of a slot; the slot in a place */
	uint32_t *first;                /* [n + 1]: the first place of each expert */
	uint16_t *active;               /* [n_active]: the experts of any row, ascending */
	struct expert_group *group;     /* [n_groups] */
	size_t n_active, n_groups;
};

struct mixture {
	struct routing routing, adjugates;      /* of rows to experts; to adjugate experts */
	struct buffer logits;           /* [batch][experts] */
	struct buffer wide, out;        /* by place: gate and up, then what is left of them; the expert's result */
	struct buffer shared, gate;     /* of the shared expert: its result, and the logit of its weight */
};

#endif
