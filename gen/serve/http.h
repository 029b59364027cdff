/* http: a parser of HTTP/1.0 and 1.1 requests (RFC 9112), fed with any pieces of the input.
 *
 *	struct http h;
 *
 *	http_start(&h);
 *	used = http_take(&h, s, n);             // repeat until h.part is one of these:
 *		HTTP_CHECK      the head is complete: look at it, then http_accept() or answer and close
 *		HTTP_WHOLE      so is the body: answer it, then http_end() and http_start() for the next request
 *		HTTP_BAD        answer with h.status and h.reason, and close
 *	http_end(&h);
 *
 * Strict where leniency is dangerous behind another server: a head with two lengths, with a length and chunks, with
 * continued or malformed lines is refused. Everything is bounded by the constants below. */
#ifndef HTTP_H
#define HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/bytes.h"

enum { HTTP_HEAD_MAX = 32 << 10, HTTP_FIELDS_MAX = 100, HTTP_BODY_MAX = 32 << 20 };

enum http_method { HTTP_OTHER, HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_OPTIONS };
enum http_part { HTTP_READING_HEAD, HTTP_CHECK, HTTP_READING_BODY, HTTP_WHOLE, HTTP_BAD };

struct http {
	enum http_part part;
	enum http_method method;
	const char *path;               /* of the target, as sent, without a query */
	int minor;                      /* HTTP/1.minor */
	int keep;                       /* the connection may be used again */
	int expects;                    /* 100-continue */
	struct http_field {
		const char *name, *value;
	} field[HTTP_FIELDS_MAX];
	size_t fields;
	struct bytes body;
	int status;                     /* HTTP_BAD: of the answer, */
	const char *reason;             /* and its message */
	struct bytes head;              /* private, as all that follows */
	size_t line;                    /* where the current line of the head begins */
	int chunked;
	enum http_chunk {
		HTTP_CHUNK_SIZE, HTTP_CHUNK_EXTENSION, HTTP_CHUNK_LINE_END, HTTP_CHUNK_DATA, HTTP_CHUNK_CR,
		HTTP_CHUNK_LF, HTTP_CHUNK_TRAILER
	} chunk;
	int digits;                     /* of a chunk's size so far */
	size_t trailer;                 /* bytes of lines that are ignored: after the size and after the last chunk */
	int blank;                      /* the current line of the trailer is empty so far */
	uint64_t left;                  /* bytes of the body, or of the chunk, that are still to come */
};

void http_start(struct http *h);
void http_end(struct http *h);

/* Takes bytes of s[n] and returns how many, all of them unless h->part changes. */
size_t http_take(struct http *h, const char *s, size_t n);

/* After HTTP_CHECK: the body may come. */
void http_accept(struct http *h);

/* Whether bytes of the request have come, so that it has to be complete in time. */
int http_started(const struct http *h);

/* The value of a field, the first if there are several; NULL: none. The name is in any case. */
const char *http_field(const struct http *h, const char *name);

/* Whether s, a list with commas, has this word, in any case. */
int http_lists(const char *s, const char *word);

/* Whether the strings are equal but for the case of ASCII letters; the second may be NULL. */
int http_same(const char *a, const char *b);

#endif
