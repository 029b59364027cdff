/* request: what gen or ask is asked for, as data: options() or options_ask() reads one from a command line, arguments()
 * turns it into the commands of the stages. */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdint.h>

#include "lib/base/cli.h"
#include "lib/process/stages.h"

enum { HOSTS_MAX = 16 };        /* for --hosts: each host is a stage */

/* The stages, in the order of the stream from PROMPT to DETOK. FEED and TEE are gen itself; DRAFT is the small model
 * that the loop runs. SCHEMA makes a grammar before all others start; CHAT, ENCODE and DECODE run for each turn of a
 * conversation, KV before the first turn, TOOL for each call of an answer. */
enum stage_number {
	SCHEMA, CHAT, ENCODE, PROMPT, RENDER, TOK, FEED, FWD, FWD_LAST = FWD + HOSTS_MAX - 1, SAMPLE, STOPS, TEE, BEST,
	PEEK, DETOK, DECODE, DRAFT, KV, TOOL, STAGES
};

struct record;

struct request {
	const char *program;    /* gen or ask */
	const char *speaker;    /* what lines on stderr begin with: the program, and the record that they are about */

	/* the prompt */
	const char *prompt, *file;      /* both NULL: tok reads gen's own stdin */
	size_t prompt_n;        /* bytes of prompt, which may contain NUL if it is from a file */
	int escape;             /* tok replaces escapes in the prompt */
	int append;             /* the prompt follows the text that --kv keeps */
	int echo;               /* print the prompt, too */

	/* many prompts or texts */
	const char *lines;      /* a file with a prompt on each line, or NULL */
	int jobs;               /* most of them at a time; 0: not given */
	int texts;              /* of one prompt; 1 without --best-of and -N */
	int best_of;            /* print the most likely of them, */
	int all;                /* or all, the best first */
	int listed;             /* --lines, -N: print each text on a line */

	/* requests */
	int requests;           /* read from `file` or, if that is NULL, from gen's own stdin */
	int ordered;            /* answer them in order */
	const char *resume;     /* a file with answers of requests that are skipped, or NULL */
	int64_t cache;          /* tokens of finished texts that are kept; -1: not given */

	/* a conversation */
	int conversation;
	int interactive;
	int once;               /* the prompt is its only turn */
	int no_stdin;           /* ask: standard input is no document */
	int answer;             /* ask: only the answer to the turn is printed, */
	int think;              /* and the reasoning; -1: the template is to ask for none; 0: on a terminal */
	int plain;              /* no template is named and the model has none: it continues what the user types */
	int templated;          /* an option of the chat template, or --history */
	int rendered;           /* the prompts are rendered by the template: RENDER runs chat before tok */
	const char *history;    /* or NULL */
	const char *tool_command;       /* the program that runs calls, or NULL */
	int tool_time;          /* the seconds that it has for one */
	int yes;                /* calls are run without asking */

	/* the draws */
	int64_t n;              /* most tokens of a text, or -1 */
	int64_t seed;
	int seeded;             /* it was given */
	int greedy, gumbel;
	int32_t budget;         /* tokens of reasoning; -1: as many as there are */
	int pieces;             /* an option for which sample needs the vocabulary */
	int grammar;            /* there is a grammar, or a schema, */
	int schema;             /* a schema; */
	int tools;              /* there are tools to call */
	int lenient;            /* its grammar leaves out what it cannot express */
	const char *constraint; /* the option whose grammar or schema is standard input, or NULL */
	const char *grammar_name;       /* the file of --grammar-file, or NULL */
	int stop;               /* there are stop strings */

	/* the output */
	int verbose, json, color, print_pipeline;
	int marks;              /* show the control tokens that mark reasoning and calls */
	int likely;             /* --json includes the most likely tokens at each position */

	/* instead of a prompt */
	const char *verify;     /* a file of records to draw again, or NULL; for each of them: */
	const struct record *record;    /* NULL without one */
	const char *about;      /* the record as lines name it: "FILE: line 3" */
	int differs;            /* its text does, and a line says so */

	/* the model */
	const char *model;
	const char *kv, *hosts, *draft;         /* as given, or NULL */

	const struct cli_given *given;  /* [n_given]: all options, of which each stage gets its own */
	size_t n_given;

	/* what follows, by arguments() */
	int shaded;             /* peek prints the text in colours, instead of detok */
	int noise;              /* draws use Gumbel noise */
	int draft_model;        /* guesses come from a small model */
	int bounded;            /* the loop counts tokens up to -n */
	int logprobs;           /* sample writes log-probabilities */
	int filtered;           /* a filter in the loop finds stop strings */
	int edited;             /* a conversation on a terminal with line editing */
	int shown;              /* gen or ask itself prints the answers */
	const char *fwd;        /* the program on this machine */
	const char *copied;     /* grammar_name, if sample gets a copy */
	int grammar_file;       /* descriptor of such a copy, or of what schema makes; 0: none */
	struct stage stage[STAGES];     /* those in use have arguments; those of --stage are what was asked for */
};

/* Whether there are several texts, so that stages continue after the end of one. */
static inline int several(const struct request *q)
{
	return q->conversation || q->best_of || q->listed;
}

#endif
