/* listing: the frames of a stream as lines, as CSV, as nothing but ids; or those of one sequence as a stream. */
#ifndef LISTING_H
#define LISTING_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/frame.h"
#include "lib/vocab/vocab.h"

enum { LISTING_TOP_MAX = 1000 };

enum listing_format { LISTING_LINES, LISTING_IDS, LISTING_CSV, LISTING_RAW };

struct listing {
	/* set by the caller */
	enum listing_format format;
	size_t top;                     /* of each row of logits, at most */
	int64_t seq;                    /* the only sequence; -1: all */

	/* private */
	const struct vocab *vocab;
	struct card mine;               /* of the vocabulary */
	struct frame_in in;
	struct frame f;
	float *row, *p;                 /* [room] */
	float *scratch;                 /* [TOPK_SCRATCH(room)] */
	size_t room;
	int32_t at[LISTING_TOP_MAX];
	char text[FRAME_STOP_MAX];
};

/* vocab: shows the pieces of ids, and streams must be of it; or NULL. */
void listing_open(struct listing *l, const struct vocab *vocab);
void listing_close(struct listing *l);

/* Shows all frames, each as soon as it has come. name: of the stream, for messages. -1 with a reason. */
int listing_stream(struct listing *l, int fd, const char *name, struct why *w);

#endif
