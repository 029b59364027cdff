/* The loop for one sequence, frame by frame. Reading and writing may block, because every stage waits for the one
 * before it. */
#include "loop.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/size.h"
#include "draft.h"

enum { EVERY = 200 };           /* milliseconds between calls of idle() */

void loop_init(struct loop *l)
{
	*l = (struct loop){ .out = -1, .copy = -1, .text = -1, .n = LOOP_NO_LIMIT };
}

void loop_close(struct loop *l)
{
	free(l->seq.id);
	free(l->payload);
	l->payload = NULL;
	l->room = 0;
}

/* After a failed write to `out` or `copy`: if the reader is gone, the loop ends, as SIGPIPE ends a filter; everything
 * else is an error. */
static int failed(struct loop *l, int which)
{
	if (errno == EPIPE)
		l->gone |= which;
	return -1;
}

static int write_ids(struct loop *l, const int32_t *ids, size_t n, uint32_t pos, uint32_t flags, struct why *w)
{
	return frame_write_ids(l->out, ids, (uint32_t)n, pos, flags, 0, w) ? failed(l, LOOP_OUT) : 0;
}

static int read_payload(struct loop *l, struct frame_in *in, const struct frame *f, struct why *w)
{
	return frame_read_all(in, f, &l->payload, &l->room, w);
}

/* Writes the frame whose payload was read to the copy. */
static int write_copy(struct loop *l, const struct frame *f, struct why *w)
{
	struct frame shown = *f;

	if (f->pos != FRAME_APPEND)
		shown.pos += l->moved;
	return l->copy >= 0 && frame_write(l->copy, &shown, l->payload, w) ? failed(l, LOOP_COPY) : 0;
}

/* ---- the prompt ---- */

static int not_kept(struct loop *l, struct why *w)
{
	l->rejected = 1;
	return why(w, "--kv %s: holds a text of %zu tokens with which the prompt does not begin: --append continues "
		"it; another name keeps both; kv rm %s removes it", l->kv, l->kept.n, l->kv);
}

/* fwd would discard the kept ids from the first one on that differs. */
static int check_kept(struct loop *l, struct why *w)
{
	size_t n = size_min(l->kept.n, l->seq.n);

	return n && memcmp(l->kept.id, l->seq.id, n * sizeof *l->seq.id) ? not_kept(l, w) : 0;
}

static int prompt_ids(struct loop *l, const struct frame *f, struct why *w)
{
	if (read_payload(l, &l->in, f, w) || ids_append(&l->seq, l->payload, f->rows, w))
		return -1;
	if (check_kept(l, w))
		return -1;
	/* without a generation there is nothing to evaluate */
	if (l->n && !l->kept.n && write_ids(l, l->payload, f->rows, f->pos, f->flags, w))
		return -1;
	if (l->n && l->kept.n && l->seq.n >= l->kept.n) {
		/* now those that were held back */
		l->kept.n = 0;
		if (write_ids(l, l->seq.id, l->seq.n, f->pos - (uint32_t)(l->seq.n - f->rows), f->flags, w))
			return -1;
	}
	if (f->pos != FRAME_APPEND && !l->placed) {
		l->placed = 1;
		l->base = f->pos;
	}
	l->n_prompt = l->seq.n;
	if (!l->r)
		return 0;
	l->r->passes += l->n != 0;
	return ids_append(&l->r->prompt, l->payload, f->rows, w);
}

int loop_prompt(struct loop *l, struct why *w)
{
	struct frame f;
	int got;

	while ((got = frame_next(&l->in, &f, w)) > 0) {
		if (f.seq) {
			why(w, "sequence %" PRIu32 ": only with -j", f.seq);
			return frame_why(&l->in, w);
		}
		if (f.kind == FRAME_IDS && prompt_ids(l, &f, w))
			return -1;
		if (f.kind != FRAME_CARD)
			continue;
		/* at once, so that fwd and the readers of the copy can start */
		if (card_read(&l->in, &f, &l->card, w))
			return -1;
		if (card_write(l->out, &l->card, w))
			return failed(l, LOOP_OUT);
		if (l->copy >= 0 && card_write(l->copy, &l->card, w))
			return failed(l, LOOP_COPY);
	}
	if (!got && l->kept.n)
		return not_kept(l, w);
	return !got && l->draft && l->card.n_vocab ? draft_start(l->draft, &l->card, &l->seq, w) : got;
}

int loop_send(struct loop *l, const int32_t *ids, size_t n, uint32_t pos, struct why *w)
{
	l->seq.n = 0;
	l->placed = 1;
	l->base = pos;
	l->n_prompt = n;
	l->moved = 0;
	if (l->r)
		l->r->passes++;
	return ids_append(&l->seq, ids, n, w) || write_ids(l, ids, n, pos, 0, w) ? -1 : 0;
}

