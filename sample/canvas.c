/* Which masks are filled in at a step, and the frames that are written. */
#include "canvas.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/size.h"
#include "lib/sampler/opts.h"
#include "lib/sampler/rng.h"
#include "lib/sampler/sampler.h"
#include "pick.h"

struct canvas {
	uint32_t pos;           /* of id[0] */
	int32_t before;         /* the id before it */
	size_t n;
	int32_t *id;            /* [n]; the mask token where none is kept yet */
	float (*logprob)[2];    /* [n][pick_n_logprobs()] */
	size_t filled;          /* number of first ids that have been written */
	size_t sent, rows;      /* fwd was last sent id[sent .. n), and asked for `rows` rows of logits */
	size_t block, end;      /* the current block is id[block .. end), */
	size_t step, steps;     /* of which `step` of `steps` steps are done */
	struct proposal *proposal;      /* [n]: scratch */
	int answered;
};

struct proposal {               /* for the mask at id[at] */
	size_t at;
	int32_t id;
	double certainty;
};

void canvas_close(struct canvas *c)
{
	if (!c)
		return;
	free(c->id);
	free(c->logprob);
	free(c->proposal);
	free(c);
}

int canvas_answered(const struct canvas *c)
{
	return c->answered;
}

/* ---- a new canvas ---- */

/* Begins the block after the last one, with its share of all steps, but at least one. */
static void next_block(const struct sample_options *set, struct canvas *c)
{
	size_t steps = set->steps ? (size_t)set->steps : c->n;

	c->block = c->end;
	c->end += size_min(c->n - c->end, (size_t)set->block);
	c->step = 0;
	if (c->n)
		c->steps = c->end * steps / c->n - c->block * steps / c->n;
	c->steps = size_max(size_min(c->steps, c->end - c->block), 1);
}

/* The most tokens that -n allows. */
static int64_t limit(const struct sample_options *set)
{
	return set->n == NO_LIMIT ? SAMPLER_CANVAS : set->n;
}

/* Why a text that fills its canvas ends. */
static int end_reason(const struct generation *g)
{
	return (int64_t)g->canvas->n < limit(&g->settings->set) ? FRAME_END_CONTEXT : FRAME_END_LENGTH;
}

/* For the positions from pos on. */
static struct canvas *canvas_open(const struct session *s, const struct generation *g, uint32_t pos, struct why *w)
{
	struct canvas *c = calloc(1, sizeof *c);
	int64_t most = limit(&g->settings->set);

	if (s->card.n_ctx && most > s->card.n_ctx - (int64_t)pos)
		most = s->card.n_ctx - (int64_t)pos;
	if (!c || most < 0 || most > FRAME_IDS_MAX - 1) {
		why(w, c ? "a canvas of %" PRId64 " tokens" : "out of memory", most);
		free(c);
		return NULL;
	}
	c->n = (size_t)most;
	c->pos = pos;
	c->before = g->last;
	c->id = malloc((c->n + 1) * sizeof *c->id);
	c->logprob = malloc((c->n * pick_n_logprobs(g) + 1) * sizeof *c->logprob);
	c->proposal = malloc((c->n + 1) * sizeof *c->proposal);
	if (!c->id || !c->logprob || !c->proposal) {
		why(w, "out of memory for a canvas of %zu tokens", c->n);
		canvas_close(c);
		return NULL;
	}
	for (size_t i = 0; i < c->n; i++)
		c->id[i] = s->card.mask_id;
	next_block(&g->settings->set, c);
	return c;
}

/* ---- frames ---- */

/* Sends the canvas to fwd from id[from] on, after the id before that. Logits are wanted up to the block's last id. */
static int send_canvas(struct canvas *c, size_t from, int shifted, uint32_t seq, struct why *w)
{
	struct frame f = { .kind = FRAME_CANVAS, .rows = (uint32_t)(1 + c->n - from), .cols = 1, .type = FRAME_I32,
		.pos = c->pos + (uint32_t)from - 1, .seq = seq };

	c->sent = from;
	c->rows = 1 + c->end - from - (size_t)shifted;
	f.flags = f.rows - (uint32_t)c->rows;
	return frame_write_header(1, &f, w) || frame_write_elements(1, &f, from ? &c->id[from - 1] : &c->before, 1, w)
		|| frame_write_elements(1, &f, c->id + from, c->n - from, w) ? -1 : 0;
}

