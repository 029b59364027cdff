/* replay: texts that were drawn before, read from a stream that a sampler wrote. The loop sends each of them again, as
 * guesses, and compares what the sampler draws now. */
#ifndef REPLAY_H
#define REPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/card.h"
#include "lib/stream/ids.h"
#include "lib/stream/sequences.h"

struct recorded {               /* the text of a sequence */
	struct sequence sequence;
	struct ids ids;
	uint32_t pos;           /* of ids.id[0]; FRAME_APPEND: not known */
	int ended;              /* an `end ` frame follows it, so nothing may be drawn after it */
	int compared;           /* up to its end, or to a difference */
};

struct replay {                 /* starts as zeros */
	const char *name;       /* of the file, set by the caller; borrowed */
	struct card card;       /* n_vocab 0: the stream has none */
	struct sequences texts; /* of struct recorded */
	size_t left;            /* texts with ids that are not compared yet */
	int differs;            /* there is a difference; the first one of the lowest sequence: */
	uint32_t seq, pos;
	int32_t was, is;        /* ids, recorded and drawn; -1: the text had ended */
};

/* Reads the file. Returns -1 with a reason if it is no stream, or a sequence has several texts. Call replay_close() in
 * any case. */
int replay_read(struct replay *r, struct why *w);
void replay_close(struct replay *r);

/* The text of a sequence whose first id was drawn for pos. NULL with a reason if there is none, or it began
 * elsewhere. */
struct recorded *replay_find(struct replay *r, uint32_t seq, uint32_t pos, struct why *w);

/* Compares an id that was drawn for pos with number i of a text. Returns whether they are the same. */
int replay_same(struct replay *r, struct recorded *t, size_t i, int32_t id, uint32_t pos);

/* A text has ended after n ids, at pos. */
void replay_end(struct replay *r, struct recorded *t, size_t n, uint32_t pos);

/* Stores a line about the difference in *w. */
void replay_tell(const struct replay *r, struct why *w);

#endif
