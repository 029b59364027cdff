/* Row by row from fwd to sample. */
#include "relay.h"

#include <stdlib.h>

#include "draft.h"
#include "progress.h"

static int take_card(struct relay *y, const struct frame *f, struct why *w)
{
	if (card_read(&y->in, f, &y->card, w))
		return -1;
	free(y->row);
	free(y->first);
	y->row = malloc((size_t)y->card.n_vocab * sizeof *y->row);
	y->first = malloc((size_t)y->card.n_vocab * sizeof *y->first);
	return y->row && y->first ? 0 : why(w, "out of memory");
}

/* Reads to the next frame of that kind. */
static int await(struct relay *y, uint32_t kind, struct frame *f, struct why *w)
{
	int got;

	while ((got = frame_next(&y->in, f, w)) > 0 && f->kind != kind)
		if (f->kind == FRAME_CARD && take_card(y, f, w))
			return -1;
	if (got == 0)
		return why(w, "fwd ended before the text did");
	if (got > 0 && kind == FRAME_LOGITS && (!y->row || f->cols != (uint32_t)y->card.n_vocab))
		return why(w, "fwd: logits that do not suit its card");
	return got < 0 ? -1 : 0;
}

/* Tells sample of ids[n] at pos, and the row after them. It may have ended; then its `end ` frame says why. */
static void offer(struct relay *y, const int32_t *ids, size_t n, uint32_t pos, uint32_t flags, const float *row)
{
	struct frame f = { .kind = FRAME_LOGITS, .rows = 1, .cols = (uint32_t)y->card.n_vocab, .type = FRAME_F32, .pos = pos + (uint32_t)n - 1 };
	struct why ignored;

	if (frame_write_ids(y->l->to_sample, ids, (uint32_t)n, pos, flags, 0, &ignored) == 0)
		frame_write(y->l->to_sample, &f, row, &ignored);
}

int relay_open(struct relay *y, struct loop *l, const struct ids *prompt, struct why *w)
{
	struct frame f;

	*y = (struct relay){ .l = l };
	frame_open_in(&y->in, l->from_fwd, "fwd");
	if (!prompt->n)
		return why(w, "an empty prompt");
	for (size_t i = 0; i < prompt->n; i++)
		if (ids_add(&y->seq, prompt->id[i]))
			return why(w, "out of memory");
	if (frame_write_ids(l->to_fwd, prompt->id, (uint32_t)prompt->n, 0, 0, 0, w) || await(y, FRAME_IDS, &f, w) || frame_skip(&y->in, &f, f.rows, w))
		return -1;
	progress_wait(&y->in, l->begin, prompt->n, NULL, NULL);
	if (await(y, FRAME_LOGITS, &f, w) || frame_skip(&y->in, &f, (uint64_t)(f.rows - 1) * f.cols, w))
		return -1;
	return frame_read_floats(&y->in, &f, y->first, f.cols, w);
}

void relay_close(struct relay *y)
{
	free(y->row);
	free(y->first);
	free(y->seq.id);
}

/* fwd goes back to the first n ids, and has nothing more to say. */
static int cut_back(struct relay *y, size_t n, struct why *w)
{
	struct frame f;
	int32_t none = 0;

	return frame_write_ids(y->l->to_fwd, &none, 0, (uint32_t)n, 0, 0, w) || await(y, FRAME_IDS, &f, w) ? -1 : 0;
}

/* What of ids[1 + n] was evaluated at once and is still to be drawn. */
struct ahead {
	int32_t ids[1 + DRAFT_MAX];
	size_t n, used;
	struct frame rows;
};

/* The row after `id`, which stands last in the sequence: the one that was made in advance, or a new one, with proposals behind it. */
static int next_row(struct relay *y, struct ahead *a, struct result *r, struct draft *d, struct why *w)
{
	size_t pos = y->seq.n - 1, room = y->card.n_ctx ? (size_t)y->card.n_ctx - pos - 1 : DRAFT_MAX;
	int32_t id = y->seq.id[pos];
	int n = 0;

	if (a->used < a->n && a->ids[1 + a->used] == id) {
		a->used++;
	} else {
		if (d && (n = draft_propose(d, &y->seq, a->used, a->ids + 1, room, w)) < 0)
			return -1;
		a->ids[0] = id;
		a->n = (size_t)n;
		a->used = 0;
		r->passes++;
		if (frame_write_ids(y->l->to_fwd, a->ids, (uint32_t)(1 + a->n), (uint32_t)pos, FRAME_SAMPLED, 0, w) || await(y, FRAME_LOGITS, &a->rows, w))
			return -1;
		if (a->rows.rows != 1 + a->n)
			return why(w, "fwd: %u rows for %zu ids", (unsigned)a->rows.rows, 1 + a->n);
	}
	r->evaluated++;
	return frame_read_floats(&y->in, &a->rows, y->row, a->rows.cols, w);
}

int relay_turn(struct relay *y, struct result *r, struct draft *d, struct why *w)
{
	struct ahead ahead = { .n = 0 };
	struct loop *l = y->l;
	struct why ignored;
	int32_t id;
	int got, over;

	loop_begin(l, r);
	y->seq.n = r->prompt.n;
	card_write(l->to_sample, &y->card, &ignored);
	offer(y, y->seq.id, y->seq.n, 0, 0, y->first);
	while ((got = loop_pick(l, r, (uint32_t)y->seq.n, &id, &over, w)) > 0) {
		if (over)
			break;
		if (ids_add(&y->seq, id))
			return why(w, "out of memory");
		if (next_row(y, &ahead, r, d, w))
			return -1;
		offer(y, &id, 1, (uint32_t)y->seq.n - 1, FRAME_SAMPLED, y->row);
	}
	return got < 0 || cut_back(y, r->prompt.n + r->evaluated, w) ? -1 : 1;
}
