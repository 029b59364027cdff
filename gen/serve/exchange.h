/* exchange: a request and its answer. An endpoint translates the request into calls of the engine, and their lines into
 * the answer. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "failure.h"
#include "http.h"
#include "reply.h"
#include "service.h"

struct exchange;

struct endpoint {
	enum form form;                 /* of its errors */
	/* Asks the engine, or answers. body: a JSON object, or NULL for a GET. -1: the request is refused for *w. */
	int (*ask)(struct exchange *x, const struct json *body, struct why *w);
	/* Takes a line of the engine; last: it is the last that answers the call. Ends the exchange, or asks again. */
	void (*answer)(struct exchange *x, const struct json *line, int last);
	/* Writes an event that only shows that the server is there; NULL: a comment does. */
	void (*ping)(struct exchange *x);
	void (*close)(struct exchange *x);      /* frees x->own; NULL: free() does */
	/* Pairs of names, for errors: a member of the engine's requests, and what the API calls it. NULL ends the
	 * list. NULL: all names are the same. */
	const char *const *renamed;
};

struct exchange {
	const struct endpoint *endpoint;        /* NULL: there is no exchange */
	struct service *service;
	const struct http *http;
	struct reply reply;
	char id[64];                    /* of the answer, after a prefix that the API has */
	int64_t created;                /* seconds since 1970 */
	int stream;                     /* the answer is events */
	int begun, done;                /* of the answer */
	size_t asked;                   /* calls of this exchange that the engine has */
	size_t events;                  /* written so far */
	void *own;                      /* of the endpoint */
};

/* Answers a whole request, now or as lines of the engine come. The answer goes to *out. */
void exchange_begin(struct exchange *x, const struct endpoint *endpoint, struct service *s, const struct http *h,
	struct bytes *out);

/* A line of the engine for it. */
void exchange_take(struct exchange *x, const struct json *line, int last);

/* Nothing has been said for a while. */
void exchange_ping(struct exchange *x);

/* The exchange is over: done, or its client has left. */
void exchange_end(struct exchange *x);

/* ---- for endpoints ---- */

/* Sets the id of the answer, which begins with the prefix. */
void exchange_name(struct exchange *x, const char *prefix);

/* Asks the engine. The members that are the endpoint's follow exchange_request(); exchange_ask() closes the line, and
 * frees it, also if the exchange has failed. */
struct json_writer exchange_request(struct exchange *x, struct bytes *line);
void exchange_ask(struct exchange *x, struct json_writer *to);

/* Answers with a JSON text, or a text of this media type, and frees it. */
void exchange_answer(struct exchange *x, struct bytes *json);
void exchange_answer_text(struct exchange *x, const char *type, struct bytes *text);

/* Writes an event (name NULL: only data), and frees the data; ends the events. */
void exchange_event(struct exchange *x, const char *name, struct bytes *data);
void exchange_end_events(struct exchange *x);

/* Ends the exchange with an error, as an answer or, if events have begun, as the last of them. */
void exchange_fail(struct exchange *x, int status, const char *param, const char *message);

/* A buffer for a part of an answer. */
struct bytes exchange_buffer(void);

#endif
