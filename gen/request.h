/* gen: what the command line of gen asks for. */
#ifndef GEN_H
#define GEN_H

#include <stdint.h>

#include "lib/process/stages.h"

enum { HOSTS_MAX = 16 };        /* for --hosts: each host is a stage */

/* The stages, in the order of the stream from PROMPT to DETOK. FEED and TEE are gen itself; DRAFT is the small model
 * that the loop runs. SCHEMA makes a grammar before all others start; CHAT, ENCODE, ANSWER and PLAIN run for each turn
 * of a conversation, KV before the first turn. */
enum stage_number {
	NOWHERE, SCHEMA, CHAT, ENCODE, PROMPT, TOK, FEED, FWD, FWD_LAST = FWD + HOSTS_MAX - 1, SAMPLE, STOPS, TEE, BEST,
	PEEK, DETOK, ANSWER, PLAIN, DRAFT, KV, STAGES
};

/* What the command line asks for, as bits of request.facts. */
enum fact {
	/* stated by options */
	VERBOSE = 1,                    /* -v */
	JSON = 1 << 1,
	PRINT = 1 << 2,                 /* --print-pipeline */
	CONVERSATION = 1 << 4,          /* --chat, -i */
	INTERACTIVE = 1 << 5,           /* -i */
	CONSTRAINED = 1 << 6,           /* a JSON schema */
	GRAMMAR = 1 << 7,               /* that, or a grammar */
	STOPPED = 1 << 8,               /* --stop */
	DRAFTS = 1 << 9,                /* --draft */
	LINES = 1 << 10,                /* --lines, -N: each answer is a line */
	RANKED = 1 << 11,               /* --best-of */
	ALL = 1 << 12,                  /* --all */
	KEPT = 1 << 13,                 /* --kv */
	COLOURED = 1 << 14,             /* --color, if colours are possible: peek prints the text instead of detok */
	GREEDY = 1 << 15,
	GUMBEL = 1 << 16,
	OF_CHAT = 1 << 18,              /* an option of chat, or --history */
	OF_TOK = 1 << 19,               /* an option of tok, or --stage tok */
	OF_TEXT = 1 << 20,              /* an option for which sample needs the vocabulary */
	OWN_FWD = 1 << 21,              /* --stage fwd; */
	OWN_SAMPLE = 1 << 22,           /* sample; */
	OWN_DETOK = 1 << 23,            /* detok */
	/* facts that follow from these */
	NOISE = 1 << 24,                /* draws use Gumbel noise (--gumbel) */
	DRAFT_MODEL = 1 << 26,          /* guesses come from a small model */
	BOUNDED = 1 << 27,              /* the loop counts tokens up to -n */
	LOGPROBS = 1 << 28,             /* sample writes log-probabilities */
	FILTERED = 1 << 29,             /* a filter in the loop finds stop strings */
	EDITED = 1 << 30,               /* a conversation on a terminal with line editing; gen shows the answers */
	MANY = CONVERSATION | RANKED | LINES    /* any of these: several texts */
};

struct request {
	unsigned facts;
	const char *model;
	const char *prompt, *file;      /* both NULL: tok reads gen's own stdin */
	size_t prompt_n;        /* bytes of prompt, which may contain NUL if it is from a file */
	int echo;               /* print the prompt, too */
	int append;             /* the prompt follows the text that --kv keeps */
	int escape;             /* tok replaces escapes in the prompt */
	int guesses, penalty;   /* --draft-max and --length-penalty were given */
	int lenient;            /* the schema's grammar leaves out what it cannot express */
	int likely;             /* --json includes the most likely tokens at each position */
	int once;               /* the prompt is the only turn of a conversation */
	const char *draft, *kv, *history, *hosts;       /* as given, or NULL */
	const char *fwd;        /* the program on this machine */
	int64_t seed;
	const char *lines;      /* the file of --lines, or NULL */
	const char *constraint; /* the option whose grammar or schema is standard input, or NULL */
	int jobs;               /* of -j; 0: not given */
	int texts;              /* of --best-of and -N; 1 otherwise */
	struct stage stage[STAGES];     /* the stages in use have arguments; none is running */
};

static inline int asked(const struct request *q, unsigned facts)
{
	return (q->facts & facts) == facts;
}

#endif