/* ---- ids that come back ---- */

/* The reason why nothing can follow the id at pos, or 0. */
static int over(const struct loop *l, int32_t id, uint32_t pos)
{
	if (l->card.n_vocab && card_is_eog(&l->card, id))
		return FRAME_END_EOG;
	if (l->drawn == l->n)
		return FRAME_END_LENGTH;
	return l->card.n_ctx && pos >= (uint32_t)l->card.n_ctx ? FRAME_END_CONTEXT : 0;
}

/* Sends ids[n] to fwd, the first at position pos. Appends guesses to a single id. */
static int forward(struct loop *l, const int32_t *ids, size_t n, uint32_t pos, size_t accepted, struct why *w)
{
	size_t room = l->card.n_ctx ? (size_t)l->card.n_ctx - pos - 1 : GUESSES_MAX;
	int32_t with[1 + GUESSES_MAX];
	int guesses = 0;

	/* the sampler draws one id more than there are guesses */
	if (l->n != LOOP_NO_LIMIT)
		room = size_min(room, (size_t)(l->n - l->drawn) - 1);
	if (l->draft && n == 1)
		guesses = draft_propose(l->draft, &l->card, &l->seq, accepted, with + 1, room, w);
	if (guesses < 0)
		return -1;
	with[0] = ids[0];
	if (l->r)
		l->r->passes++;
	l->valid = pos + (uint32_t)n;
	l->held = l->valid + (uint32_t)guesses;
	if (guesses)
		return write_ids(l, with, 1 + (size_t)guesses, pos, FRAME_SAMPLED | FRAME_GUESS, w);
	return write_ids(l, ids, n, pos, FRAME_SAMPLED, w);
}

/* Makes fwd discard what it has evaluated of rejected guesses. */
static int discard_rejected(struct loop *l, struct why *w)
{
	int32_t none = 0;

	if (l->held <= l->valid || l->out < 0)
		return 0;
	l->held = l->valid;
	return write_ids(l, &none, 0, l->valid, FRAME_SAMPLED, w);
}

/* The number of ids in ids[n], drawn for pos, that fwd has evaluated already, as guesses. */
static size_t count_accepted(const struct loop *l, const int32_t *ids, uint32_t pos, size_t n)
{
	if (l->held <= l->valid || pos != l->valid)
		return 0;
	return draft_matches(l->draft, ids, size_min(n, l->held - l->valid));
}

/* Ends the generation here, not by an `end ` frame. If more generations may follow, the reader of the copy gets such a
 * frame. */
static int end_here(struct loop *l, int reason, uint32_t pos, struct why *w)
{
	l->stale = l->whole = 1;
	l->full += reason == FRAME_END_CONTEXT;
	if (l->r)
		l->r->reason = (uint32_t)reason;
	if (l->turns && l->copy >= 0 && frame_write_end(l->copy, (enum frame_reason)reason, pos + l->moved, 0, w))
		return failed(l, LOOP_COPY);
	return discard_rejected(l, w) ? -1 : 1;
}

int loop_no_canvas(struct loop *l, struct why *w)
{
	l->rejected = 1;
	return why(w, "%s: ids without a canvas: the sampler does not support diffusion models", l->back.name);
}

int loop_no_ids(struct loop *l, struct why *w)
{
	l->rejected = 1;
	return why(w, "%s: logits, where a sampler's ids are expected", l->back.name);
}

/* The position of a frame from the sampler, given as pos or FRAME_APPEND, whose first `known` ids the sequence has
 * already. The first position that a frame gives also fixes where the sequence starts. */
static uint32_t frame_position(struct loop *l, uint32_t pos, uint32_t known)
{
	if (pos == FRAME_APPEND)
		return l->base + (uint32_t)l->seq.n - known;
	if (!l->placed) {
		l->placed = 1;
		l->base = pos + known - (uint32_t)l->seq.n;
	}
	return pos;
}

/* Sends a canvas to fwd, which then has the ids before its first mask. */
static int canvas_back(struct loop *l, const struct frame *f, struct why *w)
{
	const int32_t *ids = l->payload;
	struct frame out = *f;
	uint32_t n = 1;         /* the id before the canvas, which may be a mask of the prompt */

	if (l->reason)
		return 0;
	out.pos = frame_position(l, out.pos, 1);
	/* the first canvas of this generation begins with the last id of its prompt */
	if (l->stale && l->n_prompt && (out.pos != l->base + l->n_prompt - 1 || *ids != l->seq.id[l->n_prompt - 1]))
		return 0;
	while (n < out.rows && ids[n] != l->card.mask_id)
		n++;
	l->stale = 0;
	l->canvas = 1;
	l->valid = out.pos + n;
	l->held = out.pos + out.rows;
	if (l->r)
		l->r->passes++;
	return frame_write(l->out, &out, ids, w) ? failed(l, LOOP_OUT) : 0;
}

