/* Which masks are filled in at a step, and the frames that are written. */
#include "canvas.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/size.h"
#include "lib/sampler/rng.h"
#include "lib/sampler/sampler.h"

enum { LENGTH = 128 };          /* ids of a canvas without -n */

struct draw {                   /* for the mask at id[at] */
	size_t at;
	int32_t id;
	double confidence;
};

void canvas_close(struct canvas *c)
{
	if (!c)
		return;
	free(c->id);
	free(c->draw);
	free(c);
}

/* ---- a new canvas ---- */

/* Begins the block after the last one. */
static void next_block(const struct session *s, struct canvas *c)
{
	size_t size = size_min(c->n - c->end, (size_t)s->set.block), steps = (size_t)s->set.steps;

	c->block = c->end;
	c->end += size;
	c->step = 0;
	c->steps = size_max(steps && c->n ? size_min((size * steps + c->n / 2) / c->n, size) : size, 1);
}

static struct canvas *open(const struct session *s, const struct generation *g, uint32_t pos, struct why *w)
{
	struct canvas *c = calloc(1, sizeof *c);
	int64_t most = s->set.n == NO_LIMIT ? LENGTH : s->set.n;
	size_t row = generation_logprobs(s) * sizeof *c->logprob;

	if (s->card.n_ctx)
		most = most < s->card.n_ctx - (int64_t)pos ? most : s->card.n_ctx - (int64_t)pos;
	if (!c || most < 0 || most > FRAME_IDS_MAX - 1) {
		why(w, c ? "position %" PRIu32 ": no room for a canvas" : "out of memory", pos);
		free(c);
		return NULL;
	}
	c->n = (size_t)most;
	c->pos = pos;
	c->before = g->last;
	c->id = malloc((c->n + 1) * (sizeof *c->id + row));
	c->draw = malloc((c->n + 1) * sizeof *c->draw);
	if (!c->id || !c->draw) {
		why(w, "out of memory for a canvas of %zu ids", c->n);
		canvas_close(c);
		return NULL;
	}
	c->logprob = (float (*)[2])(void *)(c->id + c->n + 1);
	for (size_t i = 0; i < c->n; i++)
		c->id[i] = card_mask(&s->card);
	next_block(s, c);
	return c;
}

/* ---- frames ---- */

/* Sends the canvas to fwd from id[from] on, after the id before that. */
static int send(struct canvas *c, size_t from, uint32_t seq, struct why *w)
{
	const struct frame f = { .kind = FRAME_IDS, .rows = (uint32_t)(1 + c->n - from), .cols = 1, .type = FRAME_I32,
		.flags = FRAME_SAMPLED | FRAME_GUESS, .pos = c->pos + (uint32_t)from - 1, .seq = seq };

	c->sent = from;
	return frame_write_header(1, &f, w) || frame_write_elements(1, &f, from ? &c->id[from - 1] : &c->before, 1, w)
		|| frame_write_elements(1, &f, c->id + from, c->n - from, w) ? -1 : 0;
}

/* Writes the ids between those written and the next mask. Returns the reason to stop after them, 0 or -1. */
static int write_filled(struct session *s, struct generation *g, uint32_t seq, struct why *w)
{
	struct canvas *c = g->canvas;
	const int32_t mask = card_mask(&s->card);
	size_t from = c->filled;
	int over = 0;

	while (!over && c->filled < c->n && c->id[c->filled] != mask) {
		g->drawn++;
		over = generation_reason(s, g, c->id[c->filled++]);
	}
	if (c->filled == from)
		return 0;
	g->next = c->pos + (uint32_t)c->filled;
	if (sampler_history(g->sampler, c->pos + (uint32_t)from, c->id + from, c->filled - from, w) ||
	    generation_write(s, c->id + from, c->logprob + from * generation_logprobs(s), c->filled - from,
		c->pos + (uint32_t)from, seq, w))
		return -1;
	return over || c->filled < c->n ? over : FRAME_END_LENGTH;
}

/* ---- a step ---- */

static double confidence(const struct session *s, const struct sampler_pick *p, uint32_t seq, uint32_t pos)
{
	switch (s->set.order) {
	case CANVAS_MARGIN:
		return p->n_best < 2 ? 1 : exp(p->best[0].logprob) - exp(p->best[1].logprob);
	case CANVAS_ENTROPY:
		return -p->entropy;
	case CANVAS_RANDOM:
		return rng_real(s->set.chain.seed + seq, pos, SAMPLER_KEY_ORDER);
	default:
		return p->logprob;
	}
}

/* The highest confidence first; of equal ones the first in the text. */
static int compare(const void *a, const void *b)
{
	const struct draw *x = a, *y = b;
	int less = (x->confidence < y->confidence) - (x->confidence > y->confidence);

	return less ? less : (x->at > y->at) - (x->at < y->at);
}

/* Draws an id for each mask of the block; row `first` of the frame is for id[0]. Returns how many, or an error. */
static int draw_block(struct session *s, struct generation *g, const struct frame *f, int64_t first, struct why *w)
{
	struct canvas *c = g->canvas;
	uint32_t read = 0, row;
	struct sampler_pick p;
	int n = 0, failed;

	for (size_t i = c->block; i < c->end; i++) {
		if (c->id[i] != card_mask(&s->card))
			continue;
		row = (uint32_t)(first + (int64_t)i);
		if (generation_row(s, f, row, read, w))
			return -1;
		read = row + 1;
		if ((failed = generation_pick(s, g, c->pos + (uint32_t)i, (int64_t)i < s->set.min, &p, w)))
			return failed;
		generation_keep(s, &p, c->logprob + i * generation_logprobs(s));
		c->draw[n++] = (struct draw){ i, p.id, confidence(s, &p, f->seq, c->pos + (uint32_t)i) };
	}
	/* all of the frame, because fwd must not die of SIGPIPE in it if this is the last one */
	return frame_skip(&s->in, f, (uint64_t)(f->rows - read) * f->cols, w) ? -1 : n;
}

/* Fills in this step's share of the block's masks. Row 0 of the frame belongs to the id at f->pos. */
static int fill(struct session *s, struct generation *g, const struct frame *f, struct why *w)
{
	struct canvas *c = g->canvas;
	size_t size = c->end - c->block, share;
	int64_t first = (int64_t)c->pos - f->pos - (s->card.masks < 0);
	int n = draw_block(s, g, f, first, w);

	if (n < 0)
		return n;
	share = size * (c->step + 1) / c->steps - size * c->step / c->steps;
	qsort(c->draw, (size_t)n, sizeof *c->draw, compare);
	for (size_t i = 0; i < size_min(share, (size_t)n); i++)
		c->id[c->draw[i].at] = c->draw[i].id;
	if (++c->step == c->steps)
		next_block(s, c);
	return 0;
}

int canvas_step(struct session *s, struct generation *g, const struct frame *f, struct why *w)
{
	struct canvas *c = g->canvas;
	int answers = c && g->n_guess && f->rows == 1 + c->n - c->sent && f->pos == c->pos + c->sent - 1, over = 0;
	size_t from = 0;

	g->n_guess = 0;
	if (answers) {
		from = c->filled;
		if ((over = fill(s, g, f, w)) || (over = write_filled(s, g, f->seq, w)))
			return over;
	} else {
		canvas_close(c);
		g->canvas = open(s, g, f->pos == FRAME_APPEND ? sampler_next(g->sampler) : f->pos + f->rows, w);
		if (!g->canvas)
			return SESSION_FAILED;
		if (!g->canvas->n)
			return FRAME_END_LENGTH;
	}
	return send(g->canvas, from, f->seq, w);
}
