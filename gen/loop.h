/* loop: the stages at work: gen's ends of their pipes, and a turn of what goes round through them. */
#ifndef LOOP_H
#define LOOP_H

#include <stdint.h>

#include "lib/stream/frame.h"
#include "lib/base/why.h"
#include "gen.h"

struct loop {                   /* gen's ends of the pipes, and what has come through them */
	int from_tok, to_fwd, from_fwd, to_sample, from_sample, to_detok;    /* -1 when closed; to_detok also with --json; from_fwd and to_sample without a relay */
	struct frame_in picks;
	struct card card;       /* sample's */
	double begin;           /* of the turn, for its times */
	const struct request *q;
	int stale;              /* sample may still write of a turn that was cut short */
	int (*enough)(void);    /* of the turn under way, or NULL */
};

/* Starts the stages; tok only where a prompt goes through it, which a conversation does not, sample not where fwd picks. -1 with a reason: some may be running.
 * loop_end() tells them to end, in either case; they still have to be waited for. */
int loop_start(struct loop *l, struct request *q, struct why *w);
void loop_end(struct loop *l);

/* Tells fwd and detok whose ids will come: at once, so that detok can start on its vocabulary. */
int loop_card(const struct loop *l, const struct card *card, struct why *w);

/* sample's ids go back to fwd and on to detok, until sample's `end ` frame or a full context (1), or until sample ends without one (0). -1: a
 * reason. enough(), where there is one, is asked at each id and ends the turn before that id; asked while the prompt is
 * evaluated, it has fwd give that up, and the reason is FRAME_END_INTERRUPT. */
int loop_turn(struct loop *l, struct result *r, int (*enough)(void), struct why *w);

/* For a relay: the start of a turn; another sample in place of the last one, which is told to end; and the sampler's next id, for pos, shown. loop_pick()
 * returns as loop_turn(), 1 for an id or, with *over, for the end. */
void loop_begin(struct loop *l, struct result *r);
int loop_sample(struct loop *l, struct request *q, struct why *w);
int loop_pick(struct loop *l, struct result *r, uint32_t pos, int32_t *id, int *over, struct why *w);

#endif
