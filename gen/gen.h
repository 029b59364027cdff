/* gen: what the command line of gen asks for. */
#ifndef GEN_H
#define GEN_H

#include <stddef.h>
#include <stdint.h>

#include "find.h"
#include "stages.h"

/* FEED and TEE are gen itself; DRAFT is the small model that the loop runs; CHAT, TOK and ANSWER are run for
 * each turn of a conversation, KV before the first. */
enum stage_number { SCHEMA, PROMPT, TOK, FEED, FWD, SAMPLE, STOPS, TEE, BEST, DETOK, DRAFT, CHAT, ANSWER, KV, STAGES };

struct request {
	const char *model;
	const char *prompt;     /* NULL: tok reads gen's own stdin */
	int64_t seed;
	struct stage stage[STAGES];     /* those that are used have arguments; nothing is running */
	char program[STAGES][FIND_PATH];
	int verbose, print, json, special;
	int logprobs;           /* sample tells them */
	int of_text;            /* sample needs the model */
	const char *draft;      /* a model, "lookup" or NULL */
	const char *temp, *n, *kv, *threads, *backend;  /* as they were given, or NULL */
	int draft_max;
	int grammar;            /* a file without a name that holds the grammar of the schema, or 0 */
	char grammar_path[24];
	int greedy, gumbel, ignore_eos;
	int sampling;           /* there are options of sample beside these */
	int stream, chained;    /* fwd draws (--chain), and there is no sample */
	int best_of, all;       /* continuations; 0: one, as it comes */
	const char *penalty;    /* of the length, as it was given, or NULL */
	const char *stop[64];   /* [n_stop] as they were given */
	int n_stop;
	int chat, interactive;  /* one turn for each line of stdin; ^C ends an answer */
	int chat_options;       /* options of chat were given */
	char seed_text[24], most_text[24], repeat_text[24], seed_option[24];
};

#endif
