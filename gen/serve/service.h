/* service: what all connections share: the engine, what it says of its model, who may ask, what has been counted. */
#ifndef SERVICE_H
#define SERVICE_H

#include <stdint.h>

#include "lib/base/bytes.h"
#include "engine.h"
#include "keys.h"

enum { SERVICE_NAME_MAX = 256, SERVICE_HELD_MAX = 256 << 20 };

struct service {
	struct engine engine;
	struct pending *describing;     /* the question what the model is; NULL once it is answered */
	struct bytes model;             /* that answer, as JSON */
	char name[SERVICE_NAME_MAX];    /* the model's; empty: it is still being loaded */
	struct keys keys;
	const char *origin;             /* whose pages may use the server besides its own, "*": all; NULL: none */
	int local;                      /* only this machine connects */
	size_t waiting;                 /* exchanges whose requests the engine has */
	size_t queue;                   /* requests that the engine has at most, running and waiting */
	size_t held;                    /* bytes of the bodies of all requests */
	int ending;                     /* nothing new is begun */
	int64_t started;                /* seconds since 1970 */
	uint64_t exchanges;             /* so far, for their ids */
	struct counts {
		uint64_t answers[6];            /* by the first digit of the status */
		uint64_t left;                  /* clients that left before their answer was complete */
		uint64_t prompt, cached, generated;     /* tokens */
		double prompt_ms, generation_ms;
		size_t connections;             /* now */
	} counts;
};

/* Asks the engine for its model. -1: memory is short. */
int service_begin(struct service *s);

/* The requests of clients that the engine has, running and waiting. */
size_t service_requests(const struct service *s);

/* Takes all lines of the engine that have come, each to the exchange that waits for it. -1: one is malformed. */
int service_take(struct service *s, struct why *w);

void service_free(struct service *s);

/* Whether pages from this origin may use the server, which the request calls `host`; both may be NULL. A request
 * without an origin does not come from a page. A server for this machine only has no names but numbers and localhost:
 * otherwise a page whose own name resolves to 127.0.0.1 would seem to be of the same origin. */
int service_allows_origin(const struct service *s, const char *origin, const char *host);

#endif
