/* embeddings: the embedding of each text of a stream, in the order of the sequences. What comes early is kept until its
 * turn. */
#ifndef EMBEDDINGS_H
#define EMBEDDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/card.h"
#include "lib/stream/sequences.h"

struct embedding {
	float *row;             /* [rows][cols], valid until the next call */
	size_t rows, cols;      /* rows 0: there is none, for this reason: */
	char error[96];
	enum pooling pooling;
	uint32_t tokens;        /* of the text */
};

struct embeddings {
	struct frame_in in;
	struct card card;               /* of the stream */

	/* private */
	struct sequences sequences;     /* of struct text */
	uint32_t next;                  /* the sequence whose turn it is, from 1 */
	int has_card;
	struct sequence *last;          /* of the embedding that was returned */
	struct sequence **left;         /* at the end of the stream: those that are left, [n_given] of them returned */
	size_t n_given;
};

/* The caller keeps fd and closes it. */
void embeddings_open(struct embeddings *e, int fd, const char *name);
void embeddings_close(struct embeddings *e);

/* Returns 1; 0 at the end of the stream; -1 with a reason. A sequence without rows counts as a text if it ends,
 * unless it is sequence 0. */
int embeddings_next(struct embeddings *e, struct embedding *to, struct why *w);

#endif
