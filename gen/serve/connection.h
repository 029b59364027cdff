/* connection: the bytes of a client, as requests that are answered one after another. Knows no descriptors, so that
 * anything can take the client's place: bytes go in with connection_take(), and out of c->output. */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "exchange.h"
#include "http.h"
#include "service.h"

enum {
	CONNECTION_PING = 10,           /* seconds of silence in events, before something is said */
	CONNECTION_RATE = 4 << 10       /* bytes per second of a request; a slower one is too slow */
};

struct connection {
	struct service *service;
	struct http http;               /* the request that is being read or answered */
	size_t held;                    /* bytes of its body that service->held counts */
	const struct endpoint *endpoint;        /* that will answer it */
	struct exchange exchange;       /* its answer, while that is made */
	struct bytes input;             /* bytes that no request has taken: from `taken` on */
	size_t taken;
	struct bytes output;            /* the client's: from `sent` on */
	size_t sent, seen;
	int closing;                    /* nothing more is read; closed when the output is sent */
	int unread;                     /* the client may still be sending a request that was refused */
	double since;                   /* when the request began, or the wait for it */
	double told;                    /* when something was last added to the output */
};

/* now: of clock_now(). */
void connection_start(struct connection *c, struct service *s, double now);

/* Frees it; what is being answered is cancelled. */
void connection_end(struct connection *c);

/* Takes s[n]. Then, and whenever output has been sent or lines of the engine have come, connection_advance() goes on:
 * with the next request once the one before it is answered. */
void connection_take(struct connection *c, const char *s, size_t n);
void connection_advance(struct connection *c, double now);

/* Whether it should be read from. */
int connection_wants_input(const struct connection *c);

/* Bytes of the output have been sent. */
void connection_sent(struct connection *c, size_t n);

/* Whether a request is being answered, or none has begun. */
int connection_is_answering(const struct connection *c);
int connection_is_idle(const struct connection *c);

/* When connection_late() is due if nothing happens: a request must be complete within `patience` seconds and the time
 * that its length takes, the next one begin within them, and the silence of events end. HUGE_VAL: not at all. */
double connection_deadline(const struct connection *c, double patience);
void connection_late(struct connection *c, double now);

#endif
