/* The frames of a stream, and whose generation each is for. */
#include "session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/system.h"
#include "lib/sampler/sampler.h"
#include "canvas.h"
#include "generation.h"
#include "output.h"
#include "trace.h"

int session_open(struct session *s, struct why *w)
{
	struct sample_options *set = &s->line.set;
	struct vocab *encoder;
	int usage;

	if (!set->model)
		return 0;
	if (!(s->pieces = pieces_open(set->model, w)))
		return -1;
	if (settings_check_ids(set, pieces_count(s->pieces), w) < 0)
		return SESSION_USAGE;
	if (set->budget.given && (!(encoder = pieces_encoder(s->pieces, w))
	    || !(s->line.budget = budget_open(&set->budget, encoder, w))))
		return -1;
	if (!set->grammar.option || (s->line.constraint = constraint_open(&set->grammar, s->pieces, &usage, w)))
		return 0;
	return usage ? SESSION_USAGE : -1;
}

void session_close(struct session *s)
{
	struct sequence *q;

	while ((q = sequences_take(&s->sequences)))
		generation_close((struct generation *)q);
	sampler_close(s->line.sampler);
	trace_close(s->trace);
	constraint_close(s->line.constraint);
	grammars_close(&s->grammars);
	budget_close(s->line.budget);
	sample_options_free(&s->line.set);
	pieces_close(s->pieces);
	bytes_free(&s->waiting);
	free(s->row);
	free(s->id);
}

/* ---- the card ---- */

/* The card opens the sampler and is passed on; a later one has to agree. */
static int take_card(struct session *s, const struct frame *f, struct why *w)
{
	const struct sample_options *set = &s->line.set;
	struct card card;

	if (card_read(&s->in, f, &card, w) < 0)
		return -1;
	if (s->line.sampler)
		return card_agree(&card, "standard input: a later card", &s->card, "the first", w);
	s->card = card;
	grammars_open(&s->grammars, s->pieces, card);
	if (settings_check_ids(set, card.n_vocab, w) < 0)
		return SESSION_USAGE;
	if (s->pieces && pieces_agree(s->pieces, &card, w) < 0)
		return -1;
	if (set->trace && !(s->trace = trace_open(card.n_vocab, s->pieces ? pieces_vocab(s->pieces) : NULL)))
		return why(w, "no memory for a vocabulary of %" PRId32, card.n_vocab);
	if (settings_start(&s->line, s, w))
		return -1;
	if (!(s->row = malloc((size_t)card.n_vocab * sizeof *s->row)))
		return why(w, "no memory for a vocabulary of %" PRId32, card.n_vocab);
	system_widen_pipe(0, (size_t)card.n_vocab * sizeof *s->row);
	return card_write(1, &card, w);
}

/* ---- sequences ---- */

/* Begins a sequence. NULL: out of memory. */
static struct generation *start_generation(struct session *s, struct settings *t, uint32_t seq, struct why *w)
{
	struct generation *g = generation_open(t, seq, w);

	if (!g || !sequences_add(&s->sequences, &g->sequence, seq, w))
		return g;
	generation_close(g);
	return NULL;
}

/* The generation of the frame's sequence, which may be new. NULL: out of memory. */
static struct generation *generation_of(struct session *s, uint32_t seq, struct why *w)
{
	struct generation *g = (struct generation *)sequences_find(&s->sequences, seq);

	return g ? g : start_generation(s, &s->line, seq, w);
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

	return output_flush(s, w) || frame_write_end(1, reason, g->next, seq, w) || end_generation(s, seq, w) ? -1 : 0;
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
	if (!from && source && !sequences_is_over(&s->sequences, source)) {
		why(w, "fork: sequence %" PRIu32 " has not begun", source);
		return SESSION_FAILED;
	}
	/* Sequence 0 exists before its first frame: it may continue a kept state. Of a sequence that was over here, but
	 * not before us, the ids follow. */
	g = from ? generation_fork(from, f->seq, f->pos, w) : generation_open(&s->line, f->seq, w);
	if (!g)
		return -1;
	if (!sequences_add(&s->sequences, &g->sequence, f->seq, w))
		return 0;
	generation_close(g);
	return -1;
}

/* Ends a sequence whose options are refused. What follows of sequence 0 is dropped until it gets others. */
static int refuse(struct session *s, uint32_t seq, const struct why *reason, struct why *w)
{
	struct generation *g = seq ? NULL : generation_of(s, 0, w);

	if (!seq && !g)
		return -1;
	if (g)
		g->refused = 1;
	return frame_write_refusal(1, reason, seq, w) || end_generation(s, seq, w) ? -1 : 0;
}

/* Opens what the sequence draws with. The same frame again has come round a loop. */
static int take_opts(struct session *s, const struct frame *f, struct why *w)
{
	struct generation *g = (struct generation *)sequences_find(&s->sequences, f->seq);
	const struct settings *old = g ? g->settings : NULL;
	struct settings *t;
	struct why reason;
	char *words = NULL;
	size_t room = 0;
	int status;

	if (frame_read_all(&s->in, f, &words, &room, w)) {
		free(words);
		return -1;
	}
	if (old && old->n_words == f->rows && old->number == f->seq && !memcmp(old->words, words, f->rows)) {
		free(words);
		return 0;
	}
	if (!(t = settings_open(s, words, f->rows, f->seq, &reason)))
		return refuse(s, f->seq, &reason, w);
	status = frame_write(1, f, words, w);
	if (!status)
		status = g ? generation_change(g, t, w) : start_generation(s, t, f->seq, w) ? 0 : -1;
	settings_release(t);
	return status;
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
	int (*step)(struct session *s, struct generation *g, const struct frame *f, struct why *w);
	int reason;

	if (!g)
		return -1;
	if (g->refused)
		return 0;
	if (f->kind == FRAME_IDS)
		return generation_ids(s, g, f, w);
	if (g->idle)
		return 0;
	if (!g->settings->set.n)
		g->next = f->pos == FRAME_APPEND ? sampler_next(g->sampler) : f->pos + f->rows;
	step = s->card.diffusion ? canvas_step : generation_draw;
	reason = !g->settings->set.n ? FRAME_END_LENGTH : step(s, g, f, w);
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
	if (output_flush(s, &ignored)
	    || frame_write_end(1, FRAME_END_ERROR, frame_after(f->pos, f->rows), f->seq, &ignored)
	    || end_generation(s, f->seq, &ignored)) {
		*w = ignored;
		return -1;
	}
	return SESSION_FAILED;
}

int session_is_over(const struct session *s)
{
	const struct generation *first = (const struct generation *)sequences_find(&s->sequences, 0);
	size_t ended = first && first->idle;

	return !s->line.set.turns && s->sequences.n == ended && (s->many ? s->no_more : first != NULL);
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

	if (f->kind != FRAME_IDS && f->kind != FRAME_LOGITS && output_flush(s, w))
		return -1;
	if (f->kind == FRAME_CARD)
		return take_card(s, f, w);
	if (!s->line.sampler) {
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
		status = take_opts(s, f, w);
	else if (f->kind == FRAME_END)
		status = take_end(s, f, w);
	else if (f->kind == FRAME_IDS || (f->kind == FRAME_LOGITS && !f->flags))
		status = take_rows(s, f, w);
	return status == SESSION_FAILED ? fail(s, f, w) : status;
}