/* The number of drawn ids that fwd has, after n more of them, of which it had `accepted`. */
static size_t evaluated(const struct loop *l, size_t n, size_t accepted)
{
	if (l->card.diffusion)
		return size_min(l->r->ids.n + n, l->valid - l->base - l->n_prompt);
	return l->r->ids.n + (l->reason ? accepted : n);
}

/* Handles drawn ids. After the end of the generation they only go to the copy. */
static int ids_back(struct loop *l, const struct frame *f, struct why *w)
{
	const int32_t *ids = l->payload;
	size_t n = 0, accepted, from;
	uint32_t pos;

	if (l->reason || !(f->flags & FRAME_SAMPLED) || !f->rows)
		return write_copy(l, f, w);
	pos = frame_position(l, f->pos, 0);
	if (l->card.diffusion && !l->canvas)
		return loop_no_canvas(l, w);
	if (l->draft && pos != l->base + l->seq.n) {
		l->rejected = 1;
		return why(w, "%s: ids for position %u, not %u: the sampler does not support guesses", l->back.name,
			(unsigned)pos, (unsigned)(l->base + l->seq.n));
	}
	l->stale = 0;
	for (; n < f->rows && !l->reason; n++) {
		l->drawn++;
		l->reason = over(l, ids[n], pos + (uint32_t)n);
	}
	accepted = l->card.diffusion ? 0 : count_accepted(l, ids, pos, n);
	l->valid += (uint32_t)accepted;
	from = accepted < n ? accepted : n - 1;
	if (ids_append(&l->seq, ids, n, w))
		return -1;
	if (l->r)
		l->r->evaluated = evaluated(l, n, accepted);
	if (!l->reason && !l->card.diffusion && forward(l, ids + from, n - from, pos + (uint32_t)from, accepted, w))
		return -1;
	if (write_copy(l, f, w))
		return -1;
	return l->r && result_ids(l->r, ids, n, pos + l->moved, w) ? -1 : 0;
}

/* ---- everything that comes back ---- */

static int end_back(struct loop *l, const struct frame *f, struct why *w)
{
	if (l->r)
		result_end(l->r, f->flags, l->payload, f->rows);
	l->full += f->flags == FRAME_END_CONTEXT;
	l->whole = 1;
	/* a filter has found a stop string: the sampler may still end the generation, too */
	l->stale |= f->rows > 0;
	return write_copy(l, f, w) || discard_rejected(l, w) ? -1 : 1;
}

static int card_back(struct loop *l, const struct frame *f, struct why *w)
{
	if (card_read(&l->back, f, &l->card, w))
		return -1;
	if (l->draft && l->card.diffusion) {
		l->rejected = 1;
		return why(w, "--draft: the tokens of a diffusion model cannot be guessed");
	}
	return l->copy >= 0 && card_write(l->copy, &l->card, w) ? failed(l, LOOP_COPY) : 0;
}

/* Handles a frame of `back`. Returns 0: the generation continues; 1: it is over; -1: error. */
static int frame_back(struct loop *l, const struct frame *f, struct why *w)
{
	if (f->kind == FRAME_LOGITS)
		return loop_no_ids(l, w);
	if (f->kind == FRAME_HIDDEN)
		return 0;
	if (f->kind == FRAME_CARD)
		return card_back(l, f, w);
	if (read_payload(l, &l->back, f, w))
		return -1;
	if (f->kind == FRAME_IDS)
		return ids_back(l, f, w);
	if (f->kind == FRAME_CANVAS)
		return canvas_back(l, f, w);
	if (f->kind == FRAME_END)
		return end_back(l, f, w);
	if (l->r && f->rows && result_logprobs(l->r, f->pos + l->moved, l->payload, f->rows, w))
		return -1;
	return write_copy(l, f, w);
}

/* Whether the frame still belongs to a generation that was ended here; it is skipped. */
static int is_stale(const struct loop *l, const struct frame *f)
{
	return l->stale && (f->kind == FRAME_LOGPROBS || (f->kind == FRAME_END && f->flags != FRAME_END_INTERRUPT));
}

/* Whether the user has ended the generation, and the sampler waits: after an id, or after a canvas. */
static int is_cancelled(const struct loop *l, const struct frame *f)
{
	return f->kind == (l->card.diffusion ? FRAME_CANVAS : FRAME_IDS) && l->cancelled && l->cancelled();
}

