/* engine: the process that answers: gen or embed --requests, or a command that speaks the same lines. Requests wait for
 * its standard input and lines taken from its standard output, both without waiting, so that one poll loop serves it
 * and all clients. Each request has a number, by which it is found when a line comes. */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdint.h>

#include "lib/base/bytes.h"
#include "lib/base/json.h"
#include "lib/base/why.h"
#include "lib/process/stages.h"

struct exchange;

struct pending {                /* a request that the engine has not finished */
	int64_t id;
	struct exchange *exchange;      /* that waits for it, or NULL */
	int given_up;                   /* nobody waits for it any more */
	int stream;                     /* it has several lines; the last one has `usage` */
	struct pending *next;
};

struct engine {                 /* starts as zeros */
	struct stage stage;
	int in, out;                    /* 0: there is no process */
	struct bytes to, from;
	size_t sent, taken, searched;
	struct pending *pending;
	size_t n_pending, n_given_up;
	int64_t last;                   /* the newest id */
	int ended;                      /* it answers nothing any more */
};

/* Starts e->stage, whose arguments are set. */
int engine_start(struct engine *e, struct why *w);

/* Begins a request in *line with its number, and the members {"id": N; the caller adds the others, closes the object,
 * and calls engine_ask(), which queues the line and frees it. -1: memory is short, and nothing is asked. */
struct json_writer engine_request(struct engine *e, struct bytes *line);
int engine_ask(struct engine *e, struct bytes *line, struct exchange *x, int stream);

/* Cancels the requests of x, for which nobody waits any more. */
void engine_cancel(struct engine *e, struct exchange *x);

/* Writes what is queued, as far as the pipe takes it; reads what has come. engine_read() returns 0 at the end of the
 * engine's output. -1: a reason. */
int engine_write(struct engine *e, struct why *w);
int engine_read(struct engine *e, struct why *w);
int engine_waits_to_write(const struct engine *e);

/* Takes bytes as if they had been read. */
int engine_feed(struct engine *e, const char *s, size_t n, struct why *w);

/* The next whole line, parsed into the arena; *pending is the request that it answers, or NULL. Returns NULL if none
 * has come (*w is empty), or if the line is not JSON (*w has the reason). If such a line begins with the id of a
 * request, an error takes its place. */
const struct json *engine_next(struct engine *e, struct arena *a, struct pending **pending, struct why *w);

/* Call this after the last line of a request: it is no longer pending. */
void engine_finish(struct engine *e, struct pending *pending);

/* Closes the engine's input, so that it ends, and waits for it. kill: ends it. -1: it failed, and this is why. */
int engine_end(struct engine *e, int kill, struct why *w);

#endif
