/* sequences: what a stage keeps of each sequence of a stream, found by its number; and which numbers are over, so that
 * what still comes of those is recognised. Memory is that of the sequences that live: the numbers that are over are
 * kept as ranges, which are few where sequences end roughly in order.
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

struct sequence {                       /* the first member of what a stage keeps of one */
	uint32_t number;
	struct sequence *next;          /* private */
};

struct sequences {                      /* starts as zeroes; private but for n */
	size_t n;                       /* that live */
	struct sequence **bucket;       /* [room] */
	size_t room;
	struct sequence_range {
		uint32_t first, last;
	} *over;                        /* [n_over] ascending; two never touch */
	size_t n_over, over_room;
};

/* The living sequence of that number, or NULL. */
struct sequence *sequences_find(const struct sequences *t, uint32_t number);

/* Adds s, which belongs to the caller; its number must not live. -1: out of memory. */
int sequences_add(struct sequences *t, struct sequence *s, uint32_t number, struct why *w);

/* The number is over, whether or not it lived; the caller frees what it had. -1: out of memory. */
int sequences_end(struct sequences *t, uint32_t number, struct why *w);
int sequences_is_over(const struct sequences *t, uint32_t number);

/* All that live, in the order of their numbers: an array of t->n that the caller frees. NULL: there are none, or out
 * of memory. */
struct sequence **sequences_all(const struct sequences *t);

/* Frees the table; the sequences are the caller's. */
void sequences_free(struct sequences *t);

#endif
