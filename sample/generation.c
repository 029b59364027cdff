/* From a row of logits to an id: first the mask of ids that must not be drawn (ends before their time, what the grammar
 * does not allow), then the chain of samplers, then what the id means for the grammar and the end. */
#include "generation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/grow.h"
#include "lib/sampler/sampler.h"
#include "canvas.h"
#include "trace.h"

/* Copies `from`, with a sampler and a constraint that continue those given. */
static struct generation *copy(const struct session *s, const struct generation *from, uint32_t seq,
	const struct sampler *sampler, const struct constraint *constraint, struct why *w)
{
	struct generation *g = malloc(sizeof *g);

	if (!g) {
		why(w, "out of memory");
		return NULL;
	}
	*g = *from;
	g->sequence.number = seq;
	g->constraint = NULL;
	g->canvas = NULL;
	g->guess = NULL;
	g->n_guess = g->room = 0;
	/* Sequence k draws with seed + k. */
	g->sampler = sampler_fork(sampler, s->set.chain.seed + seq, w);
	if (g->sampler && (!constraint || (g->constraint = constraint_fork(constraint, w))))
		return g;
	generation_close(g);
	return NULL;
}

struct generation *generation_open(const struct session *s, uint32_t seq, struct why *w)
{
	return copy(s, &(struct generation){ 0 }, seq, s->sampler, s->constraint, w);
}

struct generation *generation_fork(const struct session *s, const struct generation *from, uint32_t seq, uint32_t pos,
	struct why *w)
{
	struct generation *g = copy(s, from, seq, from->sampler, from->constraint, w);
	int64_t beyond = (int64_t)from->next - (int64_t)pos;

	if (!g)
		return NULL;
	/* The source may have drawn beyond its first pos positions before the fork came. */
	g->drawn -= beyond <= 0 ? 0 : beyond < g->drawn ? beyond : g->drawn;
	g->idle = 0;
	if (!sampler_history(g->sampler, pos, NULL, 0, w))
		return g;
	generation_close(g);
	return NULL;
}

void generation_close(struct generation *g)
{
	if (!g)
		return;
	sampler_close(g->sampler);
	constraint_close(g->constraint);
	canvas_close(g->canvas);
	free(g->guess);
	free(g);
}

/* Begins another text. */
static int begin_turn(struct generation *g, struct why *w)
{
	g->drawn = 0;
	g->idle = 0;
	return g->constraint ? constraint_restart(g->constraint, w) : 0;
}

/* Guesses are not history yet, so only the first id of such a frame is appended. */
int generation_ids(struct session *s, struct generation *g, const struct frame *f, struct why *w)
{
	uint32_t certain = f->flags & FRAME_GUESS && f->rows ? 1 : f->rows, i, n;
	int32_t ids[1024];

	if (s->set.turns && !(f->flags & FRAME_SAMPLED) && begin_turn(g, w))
		return -1;
	for (i = 0; i < certain; i += n) {
		n = certain - i < 1024 ? certain - i : 1024;
		if (frame_read(&s->in, f, ids, n, w) < 0)
			return -1;
		if (sampler_history(g->sampler, f->pos == FRAME_APPEND ? FRAME_APPEND : f->pos + i, ids, n, w) < 0)
			return frame_why(&s->in, w);
		g->last = ids[n - 1];
	}
	g->n_guess = f->rows - certain;
	if (!g->n_guess)
		return 0;
	if (grow_scratch(&g->guess, &g->room, g->n_guess * sizeof *g->guess))
		return why(w, "out of memory");
	return frame_read(&s->in, f, g->guess, g->n_guess, w);
}

/* ---- logits ---- */

size_t generation_logprobs(const struct session *s)
{
	return s->set.chain.n_best < 0 ? 0 : (size_t)s->set.chain.n_best + 1;
}

/* Makes room for what is drawn from this many rows. */
static int reserve(struct session *s, size_t rows, struct why *w)
{
	if (grow_scratch(&s->id, &s->room, rows * (sizeof *s->id + generation_logprobs(s) * sizeof *s->logprob)))
		return why(w, "out of memory");
	s->logprob = (float (*)[2])(void *)(s->id + rows);
	return 0;
}

int generation_row(struct session *s, const struct frame *f, uint32_t at, uint32_t read, struct why *w)
{
	if (f->cols != (uint32_t)s->card.n_vocab) {
		why(w, "%" PRIu32 " logits for a vocabulary of %" PRId32 ", as the card says", f->cols,
			s->card.n_vocab);
		return frame_why(&s->in, w);
	}
	return frame_skip(&s->in, f, (uint64_t)(at - read) * f->cols, w) ||
		frame_read_floats(&s->in, f, s->row, f->cols, w) ? -1 : 0;
}

/* Masks what must not be drawn, whatever the chain says: ends and stops that come too early, and what the grammar does
 * not allow. If nothing but an end can follow, the end is never masked. */
