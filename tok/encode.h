/* encode: the ids of a text, with BOS and EOS at its ends, as the options of tok say. */
#ifndef ENCODE_H
#define ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/card.h"
#include "lib/vocab/vocab.h"

enum adding { ADD_AS_MODEL_SAYS, ADD_ALWAYS, ADD_NEVER };

struct pairing;

/* What tok is to do, and how far it has come. */
struct tok {
	/* the options */
	enum adding bos, eos;
	int append, plain, raw;         /* plain: --no-parse-special */
	int decimal, offsets, count;    /* printed in place of frames: at most one of them */
	int from_ids;                   /* the input is ids */
	int lines, json, escape;
	int chomp;                      /* a newline at the end of the text is left out */
	size_t chunk;                   /* 0: one sequence */
	struct pairing *pairing;        /* each line is a pair of texts (pair.h); NULL: one text */
	/* set by the caller */
	struct vocab *vocab;
	struct card card;
	void (*warn)(const char *text);
	/* progress */
	int warned;                     /* that a text begins with BOS */
	int carded;                     /* without --lines: the card is written */
	uint64_t n_ids, n_bytes;        /* of the files before */
	struct ids chunked;             /* with `chunk`: of all files */
	uint32_t n_lines, n_failed;     /* with --lines; n_failed: those that have no ids */
};

/* A text, or one of the files that make it up. */
struct source {
	const char *name;       /* of its file */
	char *s;                /* [n] */
	size_t n;
	size_t line;            /* number of its first line */
	int first, last;        /* of those files */
};

/* Whether texts get BOS, and EOS; whether ids are written as frames. */
int tok_adds_bos(const struct tok *t);
int tok_adds_eos(const struct tok *t);
int tok_writes_frames(const struct tok *t);
int tok_flags(const struct tok *t, const struct source *x);       /* of vocab_encode() */

/* Replaces ids by those of the text, whose escapes are replaced in place. */
int tok_encode(struct tok *t, struct source *x, struct ids *ids, struct why *w);

#endif
