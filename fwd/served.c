/* Starting and ending sequences, each with its own state. */
#include "served.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct served *served_find(const struct all_served *a, uint32_t number)
{
	return (struct served *)sequences_find(&a->table, number);
}

int served_open(struct all_served *a, struct segment *first, const struct weights *weights, struct why *w)
{
	struct served *q = calloc(1, sizeof *q);

	*a = (struct all_served){ .first = first, .weights = weights };
	if (!q || sequences_add(&a->table, &q->sequence, 0, w) < 0) {
		free(q);
		return why(w, "out of memory");
	}
	q->state = first;
	q->end = q->ready = first->length;
	return 0;
}

/* ---- states ---- */

static int open_state(const struct all_served *a, struct served *q, uint32_t number, struct why *w)
{
	const struct segment *first = a->first;
	size_t room = first->name ? strlen(first->name) + 16 : 0;

	q->name = room ? malloc(room) : NULL;
	if (room && !q->name)
		return why(w, "out of memory");
	if (q->name)
		snprintf(q->name, room, "%s.%" PRIu32, first->name, number);
	if (segment_open(&q->own, q->name, &first->shape, first->n_ctx, w) < 0)
		return -1;
	q->state = &q->own;
	q->end = q->ready = q->own.length;
	return digest_check(&q->own, a->weights, w);
}

/* Frees a sequence. Only for sequence 0 is the digest computed. */
static int drop(const struct all_served *a, struct served *q, struct why *w)
{
	int status = 0;

	if (q->state == &q->own) {
		if (q->name && segment_mark(a->first, SEGMENT_DIGEST))
			segment_set_mark(q->state, SEGMENT_DIGEST, segment_mark(a->first, SEGMENT_DIGEST));
		status = segment_sync(q->state, w);
		segment_close(q->state);
	}
	free(q->name);
	free(q);
	return status;
}

/* ---- sequences ---- */

struct served *served_add(struct all_served *a, uint32_t number, struct why *w)
{
	struct served *q = calloc(1, sizeof *q);
	struct why ignored;

	if (!q) {
		why(w, "out of memory");
		return NULL;
	}
	if (open_state(a, q, number, w) == 0 && sequences_add(&a->table, &q->sequence, number, w) == 0)
		return q;
	drop(a, q, &ignored);
	return NULL;
}

void served_heard(struct all_served *a, struct served *q)
{
	a->n_live += !q->live;
	q->live = 1;
}

int served_end(struct all_served *a, struct served *q, struct why *w)
{
	int status;

	a->n_live -= (size_t)q->live;
	q->live = q->failed = 0;
	q->end = q->ready = q->state->length;
	if (!q->sequence.number)
		return 0;
	status = sequences_end(&a->table, q->sequence.number, w);
	return drop(a, q, w) < 0 ? -1 : status;
}

int served_close(struct all_served *a, struct why *w)
{
	struct sequence *s;
	int status = 0;

	while ((s = sequences_take(&a->table)))
		status = drop(a, (struct served *)s, w) < 0 ? -1 : status;
	return status;
}
