/* The frames of a stream, and whose generation each is for. */
#include "session.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/system.h"
#include "lib/sampler/sampler.h"
#include "canvas.h"
#include "generation.h"
#include "trace.h"

static int check_id(int32_t id, int32_t n_vocab, const char *option, struct why *w)
{
	return card_check_id(id, n_vocab, w) ? why_in(w, option) : 0;
}

/* Whether the ids that options name are in a vocabulary of n_vocab. */
static int check_ids(const struct sample_options *set, int32_t n_vocab, struct why *w)
{
	size_t i;
	int bad = 0;

	for (i = 0; !bad && i < set->chain.n_bias; i++)
		bad = check_id(set->bias[i].id, n_vocab, "-l/--logit-bias", w);
	for (i = 0; !bad && i < set->n_stop; i++)
		bad = check_id(set->stop_id[i], n_vocab, "--stop-id", w);
	for (i = 0; !bad && i < set->chain.breakers.n_id; i++)
		bad = check_id(set->breaker_id[i], n_vocab, "--dry-sequence-breaker-id", w);
	return bad;
}

int session_open(struct session *s, struct why *w)
{
	int usage;

	if (!s->set.model)
		return 0;
	if (!(s->pieces = pieces_open(s->set.model, s->set.budget.given ? VOCAB_ENCODE : VOCAB_PIECES, w)))
		return -1;
	if (check_ids(&s->set, pieces_count(s->pieces), w) < 0)
		return SESSION_USAGE;
	s->set.chain.breakers.piece = pieces_shown;
	s->set.chain.breakers.context = s->pieces;
	if (s->set.budget.given && !(s->budget = budget_open(&s->set.budget, pieces_vocab(s->pieces), w)))
		return -1;
	if (!s->set.grammar.option || (s->constraint = constraint_open(&s->set.grammar, s->pieces, &usage, w)))
		return 0;
	return usage ? SESSION_USAGE : -1;
}

void session_close(struct session *s)
{
	struct sequence *q;

	while ((q = sequences_take(&s->sequences)))
		generation_close((struct generation *)q);
	sampler_close(s->sampler);
	trace_close(s->trace);
	constraint_close(s->constraint);
	budget_close(s->budget);
	after_free(&s->set.budget.open);
	after_free(&s->set.grammar.after);
	pieces_close(s->pieces);
	free(s->row);
	free(s->id);
	free(s->opts);
}

/* ---- the card ---- */

/* What a canvas needs to know of each pick, too. */
static void prepare_canvas(const struct session *s, struct sampler_params *p)
{
	int32_t least = s->set.certainty == CERTAINTY_MARGIN ? 2 : 0;

	p->n_best = p->n_best < least ? least : p->n_best;
	p->entropy = s->set.certainty == CERTAINTY_ENTROPY;
}

/* The card opens the sampler and is passed on; a later one has to agree. */
static int take_card(struct session *s, const struct frame *f, struct why *w)
{
	struct sample_options *set = &s->set;
	struct sampler_params p;
	struct card card;

	if (card_read(&s->in, f, &card, w) < 0)
		return -1;
	if (s->sampler)
		return card_agree(&card, "standard input: a later card", &s->card, "the first", w);
	s->card = card;
	if (check_ids(set, card.n_vocab, w) < 0)
		return SESSION_USAGE;
	if (s->pieces && pieces_agree(s->pieces, &card, w) < 0)
		return -1;
	if (s->constraint && card.diffusion)
		return why(w, "--%s: a diffusion model draws ids in any order, so a grammar cannot constrain it",
			set->grammar.option);
	if (s->budget && card.diffusion)
		return why(w, "--think-budget: a diffusion model draws ids in any order");
	if (s->constraint && constraint_start(s->constraint, s->pieces, &card, set->stop_id, set->n_stop, w) < 0)
		return -1;
	if (set->trace && !(s->trace = trace_open(card.n_vocab, s->pieces ? pieces_vocab(s->pieces) : NULL)))
		return why(w, "no memory for a vocabulary of %" PRId32, card.n_vocab);
	set->chain.observe = set->trace ? trace_observe : NULL;
	set->chain.observer = s->trace;
	p = set->chain;
	if (card.diffusion)
		prepare_canvas(s, &p);
	if (!(s->sampler = sampler_open(&p, card.n_vocab, w)))
		return -1;
	if (!(s->row = malloc((size_t)card.n_vocab * sizeof *s->row)))
		return why(w, "no memory for a vocabulary of %" PRId32, card.n_vocab);
	system_widen_pipe(0, (size_t)card.n_vocab * sizeof *s->row);
	return card_write(1, &card, w);
}

