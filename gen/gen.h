/* gen: what the parts of gen share: what was asked for, and what came of it. */
#ifndef GEN_H
#define GEN_H

#include <stddef.h>
#include <stdint.h>

#include "../lib/chat_setup.h"
#include "../lib/frame.h"
#include "../lib/gguf.h"
#include "../lib/stop.h"
#include "../lib/vocab/vocab.h"
#include "../lib/why.h"
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
	int greedy, gumbel, ignore_eos;
	int sampling;           /* there are options of sample beside these */
	int stream, chained;    /* fwd picks itself, and there is no sample */
	int best_of, all;       /* continuations; 0: one, as it comes */
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

struct loop {                   /* gen's ends of the pipes, and what has come through them */
	int from_tok, to_fwd, from_fwd, to_sample, from_sample, to_detok;    /* -1 when closed; to_detok also with --json; from_fwd and to_sample without a relay */
	struct frame_in picks;
	struct card card;       /* sample's */
	double begin;           /* of the turn, for its times */
	const struct request *q;
	int stale;              /* sample may still write of a turn that was cut short */
	int (*enough)(void);    /* of the turn under way, or NULL */
};

/* Starts the stages; tok only where a prompt goes through it, which a conversation does not, sample not where fwd picks. -1 with a reason: some may be running.
 * loop_end() tells them to end, in either case; they still have to be waited for. */
int loop_start(struct loop *l, struct request *q, struct why *w);
void loop_end(struct loop *l);

/* Tells fwd and detok whose ids will come: at once, so that detok can start on its vocabulary. */
int loop_card(const struct loop *l, const struct card *card, struct why *w);

/* sample's ids go back to fwd and on to detok, until sample's `end ` frame or a full context (1), or until sample ends without one (0). -1: a
 * reason. enough(), where there is one, is asked at each id and ends the turn before that id; asked while the prompt is
 * evaluated, it has fwd give that up, and the reason is FRAME_END_INTERRUPT. */
int loop_turn(struct loop *l, struct result *r, int (*enough)(void), struct why *w);

/* For a relay: the start of a turn; another sample in place of the last one, which is told to end; and the sampler's next id, for pos, shown. loop_pick()
 * returns as loop_turn(), 1 for an id or, with *over, for the end. */
void loop_begin(struct loop *l, struct result *r);
int loop_sample(struct loop *l, struct request *q, struct why *w);
int loop_pick(struct loop *l, struct result *r, uint32_t pos, int32_t *id, int *over, struct why *w);

/* All of it once: prompt in, text out. 0, or -1 with a reason of its own; either way the stages still have to be waited for. */
int loop(struct request *q, struct result *r, struct why *w);

/* The same for a conversation: the lines of stdin in, an answer out for each, until there are no more. */
int talk(struct request *q, struct why *w);

void result_free(struct result *r);

/* The natural log-probability of all that was generated; NaN where the sampler did not say one. */
double result_logprob(const struct result *r);

/* What -v prints, on stderr. */
void report(const struct request *q, const struct result *r);

/* What --json prints: one line on stdout. */
void report_json(const struct request *q, const struct result *r);

/* Prints the shell commands that do the same, for `gen --print-pipeline | sh`. */
void print_pipeline(const struct request *q);

#endif
