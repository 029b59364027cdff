/* Passes ids until their text completes a stop string; the `end ` frame replaces what follows. */
#include "filter.h"

#include <stdlib.h>

#include "lib/stream/sequences.h"
#include "stops.h"

enum { OUT = 1 };

/* The text of a sequence so far. */
struct passage {
	struct sequence sequence;
	struct printer printer;
	uint32_t first, next;   /* positions of the first id of the last frame passed, and after its last id */
	int found;              /* number of the stop string whose `end ` frame is due; -1: none */
	int refused;            /* its options were refused; sequence 0 */
};

struct filter {
	const struct printer *p;
	const struct settings *set;
	struct frame_in *in;
	struct sequences passages;
	int32_t *ids;           /* of the current frame */
	char *words;            /* of the current frame of options */
	size_t room, words_room;        /* bytes */
};

static struct passage *open_passage(struct filter *l, const struct passage *from, uint32_t seq, struct why *w)
{
	struct passage *g = malloc(sizeof *g);

	if (!g) {
		why(w, "out of memory");
		return NULL;
	}
	*g = *from;
	if (!printer_fork(&g->printer, &from->printer, w) && !sequences_add(&l->passages, &g->sequence, seq, w))
		return g;
	printer_close(&g->printer);
	free(g);
	return NULL;
}

static void free_passage(struct passage *g)
{
	printer_close(&g->printer);
	free(g);
}

/* Ends the passage's sequence; sequence 0 continues. */
static int end_passage(struct filter *l, struct passage *g, struct why *w)
{
	if (!g->sequence.number)
		return 0;
	if (sequences_end(&l->passages, g->sequence.number, w))
		return -1;
	free_passage(g);
	return 0;
}

static int write_end(struct filter *l, struct passage *g, struct why *w)
{
	size_t n;
	const char *s = stop_string(g->printer.stop, g->found, &n);

	g->found = -1;
	g->first = g->next;
	return frame_write_stop(OUT, s, n, g->next, g->sequence.number, w) || end_passage(l, g, w) ? -1 : 0;
}

/* Passes a frame of ids. Ids that do not continue the text begin another one. */
static int pass_ids(struct filter *l, struct passage *g, const struct frame *f, struct why *w)
{
	uint32_t n = 0;
	int found = 0;

	if (frame_read_all(l->in, f, &l->ids, &l->room, w))
		return -1;
	if (f->pos != g->next)
		printer_end(&g->printer);
	while (n < f->rows && !found) {
		if (card_check_id(l->ids[n], l->p->card->n_vocab, w))
			return frame_why(l->in, w);
		found = printer_id(&g->printer, l->ids[n++], 1);
	}
	g->first = f->pos;
	g->next = frame_after(f->pos, n);
	if (found) {
		g->found = g->printer.found;
		printer_end(&g->printer);
	}
	return frame_write_ids(OUT, l->ids, n, f->pos, f->flags, f->seq, w);
}

static int pass_fork(struct filter *l, const struct frame *f, struct why *w)
{
	const struct passage *from;
	uint32_t source;

	if (frame_read(l->in, f, &source, 1, w) || frame_write(OUT, f, &source, w))
		return -1;
	from = (const struct passage *)sequences_find(&l->passages, source);
	return from && !sequences_find(&l->passages, f->seq) && !open_passage(l, from, f->seq, w) ? -1 : 0;
}

/* Passes options, or ends their sequence in place of that. Returns 1 if that is sequence 0. */
static int pass_options(struct filter *l, struct passage *g, const struct frame *f, struct why *w)
{
	struct why reason;

	if (frame_read_all(l->in, f, &l->words, &l->words_room, w))
		return -1;
	g->found = -1;
	g->refused = stops_change(&g->printer, l->p, l->set->c, l->words, f->rows, &reason) < 0;
	if (!g->refused)
		return frame_write(OUT, f, l->words, w);
	return frame_write_refusal(OUT, &reason, f->seq, w) || end_passage(l, g, w) ? -1 : !f->seq;
}

/* Handles a frame. Returns 1 if the generation of sequence 0 has ended here. */
static int pass(struct filter *l, const struct frame *f, struct why *w)
{
	struct passage fresh = { .printer = *l->p, .found = -1 };
	struct passage *g = (struct passage *)sequences_find(&l->passages, f->seq);

	if (sequences_is_over(&l->passages, f->seq))
		return 0;
	if (l->set->generated && f->kind == FRAME_IDS && !(f->flags & FRAME_SAMPLED))
		return frame_copy(l->in, f, OUT, w);
	if (f->kind == FRAME_FORK)
		return pass_fork(l, f, w);
	if ((f->kind == FRAME_IDS || f->kind == FRAME_OPTS) && !g && !(g = open_passage(l, &fresh, f->seq, w)))
		return -1;
	if (f->kind == FRAME_OPTS)
		return pass_options(l, g, f, w);
	if (g && g->refused && f->kind != FRAME_CARD)
		return 0;
	if (f->kind == FRAME_LOGPROBS)
		return g && f->pos >= g->first && f->pos < g->next ? frame_copy(l->in, f, OUT, w) : 0;
	/* the loop has ended that generation itself, and another has begun */
	if (g && g->found >= 0 && f->kind == FRAME_IDS && f->pos != g->next)
		g->found = -1;
	if (g && g->found >= 0 && (f->kind == FRAME_IDS || f->kind == FRAME_CANVAS || f->kind == FRAME_END))
		return write_end(l, g, w) ? -1 : !f->seq;
	if (f->kind == FRAME_IDS)
		return pass_ids(l, g, f, w);
	if (f->kind != FRAME_END || !g)
		return frame_copy(l->in, f, OUT, w);
	printer_end(&g->printer);
	return frame_copy(l->in, f, OUT, w) || end_passage(l, g, w) ? -1 : 0;
}

/* At the end of the input: writes the `end ` frames that are still due. */
static int finish(struct filter *l, struct why *w)
{
	struct sequence **all = sequences_all(&l->passages, w);
	size_t n = l->passages.n;
	int status = all ? 0 : -1;

	for (size_t i = 0; all && i < n; i++) {
		struct passage *g = (struct passage *)all[i];

		if (g->found >= 0 && !status)
			status = write_end(l, g, w);
	}
	free(all);
	return status;
}

static void close_filter(struct filter *l)
{
	struct sequence *s;

	while ((s = sequences_take(&l->passages)))
		free_passage((struct passage *)s);
	free(l->ids);
	free(l->words);
}

int filter_stop(const struct printer *p, const struct settings *set, struct frame_in *in, struct why *w)
{
	struct filter l = { .p = p, .set = set, .in = in };
	int got = 0, status = 0, many = 0;
	struct frame f;

	while (status >= 0 && (set->turns || many || !status) && (got = frame_next(in, &f, w)) > 0) {
		many |= f.seq != 0;
		status = pass(&l, &f, w);
	}
	if (status >= 0 && got == 0 && finish(&l, w))
		status = -1;
	close_filter(&l);
	return status < 0 || got < 0 ? -1 : 0;
}
