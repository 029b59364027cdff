/* stage: from a frame of logits to a frame of one id. Before the chain come the stops that may not be drawn yet and the grammar's mask; after it, what the id
 * means for them. */
#include "stage.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/sampler/sampler.h"
#include "model.h"
#include "trace.h"

static int at_frame(const struct stage *st, struct why *w)
{
	char where[64];

	snprintf(where, sizeof where, "%s: frame %" PRIu64, st->in.name, st->in.number);
	return why_in(w, where);
}

static int guided(const struct stage *st)
{
	return st->set.grammar.option != NULL;
}

int stage_open(struct stage *st, struct why *w)
{
	if (!st->set.model)
		return 0;
	if (!(st->model = model_open(st->set.model, w)))
		return -1;
	st->set.chain.breakers.piece = model_piece;
	st->set.chain.breakers.context = st->model;
	return guided(st) ? model_grammar(st->model, &st->set.grammar, w) : 0;
}

void stage_close(struct stage *st)
{
	sampler_close(st->sampler);
	trace_close(st->trace);
	model_close(st->model);
	free(st->row);
}

/* ---- the card ---- */

static int check_id(const struct stage *st, int32_t id, const char *option, struct why *w)
{
	return id < st->card.n_vocab ? 0 : why(w, "%s: id %" PRId32 " is outside the vocabulary of %" PRId32, option, id, st->card.n_vocab);
}

static int check_ids(const struct stage *st, struct why *w)
{
	const struct settings *set = &st->set;
	size_t i;
	int bad = 0;

	for (i = 0; !bad && i < set->chain.n_bias; i++)
		bad = check_id(st, set->bias[i].id, "-l/--logit-bias", w);
	for (i = 0; !bad && i < set->n_stop; i++)
		bad = check_id(st, set->stop_id[i], "--stop-id", w);
	for (i = 0; !bad && i < set->chain.breakers.n_id; i++)
		bad = check_id(st, set->breaker_id[i], "--dry-sequence-breaker-id", w);
	return bad;
}

int stage_card(struct stage *st, const struct frame *f, struct why *w)
{
	struct settings *set = &st->set;
	struct card card;

	if (card_read(&st->in, f, &card, w) < 0)
		return -1;
	if (st->sampler)
		return card_agree(&card, "stdin: a later card", &st->card, "the first", w);
	st->card = card;
	if (check_ids(st, w) < 0)
		return STAGE_USAGE;
	if (st->model && model_agrees(st->model, &card, w) < 0)
		return -1;
	if (guided(st) && model_guide(st->model, &card, set->stop_id, set->n_stop, w) < 0)
		return -1;
	if (set->trace && !(st->trace = trace_open(card.n_vocab, st->model ? model_vocab(st->model) : NULL)))
		return why(w, "no memory for a vocabulary of %" PRId32, card.n_vocab);
	set->chain.watch = set->trace ? trace_watch : NULL;
	set->chain.watch_context = st->trace;
	if (!(st->sampler = sampler_open(&set->chain, card.n_vocab, w)))
		return -1;
	if (!(st->row = malloc((size_t)card.n_vocab * sizeof *st->row)))
		return why(w, "no memory for a vocabulary of %" PRId32, card.n_vocab);
	frame_widen(0, (size_t)card.n_vocab * sizeof *st->row);
	return card_write(1, &card, w);
}

/* ---- ids ---- */

int stage_ids(struct stage *st, const struct frame *f, struct why *w)
{
	int32_t ids[1024];
	uint32_t i, n;

	if (st->set.turns && !(f->flags & FRAME_SAMPLED)) {
		st->drawn = 0;
		st->idle = 0;
		if (guided(st) && model_restart(st->model, w) < 0)
			return -1;
	}
	for (i = 0; i < f->rows; i += n) {
		n = f->rows - i < 1024 ? f->rows - i : 1024;
		if (frame_read(&st->in, f, ids, n, w) < 0)
			return -1;
		if (sampler_history(st->sampler, f->pos == FRAME_APPEND ? FRAME_APPEND : f->pos + i, ids, n, w) < 0)
			return at_frame(st, w);
	}
	return 0;
}

