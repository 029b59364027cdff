/* From a row of logits to an id: first the mask of ids that must not be drawn (ends before their time, what the grammar
 * does not allow), then the chain of samplers, then what the id means for the grammar and the end. */
#include "session.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/grow.h"
#include "lib/base/system.h"
#include "lib/sampler/sampler.h"
#include "trace.h"

int session_open(struct session *s, struct why *w)
{
	int usage;

	if (!s->set.model)
		return 0;
	if (!(s->pieces = pieces_open(s->set.model, w)))
		return -1;
	s->set.chain.breakers.piece = pieces_shown;
	s->set.chain.breakers.context = s->pieces;
	if (!s->set.grammar.option || (s->constraint = constraint_open(&s->set.grammar, &usage, w)))
		return 0;
	return usage ? SESSION_USAGE : -1;
}

void session_close(struct session *s)
{
	sampler_close(s->sampler);
	trace_close(s->trace);
	constraint_close(s->constraint);
	pieces_close(s->pieces);
	free(s->row);
	free(s->guess);
}

/* ---- the card ---- */

static int check_id(const struct session *s, int32_t id, const char *option, struct why *w)
{
	return card_check_id(id, s->card.n_vocab, w) ? why_in(w, option) : 0;
}

static int check_ids(const struct session *s, struct why *w)
{
	const struct sample_options *set = &s->set;
	size_t i;
	int bad = 0;

	for (i = 0; !bad && i < set->chain.n_bias; i++)
		bad = check_id(s, set->bias[i].id, "-l/--logit-bias", w);
	for (i = 0; !bad && i < set->n_stop; i++)
		bad = check_id(s, set->stop_id[i], "--stop-id", w);
	for (i = 0; !bad && i < set->chain.breakers.n_id; i++)
		bad = check_id(s, set->breaker_id[i], "--dry-sequence-breaker-id", w);
	return bad;
}

int session_card(struct session *s, const struct frame *f, struct why *w)
{
	struct sample_options *set = &s->set;
	struct card card;

	if (card_read(&s->in, f, &card, w) < 0)
		return -1;
	if (s->sampler)
		return card_agree(&card, "stdin: a later card", &s->card, "the first", w);
	s->card = card;
	if (check_ids(s, w) < 0)
		return SESSION_USAGE;
	if (s->pieces && pieces_agree(s->pieces, &card, w) < 0)
		return -1;
	if (s->constraint && constraint_start(s->constraint, s->pieces, &card, set->stop_id, set->n_stop, w) < 0)
		return -1;
	if (set->trace && !(s->trace = trace_open(card.n_vocab, s->pieces ? pieces_vocab(s->pieces) : NULL)))
		return why(w, "no memory for a vocabulary of %" PRId32, card.n_vocab);
	set->chain.observe = set->trace ? trace_observe : NULL;
	set->chain.observer = s->trace;
	if (!(s->sampler = sampler_open(&set->chain, card.n_vocab, w)))
		return -1;
	if (!(s->row = malloc((size_t)card.n_vocab * sizeof *s->row)))
		return why(w, "no memory for a vocabulary of %" PRId32, card.n_vocab);
	system_widen_pipe(0, (size_t)card.n_vocab * sizeof *s->row);
	return card_write(1, &card, w);
}

/* ---- ids ---- */

/* Room for n guesses and what is drawn in answer to them. */
static int reserve(struct session *s, size_t n, struct why *w)
{
	size_t rows = n + 1, best = s->set.chain.n_best < 0 ? 0 : (size_t)s->set.chain.n_best + 1;
	size_t size = rows * (sizeof *s->guess + sizeof *s->id + best * sizeof *s->logprob);

	if (grow_scratch(&s->guess, &s->room, size))
		return why(w, "out of memory");
	s->id = s->guess + rows;
	s->logprob = (float (*)[2])(void *)(s->id + rows);
	return 0;
}

/* Another text begins. */
static int begin_turn(struct session *s, struct why *w)
{
	struct sample_options *set = &s->set;

	if (s->idle && set->seed_step) {
		sampler_close(s->sampler);
		set->chain.seed += set->seed_step;
		if (!(s->sampler = sampler_open(&set->chain, s->card.n_vocab, w)))
			return -1;
	}
	s->drawn = 0;
	s->idle = 0;
	return s->constraint ? constraint_restart(s->constraint, w) : 0;
}

/* Guesses are no history yet: only the first id of such a frame is. */
int session_ids(struct session *s, const struct frame *f, struct why *w)
{
	uint32_t certain = f->flags & FRAME_GUESS && f->rows ? 1 : f->rows, i, n;
	int32_t ids[1024];

	if (s->set.turns && !(f->flags & FRAME_SAMPLED) && begin_turn(s, w))
		return -1;
	for (i = 0; i < certain; i += n) {
		n = certain - i < 1024 ? certain - i : 1024;
		if (frame_read(&s->in, f, ids, n, w) < 0)
			return -1;
		if (sampler_history(s->sampler, f->pos == FRAME_APPEND ? FRAME_APPEND : f->pos + i, ids, n, w) < 0)
			return frame_why(&s->in, w);
	}
	s->n_guess = f->rows - certain;
	return s->n_guess && (reserve(s, s->n_guess, w) || frame_read(&s->in, f, s->guess, s->n_guess, w)) ? -1 : 0;
}

/* ---- logits ---- */

