/* Checking and reading frames of hidden states, and writing those for the next stage. */
#include "hidden.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fwd/plan/split.h"
#include "fwd/state/fork.h"
#include "lib/base/size.h"
#include "adapt.h"
#include "texts.h"

static float *rows(const struct plan *p, size_t width)
{
	size_t batch = p->setup.batch;

	return width > SIZE_MAX / sizeof(float) / batch ? NULL : malloc(batch * width * sizeof(float));
}

int hidden_open(struct hidden *h, const struct plan *p, struct why *w)
{
	size_t n_layer = p->model->n_layer, own = p->setup.last - p->setup.first;

	*h = (struct hidden){ .plan = p, .stages = size_divide_up(n_layer, own), .together = 1 };
	if (p->setup.first)
		h->in = rows(p, h->in_width = p->in.width);
	if (p->setup.last < n_layer)
		h->out = rows(p, h->out_width = p->out.width);
	return (h->in_width && !h->in) || (h->out_width && !h->out) ? why(w, "out of memory") : 0;
}

void hidden_close(struct hidden *h)
{
	free(h->in);
	free(h->out);
}

uint64_t hidden_model(const struct model *m)
{
	return adapt_fingerprint(m) ^ m->settings;
}

int hidden_check_card(const struct hidden *h, size_t n_ctx, const struct card *card, struct why *w)
{
	const struct model *m = h->plan->model;
	uint64_t own = hidden_model(m);

	if (!card->model)
		return why(w, "no hidden states: layers from %zu on need those of the stage before",
			h->plan->setup.first);
	if (card->model != own)
		return why(w, "the stage before has another model (%016" PRIx64 ") than %s (%016" PRIx64 "), or "
			"another --override, --lora or --control-vector", card->model, m->gguf->path, own);
	if (card->n_ctx != (int32_t)n_ctx)
		return why(w, "the stage before has a context of %" PRId32 ", this one of %zu (-c)", card->n_ctx,
			n_ctx);
	return 0;
}

/* ---- reading ---- */

static int check_frame(const struct hidden *h, const struct text *t, const struct frame *f, struct why *w)
{
	size_t first = h->plan->setup.first;

	if (!h->in)
		return why(w, "hidden states: this stage has layer 0, and reads ids");
	if (f->type != FRAME_F32 || f->cols != h->in_width)
		return why(w, "hidden states: %" PRIu32 " columns%s, not %zu", f->cols,
			f->type == FRAME_F32 ? "" : ", not floats", h->in_width);
	if (f->flags != first)
		return why(w, "hidden states: after %" PRIu32 " layers, but this stage begins with layer %zu", f->flags,
			first);
	if (h->open && (h->open != t || f->pos != t->ready))
		return why(w, "hidden states: missing from position %zu on", h->open->ready);
	if (!t || f->pos == FRAME_APPEND || f->rows > t->end - size_min(f->pos, t->end))
		return why(w, "hidden states: no ids before them");
	return 0;
}

/* Rewinds to the position of the first row. The state must be able to continue from there. */
static int go_back(struct text *t, size_t pos, struct why *w)
{
	struct segment *s = t->state;

	if (pos < t->ready)
		segment_set_length(s, pos);
	else if (pos > t->ready)
		return why(w, "hidden states: they begin at position %zu, but the state here needs them from %zu on; "
			"trim the first stage's segment to that (kv trim)", pos, t->ready);
	if (segment_prepare(s, pos, t->end - pos, w) < 0)
		return -1;
	if (s->next < pos)
		return why(w, "hidden states: they begin at position %zu, but the state here can only go on from %zu; "
			"trim the first stage's segment to that (kv trim)", pos, s->next);
	t->ready = pos;
	return 0;
}

int hidden_check_order(const struct hidden *h, const struct text *t, struct why *w)
{
	if (!h->open || h->open != t)
		return 0;
	return why(w, "hidden states: missing from position %zu on", t->ready);
}

/* If logits of all ids are wanted, hidden states of all ids are needed. */
static int check_all(const struct text *t, size_t pos, struct why *w)
{
	if (t->every && !t->header_written && pos > t->wanted)
		return why(w, "hidden states: they begin at position %zu, but logits are wanted from %zu on "
			"(give --all and --score to all stages)", pos, t->wanted);
	return 0;
}

int hidden_begin(struct hidden *h, struct text *t, const struct frame *f, struct why *w)
{
	if (check_frame(h, t, f, w) < 0)
		return -1;
	return check_all(t, f->pos, w) < 0 || go_back(t, f->pos, w) < 0;
}

/* A batch is run if it is full, or if a frame of logits would begin in a batch with other texts and end in a later
 * batch, with `end ` frames of those texts in between. */
int hidden_must_wait(const struct hidden *h, const struct text *queue, const struct text *t, size_t left)
{
	size_t room = h->plan->setup.batch - h->n_in;

	if (left && !room)
		return 1;
	return t->every && queue && queue != t && (left > room || left < t->end - t->ready);
}

long hidden_read(struct hidden *h, struct text *t, struct frame_in *in, const struct frame *f, size_t left,
	struct why *w)
{
	size_t some = size_min(left, h->plan->setup.batch - h->n_in);

	if (frame_read(in, f, h->in + h->n_in * h->in_width, some * h->in_width, w) < 0)
		return -1;
	t->ready += some;
	h->n_in += some;
	return (long)some;
}

void hidden_end(struct hidden *h, const struct text *t)
{
	h->open = t->every && t->ready < t->end ? t : NULL;
}

int hidden_check_end(const struct hidden *h, const struct texts *all, struct why *w)
{
	struct sequence **texts;
	int status = 0;

	if (!h->in)
		return 0;
	if (!(texts = sequences_all(&all->table, w)))
		return -1;
	for (size_t i = 0; i < all->table.n && status == 0; i++) {
		const struct text *t = (const struct text *)texts[i];

		if (t->end > t->ready)
			status = why(w, "hidden states: the input ends before position %zu", t->ready);
	}
	free(texts);
	return status;
}

/* ---- writing ---- */

int hidden_write(const struct hidden *h, int out, const struct batch_rows *r, struct why *w)
{
	size_t row = 0;

	for (size_t i = 0; i < r->n_runs; row += r->run[i++].n) {
		struct text *t = r->text[i];
		size_t n = r->run[i].n;
		struct frame f = { .kind = FRAME_HIDDEN, .rows = (uint32_t)n, .cols = (uint32_t)h->out_width,
			.type = FRAME_F32, .flags = (uint32_t)h->plan->setup.last,
			.pos = (uint32_t)(t->state->length - n), .seq = t->sequence.number };

		t->header_written |= t->every;
		split_give(h->plan, row, n, h->out);
		if (frame_write(out, &f, h->out, w) < 0)
			return -1;
	}
	return 0;
}

size_t hidden_texts(const struct hidden *h, size_t n_live)
{
	return h->stages > 1 ? size_divide_up(n_live, h->stages) : SIZE_MAX;
}
