/* cli: what every main() does alike: options from one table, numbers through one checked parser, one line on stderr, the exit status.
 * The only part of lib/ that prints and exits; nothing else in lib/ may call it.
 *
 *	enum { GREEDY = 1 };
 *	static const struct opt opts[] = {
 *		{ 'n', "n-predict", "N", "stop after N ids (default: no limit)" },
 *		{ GREEDY, "greedy", NULL, "take the most likely id" },
 *		{ 0 }
 *	};
 *	struct cli c = { .program = "sample", .synopsis = "[options] < logits > ids", .purpose = "logits to ids", .opts = opts, .argc = argc, .argv = argv };
 *	const struct opt *o;
 *
 *	cli_start(&c);
 *	while ((o = cli_next(&c)))
 *		switch (o->letter) {
 *		case 'n': n = cli_integer(&c, o, 0, INT32_MAX); break;
 *		case GREEDY: greedy = 1; break;
 *		}
 *	... c.argv[0 .. c.argc-1] are the operands ...
 *	return cli_end(&c);
 *
 * Grammar: -n 5, -n5, --n-predict 5, --n-predict=5, several flags in one word (-ab), `--` ends the options, `-` alone is an operand.
 * Options may stand after operands. Every program has --help, -h (unless the letter is taken) and --version. */
#ifndef CLI_H
#define CLI_H

#include <stdint.h>

enum { CLI_SHARED = 256, CLI_TABLES = 3 };

struct opt {
	int letter;             /* the short form; 1 to 31, or CLI_SHARED on in shared tables, for one that has none, so that a main can switch on it */
	const char *name;       /* the long form without its dashes; a row of zeroes ends the table */
	const char *arg;        /* name of its argument in --help, or NULL for a flag */
	const char *help;       /* one line; "\n" starts a further one, which is indented */
};

struct cli {
	const char *program;    /* set once; cli_die() and the rest print it */
	const char *synopsis;   /* what follows the program's name */
	const char *purpose;    /* half a line */
	const struct opt *opts;
	const struct opt *more[CLI_TABLES];     /* tables of options shared with other programs; NULL where there is none */
	int argc;               /* main's two; once cli_next() has returned NULL, argv[0..argc-1] are the operands alone */
	char **argv;
	const char *value;      /* the argument of the option just returned, or NULL */
	int at, in, kept;       /* private: word, letter in it, operands so far */
};

/* The next option, or NULL after the last one. An unknown option or a missing argument ends the program with status 2. */
const struct opt *cli_next(struct cli *c);

/* The value of the option just returned, as a number in [low, high]; anything else (empty, trailing characters, hexadecimal, NaN, out of
 * range) ends the program with status 2 and a message that names the option and the range. */
long long cli_integer(const struct cli *c, const struct opt *o, long long low, long long high);
double cli_real(const struct cli *c, const struct opt *o, double low, double high);

/* "PROGRAM: text" on stderr, then exit: 1 for data and the system, 2 for usage. If $LMPIPE_ERROR_FD names an open descriptor, the line goes there:
 * so gen learns which of its stages began a fault that several of them report. */
_Noreturn void cli_die(const struct cli *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void cli_usage(const struct cli *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Start of every main: makes sure that descriptors 0, 1 and 2 are open or refuses (a closed stdin must not become a model file), and
 * says so. A program that writes frames to a terminal, or reads them from one, dies with status 2: cli_binary(c, 0) or (c, 1). */
void cli_start(const struct cli *c);
void cli_binary(const struct cli *c, int fd);

/* End of every main: flushes and closes stdout. Returns 0; a failure (a full disk) ends the program with status 1. */
int cli_end(const struct cli *c);

#endif
