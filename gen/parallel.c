/* The loop for several sequences. One poll(2) watches the prompts, the sampler's output, and the two pipes that are
 * written to; what a pipe does not accept at once waits in a queue. */
#include "parallel.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "lib/base/size.h"
#include "lib/stream/sequences.h"

#ifndef PIPE_BUF
#define PIPE_BUF _POSIX_PIPE_BUF
#endif

enum { EVERY = 200, OUT_MOST = 1 << 16, COPY_MOST = 1 << 20 };  /* milliseconds; most bytes waiting */

/* Bytes to be written. */
struct queue {
	struct bytes bytes;     /* those before `sent` have been written */
	size_t sent;
};

struct live {                   /* a sequence that has not ended */
	struct sequence sequence;
	int64_t drawn;
	int canvas;             /* one of it was sent to fwd */
	int fed;                /* its ids were sent to fwd, so an answer will come */
	int ending;             /* it was ended here, and its `end ` frame has not come back yet */
};

struct parallel {
	struct loop *l;
	struct sequences live;
	size_t active;          /* number of these that are fed and not ending */
	struct queue out, copy;
	struct frame held;      /* frame of the next prompt, whose payload is still unread in `in`, */
	int waiting;            /* if this is set */
	int ended;              /* all prompts have been read */
	int forked;             /* the forks have been started */
	int32_t last;           /* last id of the prompt, */
	uint32_t next;          /* and position after it */
	int drawing;            /* an id has been drawn */
};

/* ---- writing ---- */

static int put(struct queue *q, const struct frame *f, const void *payload, struct why *w)
{
	return frame_append(&q->bytes, f, payload) ? why(w, "out of memory for frames that wait") : 0;
}

/* Queues a frame of ids or a canvas for fwd. */
static int send_rows(struct parallel *p, const struct frame *f, const int32_t *ids, struct why *w)
{
	uint32_t of = f->seq < (uint32_t)p->l->texts ? f->seq : 0;

	if (p->l->r)
		p->l->r[of].passes++;
	return put(&p->out, f, ids, w);
}

static int send_ids(struct parallel *p, const int32_t *ids, uint32_t n, uint32_t pos, uint32_t flags, uint32_t seq,
	struct why *w)
{
	struct frame f = { .kind = FRAME_IDS, .rows = n, .cols = 1, .type = FRAME_I32, .flags = flags, .pos = pos,
		.seq = seq };

	return send_rows(p, &f, ids, w);
}

static int send_end(struct parallel *p, uint32_t reason, uint32_t pos, uint32_t seq, struct why *w)
{
	struct frame f = { .kind = FRAME_END, .cols = 1, .type = FRAME_I32, .flags = reason, .pos = pos, .seq = seq };

	return put(&p->out, &f, NULL, w);
}

/* Writes the frame whose payload was read to the copy. */
static int write_copy(struct parallel *p, const struct frame *f, struct why *w)
{
	return p->l->copy >= 0 ? put(&p->copy, f, p->l->payload, w) : 0;
}

static size_t pending(const struct queue *q)
{
	return q->bytes.n - q->sent;
}

