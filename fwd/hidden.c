/* Checking and reading frames of hidden states, and writing those for the next stage. */
#include "hidden.h"

#include <inttypes.h>
#include <stdlib.h>

#include "batch.h"
#include "fwd/plan/split.h"
#include "fwd/state/fork.h"
#include "lib/base/size.h"
#include "serve.h"

static float *rows(const struct plan *p, size_t width)
{
	size_t batch = p->setup.batch;

	return width > SIZE_MAX / sizeof(float) / batch ? NULL : malloc(batch * width * sizeof(float));
}

int hidden_open(struct hidden *h, const struct plan *p, struct why *w)
{
	size_t n_layer = p->model->n_layer, own = p->setup.last - p->setup.first;

	*h = (struct hidden){ .stages = size_divide_up(n_layer, own), .together = 1 };
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
	return m->fingerprint ^ m->settings;
}

int hidden_check_card(const struct serve *v, const struct card *card, struct why *w)
{
	uint64_t own = hidden_model(v->model);

	if (!card->model)
		return why(w, "no hidden states: layers from %zu on need those of the stage before",
			v->plan->setup.first);
	if (card->model != own)
		return why(w, "the stage before has another model (%016" PRIx64 ") than %s (%016" PRIx64 "), or "
			"another --set", card->model, v->model->gguf->path, own);
	if (card->n_ctx != (int32_t)v->n_ctx)
		return why(w, "the stage before has a context of %" PRId32 ", this one of %zu (-c)", card->n_ctx,
			v->n_ctx);
	return 0;
}

/* ---- reading ---- */

static int check_frame(const struct serve *v, const struct served *q, const struct frame *f, struct why *w)
{
	size_t first = v->plan->setup.first;

	if (!v->hidden.in)
		return why(w, "hidden states: this stage has layer 0, and reads ids");
	if (f->type != FRAME_F32 || f->cols != v->hidden.in_width)
		return why(w, "hidden states: %" PRIu32 " columns%s, not %zu", f->cols,
			f->type == FRAME_F32 ? "" : ", not floats", v->hidden.in_width);
	if (f->flags != first)
		return why(w, "hidden states: after %" PRIu32 " layers, but this stage begins with layer %zu", f->flags,
			first);
	if (v->hidden.open && (v->hidden.open != q || f->pos != q->ready))
		return why(w, "hidden states: missing from position %zu on", v->hidden.open->ready);
	if (!q || f->pos == FRAME_APPEND || f->rows > q->end - size_min(f->pos, q->end))
		return why(w, "hidden states: no ids before them");
	return 0;
}

/* Rewinds to the position of the first row. The state must be able to continue from there. */
static int go_back(struct served *q, size_t pos, struct why *w)
{
	struct segment *s = q->state;

	if (pos < q->ready)
		segment_set_length(s, pos);
	else if (pos > q->ready)
		return why(w, "hidden states: they begin at position %zu, but the state here needs them from %zu on; "
			"trim the first stage's segment to that (kv trim)", pos, q->ready);
	if (segment_prepare(s, pos, q->end - pos, w) < 0)
		return -1;
	if (s->next < pos)
		return why(w, "hidden states: they begin at position %zu, but the state here can only go on from %zu; "
			"trim the first stage's segment to that (kv trim)", pos, s->next);
	q->ready = pos;
	return 0;
}

int hidden_check_order(const struct serve *v, const struct served *q, struct why *w)
{
	if (!v->hidden.open || v->hidden.open != q)
		return 0;
	return why(w, "hidden states: missing from position %zu on", q->ready);
}

/* If logits of all ids are wanted, hidden states of all ids are needed. */
static int check_all(const struct serve *v, const struct served *q, size_t pos, struct why *w)
{
	size_t wanted = batch_wanted(v, q);

	if (q->every && !q->header_written && pos > wanted)
		return why(w, "hidden states: they begin at position %zu, but logits are wanted from %zu on "
			"(give --all and --score to all stages)", pos, wanted);
	return 0;
}

/* Reads as many rows of the frame as the batch has room for. Returns their number, or -1. */
static long read_some(struct serve *v, struct served *q, struct frame_in *in, const struct frame *f, size_t left,
	struct why *w)
{
	struct hidden *h = &v->hidden;
	size_t some = size_min(left, v->plan->setup.batch - h->n_in);

	if (frame_read(in, f, h->in + h->n_in * h->in_width, some * h->in_width, w) < 0)
		return -1;
	if (!served_left(q))
		batch_add(v, q);
	q->ready += some;
	h->n_in += some;
	return (long)some;
}

/* Whether a frame of logits would begin in a batch with other sequences and end in a later batch, with `end ` frames of
 * those sequences in between. */
static int ends_apart(const struct serve *v, const struct served *q, const struct frame *f)
{
	size_t room = v->plan->setup.batch - v->hidden.n_in;

	return q->every && v->queue && v->queue != q && (f->rows > room || f->rows < q->end - q->ready);
}

int hidden_take(struct serve *v, struct frame_in *in, const struct frame *f, struct why *w)
{
	struct served *q = served_find(v->served, f->seq);
	size_t left = f->rows;
	long some;

	if (check_frame(v, q, f, w) < 0)
		return frame_why(in, w);
	if (check_all(v, q, f->pos, w) < 0 || go_back(q, f->pos, w) < 0)
		return 1;
	if (ends_apart(v, q, f) && batch_run(v, w) < 0)
		return -1;
	for (; left; left -= (size_t)some) {
		if (v->hidden.n_in == v->plan->setup.batch && batch_run(v, w) < 0)
			return -1;
		if ((some = read_some(v, q, in, f, left, w)) < 0)
			return -1;
	}
	v->hidden.open = q->every && q->ready < q->end ? q : NULL;
	return 0;
}

int hidden_check_end(const struct serve *v, struct why *w)
{
	struct sequence **all;
	int status = 0;

	if (!v->hidden.in)
		return 0;
	if (!(all = sequences_all(&v->served->table, w)))
		return -1;
	for (size_t i = 0; i < v->served->table.n && status == 0; i++) {
		const struct served *q = (const struct served *)all[i];

		if (q->end > q->ready)
			status = why(w, "hidden states: the input ends before position %zu", q->ready);
	}
	free(all);
	return status;
}

/* ---- writing ---- */

int hidden_write(struct serve *v, struct why *w)
{
	struct hidden *h = &v->hidden;
	size_t row = 0;

	for (size_t i = 0; i < v->n_runs; row += v->run[i++].n) {
		struct frame f = { .kind = FRAME_HIDDEN, .rows = (uint32_t)v->run[i].n, .cols = (uint32_t)h->out_width,
			.type = FRAME_F32, .flags = (uint32_t)v->plan->setup.last,
			.pos = (uint32_t)(v->run_of[i]->state->length - v->run[i].n),
			.seq = v->run_of[i]->sequence.number };

		v->run_of[i]->header_written |= v->run_of[i]->every;
		split_give(v->plan, row, v->run[i].n, h->out);
		if (frame_write(v->out, &f, h->out, w) < 0)
			return -1;
	}
	return 0;
}

size_t hidden_sequences(const struct serve *v)
{
	size_t parts = v->hidden.stages;

	return parts > 1 ? size_divide_up(v->served->n_live, parts) : SIZE_MAX;
}
