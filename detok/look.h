/* look: ways to show what a stream says of its tokens: text that is shaded by surprise, on a terminal or a page; bars;
 * JSON. All get the same pieces of text, in their order. */
#ifndef LOOK_H
#define LOOK_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"
#include "lib/sampler/positions.h"
#include "lib/vocab/vocab.h"

struct option {                 /* a token that could have come */
	int32_t id;
	double p;
};

/* A token; or several that spell one character together, with the options of the first. */
struct shown {
	const struct position *at;      /* of the first */
	const char *text;               /* [n]; as the tokens have it: any bytes */
	size_t n;
	int begins;                     /* a text: the first of the stream, or another position than the next */
	int predicted;                  /* what follows is set */
	double bits;                    /* surprise: -log2 of the probability */
	const struct option *best;      /* [n_best], from the most likely down */
	size_t n_best;
};

struct look {
	const struct look_kind *kind;   /* set by the caller, as are */
	const struct vocab *vocab;      /* or NULL: ids alone are shown */
	size_t top;                     /* options, at most */
	size_t columns;                 /* of the terminal, or of lines */
	int coloured;

	/* private */
	struct position first;
	struct bytes text;
	double bits;
	struct option *best;
	size_t n_best;
	int predicted, begins;
	uint32_t seq, next;             /* the position after the last token */
	int any;
	float *scratch;                 /* TOPK_SCRATCH(room) */
	int32_t *order;                 /* [top] */
	size_t room;
	size_t line, column;            /* of a page */
};

struct look_kind {
	const char *name;
	void (*start)(struct look *l);          /* NULL: nothing */
	void (*show)(struct look *l, const struct shown *s);
	void (*end)(struct look *l);            /* NULL: nothing */
};

/* text, bars and json; the pages: html and svg */
extern const struct look_kind look_text, look_bars, look_json, look_html, look_svg;

int look_open(struct look *l, struct why *w);
void look_close(struct look *l);        /* ends the page */

/* Shows a stream. */
int look_stream(struct look *l, int fd, const char *name, struct why *w);

enum { LOOK_LEVELS = 6 };

/* How strongly a piece is shaded: 0, not at all, up to LOOK_LEVELS - 1. */
int look_level(const struct shown *s);

/* The text of an option: its piece, or its id where there is no vocabulary; in the buffer or the vocabulary's. */
const char *look_piece(const struct look *l, int32_t id, char buffer[16], size_t *n);

/* The next character of s[n], which is *used bytes, in place of which something else is shown if it cannot be:
 * pictures of control characters, U+FFFD for what is no character. Writes it to out and returns its length there. */
size_t look_next(const char *s, size_t n, char out[4], size_t *used);

#endif