/* ---- logits ---- */

/* The last row. */
static int read_row(struct stage *st, const struct frame *f, struct why *w)
{
	if (f->cols != (uint32_t)st->card.n_vocab) {
		why(w, "%" PRIu32 " logits for a vocabulary of %" PRId32 ", as the card says", f->cols, st->card.n_vocab);
		return at_frame(st, w);
	}
	return frame_skip(&st->in, f, (uint64_t)(f->rows - 1) * f->cols, w) < 0 ? -1 : frame_read_floats(&st->in, f, st->row, f->cols, w);
}

/* What cannot be drawn whatever the chain says: ends and stops before their time, what the grammar does not allow. Where the grammar is at its end, the
 * end is drawn in any case. */
static int restrict_row(struct stage *st, uint32_t pos, struct why *w)
{
	const struct settings *set = &st->set;
	int early = st->drawn < set->min, over = 0;

	if (guided(st)) {
		if (model_mask(st->model, pos, st->row, w) < 0)
			return at_frame(st, w);
		over = model_must_end(st->model);
	}
	for (int32_t i = 0; (early || set->ignore_eos) && !over && i < st->card.n_eog; i++)
		st->row[st->card.eog[i]] = -INFINITY;
	for (size_t i = 0; early && !over && i < set->n_stop; i++)
		st->row[set->stop_id[i]] = -INFINITY;
	return 0;
}

static int write_logprobs(const struct sampler_pick *pick, uint32_t pos, uint32_t seq, struct why *w)
{
	static float pair[1 + SAMPLER_BEST_MAX][2];
	struct frame f = { .kind = FRAME_LOGPROBS, .rows = (uint32_t)pick->n_best + 1, .cols = 2, .type = FRAME_F32, .pos = pos, .seq = seq };
	size_t i;

	pair[0][0] = (float)pick->id;
	pair[0][1] = pick->logprob;
	for (i = 0; i < pick->n_best; i++) {
		pair[i + 1][0] = (float)pick->best[i].id;
		pair[i + 1][1] = pick->best[i].logprob;
	}
	return frame_write(1, &f, pair, w);
}

/* The reason to stop after id, or 0. A stop inside what the grammar wants is none. */
static int reason(const struct stage *st, int32_t id)
{
	size_t i;

	if (card_is_eog(&st->card, id))
		return FRAME_END_EOG;
	for (i = 0; i < st->set.n_stop; i++)
		if (id == st->set.stop_id[i] && (!guided(st) || model_may_end(st->model)))
			return FRAME_END_STOP;
	if (guided(st) && model_must_end(st->model) && !model_has_end(st->model))
		return FRAME_END_EOG;
	return st->drawn == st->set.n ? FRAME_END_LENGTH : 0;
}

int stage_draw(struct stage *st, const struct frame *f, struct why *w)
{
	uint32_t pos = f->pos == FRAME_APPEND ? sampler_next(st->sampler) : f->pos + f->rows;
	struct sampler_pick p;

	if (read_row(st, f, w) < 0)
		return -1;
	sampler_look(st->sampler, st->row);
	if (restrict_row(st, pos, w) < 0)
		return -1;
	if (sampler_draw(st->sampler, st->row, pos, &p, w) < 0)
		return at_frame(st, w);
	if (guided(st) && model_accept(st->model, pos, p.id, w) < 0)
		return at_frame(st, w);
	if (p.n_nan && !st->warned++)
		fprintf(stderr, "sample: %s: frame %" PRIu64 ": logits that are NaN: %zu, never drawn\n", st->in.name, st->in.number, p.n_nan);
	if (st->trace)
		trace_drawn(st->trace, pos, p.id);
	if (frame_write_ids(1, &p.id, 1, pos, FRAME_SAMPLED, f->seq, w) < 0)
		return -1;
	if (st->set.chain.n_best >= 0 && write_logprobs(&p, pos, f->seq, w) < 0)
		return -1;
	st->drawn++;
	st->next = pos + 1;
	return reason(st, p.id);
}
