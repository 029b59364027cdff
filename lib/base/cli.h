/* cli: what every main() has in common: options from tables, numbers through one checked parser, errors as one line
 * on stderr, the exit status.
 * The only part of lib/ that prints and exits, with guard; nothing else in lib/ may call it.
 *
 *	enum { GREEDY = 1 };
 *	static const struct opt opts[] = {
 *		{ 'n', "n-predict", "N", "stop after N tokens (default: no limit)" },
 *		{ GREEDY, "greedy", NULL, "take the most likely token" },
 *		{ 0 }
 *	};
 *	struct cli c = { .program = "sample", .synopsis = "[options] < logits > ids", .purpose = "logits to ids",
 *		.opts = opts };
 *	const struct opt *o;
 *
 *	cli_start(&c, argc, argv);
 *	while ((o = cli_next(&c)))
 *		switch (o->letter) {
 *		case 'n': n = cli_integer(&c, o, 0, INT32_MAX); break;
 *		case GREEDY: greedy = 1; break;
 *		}
 *	... c.argv[0 .. c.argc-1] are the operands ...
 *	return cli_end(&c);
 *
 * Grammar: -n 5, -n5, --n-predict 5, --n-predict=5, several flags in one word (-ab); `--` ends the options; `-` alone
 * is an operand. Options may follow operands. Every program has --help, -h for a short form of it (unless the letter is
 * taken), --version and, for the shells' completions, --list-options: for each option a line of its short form, long
 * form, argument and the first line of its help, separated by tabs. */
#ifndef CLI_H
#define CLI_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include "why.h"

enum { CLI_SHARED = 256, CLI_TABLES = 7 };

/* A row of an option table. A row with nothing but help is a heading of --help, for the rows up to the next heading,
 * those of further tables included. A row of zeroes ends the table. */
struct opt {
	/* The short form. An option without one has a number from 1 to 31, or from CLI_SHARED in shared tables, for
	 * main to switch on. */
	int letter;
	const char *name;       /* the long form without its dashes */
	/* Its argument in --help: a name, or the choices "a|b|c"; NULL for a flag. "[a|b|c]", for an option without a
	 * short form: it may be left out; the next word is the value if it is one of the choices. */
	const char *arg;
	const char *help;       /* one line; each "\n" starts another, which is indented */
};

/* Which options exclude each other or require another, as names of options separated by spaces; NAME=TEXT is an option
 * whose value is TEXT or begins with TEXT=. A row of zeroes ends the table.
 *
 *	{ .one_of = "text offsets count" },                     at most one of these; with an argument, only once
 *	{ "frames", .excludes = "generated suffix end" },       each of the first excludes each of the second
 *	{ "ordered json", .requires = "lines" },                each of the first requires one of the second
 */
struct cli_rule {
	const char *options, *excludes, *requires, *one_of;
	const char *reason;     /* for the user, or NULL */
};

struct cli_given {              /* an option of the command line, and its value or NULL */
	const struct opt *o;
	const char *value;
};

struct cli {
	const char *program;    /* set once; cli_die() and the rest print it */
	const char *synopsis;   /* what follows the program's name */
	const char *purpose;    /* half a line */
	const struct opt *opts;
	const struct opt *more[CLI_TABLES];     /* further tables, in the order of --help, or NULL */
	const struct cli_rule *rules;           /* or NULL */
	const char *common;     /* the options that -h prints: names separated by spaces; NULL: all */
	const char *examples;   /* for -h: some command lines, each indented and ended by a newline; or NULL */
	int argc;               /* main's; once cli_next() has returned NULL, argv[0 .. argc-1] are the operands */
	char **argv;
	const char *value;      /* the argument of the option just returned, or NULL */
	struct cli_given *given;        /* [n_given]: the options so far; freed by nobody */
	size_t n_given;
	int trouble;            /* the status of cli_die(), as 2 of diff(1); 0: 1 */
	int at, in, kept;       /* private: word, letter in it, operands so far; of `given` */
	char ignored[128];      /* harmless options of llama.cpp, with a blank before each */
	size_t room;

	/* private, of the words of a sequence: */
	const struct cli *line; /* the command line; otherwise NULL */
	struct why *refusal;    /* why they are refused, */
	jmp_buf *refused;       /* and where that leads */
};

/* The next option, or NULL after the last one. An unknown option, a missing argument or a broken rule ends the program
 * with status 2. */
const struct opt *cli_next(struct cli *c);

/* The options of a sequence, words[n] of an `opts` frame (frame(5)): calls take() for each that is in the tables of c,
 * whose command line has been read, and finally with NULL; skips those of other stages. The struct cli that take()
 * gets has the value. What rules require may be on the command line. -1, with the reason, in place of whatever
 * would end the program, cli_usage() and cli_die() in take() included: these do not return, so take() must own nothing
 * when it calls them. */
typedef void cli_take(struct cli *c, const struct opt *o, void *context);
int cli_words(const struct cli *c, const char *words, size_t n, cli_take *take, void *context, struct why *w);

/* For an option that must be the same for all sequences: refuses it among the words of one. */
void cli_whole(const struct cli *c, const struct opt *o);

/* The value of the option just returned, as a number in [low, high]; anything else (empty, trailing characters,
 * hexadecimal, NaN, out of range) ends the program with status 2 and a message that names the option and the range. */
long long cli_integer(const struct cli *c, const struct opt *o, long long low, long long high);
double cli_real(const struct cli *c, const struct opt *o, double low, double high);

/* cli_choice(): the value, which must not be NULL, as an index, from 0, into the choices of the option; cli_word(): as
 * the choice itself. Anything else ends the program in the same way. */
int cli_choice(const struct cli *c, const struct opt *o);
const char *cli_word(const struct cli *c, const struct opt *o);

/* Prints "PROGRAM: text" on stderr and exits: 1 for data and the system, 2 for usage. If $LMPIPE_ERROR_FD names an open
 * descriptor at the start, the line goes there, so that gen can tell which of its stages failed first. Lines on stderr
 * begin with $LMPIPE_ERROR_PREFIX, if it is set: "gen: " in gen's stages. */
_Noreturn void cli_die(const struct cli *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void cli_usage(const struct cli *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* cli_die() with the reason, if something has failed. */
void cli_must(const struct cli *c, int failed, const struct why *w);

/* Prints the line of cli_die() and returns, for a program that ends by itself. */
void cli_line(const struct cli *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For an argument that was read in vain: exits with status 1 if memory was short (errno is ENOMEM), else with 2. */
_Noreturn void cli_refuse(const struct cli *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For an output that is correct but incomplete: exits with status 3. */
_Noreturn void cli_cut(const struct cli *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For programs that continue after part of the work failed: cli_warn() prints "PROGRAM: text" on stderr for each
 * failure; cli_failed() exits with status 1 at the end, and prints its line only for gen. */
void cli_warn(const struct cli *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void cli_failed(const struct cli *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Start of every main: takes the command line. Fails unless descriptors 0, 1 and 2 are open: a model file must not
 * become stdin. */
void cli_start(struct cli *c, int argc, char **argv);

/* For programs that read frames (fd 0) or write them (fd 1): fails with status 2 if that is a terminal. */
void cli_binary(const struct cli *c, int fd);

/* End of every main: flushes and closes stdout. Returns 0; a failure (a full disk) ends the program with status 1. */
int cli_end(const struct cli *c);

/* Divides FILE[=SCALE], the value of an option: returns the bytes of FILE; *scale is 1 if there is none. What follows
 * the last = belongs to FILE unless it is a number. */
size_t cli_scaled(const char *text, double *scale);

#endif
