/* listing: the frames of a stream as lines, as CSV, or as ids only; or the frames of one sequence as a stream. A format
 * is a struct of functions that print each kind of frame; reading and checking frames is common to all. */
#ifndef LISTING_H
#define LISTING_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/frame.h"
#include "lib/vocab/vocab.h"

enum { LISTING_TOP_MAX = 1000 };

struct listing;

struct listing_choice {                         /* a candidate for a position, or the id that was drawn */
	int32_t id;
	size_t rank;                    /* from 1; 0: the drawn id, whose rank is unknown */
	float score;                    /* its logit, or the logarithm of its probability */
	double p;
	int first;                      /* of its row or frame */
};

/* l->f is the frame, `row` one of its rows. */
struct listing_format {
	/* Handles each whole frame itself; all other members are unused. Returns 0, or -1 with a reason. */
	int (*frame)(struct listing *l, struct why *w);
	int ids_only;                   /* other frames are skipped, and only id() is used */
	void (*start)(void);            /* or NULL */
	void (*rows)(const struct listing *l);  /* called before the rows of ids, logits or log-probabilities; or
					 * NULL */
	void (*id)(const struct listing *l, uint32_t row, int32_t id);
	void (*choice)(const struct listing *l, uint32_t row, const struct listing_choice *c);
	void (*nan)(size_t n);          /* called after a row of logits with n > 0 NaNs; or NULL */
	void (*card)(const struct listing *l, const struct card *card);
	void (*fork)(const struct listing *l, uint32_t source);
	void (*end)(const struct listing *l, const char *reason, const char *text, size_t n);
	void (*other)(const struct listing *l);
};

/* listing_raw writes frames, each as sequence 0. */
extern const struct listing_format listing_lines, listing_ids, listing_csv, listing_raw;

struct listing {
	/* set by the caller */
	const struct listing_format *format;
	size_t top;                     /* most ids shown of a row of logits */
	int64_t seq;                    /* the only sequence; -1: all */

	/* for the formats */
	const struct vocab *vocab;      /* or NULL */
	struct frame_in in;
	struct frame f;

	/* private */
	struct card mine;               /* of the vocabulary */
	int any;                        /* a frame of the stream has been shown, other than a card */
	float *row, *p;                 /* [room] */
	float *scratch;                 /* [TOPK_SCRATCH(room)] */
	size_t room;
	int32_t at[LISTING_TOP_MAX];
	char text[FRAME_STOP_MAX];
};

/* vocab: shows the pieces of ids, and requires streams with this vocabulary; or NULL. */
void listing_open(struct listing *l, const struct vocab *vocab);
void listing_close(struct listing *l);

/* Shows all frames, each as soon as it arrives. name: of the stream, for messages. Returns -1 with a reason on
 * failure. */
int listing_stream(struct listing *l, int fd, const char *name, struct why *w);

/* For the formats: prints the kind of the frame, with its spaces where `padded`. */
void listing_put_kind(const struct frame *f, int padded);

#endif
