/* sequences: what a stage keeps for each sequence of a stream, by number; and which sequences have ended, so that late
 * frames of those are recognised. Memory grows with the live sequences only: the numbers of those that have ended are
 * kept as ranges, and there are few if sequences end roughly in order.
 *
 *	struct text { struct sequence sequence; ... };          // the stage's own
 *
 *	if (sequences_is_over(&t, f.seq))
 *		skip the frame;
 *	if (!(s = sequences_find(&t, f.seq)))
 *		sequences_add(&t, s = calloc(1, sizeof (struct text)), f.seq, &w);
 *	...
 *	sequences_end(&t, f.seq, &w);                           // then free what was found
 */
#ifndef SEQUENCES_H
#define SEQUENCES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"

struct sequence {                       /* the first member of what a stage keeps for each */
	uint32_t number;
	struct sequence *next;          /* private */
};

struct sequences {                      /* starts as zeroes; private but for n */
	size_t n;                       /* number of live sequences */
	struct sequence **bucket;       /* [room] */
	size_t room;
	struct sequence_range {
		uint32_t first, last;
	} *over;                        /* [n_over] ascending; two never touch */
	size_t n_over, over_room;
};

/* The live sequence with that number, or NULL. */
struct sequence *sequences_find(const struct sequences *t, uint32_t number);

/* Adds s, which belongs to the caller; no live sequence may have its number. -1: out of memory. */
int sequences_add(struct sequences *t, struct sequence *s, uint32_t number, struct why *w);

/* Notes that a number has ended, live or not; the caller frees the sequence. -1: out of memory. */
int sequences_end(struct sequences *t, uint32_t number, struct why *w);
int sequences_is_over(const struct sequences *t, uint32_t number);

/* All live sequences, ordered by number: an array of t->n that the caller frees. NULL: out of memory. */
struct sequence **sequences_all(const struct sequences *t, struct why *w);

/* Closes the table: each call takes out a live sequence, which the caller frees; NULL: none is left, and the table's
 * memory is freed. */
struct sequence *sequences_take(struct sequences *t);

#endif
