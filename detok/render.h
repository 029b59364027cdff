/* render: the ways in which peek shows how well each token of a stream was predicted: text shaded by surprise, on a
 * terminal or on a page; bars; JSON. Every way gets the same pieces of text, in order. */
#ifndef RENDER_H
#define RENDER_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"
#include "lib/sampler/positions.h"
#include "lib/stream/stop.h"
#include "lib/vocab/vocab.h"

struct top_token {              /* one of the most likely tokens at a position */
	int32_t id;
	double p;
};

/* A token, or several that spell one character together; then with the top tokens of the first. Or a prediction whose
 * token does not follow in the stream, as that of the next token at the end. */
struct shown {
	const struct position *at;      /* of the first; at->id is -1 if the token does not follow */
	const char *text;               /* [n]: any bytes, as in the vocabulary; "…" if the token does not follow */
	size_t n;
	int begins;                     /* the first of a text: the stream's first, or at another position than
					 * expected */
	int predicted;                  /* the members below are set */
	double bits;                    /* surprise: -log2 of the probability; 0 if the token does not follow */
	const struct top_token *best;   /* [n_best], from the most likely down */
	size_t n_best;
};

/* Text up to a stop string (render_stop.h). */
struct render_stop {
	struct stop *strings;           /* set by the caller; borrowed; NULL: the text goes on to the end */
	int found;                      /* read only: the text ended before this string */

	/* private */
	struct shown *waiting;          /* [n] pieces that may belong to a stop string */
	size_t n, room;
	struct bytes text;              /* of these pieces, one after the other */
	size_t certain;                 /* bytes at its start that cannot belong to a stop string */
};

struct render {
	const struct render_kind *kind; /* set by the caller, down to `stop` */
	const struct vocab *vocab;      /* or NULL: ids are shown instead of text */
	size_t top;                     /* top tokens of each position, at most */
	size_t columns;                 /* of the terminal, or of lines */
	int coloured;
	struct render_stop stop;

	/* private: the tokens of a piece that is not complete */
	struct shown piece;             /* without its text */
	struct position first;
	struct bytes text;
	struct top_token *best;         /* [top] */

	/* private */
	uint32_t seq, next;             /* the position after the last token */
	int any, begun;                 /* a token has been shown; the page has begun */
	float *scratch;                 /* TOPK_SCRATCH(room) */
	int32_t *order;                 /* [top] */
	size_t room;
	size_t line, column;            /* of a page */
};

struct render_kind {
	const char *name;
	int predicted_only;                     /* show nothing else, so a stream without predictions is an error */
	int text_only;                          /* do not show predictions whose tokens do not follow */
	void (*start)(struct render *r);          /* NULL: nothing */
	void (*show)(struct render *r, const struct shown *s);
	void (*end)(struct render *r);            /* NULL: nothing */
};

/* text, bars and json; the pages: html and svg */
extern const struct render_kind render_text, render_bars, render_json, render_html, render_svg;

/* render_open() returns -1 if it is out of memory. render_close() ends the page and frees all memory. */
int render_open(struct render *r, struct why *w);
void render_close(struct render *r);

/* Shows a stream, up to a stop string. */
int render_stream(struct render *r, int fd, const char *name, struct why *w);

enum { RENDER_LEVELS = 6 };

/* How strongly a piece is shaded: 0, not at all, up to RENDER_LEVELS - 1. */
int render_level(const struct shown *s);

/* The text of an id: its piece, which the vocabulary owns, or "<id>" in the buffer if there is no vocabulary. */
const char *render_piece(const struct render *r, int32_t id, char buffer[16], size_t *n);

/* Writes the next character of s[n] to out and returns its length there; *used: its length in s. Control characters
 * become their pictures, invalid bytes U+FFFD. */
size_t render_char(const char *s, size_t n, char out[4], size_t *used);

#endif