static int restrict_row(const struct session *s, const struct generation *g, uint32_t pos, int early, struct why *w)
{
	const struct sample_options *set = &s->set;
	int over = 0;

	if (g->constraint) {
		if (constraint_apply(g->constraint, pos, s->row, w) < 0)
			return -1;
		over = constraint_must_end(g->constraint);
	}
	for (int32_t i = 0; (early || set->ignore_eos) && !over && i < s->card.n_eog; i++)
		s->row[s->card.eog[i]] = -INFINITY;
	for (size_t i = 0; early && !over && i < set->n_stop; i++)
		s->row[set->stop_id[i]] = -INFINITY;
	if (s->card.masks)
		s->row[card_mask(&s->card)] = -INFINITY;
	return 0;
}

/* Stop ids are ignored where the grammar cannot end. */
int generation_reason(const struct session *s, const struct generation *g, int32_t id)
{
	size_t i;

	if (card_is_eog(&s->card, id))
		return FRAME_END_EOG;
	for (i = 0; i < s->set.n_stop; i++)
		if (id == s->set.stop_id[i] && (!g->constraint || constraint_may_end(g->constraint)))
			return FRAME_END_STOP;
	if (g->constraint && constraint_must_end(g->constraint) && !constraint_has_end(g->constraint))
		return FRAME_END_EOG;
	return g->drawn == s->set.n ? FRAME_END_LENGTH : 0;
}

/* Where fewer ids are possible than asked for, id -1 marks the end. */
void generation_keep(const struct session *s, const struct sampler_pick *p, float (*to)[2])
{
	size_t n = generation_logprobs(s);

	for (size_t i = 0; i < n; i++) {
		to[i][0] = !i ? (float)p->id : i <= p->n_best ? (float)p->best[i - 1].id : -1;
		to[i][1] = !i ? p->logprob : i <= p->n_best ? p->best[i - 1].logprob : -INFINITY;
	}
}

int generation_pick(struct session *s, struct generation *g, uint32_t pos, int early, struct sampler_pick *p,
	struct why *w)
{
	sampler_prepare(g->sampler, s->row);
	if (restrict_row(s, g, pos, early, w) < 0 || sampler_draw(g->sampler, s->row, pos, p, w) < 0)
		return SESSION_FAILED;
	if (p->n_nan && !s->warned++)
		fprintf(stderr, "sample: %s: frame %" PRIu64 ": logits that are NaN: %zu, never drawn\n", s->in.name,
			s->in.number, p->n_nan);
	if (s->trace)
		trace_drawn(s->trace, pos, g->sequence.number, p->id);
	return 0;
}

/* Draws the id for pos from s->row, as number `at` of this frame. Returns the reason to stop after it, 0 to continue,
 * or SESSION_FAILED. */
static int draw(struct session *s, struct generation *g, uint32_t pos, size_t at, struct why *w)
{
	struct sampler_pick p;

	if (generation_pick(s, g, pos, g->drawn < s->set.min, &p, w) < 0 ||
	    (g->constraint && constraint_accept(g->constraint, pos, p.id, w) < 0))
		return SESSION_FAILED;
	s->id[at] = p.id;
	generation_keep(s, &p, s->logprob + at * generation_logprobs(s));
	g->drawn++;
	g->next = pos + 1;
	return generation_reason(s, g, p.id);
}

int generation_write(const struct session *s, const int32_t *id, float (*logprob)[2], size_t n, uint32_t pos,
	uint32_t seq, struct why *w)
{
	struct frame f = { .kind = FRAME_LOGPROBS, .cols = 2, .type = FRAME_F32, .seq = seq };
	size_t best = generation_logprobs(s), rows;

	if (frame_write_ids(1, id, (uint32_t)n, pos, FRAME_SAMPLED, seq, w) < 0)
		return -1;
	for (size_t i = 0; best && i < n; i++) {
		for (rows = 1; rows < best && logprob[i * best + rows][0] >= 0; rows++)
			;
		f.rows = (uint32_t)rows;
		f.pos = pos + (uint32_t)i;
		if (frame_write(1, &f, logprob + i * best, w) < 0)
			return -1;
	}
	return 0;
}

int generation_draw(struct session *s, struct generation *g, const struct frame *f, struct why *w)
{
	int guessed = g->n_guess && f->rows == g->n_guess + 1, over = 0;
	uint32_t first = guessed ? 0 : f->rows - 1, pos, at, read = 0;
	size_t n = 0;

	pos = f->pos == FRAME_APPEND ? sampler_next(g->sampler) : f->pos + first + 1;
	if (reserve(s, f->rows - first, w))
		return -1;
	for (at = first; at < f->rows && !over; at++) {
		/* The row after a guess is used only if the guess is what was drawn. */
		if (n && s->id[n - 1] != g->guess[n - 1])
			break;
		if (n && sampler_history(g->sampler, pos + (uint32_t)n - 1, &g->guess[n - 1], 1, w) < 0)
			return frame_why(&s->in, w);
		if (generation_row(s, f, at, read, w))
			return -1;
		if ((over = draw(s, g, pos + (uint32_t)n, n, w)) < 0)
			return over;
		read = at + 1;
		n++;
	}
	g->n_guess = 0;
	return generation_write(s, s->id, s->logprob, n, pos, f->seq, w) ? -1 : over;
}
