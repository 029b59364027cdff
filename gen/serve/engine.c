/* The engine is a stage (lib/process) with two pipes that do not block. */
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/members.h"

enum { LINE_MAX_BYTES = 256 << 20, QUEUE_BYTES = 512 << 20, PIECE = 64 << 10 };

int engine_start(struct engine *e, struct why *w)
{
	int to[2], from[2];

	e->to.limit = QUEUE_BYTES;
	e->from.limit = LINE_MAX_BYTES;
	if (stage_pipe(to, w))
		return -1;
	if (stage_pipe(from, w)) {
		close(to[0]);
		close(to[1]);
		return -1;
	}
	e->in = to[1];
	e->out = from[0];
	if (fcntl(e->in, F_SETFL, O_NONBLOCK) || fcntl(e->out, F_SETFL, O_NONBLOCK))
		return why(w, "pipe: %s", strerror(errno));
	return stage_start(&e->stage, to[0], from[1], w);
}

/* ---- asking ---- */

struct json_writer engine_request(struct engine *e, struct bytes *line)
{
	struct json_writer to;

	*line = (struct bytes){ .limit = LINE_MAX_BYTES };
	to = members_to(line);
	json_open(&to, '{');
	member_int(&to, "id", e->last + 1);
	return to;
}

int engine_ask(struct engine *e, struct bytes *line, struct exchange *x, int stream)
{
	struct pending *pending = line->failed ? NULL : malloc(sizeof *pending);
	int failed = !pending || bytes_reserve(&e->to, line->n + 1);

	if (failed) {
		free(pending);
	} else {
		*pending = (struct pending){ .id = ++e->last, .exchange = x, .stream = stream, .next = e->pending };
		e->pending = pending;
		e->n_pending++;
		bytes_put(&e->to, line->p, line->n);
		bytes_put(&e->to, "\n", 1);
	}
	bytes_free(line);
	return failed ? -1 : 0;
}

void engine_cancel(struct engine *e, struct exchange *x)
{
	for (struct pending *pending = e->pending; pending; pending = pending->next) {
		struct json_writer to;

		if (pending->exchange != x)
			continue;
		pending->exchange = NULL;
		pending->given_up = 1;
		e->n_given_up++;
		to = members_to(&e->to);
		json_open(&to, '{');
		member_int(&to, "cancel", pending->id);
		json_close(&to, '}');
		bytes_put(&e->to, "\n", 1);
	}
}

void engine_finish(struct engine *e, struct pending *pending)
{
	struct pending **at = &e->pending;

	while (*at != pending)
		at = &(*at)->next;
	*at = pending->next;
	e->n_pending--;
	e->n_given_up -= (size_t)pending->given_up;
	free(pending);
}

/* ---- the pipes ---- */

int engine_waits_to_write(const struct engine *e)
{
	return e->in && e->sent < e->to.n;
}

int engine_write(struct engine *e, struct why *w)
{
	while (engine_waits_to_write(e)) {
		ssize_t put = write(e->in, e->to.p + e->sent, e->to.n - e->sent);

		if (put < 0 && errno == EINTR)
			continue;
		/* if its reader is gone, so is soon the engine's output, and that is the error */
		if (put < 0)
			return errno == EAGAIN || errno == EPIPE ? 0 : why(w, "engine: %s", strerror(errno));
		e->sent += (size_t)put;
	}
	bytes_free(&e->to);
	e->sent = 0;
	return 0;
}

int engine_feed(struct engine *e, const char *s, size_t n, struct why *w)
{
	return bytes_put(&e->from, s, n) ? why(w, "engine: a line of more than %d bytes", LINE_MAX_BYTES) : 0;
}

int engine_read(struct engine *e, struct why *w)
{
	char piece[PIECE];
	ssize_t got;

	do
		got = read(e->out, piece, sizeof piece);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN ? 1 : why(w, "engine: %s", strerror(errno));
	return got && engine_feed(e, piece, (size_t)got, w) ? -1 : got > 0;
}

/* Drops the lines that have been taken. */
static void drop_taken(struct engine *e)
{
	if (e->taken == e->from.n) {
		bytes_free(&e->from);
	} else {
		memmove(e->from.p, e->from.p + e->taken, e->from.n - e->taken);
		e->from.n -= e->taken;
	}
	e->taken = 0;
}

/* The request that an answer is for, or NULL. */
static struct pending *find(struct engine *e, const struct json *answer)
{
	const struct json *id = json_get(answer, "id");
	struct pending *c = id && id->type == JSON_INT ? e->pending : NULL;

	while (c && c->id != id->i)
		c = c->next;
	return c;
}

/* An error in place of an answer that cannot be read, as the engine would write it. */
static const struct json *unreadable(struct arena *a, struct why *w)
{
	struct bytes line = { .limit = PIECE };
	struct json_writer to = members_to(&line);
	const struct json *v;

	json_open(&to, '{');
	member_open(&to, "error", '{');
	member_text(&to, "message", w->text);
	json_close(&to, '}');
	json_close(&to, '}');
	arena_free(a);
	v = json_parse(a, bytes_text(&line), line.n, w);
	bytes_free(&line);
	if (v)
		w->text[0] = '\0';
	return v;
}

const struct json *engine_next(struct engine *e, struct arena *a, struct pending **pending, struct why *w)
{
	size_t from = e->taken + e->searched;
	const char *line, *end = e->from.n > from ? memchr(e->from.p + from, '\n', e->from.n - from) : NULL;
	const struct json *v, *begun;

	w->text[0] = '\0';
	*pending = NULL;
	if (!end) {
		e->searched = e->from.n - e->taken;
		if (e->taken)
			drop_taken(e);
		return NULL;
	}
	line = e->from.p + e->taken;
	e->taken += (size_t)(end - line) + 1;
	e->searched = 0;
	v = json_parse_begun(a, line, (size_t)(end - line), 1, &begun, w);
	*pending = find(e, v ? v : begun);
	if (!v)
		why_in(w, "engine: not an answer");
	/* one that is too large, for example, concerns nobody else */
	return v || !*pending ? v : unreadable(a, w);
}

/* ---- the end ---- */

static void close_pipe(int *fd)
{
	if (*fd)
		close(*fd);
	*fd = 0;
}

int engine_end(struct engine *e, int kill, struct why *w)
{
	close_pipe(&e->in);
	close_pipe(&e->out);
	while (e->pending)
		engine_finish(e, e->pending);
	bytes_free(&e->to);
	bytes_free(&e->from);
	e->ended = 1;
	if (kill)
		stages_kill(&e->stage, 1);
	return stage_wait(&e->stage, w);
}
