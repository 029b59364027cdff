/* gen: what the command line of gen asks for. */
#ifndef GEN_H
#define GEN_H

#include <stdint.h>

#include "lib/process/stages.h"

enum { HOSTS_MAX = 16 };        /* of --hosts: each is a stage */

/* In the order of the stream, which runs from PROMPT to DETOK. FEED and TEE are gen itself; DRAFT is the small model
 * that the loop runs. SCHEMA runs before all others; CHAT, ENCODE, ANSWER and PLAIN for each turn of a conversation,
 * KV before the first. */
enum stage_number {
	NOWHERE, SCHEMA, CHAT, ENCODE, PROMPT, TOK, FEED, FWD, FWD_LAST = FWD + HOSTS_MAX - 1, SAMPLE, STOPS, TEE, BEST,
	PEEK, DETOK, ANSWER, PLAIN, DRAFT, KV, STAGES
};

enum fact {                     /* what options state, */
	VERBOSE = 1, JSON = 1 << 1, PRINT = 1 << 2, STREAM = 1 << 3, TALKS = 1 << 4, INTERACTIVE = 1 << 5,
	CONSTRAINED = 1 << 6, STOPPED = 1 << 7, DRAFTS = 1 << 8, RANKED = 1 << 9, ALL = 1 << 10, KEPT = 1 << 11,
	OF_CHAT = 1 << 12, OF_TOK = 1 << 13, OWN_FWD = 1 << 14, OWN_SAMPLE = 1 << 15, OWN_DETOK = 1 << 16,
	GREEDY = 1 << 17, GUMBEL = 1 << 18, SAMPLING = 1 << 19, OF_TEXT = 1 << 20,
	/* and what follows from them */
	NOISE = 1 << 21,        /* gumbel's */
	CHAINED = 1 << 22,      /* fwd draws (--chain), and there is no sample */
	DRAFT_MODEL = 1 << 23,  /* guesses come from a small model */
	BOUNDED = 1 << 24,      /* the loop counts to -n */
	LOGPROBS = 1 << 25,     /* sample tells them */
	FILTERED = 1 << 26,     /* a filter in the loop finds the stop strings */
	COLOURED = 1 << 27,     /* the text is shaded: peek shows it, and detok is not used */
	GRAMMAR = 1 << 28,      /* a grammar or a schema says what may be drawn */
	EDITED = 1 << 29,       /* a conversation on a terminal, where lines are edited and answers shown */
	LINES = 1 << 30,        /* each answer is a line: of each prompt in a file, or several of one */
	MANY = TALKS | RANKED | LINES           /* any of these: more than one text comes */
};

struct request {
	unsigned facts;
	const char *model;
	const char *prompt, *file;      /* both NULL: tok reads gen's own stdin */
	int echo;               /* print it, too */
	int likely;             /* --json has the most likely tokens of each place */
	int once;               /* the prompt is the only turn of a conversation */
	const char *draft, *kv, *history, *hosts;       /* as given, or NULL */
	const char *fwd;        /* the program on this machine */
	int64_t seed;
	const char *lines;      /* the file of --lines, or NULL */
	int jobs;               /* of -j; 0: not given */
	int texts;              /* of --best-of and -N; 1 otherwise */
	struct stage stage[STAGES];     /* those that are used have arguments; nothing is running */
};

static inline int asked(const struct request *q, unsigned facts)
{
	return (q->facts & facts) == facts;
}

#endif
