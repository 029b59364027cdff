/* One prompt, one text: what tok makes of the prompt, then a turn of the loop, with guesses, or the best of several. */
#include "lib/base/grow.h"
#include "best.h"
#include "draft.h"
#include "loop.h"
#include "relay.h"

/* What tok makes of the prompt goes to fwd, frame by frame, and is kept. */
static int prompt(struct result *r, const struct loop *l, struct why *w)
{
	struct frame_in in;
	struct frame f;
	struct card card;
	int got, carded = 0;

	frame_open_in(&in, l->from_tok, "tok");
	while ((got = frame_next(&in, &f, w)) > 0) {
		if (f.kind == FRAME_CARD) {
			if (card_read(&in, &f, &card, w) || (!carded && loop_card(l, &card, w)))
				return -1;
			carded = 1;
		}
		if (f.kind != FRAME_IDS)
			continue;
		while (r->prompt.room - r->prompt.n < f.rows)
			if (grow(&r->prompt.id, &r->prompt.room, sizeof *r->prompt.id, 1024))
				return why(w, "out of memory");
		if (frame_read(&in, &f, r->prompt.id + r->prompt.n, f.rows, w) ||
		    (!l->q->relayed && frame_write_ids(l->to_fwd, r->prompt.id + r->prompt.n, f.rows, f.pos, f.flags, f.seq, w)))
			return -1;
		r->prompt.n += f.rows;
		r->passes++;
	}
	return got;
}

/* With guesses of how it goes on. */
static int drafted(struct loop *l, struct request *q, struct result *r, struct why *w)
{
	struct draft draft = { .to = -1, .from = -1 };
	struct relay relay;
	int status = relay_open(&relay, l, &r->prompt, w) || draft_open(&draft, q, &relay.card, w) || relay_turn(&relay, r, &draft, w) < 0 ? -1 : 0;

	if (q->verbose && !status)
		draft_report(&draft);
	draft_close(&draft);
	relay_close(&relay);
	return status;
}

int once(struct request *q, struct result *r, struct why *w)
{
	struct loop l;
	int status = loop_start(&l, q, w) || prompt(r, &l, w) ? -1 : 0;

	if (!status && r->prompt.n)
		status = q->best_of ? best(&l, q, r, w) : q->draft ? drafted(&l, q, r, w) : loop_turn(&l, r, NULL, w) < 0 ? -1 : 0;
	loop_end(&l);
	return status;
}