/* Writes as much as a pipe that is ready is certain to accept. */
static int write_some(struct parallel *p, struct queue *q, int fd, struct why *w)
{
	ssize_t n = pending(q) ? write(fd, q->bytes.p + q->sent, size_min(pending(q), PIPE_BUF)) : 0;

	if (n < 0 && errno == EPIPE)
		p->l->gone |= fd == p->l->copy ? LOOP_COPY : LOOP_OUT;
	else if (n < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
		return why(w, "%s: %s", fd == STDOUT_FILENO ? "standard output" : "a pipe", strerror(errno));
	q->sent += n > 0 ? (size_t)n : 0;
	/* move pending bytes to the front when they are the smaller part, so that a queue that is never empty does not
	 * grow */
	if (n > 0 && q->sent >= pending(q)) {
		memmove(q->bytes.p, q->bytes.p + q->sent, pending(q));
		q->bytes.n -= q->sent;
		q->sent = 0;
	}
	return 0;
}

/* ---- sequences ---- */

static struct live *find(const struct parallel *p, uint32_t seq)
{
	return (struct live *)sequences_find(&p->live, seq);
}

static int begin(struct parallel *p, uint32_t seq, struct why *w)
{
	struct live *live = calloc(1, sizeof *live);

	if (!live)
		return why(w, "out of memory");
	if (!sequences_add(&p->live, &live->sequence, seq, w))
		return 0;
	free(live);
	return -1;
}

/* Ends the sequence here. The `end ` frame goes to fwd, through the stages, and back to this loop and to the reader of
 * the copy. */
static int end_here(struct parallel *p, struct live *live, uint32_t reason, uint32_t pos, struct why *w)
{
	if (live->ending)
		return 0;
	live->ending = 1;
	p->active -= (size_t)live->fed;
	return send_end(p, reason, pos, live->sequence.number, w);
}

/* Whether another sequence may start. */
static int has_room(const struct parallel *p)
{
	return p->active < p->l->jobs;
}

/* Records that its ids were sent. */
static void feed(struct parallel *p, struct live *live)
{
	p->active += !live->fed && !live->ending;
	live->fed = 1;
}

/* ---- prompts ---- */

static int read_payload(struct parallel *p, struct frame_in *in, const struct frame *f, struct why *w)
{
	return frame_read_all(in, f, &p->l->payload, &p->l->room, w);
}

/* Passes the card on: one that comes with the prompts also to fwd. */
static int pass_card(struct parallel *p, struct frame_in *in, const struct frame *f, struct why *w)
{
	struct loop *l = p->l;

	if (card_read(in, f, &l->card, w))
		return -1;
	return (in == &l->in && card_append(&p->out.bytes, &l->card))
		|| (l->copy >= 0 && card_append(&p->copy.bytes, &l->card)) ? why(w, "out of memory") : 0;
}

/* A prompt without ids: ends its sequence at once, and those that would be forks of it. */
static int end_empty(struct parallel *p, const struct frame *f, struct why *w)
{
	if (end_here(p, find(p, f->seq), FRAME_END_LENGTH, f->pos, w))
		return -1;
	for (uint32_t seq = 1; !p->forked && seq < (uint32_t)p->l->texts; seq++)
		if (begin(p, seq, w) || end_here(p, find(p, seq), FRAME_END_LENGTH, f->pos, w))
			return -1;
	p->forked = 1;
	return 0;
}

/* Handles the ids of a prompt, or the fork that starts a sequence. */
static int take_prompt(struct parallel *p, const struct frame *f, struct why *w)
{
	struct loop *l = p->l;
	const int32_t *ids;

	p->waiting = 0;
	/* the sequence may have ended while the frame waited */
	if (sequences_is_over(&p->live, f->seq))
		return 0;
	if ((!find(p, f->seq) && begin(p, f->seq, w)) || read_payload(p, &l->in, f, w))
		return -1;
	ids = l->payload;
	if (!l->n)
		return end_empty(p, f, w);
	if (f->kind == FRAME_IDS && f->rows) {
		feed(p, find(p, f->seq));
		p->last = ids[f->rows - 1];
		p->next = f->pos == FRAME_APPEND ? FRAME_APPEND : f->pos + f->rows;
		if (l->r)
			l->r->passes++;
		if (l->r && ids_append(&l->r->prompt, ids, f->rows, w))
			return -1;
	}
	return put(&p->out, f, ids, w);
}

/* Starts sequences 1 and on when the prompt of sequence 0 is complete. Sends its last id again to each, for its
 * logits. */
static int fork_all(struct parallel *p, struct why *w)
{
	struct frame f = { .kind = FRAME_FORK, .rows = 1, .cols = 1, .type = FRAME_I32, .pos = p->next };
	const struct live *first = find(p, 0);
	const int32_t source = 0;

	p->forked = 1;
	if (!first || !first->fed)
		return 0;
	if (p->l->texts > 1 && p->next == FRAME_APPEND)
		return why(w, "%s: the prompt has no positions, and cannot be forked", p->l->in.name);
	for (f.seq = 1; f.seq < (uint32_t)p->l->texts; f.seq++) {
		if (begin(p, f.seq, w) || put(&p->out, &f, &source, w)
		    || send_ids(p, &p->last, 1, p->next - 1, 0, f.seq, w))
			return -1;
		feed(p, find(p, f.seq));
	}
	return 0;
}

/* Ends the sequences without ids, because none will come now. */
static int end_unfed(struct parallel *p, struct why *w)
{
	struct sequence **all = sequences_all(&p->live, w);
	int failed = all ? 0 : -1;

	for (size_t i = 0; i < p->live.n && !failed; i++)
		if (!((struct live *)all[i])->fed)
			failed = end_here(p, (struct live *)all[i], FRAME_END_LENGTH, FRAME_APPEND, w);
	free(all);
	return failed;
}

static int end_of_prompts(struct parallel *p, struct why *w)
{
	p->ended = 1;
	if (p->l->texts && !p->forked && fork_all(p, w))
		return -1;
	return end_unfed(p, w);
}

/* Handles one frame of the prompts. */
static int take_in(struct parallel *p, struct why *w)
{
	struct frame *f = &p->held;
	struct live *live;
	int got;

	if ((got = frame_next(&p->l->in, f, w)) <= 0)
		return got < 0 ? -1 : end_of_prompts(p, w);
	if (p->l->texts && f->seq && f->seq != FRAME_NO_SEQ) {
		why(w, "sequence %" PRIu32 ": only one prompt is forked", f->seq);
		return frame_why(&p->l->in, w);
	}
	live = find(p, f->seq);
	if (f->kind == FRAME_CARD)
		return pass_card(p, &p->l->in, f, w);
	if (sequences_is_over(&p->live, f->seq))
		return 0;
	if (f->kind == FRAME_END && f->seq == FRAME_NO_SEQ)
		return end_of_prompts(p, w) || send_end(p, f->flags, f->pos, f->seq, w) ? -1 : 0;
	/* only its prompt is complete: the loop continues it */
	if (f->kind == FRAME_END && live && live->fed && !f->flags)
		return 0;
	if (f->kind == FRAME_END && live)
		return end_here(p, live, f->flags, f->pos, w);
	/* its number is used up: fwd ignores later frames of it */
	if (f->kind == FRAME_END)
		return (f->seq && sequences_end(&p->live, f->seq, w))
			|| send_end(p, f->flags, f->pos, f->seq, w) ? -1 : 0;
	if (f->kind != FRAME_IDS && f->kind != FRAME_FORK)
		return 0;
	/* a fork, or a frame without ids, gets no answer that would end it */
	p->waiting = f->kind == FRAME_IDS && f->rows && !(live && live->fed) && !has_room(p);
	return p->waiting ? 0 : take_prompt(p, f, w);
}

/* ---- what comes back ---- */

/* The reason why nothing can follow the id at pos, or 0. */
static uint32_t over(const struct loop *l, const struct live *live, int32_t id, uint32_t pos)
{
	if (l->card.n_vocab && card_is_eog(&l->card, id))
		return FRAME_END_EOG;
	if (live->drawn == l->n)
		return FRAME_END_LENGTH;
	return l->card.n_ctx && pos != FRAME_APPEND && pos >= (uint32_t)l->card.n_ctx ? FRAME_END_CONTEXT : 0;
}

static int take_drawn(struct parallel *p, const struct frame *f, struct why *w)
{
	struct live *live = find(p, f->seq);
	const int32_t *ids = p->l->payload;
	uint32_t reason = 0, n = 0;
	struct loop *l = p->l;

	if (!live || live->ending || !(f->flags & FRAME_SAMPLED) || !f->rows)
		return 0;
	if (l->card.diffusion && !live->canvas)
		return loop_no_canvas(l, w);
	if (!p->drawing++ && l->idle)
		l->idle(l, 0);
	if (l->r && f->seq < (uint32_t)l->texts && result_ids(&l->r[f->seq], ids, f->rows, f->pos, w))
		return -1;
	for (; n < f->rows && !reason; n++) {
		live->drawn++;
		reason = over(l, live, ids[n], f->pos == FRAME_APPEND ? FRAME_APPEND : f->pos + n);
	}
	if (!reason)
		return l->card.diffusion ? 0 : send_ids(p, ids, n, f->pos, FRAME_SAMPLED, f->seq, w);
	l->full += reason == FRAME_END_CONTEXT;
	if (l->r && f->seq < (uint32_t)l->texts)
		result_end(&l->r[f->seq], reason, NULL, 0);
	return end_here(p, live, reason, f->pos == FRAME_APPEND ? FRAME_APPEND : f->pos + n, w);
}

/* Sends a canvas to fwd. */
static int take_canvas(struct parallel *p, const struct frame *f, struct why *w)
{
	struct live *live = find(p, f->seq);

	if (!live || live->ending)
		return 0;
	live->canvas = 1;
	return send_rows(p, f, p->l->payload, w);
}

/* Handles the end of a sequence. */
static int take_end(struct parallel *p, const struct frame *f, struct why *w)
{
	struct live *live = find(p, f->seq);
	struct loop *l = p->l;

	if (!live)
		return 0;
	l->full += f->flags == FRAME_END_CONTEXT && !live->ending;
	if (l->r && f->seq < (uint32_t)l->texts && !live->ending)
		result_end(&l->r[f->seq], f->flags, l->payload, f->rows);
	if (end_here(p, live, f->flags, f->pos, w) || sequences_end(&p->live, f->seq, w))
		return -1;
	free(live);
	return 0;
}

/* Handles one frame from the sampler. Returns 1 if there are no more. */
static int take_back(struct parallel *p, struct why *w)
{
	struct loop *l = p->l;
	struct frame f;
	int got = frame_next(&l->back, &f, w), failed = 0;

	if (got <= 0)
		return got < 0 ? -1 : 1;
	if (f.kind == FRAME_LOGITS)
		return loop_no_ids(l, w);
	if (f.kind == FRAME_HIDDEN)
		return 0;
	if (f.kind == FRAME_CARD)
		return pass_card(p, &l->back, &f, w);
	if (read_payload(p, &l->back, &f, w))
		return -1;
	if (f.kind == FRAME_CANVAS)
		return take_canvas(p, &f, w);
	if (f.kind == FRAME_IDS)
		failed = take_drawn(p, &f, w);
	else if (f.kind == FRAME_END)
		failed = take_end(p, &f, w);
	else if (f.kind == FRAME_LOGPROBS && l->r && f.rows && f.seq < (uint32_t)l->texts)
		failed = result_logprobs(&l->r[f.seq], f.pos, l->payload, f.rows, w);
	return failed ? -1 : write_copy(p, &f, w);
}

/* ---- all of it ---- */

/* fwd stopped reading. It may have ended after the last sequence, whose end is still on its way back. */
static void lose_out(struct parallel *p)
{
	struct loop *l = p->l;

	if (!p->ended || p->waiting || pending(&p->out))
		l->gone |= LOOP_OUT;
	close(l->out);
	l->out = -1;
}

/* Whether something can be read without poll(), because it is buffered. */
static int is_buffered(const struct frame_in *in)
{
	return in->used < in->have;
}

/* Waits until something can be read or written, and does it. Returns 1 if nothing more comes back; 0; or -1. */
static int step(struct parallel *p, struct why *w)
{
	enum { IN, BACK, OUT, COPY, ENDS };
	struct loop *l = p->l;
	/* a prompt must be forked before anything follows it */
	int reads = !p->ended && !p->waiting && pending(&p->out) < OUT_MOST;
	int hears = (p->ended || !l->texts) && pending(&p->copy) < COPY_MOST;
	int now = (reads && is_buffered(&l->in)) || (hears && is_buffered(&l->back)), got;
	struct pollfd at[ENDS] = {
		{ .fd = reads ? l->in.fd : -1, .events = POLLIN },
		{ .fd = hears ? l->back.fd : -1, .events = POLLIN },
		/* without events, poll() reports a pipe without readers */
		{ .fd = l->out, .events = pending(&p->out) ? POLLOUT : 0 },
		{ .fd = l->copy, .events = pending(&p->copy) ? POLLOUT : 0 }
	};

	if ((got = poll(at, ENDS, now ? 0 : l->idle && !p->drawing ? EVERY : -1)) < 0)
		return errno == EINTR ? 0 : why(w, "poll: %s", strerror(errno));
	if (!got && !now && l->idle)
		l->idle(l, 1);
	if ((at[OUT].revents & POLLOUT && write_some(p, &p->out, l->out, w))
	    || (at[COPY].revents & POLLOUT && write_some(p, &p->copy, l->copy, w)))
		return -1;
	if (at[COPY].revents & (POLLERR | POLLNVAL))
		l->gone |= LOOP_COPY;
	if (at[OUT].revents & (POLLERR | POLLNVAL))
		lose_out(p);
	if (hears && (at[BACK].revents || is_buffered(&l->back)) && (got = take_back(p, w)))
		return got;
	return reads && (at[IN].revents || is_buffered(&l->in)) ? take_in(p, w) : 0;
}

static int is_done(const struct parallel *p)
{
	return p->ended && !p->waiting && !p->live.n;
}

int parallel_run(struct loop *l, struct why *w)
{
	struct parallel p = { .l = l, .out.bytes.limit = SIZE_MAX, .copy.bytes.limit = SIZE_MAX };
	int status = 0;
	struct sequence *s;

	while (!status && !l->gone) {
		if (p.waiting && has_room(&p))
			status = take_prompt(&p, &p.held, w);
		if (l->out >= 0 && is_done(&p) && !pending(&p.out)) {
			close(l->out);
			l->out = -1;
			/* what still comes only goes to the copy */
			status = l->copy < 0;
		}
		status = status ? status : step(&p, w);
	}
	while (status == 1 && pending(&p.copy) && !l->gone)
		status = write_some(&p, &p.copy, l->copy, w) ? -1 : 1;
	l->whole = is_done(&p);
	while ((s = sequences_take(&p.live)))
		free(s);
	bytes_free(&p.out.bytes);
	bytes_free(&p.copy.bytes);
	/* as in loop_run() */
	if (l->whole && l->out >= 0) {
		close(l->out);
		l->out = -1;
	}
	return status < 0 && !l->gone ? -1 : 0;
}
