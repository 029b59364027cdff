/* A recorded text is the ids with the flag of a sampler, in order; what else the stream has is skipped. */
#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the file ---- */

/* The text of a frame's sequence, which may be new. NULL: out of memory. */
static struct recorded *text_of(struct replay *r, const struct frame *f, struct why *w)
{
	struct recorded *t = (struct recorded *)sequences_find(&r->texts, f->seq);

	if (t)
		return t;
	if (!(t = calloc(1, sizeof *t))) {
		why(w, "out of memory");
		return NULL;
	}
	t->pos = f->pos;
	if (!sequences_add(&r->texts, &t->sequence, f->seq, w))
		return t;
	free(t);
	return NULL;
}

/* Whether a frame of ids does not continue its text. */
static int check_next(const struct recorded *t, const struct frame *f, struct why *w)
{
	if (!t->ended && (f->pos == FRAME_APPEND || (t->pos != FRAME_APPEND && f->pos - t->pos == t->ids.n)))
		return 0;
	return why(w, "sequence %" PRIu32 " has several texts, or parts of one", f->seq);
}

static int take_ids(struct replay *r, struct frame_in *in, const struct frame *f, struct why *w)
{
	struct recorded *t = text_of(r, f, w);
	int32_t ids[1024];
	uint32_t n;

	if (!t || check_next(t, f, w))
		return -1;
	r->left += !t->ids.n;
	for (uint32_t i = 0; i < f->rows; i += n) {
		n = f->rows - i < 1024 ? f->rows - i : 1024;
		if (frame_read(in, f, ids, n, w) || ids_append(&t->ids, ids, n, w))
			return -1;
	}
	return 0;
}

/* Handles a frame. A text that the loop has ended, and not the sampler, has no `end ` frame. */
static int take(struct replay *r, struct frame_in *in, const struct frame *f, struct why *w)
{
	struct recorded *t;

	if (f->kind == FRAME_CARD)
		return r->card.n_vocab ? 0 : card_read(in, f, &r->card, w);
	if (f->kind == FRAME_CANVAS)
		return why(w, "a text of a diffusion model, which cannot be replayed");
	if (f->kind == FRAME_IDS && f->flags & FRAME_SAMPLED && f->rows)
		return take_ids(r, in, f, w);
	if (f->kind != FRAME_END || f->seq == FRAME_NO_SEQ)
		return 0;
	if (!(t = text_of(r, f, w)))
		return -1;
	t->ended = 1;
	return 0;
}

int replay_read(struct replay *r, struct why *w)
{
	int fd = open(r->name, O_RDONLY | O_CLOEXEC), more;
	static struct frame_in in;
	struct frame f;

	if (fd < 0)
		return why(w, "%s: %s", r->name, strerror(errno));
	frame_open_in(&in, fd, r->name);
	while ((more = frame_next(&in, &f, w)) > 0)
		if (take(r, &in, &f, w)) {
			more = frame_why(&in, w);
			break;
		}
	close(fd);
	return more;
}

void replay_close(struct replay *r)
{
	struct recorded *t;

	while ((t = (struct recorded *)sequences_take(&r->texts))) {
		free(t->ids.id);
		free(t);
	}
}

/* ---- comparing ---- */

struct recorded *replay_find(struct replay *r, uint32_t seq, uint32_t pos, struct why *w)
{
	struct recorded *t = (struct recorded *)sequences_find(&r->texts, seq);

	if (!t)
		why(w, "%s: no text of sequence %" PRIu32, r->name, seq);
	else if (t->ids.n && t->pos != FRAME_APPEND && pos != t->pos)
		why(w, "%s: the text begins at position %" PRIu32 ", but the prompt ends at %" PRIu32, r->name, t->pos,
			pos);
	else
		return t;
	return NULL;
}

/* Nothing of the text is compared after this. */
static void complete(struct replay *r, struct recorded *t)
{
	r->left -= !t->compared && t->ids.n;
	t->compared = 1;
}

static void differ(struct replay *r, struct recorded *t, uint32_t pos, int32_t was, int32_t is)
{
	if (!t->compared && (!r->differs || t->sequence.number < r->seq)) {
		r->differs = 1;
		r->seq = t->sequence.number;
		r->pos = pos;
		r->was = was;
		r->is = is;
	}
	complete(r, t);
}

int replay_same(struct replay *r, struct recorded *t, size_t i, int32_t id, uint32_t pos)
{
	if (i < t->ids.n && t->ids.id[i] == id)
		return 1;
	differ(r, t, pos, i < t->ids.n ? t->ids.id[i] : -1, id);
	return 0;
}

void replay_end(struct replay *r, struct recorded *t, size_t n, uint32_t pos)
{
	if (n < t->ids.n)
		differ(r, t, pos, t->ids.id[n], -1);
	complete(r, t);
}

void replay_tell(const struct replay *r, struct why *w)
{
	char where[32] = "", was[16], is[16];

	if (r->seq)
		snprintf(where, sizeof where, "sequence %" PRIu32 ", ", r->seq);
	snprintf(was, sizeof was, "%" PRId32, r->was);
	snprintf(is, sizeof is, "%" PRId32, r->is);
	why(w, "%sposition %" PRIu32 ": recorded %s, drawn %s", where, r->pos, r->was < 0 ? "the end" : was,
		r->is < 0 ? "the end" : is);
}
