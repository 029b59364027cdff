/* routes: which endpoint answers a request, and whether it may. */
#ifndef ROUTES_H
#define ROUTES_H

#include "exchange.h"
#include "http.h"

struct answerer {
	const struct endpoint *endpoint;        /* or, NULL, this answer: */
	struct failure failure;                 /* status 204: no failure, but an answer without a body */
	enum form form;
	const char *allow;                      /* the methods of the path, or NULL: there is no such path */
};

/* The form of errors: of the path, or else of what the client says that it speaks. */
enum form routes_form(const struct http *h);

/* Decides from the head of a request. */
struct answerer routes_find(const struct service *s, const struct http *h);

#endif
