/* texts: the texts of a request for embeddings or scores. Each is a call of the engine; only some of them at a time, so
 * that the requests of other clients are answered between them, and most of a request can be given up. */
#ifndef TEXTS_H
#define TEXTS_H

#include "exchange.h"

enum { TEXTS_MAX = 2048 };

struct texts {                  /* x->own */
	struct text {
		struct bytes json;              /* a string, or a list of ids */
		struct bytes embedding;         /* JSON: numbers, or a string of base64 */
		double score;
		int answered;
	} *text;                        /* [n] */
	size_t n, asked, answered;
	struct bytes query;             /* JSON: what they are documents for; empty: there is none */
	int64_t dimensions;             /* 0: all */
	int64_t tokens;                 /* of those that are answered */
	int base64;                     /* how embeddings are written */
	int with_documents;             /* results have their texts, */
	size_t top;                     /* and there are so many at most */
};

/* Sets x->own to n texts, which the caller sets. name: of the member that lists them. -1: there are none or too many,
 * which is the reason; or memory is short, and the exchange has failed. */
int texts_open(struct exchange *x, size_t n, const char *name, struct why *w);

/* Asks for as many as may be asked for at a time. */
void texts_ask(struct exchange *x);

/* Takes a line of the engine. Returns the text that it answers; NULL: none, and the exchange has failed. Once its
 * answer is read, texts_ask() asks for others. */
struct text *texts_take(struct exchange *x, const struct json *line);

/* Writes the member "usage". */
void texts_write_usage(const struct texts *t, struct json_writer *to);

void texts_close(struct exchange *x);

#endif