/* Skips to row number `at` of the frame's and reads it, when `read` rows were read already. */
static int read_row(struct session *s, const struct frame *f, uint32_t at, uint32_t read, struct why *w)
{
	if (f->cols != (uint32_t)s->card.n_vocab) {
		why(w, "%" PRIu32 " logits for a vocabulary of %" PRId32 ", as the card says", f->cols,
			s->card.n_vocab);
		return frame_why(&s->in, w);
	}
	return frame_skip(&s->in, f, (uint64_t)(at - read) * f->cols, w) ||
		frame_read_floats(&s->in, f, s->row, f->cols, w) ? -1 : 0;
}

/* Masks what must not be drawn, whatever the chain says: ends and stops before their time, what the grammar does not
 * allow. Where nothing but an end can follow, the end is never masked. */
static int restrict_row(struct session *s, uint32_t pos, struct why *w)
{
	const struct sample_options *set = &s->set;
	int early = s->drawn < set->min, over = 0;

	if (s->constraint) {
		if (constraint_apply(s->constraint, pos, s->row, w) < 0)
			return frame_why(&s->in, w);
		over = constraint_must_end(s->constraint);
	}
	for (int32_t i = 0; (early || set->ignore_eos) && !over && i < s->card.n_eog; i++)
		s->row[s->card.eog[i]] = -INFINITY;
	for (size_t i = 0; early && !over && i < set->n_stop; i++)
		s->row[set->stop_id[i]] = -INFINITY;
	return 0;
}

/* The reason to stop after id, or 0. Stop ids are ignored where the grammar cannot end. */
static int reason(const struct session *s, int32_t id)
{
	size_t i;

	if (card_is_eog(&s->card, id))
		return FRAME_END_EOG;
	for (i = 0; i < s->set.n_stop; i++)
		if (id == s->set.stop_id[i] && (!s->constraint || constraint_may_end(s->constraint)))
			return FRAME_END_STOP;
	if (s->constraint && constraint_must_end(s->constraint) && !constraint_has_end(s->constraint))
		return FRAME_END_EOG;
	return s->drawn == s->set.n ? FRAME_END_LENGTH : 0;
}

/* The pick's log-probability and those of the best ids, as row `at` of what is to be written. */
static void keep_logprobs(struct session *s, const struct sampler_pick *p, size_t at)
{
	float (*to)[2] = s->logprob + at * ((size_t)s->set.chain.n_best + 1);

	to[0][0] = (float)p->id;
	to[0][1] = p->logprob;
	for (size_t i = 0; i < (size_t)s->set.chain.n_best; i++) {
		/* Where fewer ids are possible than asked for, id -1 marks the end. */
		to[i + 1][0] = i < p->n_best ? (float)p->best[i].id : -1;
		to[i + 1][1] = i < p->n_best ? p->best[i].logprob : -INFINITY;
	}
}

/* Draws the id for pos from s->row, number `at` of this frame. The reason to stop after it, 0 to go on, or -1. */
static int draw(struct session *s, uint32_t pos, size_t at, struct why *w)
{
	struct sampler_pick p;

	sampler_prepare(s->sampler, s->row);
	if (restrict_row(s, pos, w) < 0)
		return -1;
	if (sampler_draw(s->sampler, s->row, pos, &p, w) < 0)
		return frame_why(&s->in, w);
	if (s->constraint && constraint_accept(s->constraint, pos, p.id, w) < 0)
		return frame_why(&s->in, w);
	if (p.n_nan && !s->warned++)
		fprintf(stderr, "sample: %s: frame %" PRIu64 ": logits that are NaN: %zu, never drawn\n", s->in.name,
			s->in.number, p.n_nan);
	if (s->trace)
		trace_drawn(s->trace, pos, p.id);
	s->id[at] = p.id;
	if (s->set.chain.n_best >= 0)
		keep_logprobs(s, &p, at);
	s->drawn++;
	s->next = pos + 1;
	return reason(s, p.id);
}

/* Writes n drawn ids, the first for pos, and their log-probabilities. */
static int write_drawn(const struct session *s, size_t n, uint32_t pos, uint32_t seq, struct why *w)
{
	size_t best = (size_t)s->set.chain.n_best + 1, rows;
	struct frame f = { .kind = FRAME_LOGPROBS, .cols = 2, .type = FRAME_F32, .seq = seq };

	if (frame_write_ids(1, s->id, (uint32_t)n, pos, FRAME_SAMPLED, seq, w) < 0)
		return -1;
	for (size_t i = 0; s->set.chain.n_best >= 0 && i < n; i++) {
		for (rows = 1; rows < best && s->logprob[i * best + rows][0] >= 0; rows++)
			;
		f.rows = (uint32_t)rows;
		f.pos = pos + (uint32_t)i;
		if (frame_write(1, &f, s->logprob + i * best, w) < 0)
			return -1;
	}
	return 0;
}

int session_draw(struct session *s, const struct frame *f, struct why *w)
{
	int guessed = s->n_guess && f->rows == s->n_guess + 1, over = 0;
	uint32_t first = guessed ? 0 : f->rows - 1, pos, at, read = 0;
	size_t n = 0;

	pos = f->pos == FRAME_APPEND ? sampler_next(s->sampler) : f->pos + first + 1;
	if (reserve(s, s->n_guess, w))
		return -1;
	for (at = first; at < f->rows && !over; at++) {
		/* The row after a guess is used only if the guess is what was drawn. */
		if (n && s->id[n - 1] != s->guess[n - 1])
			break;
		if (n && sampler_history(s->sampler, pos + (uint32_t)n - 1, &s->guess[n - 1], 1, w) < 0)
			return frame_why(&s->in, w);
		if (read_row(s, f, at, read, w) || (over = draw(s, pos + (uint32_t)n, n, w)) < 0)
			return -1;
		read = at + 1;
		n++;
	}
	s->n_guess = 0;
	return write_drawn(s, n, pos, f->seq, w) ? -1 : over;
}