/* ---- sequences ---- */

/* The generation of the frame's sequence, which may be new. NULL: out of memory. */
static struct generation *generation_of(struct session *s, uint32_t seq, struct why *w)
{
	struct generation *g = (struct generation *)sequences_find(&s->sequences, seq);

	if (g)
		return g;
	if ((g = generation_open(s, seq, w)) && sequences_add(&s->sequences, &g->sequence, seq, w)) {
		generation_close(g);
		g = NULL;
	}
	return g;
}

/* The sequence is over; that of number 0 may have another turn. */
static int end_generation(struct session *s, uint32_t seq, struct why *w)
{
	struct generation *g = (struct generation *)sequences_find(&s->sequences, seq);

	if (!seq) {
		if (g)
			g->idle = 1;
		return 0;
	}
	if (sequences_end(&s->sequences, seq, w))
		return -1;
	generation_close(g);
	return 0;
}

/* Writes the end of a generation that is over here. */
static int write_end(struct session *s, const struct generation *g, enum frame_reason reason, struct why *w)
{
	uint32_t seq = g->sequence.number;

	return frame_write_end(1, reason, g->next, seq, w) || end_generation(s, seq, w) ? -1 : 0;
}

static int take_fork(struct session *s, const struct frame *f, struct why *w)
{
	const struct generation *from;
	struct generation *g;
	uint32_t source;

	if (frame_read(&s->in, f, &source, 1, w))
		return -1;
	if (!f->seq || sequences_find(&s->sequences, f->seq) || sequences_is_over(&s->sequences, f->seq)) {
		why(w, "sequence %" PRIu32 ": a fork needs an unused number", f->seq);
		return frame_why(&s->in, w);
	}
	if (frame_write(1, f, &source, w))
		return -1;
	from = (struct generation *)sequences_find(&s->sequences, source);
	if (!from && source) {
		why(w, "fork: sequence %" PRIu32 " %s", source,
			sequences_is_over(&s->sequences, source) ? "is over" : "has not begun");
		return SESSION_FAILED;
	}
	/* Sequence 0 exists before its first frame: it may continue a kept state. */
	g = from ? generation_fork(s, from, f->seq, f->pos, w) : generation_open(s, f->seq, w);
	if (!g)
		return -1;
	if (!sequences_add(&s->sequences, &g->sequence, f->seq, w))
		return 0;
	generation_close(g);
	return -1;
}

/* The options of a sequence. */
static int pass_opts(struct session *s, const struct frame *f, struct why *w)
{
	return frame_read_all(&s->in, f, &s->opts, &s->opts_room, w) || frame_write(1, f, s->opts, w) ? -1 : 0;
}

/* Whether it waits for logits that only a loop brings. */
static int lacks_loop(const struct generation *g)
{
	return g->canvas && !g->idle && !canvas_answered(g->canvas);
}

static int no_loop(const struct session *s, struct why *w)
{
	return why(w, "%s: no logits for the first canvas: a diffusion model needs a loop (feed, gen)", s->in.name);
}

/* An `end ` from before: it is passed on, once. One that comes back to us says nothing new. */
static int take_end(struct session *s, const struct frame *f, struct why *w)
{
	const struct generation *g = (const struct generation *)sequences_find(&s->sequences, f->seq);

	if ((f->seq == FRAME_NO_SEQ && s->no_more++) || (g && g->idle && f->flags != FRAME_END_INTERRUPT))
		return 0;
	if (g && !f->flags && lacks_loop(g))
		return no_loop(s, w);
	if (frame_copy(&s->in, f, 1, w))
		return -1;
	return f->seq == 0 || f->seq == FRAME_NO_SEQ ? 0 : end_generation(s, f->seq, w);
}

/* Whether the generation ends here, though its grammar does not allow it: by -n, or because nothing can follow the last
 * id in a full context. */
