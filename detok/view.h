/* view: a stream as peek shows it. The reader passes on what is in the stream, and a format prints it: frame by frame,
 * or token by token with how well each was predicted. */
#ifndef VIEW_H
#define VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"
#include "lib/sampler/positions.h"
#include "lib/stream/card.h"
#include "lib/vocab/vocab.h"
#include "top.h"
#include "until.h"

struct view;

/* ---- what formats print ---- */

/* A row of a frame: an id, or one of the candidates for a position. */
struct entry {
	uint32_t row;
	struct candidate of;
	size_t rank;                    /* from 1; 0: unknown */
	int scored;                     /* of.score and of.p are set */
	int first;                      /* of the frame's ids, each; of candidates, the first for its position */
};

/* A token, or several that spell one character together; then with the candidates of the first. Or a prediction whose
 * token does not follow in the stream, as that of the next token at the end. */
struct shown {
	const struct position *at;      /* of the first; at->id is -1 if the token does not follow */
	const char *text;               /* [n]: any bytes, as in the vocabulary; "…" if the token does not follow */
	size_t n;
	int begins;                     /* the first of a text: the stream's first, or at another position than
					 * expected */
	int predicted;                  /* the members below are set */
	double bits;                    /* surprise: -log2 of the probability; 0 if the token does not follow */
	const struct candidate *best;   /* [n_best], from the most likely down */
	size_t n_best;
};

/* ---- formats ---- */

/* A format has frame() and entry(), or token(). Any other member may be NULL or 0. */
struct format {
	const char *option;             /* that chooses it, without dashes; NULL: the default */
	void (*start)(struct view *v);  /* once there is something to show, or all streams were empty */
	void (*end)(struct view *v);

	/* By frame. v->f is the frame. */
	uint32_t only;                  /* the kind of frames to show; the others are skipped unread */
	int copies;                     /* frames are written as they are, each as sequence 0; nothing is called */
	void (*frame)(const struct view *v);    /* before its entries; v->card, v->source or v->text is its payload */
	void (*entry)(const struct view *v, const struct entry *e);
	void (*nan)(size_t n);          /* after a row of logits with n > 0 NaNs */

	/* By token. */
	int predicted_only;             /* shows nothing else, so a stream without predictions is an error */
	int text_only;                  /* does not show predictions whose tokens do not follow */
	void (*token)(struct view *v, const struct shown *s);
};

extern const struct format format_lines, format_ids, format_csv, format_raw,    /* by frame */
	format_text, format_bars, format_json, format_html, format_svg;         /* by token */

/* ---- the reader ---- */

struct view {
	/* set by the caller */
	const struct format *format;
	size_t top;                     /* most candidates shown for a position */
	int64_t only_seq;               /* by frame: the only sequence; -1: all */
	size_t columns;                 /* of the terminal, or of lines */
	int coloured;
	struct until until;             /* by token: the stop strings */

	/* for formats */
	const struct vocab *vocab;      /* of the pieces of ids and of the streams; or NULL: any */
	struct frame_in in;
	struct frame f;
	struct card card;
	uint32_t source;                /* of a fork */
	char *text;                     /* [f.rows]: the stop string of an end, or its reason; options */
	size_t text_room;
	size_t line, column;            /* of a page */

	/* private */
	struct card mine;               /* of the vocabulary */
	int begun;                      /* start() has been called */
	struct top best;
	float *row;                     /* [room]: logits */
	size_t room;                    /* bytes */

	/* private, by token: those of a piece that is not complete */
	struct shown piece;             /* without its text */
	struct position first;
	struct bytes spelled;           /* its text */
	uint32_t seq, next;             /* the sequence of the last token, and the position after it */
	int any;                        /* a token has been shown */
};

/* vocab is borrowed; NULL: none. view_close() ends the page and frees all memory. */
void view_open(struct view *v, const struct vocab *vocab);
void view_close(struct view *v);

/* Shows a stream, each frame as soon as it arrives, up to a stop string. name: of the stream, for messages. Returns -1
 * with a reason on failure. */
int view_stream(struct view *v, int fd, const char *name, struct why *w);

/* The same for one kind of format; called by view_stream(). */
int view_frames(struct view *v, int fd, const char *name, struct why *w);
int view_tokens(struct view *v, int fd, const char *name, struct why *w);
void view_begin(struct view *v);

/* ---- for formats ---- */

/* Prints the kind of the frame, with its spaces where `padded`. */
void view_kind(const struct frame *f, int padded);

/* The text of an id: its piece, which the vocabulary owns, or "<id>" in the buffer if there is no vocabulary. */
const char *view_piece(const struct view *v, int32_t id, char buffer[16], size_t *n);

/* Writes the next character of s[n] to out and returns its length there; *used: its length in s. Control characters
 * become their pictures, invalid bytes U+FFFD. */
size_t view_char(const char *s, size_t n, char out[4], size_t *used);

enum { VIEW_LEVELS = 6 };

/* How strongly a token is shaded: 0, not at all, up to VIEW_LEVELS - 1. */
int view_level(const struct shown *s);

#endif
