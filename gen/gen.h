/* gen: what the parts of gen share: what was asked for, and what came of it. */
#ifndef GEN_H
#define GEN_H

#include <stddef.h>
#include <stdint.h>

#include "lib/chat/chat_setup.h"
#include "lib/stream/frame.h"
#include "lib/gguf/gguf.h"
#include "lib/stream/stop.h"
#include "lib/vocab/vocab.h"
#include "lib/base/why.h"
#include "stages.h"

enum { TOK, FWD, SAMPLE, DETOK, FEED, DRAFT, STAGES }; /* FEED: the child that writes a prompt given as an argument; DRAFT: the small model's fwd */

struct request {
	const char *model;
	const char *prompt;     /* NULL: tok reads gen's own stdin */
	int64_t seed;
	struct stage stage[STAGES];     /* with their arguments; nothing running */
	int verbose, print, json, special;
	int logprobs;           /* sample tells them */
	int of_text;            /* sample needs the model */
	const char *draft;      /* a model, "lookup" or NULL */
	int lookup;
	size_t draft_max;       /* ids that are proposed at once */
	const char *temp;       /* as it was given, or NULL */
	const char *n;          /* as it was given, or NULL */
	int keeps;              /* K and V stay in a segment */
	size_t last;            /* the id, counted from 1, that nothing follows and nobody needs evaluated; 0: none is known */
	int greedy, gumbel, ignore_eos;
	int sampling;           /* there are options of sample beside these */
	int stream, chained;    /* fwd picks itself, and there is no sample */
	int best_of, all;       /* continuations; 0: one, as it comes */
	int relayed;            /* gen itself is between fwd and sample: a draft, or several continuations */
	double penalty;         /* of the length */
	char seed_text[24];     /* sample's argument */
	struct stop *stop;      /* NULL: none */
	struct gguf *g;         /* the model, open; */
	struct vocab *vocab;    /* NULL where gen itself has no use for it */
	int chat, interactive;  /* one turn for each line of stdin; ^C ends an answer */
	int prompted;           /* by talk(): a prompt is shown, and the end of its line is due */
	struct chat_setup setup;
};

struct result {
	struct ids prompt;      /* what tok made of it */
	struct ids ids;         /* what was generated */
	float *logprob;         /* [ids.n] of each pick, NaN where the sampler does not say */
	double *time;           /* [ids.n] seconds from the start to each id */
	size_t room;            /* of both arrays */
	size_t evaluated;       /* the first so many of ids went to fwd */
	size_t passes;          /* frames that went to fwd */
	uint32_t reason;        /* enum frame_reason; 0: none was given */
	const char *stop;       /* [n_stop] the stop string that it was, borrowed; or NULL */
	size_t n_stop;
	int32_t eog[4], n_eog;  /* the first ends of generation of the card */
};

void result_free(struct result *r);

/* The natural log-probability of all that was generated; NaN where the sampler did not say one. */
double result_logprob(const struct result *r);

/* What -v prints, on stderr. */
void report(const struct request *q, const struct result *r);

/* What --json prints: one line on stdout. */
void report_json(const struct request *q, const struct result *r);

/* Prints the shell commands that do the same, for `gen --print-pipeline | sh`. */
void print_pipeline(const struct request *q);

/* All of it once: prompt in, text out. 0, or -1 with a reason of its own; either way the stages still have to be waited for. */
int once(struct request *q, struct result *r, struct why *w);

/* The same for a conversation: the lines of stdin in, an answer out for each, until there are no more. */
int talk(struct request *q, struct why *w);

#endif