static int is_cut(const struct session *s, const struct generation *g, int reason)
{
	int full = !reason && s->card.n_ctx && g->next > (uint32_t)s->card.n_ctx;

	return g->constraint && (reason == FRAME_END_LENGTH || full) && !constraint_may_end(g->constraint);
}

/* Ids or logits. */
static int take_rows(struct session *s, const struct frame *f, struct why *w)
{
	struct generation *g = generation_of(s, f->seq, w);
	int reason;

	if (!g)
		return -1;
	if (f->kind == FRAME_IDS)
		return generation_ids(s, g, f, w);
	if (g->idle)
		return 0;
	if (!s->set.n)
		g->next = f->pos == FRAME_APPEND ? sampler_next(g->sampler) : f->pos + f->rows;
	reason = !s->set.n ? FRAME_END_LENGTH : (s->card.diffusion ? canvas_step : generation_draw)(s, g, f, w);
	s->cut |= is_cut(s, g, reason);
	return reason > 0 ? write_end(s, g, (enum frame_reason)reason, w) : reason;
}

/* One sequence has failed, for the reason in *w. Where it is the only one, so has all. */
static int fail(struct session *s, const struct frame *f, struct why *w)
{
	struct why cause = *w, ignored;

	if (!s->many)
		return frame_why(&s->in, w);
	why(w, "sequence %" PRIu32 ": %s", f->seq, cause.text);
	frame_why(&s->in, w);
	s->failed++;
	if (frame_write_end(1, FRAME_END_ERROR, f->pos == FRAME_APPEND ? FRAME_APPEND : f->pos + f->rows, f->seq,
		&ignored) || end_generation(s, f->seq, &ignored)) {
		*w = ignored;
		return -1;
	}
	return SESSION_FAILED;
}

int session_is_over(const struct session *s)
{
	const struct generation *first = (const struct generation *)sequences_find(&s->sequences, 0);
	size_t ended = first && first->idle;

	return !s->set.turns && s->sequences.n == ended && (s->many ? s->no_more : first != NULL);
}

int session_check_answered(const struct session *s, struct why *w)
{
	struct sequence **all;
	int lost = 0;

	if (s->asked && !s->answered)
		return why(w, "%s: ids and no logits: fwd is missing before sample", s->in.name);
	if (!s->card.diffusion)
		return 0;
	if (!(all = sequences_all(&s->sequences, w)))
		return -1;
	for (size_t i = 0; i < s->sequences.n; i++)
		lost |= lacks_loop((const struct generation *)all[i]);
	free(all);
	return lost ? no_loop(s, w) : 0;
}

int session_frame(struct session *s, const struct frame *f, struct why *w)
{
	int status = 0;

	if (f->kind == FRAME_CARD)
		return take_card(s, f, w);
	if (!s->sampler) {
		why(w, "no card before it: the ids that end a generation are not known");
		return frame_why(&s->in, w);
	}
	if (f->kind == FRAME_HIDDEN) {
		why(w, "hidden states: the model's last layers are missing (fwd --layers)");
		return frame_why(&s->in, w);
	}
	if (f->kind == FRAME_EMBEDDINGS) {
		why(w, "embeddings, where logits are expected");
		return frame_why(&s->in, w);
	}
	if (f->seq == FRAME_NO_SEQ && f->kind != FRAME_END) {
		why(w, "sequence %" PRIu32 ": only an `end ` frame may have this number", f->seq);
		return frame_why(&s->in, w);
	}
	s->many |= f->seq != 0;
	s->asked |= f->kind == FRAME_IDS && f->rows;
	s->answered |= f->kind == FRAME_LOGITS
		|| (f->kind == FRAME_END && (f->flags == FRAME_END_ERROR || f->flags == FRAME_END_INTERRUPT));
	if (f->kind == FRAME_FORK)
		status = take_fork(s, f, w);
	else if (sequences_is_over(&s->sequences, f->seq))
		return 0;
	else if (f->kind == FRAME_OPTS)
		status = pass_opts(s, f, w);
	else if (f->kind == FRAME_END)
		status = take_end(s, f, w);
	else if (f->kind == FRAME_IDS || (f->kind == FRAME_LOGITS && !f->flags))
		status = take_rows(s, f, w);
	return status == SESSION_FAILED ? fail(s, f, w) : status;
}
