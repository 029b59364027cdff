/* The generation of a sequence: its history, and what a drawn id means for the grammar and the end. */
#include "generation.h"

#include <stdlib.h>

#include "lib/base/grow.h"
#include "lib/sampler/sampler.h"
#include "canvas.h"
#include "output.h"
#include "pick.h"

/* Copies `from`, for these settings, with a sampler and a constraint that continue those given. */
static struct generation *copy(const struct generation *from, struct settings *t, uint32_t seq,
	const struct sampler *sampler, const struct constraint *constraint, struct why *w)
{
	struct generation *g = malloc(sizeof *g);

	if (!g) {
		why(w, "out of memory");
		return NULL;
	}
	*g = *from;
	g->sequence.number = seq;
	g->settings = t;
	g->constraint = NULL;
	g->thought = (struct thought){ .open = 0 };
	g->canvas = NULL;
	g->guess = NULL;
	g->n_guess = g->room = 0;
	t->users++;
	g->sampler = sampler_fork(sampler, settings_seed(t, seq), w);
	if (g->sampler && (!constraint || (g->constraint = constraint_fork(constraint, w))))
		return g;
	generation_close(g);
	return NULL;
}

struct generation *generation_open(struct settings *t, uint32_t seq, struct why *w)
{
	return copy(&(struct generation){ 0 }, t, seq, t->sampler, t->constraint, w);
}

struct generation *generation_fork(const struct generation *from, uint32_t seq, uint32_t pos, struct why *w)
{
	struct generation *g = copy(from, from->settings, seq, from->sampler, from->constraint, w);
	int64_t beyond = (int64_t)from->next - (int64_t)pos;

	if (!g)
		return NULL;
	/* The source may have drawn beyond its first pos positions before the fork came. */
	g->drawn -= beyond <= 0 ? 0 : beyond < g->drawn ? beyond : g->drawn;
	g->idle = 0;
	if (!sampler_history(g->sampler, pos, NULL, 0, w) && (!g->settings->budget || !thought_fork(g->settings->budget,
		&g->thought, &from->thought, (size_t)(from->drawn - g->drawn), w)))
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
	settings_release(g->settings);
	free(g);
}

/* For --think-budget: ids[n] of a prompt. */
static int take_thoughts(struct generation *g, const int32_t *ids, size_t n, struct why *w)
{
	const struct budget *b = g->settings->budget;
	int failed = 0;

	for (size_t i = 0; b && !failed && i < n; i++)
		failed = thought_prompt(b, &g->thought, ids[i], w);
	return failed;
}

int generation_change(struct generation *g, struct settings *t, struct why *w)
{
	struct sampler *sampler = sampler_fork(t->sampler, settings_seed(t, g->sequence.number), w);
	struct constraint *constraint = sampler && t->constraint ? constraint_fork(t->constraint, w) : NULL;
	const int32_t *ids;
	size_t n;

	if (!sampler || (t->constraint && !constraint) || sampler_remember(sampler, g->sampler, w)) {
		sampler_close(sampler);
		constraint_close(constraint);
		return -1;
	}
	sampler_close(g->sampler);
	constraint_close(g->constraint);
	canvas_close(g->canvas);
	settings_release(g->settings);
	t->users++;
	g->settings = t;
	g->sampler = sampler;
	g->constraint = constraint;
	g->canvas = NULL;
	g->n_guess = 0;
	g->drawn = 0;
	g->idle = g->refused = 0;
	thought_free(&g->thought);
	g->thought = (struct thought){ .open = 0 };
	ids = sampler_ids(sampler, &n);
	return take_thoughts(g, ids, n, w);
}

/* Begins another text, whose prompt ends with the ids from position pos on. What comes before them may have opened
 * reasoning. */
static int begin_turn(struct generation *g, uint32_t pos, struct why *w)
{
	const int32_t *ids;
	size_t n;

	g->drawn = 0;
	g->idle = 0;
	thought_start(&g->thought);
	if (sampler_history(g->sampler, pos, NULL, 0, w))
		return -1;
	ids = sampler_ids(g->sampler, &n);
	if (take_thoughts(g, ids, n, w))
		return -1;
	return g->constraint ? constraint_restart(g->constraint, w) : 0;
}

/* For --prompt-ids: writes ids[n] of a prompt, from number i of the frame on. */
static int forward_given(struct session *s, const struct frame *f, const int32_t *ids, uint32_t n, uint32_t i,
	struct why *w)
{
	if (!s->line.set.given || f->flags & FRAME_SAMPLED)
		return 0;
	return output_flush(s, w) || frame_write_ids(1, ids, n, frame_after(f->pos, i), 0, f->seq, w) ? -1 : 0;
}