/* Whether everything that belongs to the last id has arrived. */
static int is_complete(const struct loop *l, const struct frame *f)
{
	return l->reason && (!l->logprobs || (f->kind == FRAME_LOGPROBS && f->pos == l->base + l->seq.n - 1));
}

/* Waits for a frame, which may take long before the first id, or until a reader of the copy is gone; then `back` ends
 * as soon as the stages before it notice. Meanwhile shows what the reader prints. */
static void await(struct loop *l)
{
	/* without events, poll() reports a pipe without readers */
	struct pollfd ready[3] = { { .fd = l->back.fd, .events = POLLIN }, { .fd = l->copy },
		{ .fd = l->text, .events = POLLIN } };
	int got, waits = l->idle && !l->drawn;

	if (l->back.used < l->back.have)
		return;
	while ((got = poll(ready, 3, EVERY)) == 0 || (got < 0 && errno == EINTR) || ready[2].revents) {
		if (got > 0)
			l->show(l);
		else if (waits)
			l->idle(l, 1);
		if (got > 0 && (ready[0].revents || ready[1].revents || l->gone))
			break;
		ready[2].revents = 0;
	}
	if (waits)
		l->idle(l, 0);
	if (!ready[0].revents && ready[1].revents & (POLLERR | POLLHUP | POLLNVAL))
		l->gone |= LOOP_COPY;
}

/* Like frame_next(), but returns 0 also if a reader is gone. */
static int next_back(struct loop *l, struct frame *f, struct why *w)
{
	if ((l->idle && !l->drawn) || l->text >= 0)
		await(l);
	return l->gone ? 0 : frame_next(&l->back, f, w);
}

int loop_card(struct loop *l, struct why *w)
{
	struct frame f = { .kind = 0 };
	int got = 1;

	if (frame_write_end(l->out, FRAME_END_EOG, 0, 0, w))
		return failed(l, LOOP_OUT);
	while (f.kind != FRAME_END) {
		if ((got = next_back(l, &f, w)) <= 0) {
			l->gone |= got ? 0 : LOOP_OUT;
			return -1;
		}
		if (f.kind == FRAME_CARD && frame_back(l, &f, w))
			return -1;
	}
	return 0;
}

int loop_move(struct loop *l, const int32_t *ids, size_t n, size_t keep, struct why *w)
{
	l->reason = 0;
	l->moved += l->base + (uint32_t)l->seq.n - (uint32_t)n;
	l->base = (uint32_t)keep;
	l->seq.n = 0;
	if (l->r) {
		l->r->passes++;
		l->r->evaluated = l->r->ids.n;
	}
	return ids_append(&l->seq, ids + keep, n - keep, w)
		|| write_ids(l, ids + keep, n - keep, (uint32_t)keep, FRAME_SAMPLED, w) ? -1 : 0;
}

int loop_turn(struct loop *l, struct why *w)
{
	int got, status = 0;
	struct frame f;

	l->drawn = l->reason = 0;
	l->valid = l->held = 0;
	l->canvas = 0;
	while (!status) {
		if ((got = next_back(l, &f, w)) <= 0)
			return got;
		if (is_stale(l, &f))
			continue;
		if (is_cancelled(l, &f))
			return end_here(l, FRAME_END_LENGTH, l->base + (uint32_t)l->seq.n, w);
		status = frame_back(l, &f, w);
		if (status || !is_complete(l, &f))
			continue;
		status = l->reason == FRAME_END_CONTEXT && l->make_room ? l->make_room(l, w) : 0;
		if (status <= 0)
			return status ? -1 : end_here(l, l->reason, l->base + (uint32_t)l->seq.n, w);
		status = 0;
	}
	return status < 0 && l->gone ? 0 : status;
}

int loop_run(struct loop *l, struct why *w)
{
	int status = l->n && l->seq.n ? loop_turn(l, w) : 0;

	l->whole |= !l->n || !l->seq.n;
	if (!l->n && l->r)
		l->r->reason = FRAME_END_LENGTH;
	/* otherwise fwd, which goes on to wait, is not the stage that has ended too early */
	if (l->whole && l->out >= 0) {
		close(l->out);
		l->out = -1;
	}
	return status < 0 && !l->gone ? -1 : 0;
}

int loop_drain(struct loop *l, struct why *w)
{
	struct frame f;
	int got = 0, status = 0;

	/* from here on, ids only go to the copy; that fwd does not read any more is no reason to stop */
	l->reason = FRAME_END_LENGTH;
	l->gone &= ~LOOP_OUT;
	while (status >= 0 && (got = next_back(l, &f, w)) > 0) {
		if (f.kind == FRAME_IDS && f.flags & FRAME_SAMPLED)
			l->drawn++;
		status = frame_back(l, &f, w);
	}
	return l->gone ? 0 : status < 0 ? -1 : got;
}
