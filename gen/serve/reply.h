/* reply: the answer to a request, as HTTP/1.0 or 1.1: whole, or event by event (text/event-stream). */
#ifndef REPLY_H
#define REPLY_H

#include <stddef.h>

#include "lib/base/bytes.h"
#include "http.h"

struct reply {
	struct bytes *out;              /* of the connection; borrowed */
	int minor, keep, head_only;     /* of the request */
	const char *allow;              /* the methods of the route, or NULL */
	const char *origin;             /* whose pages may read the answer, or NULL */
};

/* An answer to the request, or to what became of one that is malformed. */
struct reply reply_to(const struct http *h, struct bytes *out);

/* type: NULL without a body. */
void reply_whole(struct reply *r, int status, const char *type, const char *body, size_t n);

/* HTTP/1.1 marks the end of the events; HTTP/1.0 closes the connection. An event without a name has only data, which
 * is one line; a comment has neither. */
void reply_begin_events(struct reply *r);
void reply_event(struct reply *r, const char *event, const char *data, size_t n);
void reply_comment(struct reply *r);
void reply_end_events(struct reply *r);

/* 100 Continue: the client may send the body. */
void reply_continue(struct reply *r);

#endif