/* Writes the ids between those written and the next mask. Returns the reason to stop after them, 0 or -1. */
static int write_filled(struct session *s, struct generation *g, struct why *w)
{
	struct canvas *c = g->canvas;
	size_t from = c->filled;
	int over = 0;

	while (!over && c->filled < c->n && c->id[c->filled] != s->card.mask_id) {
		g->drawn++;
		over = generation_reason(s, g, c->id[c->filled++]);
	}
	if (c->filled == from)
		return 0;
	g->next = c->pos + (uint32_t)c->filled;
	if (sampler_history(g->sampler, c->pos + (uint32_t)from, c->id + from, c->filled - from, w)
	    || pick_write(s, g, c->id + from, c->logprob + from * pick_n_logprobs(g), c->filled - from,
		c->pos + (uint32_t)from, w))
		return -1;
	return over || c->filled < c->n ? over : end_reason(g);
}

/* ---- a step ---- */

static double certainty(const struct generation *g, const struct sampler_pick *p, uint32_t pos)
{
	switch (g->settings->set.certainty) {
	case CERTAINTY_MARGIN:
		return p->n_best < 2 ? 1 : exp(p->best[0].logprob) - exp(p->best[1].logprob);
	case CERTAINTY_ENTROPY:
		return -p->entropy;
	case CERTAINTY_RANDOM:
		return rng_real(settings_seed(g->settings, g->sequence.number), pos, SAMPLER_KEY_CERTAINTY);
	default:
		return p->logprob;
	}
}

/* The most certain first; of equals the first in the text. */
static int compare(const void *a, const void *b)
{
	const struct proposal *x = a, *y = b;
	int less = (x->certainty < y->certainty) - (x->certainty > y->certainty);

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
		if (c->id[i] != s->card.mask_id)
			continue;
		row = (uint32_t)(first + (int64_t)i);
		if (pick_read_row(s, f, row, read, w))
			return -1;
		read = row + 1;
		if ((failed = pick_id(s, g, c->pos + (uint32_t)i, (int64_t)i < g->settings->set.min, &p, w)))
			return failed;
		pick_store_logprobs(g, &p, c->logprob + i * pick_n_logprobs(g));
		c->proposal[n++] = (struct proposal){ i, p.id, certainty(g, &p, c->pos + (uint32_t)i) };
	}
	/* to its end: if this frame is the last, fwd must not meet a closed pipe in it */
	return frame_skip(&s->in, f, (uint64_t)(f->rows - read) * f->cols, w) ? -1 : n;
}

/* Fills in this step's share of the block's masks. Row 0 of the frame belongs to the id at f->pos. */
static int fill(struct session *s, struct generation *g, const struct frame *f, struct why *w)
{
	struct canvas *c = g->canvas;
	size_t size = c->end - c->block, share;
	int64_t first = (int64_t)c->pos - f->pos - s->card.shifted;
	int n = draw_block(s, g, f, first, w);

	if (n < 0)
		return n;
	share = size * (c->step + 1) / c->steps - size * c->step / c->steps;
	qsort(c->proposal, (size_t)n, sizeof *c->proposal, compare);
	for (size_t i = 0; i < size_min(share, (size_t)n); i++)
		c->id[c->proposal[i].at] = c->proposal[i].id;
	if (++c->step == c->steps)
		next_block(&g->settings->set, c);
	return 0;
}

/* Answers a prompt with a canvas. */
static int begin(struct session *s, struct generation *g, const struct frame *f, struct why *w)
{
	g->prompted = 0;
	g->next = f->pos == FRAME_APPEND ? sampler_next(g->sampler) : f->pos + f->rows;
	canvas_close(g->canvas);
	if (!(g->canvas = canvas_open(s, g, g->next, w)))
		return SESSION_FAILED;
	return g->canvas->n ? send_canvas(g->canvas, 0, s->card.shifted, f->seq, w) : end_reason(g);
}

int canvas_step(struct session *s, struct generation *g, const struct frame *f, struct why *w)
{
	struct canvas *c = g->canvas;
	size_t from;
	int over;

	if (!c || g->prompted)
		return begin(s, g, f, w);
	if (f->rows != c->rows || f->pos != c->pos + c->sent - 1) {
		why(w, "%" PRIu32 " rows of logits, not the %zu that the canvas wants", f->rows, c->rows);
		return SESSION_FAILED;
	}
	c->answered = 1;
	from = c->filled;
	if ((over = fill(s, g, f, w)) || (over = write_filled(s, g, w)))
		return over;
	return send_canvas(c, from, s->card.shifted, f->seq, w);
}