/* Guesses are not history yet, so only the first id of such a frame is appended. */
int generation_ids(struct session *s, struct generation *g, const struct frame *f, struct why *w)
{
	uint32_t certain = f->flags & FRAME_GUESS && f->rows ? 1 : f->rows, i, n;
	int32_t ids[1024];

	if (s->line.set.turns && !(f->flags & FRAME_SAMPLED) && begin_turn(g, f->pos, w))
		return -1;
	/* an earlier position without ids discards those from there on */
	if (!f->rows && f->pos < sampler_next(g->sampler) && sampler_history(g->sampler, f->pos, NULL, 0, w) < 0)
		return frame_why(&s->in, w);
	for (i = 0; i < certain; i += n) {
		n = certain - i < 1024 ? certain - i : 1024;
		if (frame_read(&s->in, f, ids, n, w) < 0)
			return -1;
		if (sampler_history(g->sampler, frame_after(f->pos, i), ids, n, w) < 0)
			return frame_why(&s->in, w);
		if (!(f->flags & FRAME_SAMPLED) && take_thoughts(g, ids, n, w))
			return -1;
		if (forward_given(s, f, ids, n, i, w))
			return -1;
		g->last = ids[n - 1];
		g->prompted = 1;
	}
	g->n_guess = f->rows - certain;
	g->looks = g->settings->set.look && !(f->flags & FRAME_SAMPLED);
	if (!g->n_guess)
		return 0;
	if (grow_scratch(&g->guess, &g->room, g->n_guess * sizeof *g->guess))
		return why(w, "out of memory");
	return frame_read(&s->in, f, g->guess, g->n_guess, w)
		|| forward_given(s, f, g->guess, g->n_guess, certain, w) ? -1 : 0;
}

/* ---- logits ---- */

/* Makes room for what is drawn from this many rows. */
static int reserve(struct session *s, const struct generation *g, size_t rows, struct why *w)
{
	if (grow_scratch(&s->id, &s->room, rows * (sizeof *s->id + pick_n_logprobs(g) * sizeof *s->logprob)))
		return why(w, "out of memory");
	s->logprob = (float (*)[2])(void *)(s->id + rows);
	return 0;
}

/* Stop ids are ignored where the grammar cannot end. */
int generation_reason(const struct session *s, const struct generation *g, int32_t id)
{
	const struct sample_options *set = &g->settings->set;
	size_t i;

	if (card_is_eog(&s->card, id))
		return FRAME_END_EOG;
	for (i = 0; i < set->n_stop; i++)
		if (id == set->stop_id[i] && (!g->constraint || constraint_may_end(g->constraint)))
			return FRAME_END_STOP;
	if (g->constraint && constraint_must_end(g->constraint) && !constraint_has_end(g->constraint))
		return FRAME_END_EOG;
	return g->drawn == set->n ? FRAME_END_LENGTH : 0;
}

/* Draws the id for pos from s->row, as number `at` of this frame. Returns the reason to stop after it, 0 to continue,
 * or SESSION_FAILED. */
static int draw(struct session *s, struct generation *g, uint32_t pos, size_t at, struct why *w)
{
	const struct settings *t = g->settings;
	struct sampler_pick p;

	if (pick_id(s, g, pos, g->drawn < t->set.min, &p, w) < 0
	    || (g->constraint && constraint_accept(g->constraint, pos, p.id, w) < 0)
	    || (t->budget && thought_accept(t->budget, &g->thought, p.id, w)))
		return SESSION_FAILED;
	s->id[at] = p.id;
	pick_store_logprobs(g, &p, s->logprob + at * pick_n_logprobs(g));
	g->drawn++;
	g->next = pos + 1;
	return generation_reason(s, g, p.id);
}

/* Writes the log-probabilities of the ids of a prompt, which are the guesses, from all rows but the last. */
static int look(struct session *s, struct generation *g, const struct frame *f, struct why *w)
{
	struct sampler_pick p;

	if (output_flush(s, w) || reserve(s, g, 1, w))
		return -1;
	for (uint32_t at = 0; at < g->n_guess; at++) {
		if (pick_read_row(s, f, at, at, w))
			return -1;
		sampler_look(g->sampler, s->row, g->guess[at], &p);
		pick_store_logprobs(g, &p, s->logprob);
		if (pick_write_logprobs(g, s->logprob, f->pos + at + 1, w))
			return -1;
	}
	if (sampler_history(g->sampler, f->pos + 1, g->guess, g->n_guess, w) < 0)
		return frame_why(&s->in, w);
	return take_thoughts(g, g->guess, g->n_guess, w);
}

int generation_draw(struct session *s, struct generation *g, const struct frame *f, struct why *w)
{
	int guessed = g->n_guess && f->rows == g->n_guess + 1, looks = guessed && g->looks, over = 0;
	uint32_t first = guessed && !looks ? 0 : f->rows - 1, pos, at, read = looks ? first : 0;
	struct why cause;
	size_t n = 0;

	pos = f->pos == FRAME_APPEND ? sampler_next(g->sampler) : f->pos + first + 1;
	if ((looks && look(s, g, f, w)) || reserve(s, g, f->rows - first, w))
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
	if ((over >= 0 || n) && pick_write(s, g, s->id, s->logprob, n, pos, &cause)) {
		*w = cause;
		return -1;
	}
	return over;
}
