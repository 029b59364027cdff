/* The generation of a sequence: its history, and what a drawn id means for the grammar and the end. */
#include "generation.h"

#include <stdlib.h>

#include "lib/base/grow.h"
#include "lib/sampler/sampler.h"
#include "canvas.h"
#include "pick.h"

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
	g->thought = (struct thought){ .open = 0 };
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
	if (!sampler_history(g->sampler, pos, NULL, 0, w) && (!s->budget
	    || !thought_fork(s->budget, &g->thought, &from->thought, (size_t)(from->drawn - g->drawn), w)))
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
	thought_free(&g->thought);
	free(g->guess);
	free(g);
}

/* Begins another text. */
static int begin_turn(struct generation *g, struct why *w)
{
	g->drawn = 0;
	g->idle = 0;
	thought_start(&g->thought);
	return g->constraint ? constraint_restart(g->constraint, w) : 0;
}

/* Guesses are not history yet, so only the first id of such a frame is appended. */
int generation_ids(struct session *s, struct generation *g, const struct frame *f, struct why *w)
{
	uint32_t certain = f->flags & FRAME_GUESS && f->rows ? 1 : f->rows, i, n;
	int32_t ids[1024];

	if (s->set.turns && !(f->flags & FRAME_SAMPLED) && begin_turn(g, w))
		return -1;
	/* an earlier position without ids discards those from there on */
	if (!f->rows && f->pos < sampler_next(g->sampler) && sampler_history(g->sampler, f->pos, NULL, 0, w) < 0)
		return frame_why(&s->in, w);
	for (i = 0; i < certain; i += n) {
		n = certain - i < 1024 ? certain - i : 1024;
		if (frame_read(&s->in, f, ids, n, w) < 0)
			return -1;
		if (sampler_history(g->sampler, f->pos == FRAME_APPEND ? FRAME_APPEND : f->pos + i, ids, n, w) < 0)
			return frame_why(&s->in, w);
		for (uint32_t k = 0; s->budget && !(f->flags & FRAME_SAMPLED) && k < n; k++)
			if (thought_prompt(s->budget, &g->thought, ids[k], w))
				return -1;
		g->last = ids[n - 1];
		g->prompted = 1;
	}
	g->n_guess = f->rows - certain;
	if (!g->n_guess)
		return 0;
	if (grow_scratch(&g->guess, &g->room, g->n_guess * sizeof *g->guess))
		return why(w, "out of memory");
	return frame_read(&s->in, f, g->guess, g->n_guess, w);
}

/* ---- logits ---- */

/* Makes room for what is drawn from this many rows. */
static int reserve(struct session *s, size_t rows, struct why *w)
{
	if (grow_scratch(&s->id, &s->room, rows * (sizeof *s->id + pick_n_logprobs(s) * sizeof *s->logprob)))
		return why(w, "out of memory");
	s->logprob = (float (*)[2])(void *)(s->id + rows);
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

/* Draws the id for pos from s->row, as number `at` of this frame. Returns the reason to stop after it, 0 to continue,
 * or SESSION_FAILED. */
static int draw(struct session *s, struct generation *g, uint32_t pos, size_t at, struct why *w)
{
	struct sampler_pick p;

	if (pick_id(s, g, pos, g->drawn < s->set.min, &p, w) < 0
	    || (g->constraint && constraint_accept(g->constraint, pos, p.id, w) < 0)
	    || (s->budget && thought_accept(s->budget, &g->thought, p.id, w)))
		return SESSION_FAILED;
	s->id[at] = p.id;
	pick_store_logprobs(s, &p, s->logprob + at * pick_n_logprobs(s));
	g->drawn++;
	g->next = pos + 1;
	return generation_reason(s, g, p.id);
}

int generation_draw(struct session *s, struct generation *g, const struct frame *f, struct why *w)
{
	int guessed = g->n_guess && f->rows == g->n_guess + 1, over = 0;
	uint32_t first = guessed ? 0 : f->rows - 1, pos, at, read = 0;
	struct why cause;
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
		if (pick_read_row(s, f, at, read, w))
			return -1;
		if ((over = draw(s, g, pos + (uint32_t)n, n, w)) < 0)
			break;
		read = at + 1;
		n++;
	}
	g->n_guess = 0;
	/* what the rows before a failure gave is valid, and w keeps its reason unless writing fails, too */
	if ((over >= 0 || n) && pick_write(s, s->id, s->logprob, n, pos, f->seq, &cause)) {
		*w = cause;
		return -1;
	}
	return over;
}
