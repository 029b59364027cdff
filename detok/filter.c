/* Stop strings in the loop. */
#include "filter.h"

#include <stdlib.h>

enum { OUT = 1 };

struct filter {
	struct printer *p;
	struct frame_in *in;
	int32_t *ids;           /* of the frame under way */
	size_t room;            /* bytes */
	uint32_t first, next;   /* positions of the ids of the last frame that passed, and the one after them */
	uint32_t seq;
	int found;              /* number of the stop string whose `end ` is due; -1: none */
};

static int write_end(struct filter *l, struct why *w)
{
	size_t n;
	const char *s = stop_string(l->p->stop, l->found, &n);

	l->found = -1;
	return frame_write_stop(OUT, s, n, l->next, l->seq, w);
}

/* Ids that do not continue the text begin another. */
static int pass_ids(struct filter *l, const struct frame *f, struct why *w)
{
	uint32_t n = 0;
	int found = 0;

	if (frame_read_all(l->in, f, &l->ids, &l->room, w))
		return -1;
	if (f->pos != l->next)
		printer_end(l->p);
	while (n < f->rows && !found) {
		if (card_check_id(l->ids[n], l->p->n_vocab, w))
			return frame_why(l->in, w);
		found = printer_id(l->p, l->ids[n++], 1);
	}
	l->first = f->pos;
	l->next = f->pos == FRAME_APPEND ? FRAME_APPEND : f->pos + n;
	l->seq = f->seq;
	if (found) {
		l->found = l->p->found;
		printer_end(l->p);
	}
	return frame_write_ids(OUT, l->ids, n, f->pos, f->flags, f->seq, w);
}

/* 1: a stop string has ended the generation. */
static int pass(struct filter *l, const struct frame *f, struct why *w)
{
	int due = l->found >= 0;

	if (f->kind == FRAME_LOGPROBS)
		return f->pos >= l->first && f->pos < l->next ? frame_copy(l->in, f, OUT, w) : 0;
	if (due && (f->kind == FRAME_IDS || f->kind == FRAME_END)) {
		l->first = l->next;
		return write_end(l, w) ? -1 : 1;
	}
	if (f->kind == FRAME_IDS)
		return pass_ids(l, f, w);
	if (f->kind == FRAME_END)
		printer_end(l->p);
	return frame_copy(l->in, f, OUT, w);
}

int filter_stop(struct printer *p, struct frame_in *in, int turns, struct why *w)
{
	struct filter l = { .p = p, .in = in, .found = -1 };
	struct frame f;
	int got, status = 0;

	while (status >= 0 && (turns || !status) && (got = frame_next(in, &f, w)) > 0)
		status = pass(&l, &f, w);
	if (!status && got == 0 && l.found >= 0)
		status = write_end(&l, w);
	free(l.ids);
	return status < 0 || got < 0 ? -1 : 0;
}
