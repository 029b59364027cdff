/* cli: options, numbers, the one line on stderr and the exit status, for every main(). */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli_rows.h"
#include "grow.h"
#include "guard.h"
#include "io.h"
#include "llama_options.h"
#include "out.h"
#include "similar.h"
#include "size.h"

#define VERSION "1.0.0"

static int error_fd = 2;        /* where the line goes */
static const char *caller = ""; /* what lines on stderr begin with */

/* $LMPIPE_ERROR_FD, if it is open when the program starts: later its number may be that of a file of our own. */
static void find_errors(void)
{
	const char *s = getenv("LMPIPE_ERROR_FD"), *prefix = getenv("LMPIPE_ERROR_PREFIX");
	int fd = s ? atoi(s) : 0;

	if (fd > 2 && fcntl(fd, F_GETFD) >= 0)
		error_fd = fd;
	if (prefix)
		caller = prefix;
}

/* One write(2) for the whole line, so that the stages of a pipeline do not interleave theirs; one line whatever the
 * words in it hold. */
static void print_line(const struct cli *c, int fd, const char *format, va_list ap)
{
	char line[1024];
	const char *prefix = fd == STDERR_FILENO ? caller : "";
	size_t n = size_min((size_t)snprintf(line, sizeof line / 2, "%.64s%s: ", prefix, c->program),
		sizeof line / 2 - 1);
	struct why ignored;

	vsnprintf(line + n, sizeof line - n - 1, format, ap);
	why_clean(line);
	n = strlen(line);
	line[n++] = '\n';
	io_write(fd, line, n, &ignored);
}

static _Noreturn void print_and_exit(const struct cli *c, int status, const char *format, va_list ap)
{
	struct why ignored;

	if (c->refused) {
		vsnprintf(c->refusal->text, sizeof c->refusal->text, format, ap);
		why_clean(c->refusal->text);
		longjmp(*c->refused, 1);
	}
	out_flush(&ignored);
	fflush(NULL);
	print_line(c, error_fd, format, ap);
	_exit(status);
}

void cli_line(const struct cli *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_line(c, error_fd, format, ap);
	va_end(ap);
}

void cli_warn(const struct cli *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_line(c, STDERR_FILENO, format, ap);
	va_end(ap);
}

_Noreturn void cli_failed(const struct cli *c, const char *format, ...)
{
	va_list ap;

	cli_end(c);
	va_start(ap, format);
	if (error_fd != STDERR_FILENO)
		print_line(c, error_fd, format, ap);
	_exit(1);
}

_Noreturn void cli_die(const struct cli *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_and_exit(c, c->trouble ? c->trouble : 1, format, ap);
}

_Noreturn void cli_cut(const struct cli *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_and_exit(c, 3, format, ap);
}

_Noreturn void cli_usage(const struct cli *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_and_exit(c, 2, format, ap);
}

_Noreturn void cli_refuse(const struct cli *c, const char *format, ...)
{
	int memory = errno == ENOMEM;
	va_list ap;

	va_start(ap, format);
	print_and_exit(c, memory ? 1 : 2, format, ap);
}

/* ---- options ---- */

/* As cli.h describes. */
static _Noreturn void list_options(const struct cli *c)
{
	struct cli_walk walk = { 0 };
	const struct opt *o;

	while ((o = cli_rows_next(c, &walk))) {
		if (cli_row_is_heading(o))
			continue;
		if (cli_row_has_letter(o))
			out_print("-%c", o->letter);
		out_print("\t%s%s\t", o->name ? "--" : "", o->name ? o->name : "");
		if (o->arg && *o->arg == '[')
			out_bytes(o->arg + 1, strcspn(o->arg + 1, "]"));
		else
			out_text(o->arg ? o->arg : "");
		out_char('\t');
		out_bytes(o->help, strcspn(o->help, "\n"));
		out_char('\n');
	}
	out_text("\t--help\t\tprint the options\n\t--version\t\tprint the version\n");
	exit(cli_end(c));
}

/* Options that have another name now, or in this program, or that another program has. */
static const struct {
	const char *program, *option, *now;
} renamed[] = {
	{ "peek", "-n", "--top" }, { "tok", "--text", "--decimal" }, { "fwd", "--set", "--override" },
	{ "gen", "--schema", "--json-schema-file" }, { "gen", "--no-think", "--think-budget 0" },
	{ "gen", "--think", "ask --think" }, { "gen", "--no-stdin", "ask --no-stdin" },
	{ "ask", "--lines", "gen --chat --lines" }, { "ask", "--best-of", "gen --chat --best-of" },
	{ "ask", "--chat", "gen --chat" }, { "ask", "--interactive", "gen -i" }, { "ask", "-i", "gen -i" },
	{ "ask", "--print-pipeline", "gen --print-pipeline" }, { "ask", "--stage", "gen --chat --stage" }
};

/* Exits if `option`, with its dashes and perhaps "=VALUE", is one of them. */
static void refuse_renamed(const struct cli *c, const char *option)
{
	size_t n = strcspn(option, "=");

	for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
		if (!strcmp(c->program, renamed[i].program) && strlen(renamed[i].option) == n
		    && !memcmp(option, renamed[i].option, n))
			cli_usage(c, "unknown option %s; did you mean %s? (try --help)", renamed[i].option,
				renamed[i].now);
}

/* The option of the name s[n], or of that name in llama.cpp. */
static const struct opt *find_name(const struct cli *c, const char *s, size_t n)
{
	const struct opt *o = cli_rows_find(c, 0, s, n);
	const char *name = o ? NULL : llama_options_name(s, n);

	return name ? cli_rows_find(c, 0, name, strlen(name)) : o;
}

/* Whether the option s[n], with its dashes, names a repository of Hugging Face. */
static int names_repository(const char *s, size_t n)
{
	static const char *const names[] = { "-hf", "-hfr", "--hf-repo" };
	size_t i = 0;

	while (i < 3 && (strlen(names[i]) != n || memcmp(s, names[i], n)))
		i++;
	return i < 3;
}

/* Exits if `option`, with its dashes and perhaps "=VALUE", is one of llama.cpp that does not exist here. */
static void refuse_foreign(const struct cli *c, const char *option)
{
	size_t n = strcspn(option, "=");
	const char *instead = llama_options_instead(option, n);
	const char *repository = option[n] ? option + n + 1 : c->at < c->argc ? c->argv[c->at] : "";

	/* the value stands after the word, which may have been passed already */
	if (!strcmp(repository, option))
		repository = c->at + 1 < c->argc ? c->argv[c->at + 1] : "";
	if (names_repository(option, n))
		cli_usage(c, "%.*s: fetch a file from https://huggingface.co/%.*s/tree/main, and name it with -m",
			(int)n, option, (int)strcspn(repository, ":"), repository);
	if (instead)
		cli_usage(c, "%.*s: %s", (int)n, option, instead);
}

static _Noreturn void unknown(const struct cli *c, const char *s, size_t n)
{
	char name[64];
	struct cli_walk walk = { 0 };
	const struct opt *o, *nearest = NULL;
	int distance = 0, least = 0;

	snprintf(name, sizeof name, "%.*s", (int)n, s);
	while ((o = cli_rows_next(c, &walk))) {
		if (!o->name || !similar(name, o->name))
			continue;
		distance = similar_distance(name, o->name);
		if (!nearest || distance < least) {
			nearest = o;
			least = distance;
		}
	}
	if (nearest && n < sizeof name)
		cli_usage(c, "unknown option --%s; did you mean --%s? (try --help)", name, nearest->name);
	cli_usage(c, "unknown option --%s (try --help)", s);
}

/* The length of the next of the choices "a|b|c", or "[a|b|c]" of an option whose value may be left out; *s moves to it.
 * 0: there are no more. */
static size_t next_choice(const char **s)
{
	*s += **s == '[' || **s == '|';
	return strcspn(*s, "|]");
}

/* The index of a word among the choices; -1: it is none. */
static int choice_of(const char *choices, const char *word)
{
	size_t n;
	int i = 0;

	for (const char *s = choices; (n = next_choice(&s)); s += n, i++)
		if (strlen(word) == n && !memcmp(s, word, n))
			return i;
	return -1;
}

/* Whether the option, which is the word before c->at, has no value there. */
static int is_bare(const struct cli *c, const struct opt *o)
{
	return *o->arg == '[' && (c->at >= c->argc || choice_of(o->arg, c->argv[c->at]) < 0);
}

/* Obeys an option that every program has, and exits; or returns if word[n] is none. */
static void obey_common(struct cli *c, const char *word, size_t n)
{
	static const char *const names[] = { "help", "version", "list-options" };
	size_t i = 0;

	while (i < 3 && (strlen(names[i]) != n || memcmp(word, names[i], n)))
		i++;
	if (i == 3)
		return;
	if (word[n])
		cli_usage(c, "--%s takes no argument", names[i]);
	if (i == 0)
		cli_help(c, 0);
	if (i == 2)
		list_options(c);
	out_print("%s (lmpipe) %s\n", c->program, VERSION);
	exit(cli_end(c));
}

static const struct opt *long_option(struct cli *c, const char *word)
{
	const char *equals = strchr(word, '=');
	size_t n = equals ? (size_t)(equals - word) : strlen(word);
	const struct opt *o = find_name(c, word, n);

	if (!o) {
		obey_common(c, word, n);
		refuse_foreign(c, c->argv[c->at - 1]);
		refuse_renamed(c, c->argv[c->at - 1]);
		unknown(c, word, n);
	}
	if (!o->arg && equals)
		cli_usage(c, "--%s takes no argument", o->name);
	c->value = NULL;
	if (!o->arg || (!equals && is_bare(c, o)))
		return o;
	if (!equals && c->at >= c->argc)
		cli_usage(c, "%s needs an argument: %s", cli_row_spell(o).s, o->arg);
	c->value = equals ? equals + 1 : c->argv[c->at++];
	return o;
}

/* One letter of the word at c->at; c->in says which. */
static const struct opt *short_option(struct cli *c)
{
	const char *letter = c->argv[c->at] + c->in;
	const struct opt *o = cli_rows_find(c, *letter, NULL, 0);

	if (!o && *letter == 'h' && !letter[1])
		cli_help(c, 1);
	if (!o && *letter == 'm' && strstr(c->synopsis, "MODEL"))
		cli_usage(c, "unknown option -m: the model is an operand (try --help)");
	if (!o) {
		refuse_renamed(c, (char[3]){ '-', *letter });
		cli_usage(c, "unknown option -%c (try --help)", *letter);
	}
	c->value = NULL;
	c->in++;
	if (o->arg && letter[1])
		c->value = letter + 1;
	else if (o->arg && c->at + 1 < c->argc)
		c->value = c->argv[++c->at];
	else if (o->arg)
		cli_usage(c, "%s needs an argument: %s", cli_row_spell(o).s, o->arg);
	if (o->arg || !letter[1]) {
		c->at++;
		c->in = 0;
	}
	return o;
}

/* Whether s is how llama.cpp spells the value of a switch. */
static int is_switch(const char *s)
{
	static const char *const words[] = { "on", "off", "auto", "1", "0", "-1", "true", "false", "enabled",
		"disabled" };
	size_t i = 0;

	while (i < sizeof words / sizeof *words && strcmp(s, words[i]))
		i++;
	return i < sizeof words / sizeof *words;
}

/* Skips an option of llama.cpp that changes nothing here, and its value. Returns 0 if the word is none. */
static int skip_harmless(struct cli *c, const char *word)
{
	size_t n = strcspn(word, "=");
	enum llama_harmless kind = llama_options_harmless(word, n);
	const char *next = c->at + 1 < c->argc ? c->argv[c->at + 1] : "";
	size_t used = strlen(c->ignored);

	if (kind == LLAMA_NOT_HARMLESS || (word[1] == '-' && find_name(c, word + 2, n - 2)))
		return 0;
	snprintf(c->ignored + used, sizeof c->ignored - used, " %.*s", (int)n, word);
	c->at += 1 + (!word[n] && ((kind == LLAMA_VALUE && *next)
		|| (kind == LLAMA_SWITCH && is_switch(next))));
	return 1;
}

/* An option of llama.cpp that sets a key of the model file: --override KEY=VALUE. NULL if the word is none. */
static const struct opt *override_option(struct cli *c, const char *word)
{
	size_t n = strcspn(word, "="), room;
	const char *key = llama_options_key(word, n), *value = word[n] ? word + n + 1 : c->argv[c->at + 1];
	const struct opt *o = key ? find_name(c, "override", 8) : NULL;
	char *pair;

	if (!o || (!word[n] && c->at + 1 >= c->argc))
		return NULL;
	room = strlen(key) + strlen(value) + 2;
	if (!(pair = malloc(room)))
		cli_die(c, "out of memory");
	snprintf(pair, room, "%s=%s", key, value);
	c->value = pair;
	c->at += word[n] ? 1 : 2;
	return o;
}

/* The next option, or NULL after the last. */
static const struct opt *next_option(struct cli *c)
{
	const struct opt *o;
	char *word;

	if (!c->at)
		c->at = 1;
	if (c->in)
		return short_option(c);
	while (c->at < c->argc) {
		word = c->argv[c->at];
		if (word[0] == '-' && skip_harmless(c, word))
			continue;
		if (word[0] == '-' && (o = override_option(c, word)))
			return o;
		if (word[0] == '-' && word[1] && word[1] != '-' && llama_options_name(word, strlen(word))
		    && find_name(c, word, strlen(word))) {
			c->at++;
			return long_option(c, word);
		}
		if (word[0] == '-' && word[1] && word[1] != '-') {
			if (word[2] || !cli_rows_find(c, word[1], NULL, 0))
				refuse_foreign(c, word);
			c->in = 1;
			return short_option(c);
		}
		c->at++;
		if (word[0] != '-' || !word[1])
			c->argv[++c->kept] = word;
		else if (word[2])
			return long_option(c, word + 2);
		else
			while (c->at < c->argc)
				c->argv[++c->kept] = c->argv[c->at++];
	}
	/* argv[1..kept] are operands. argc is 0 only if the program was started without even its name */
	if (c->argc > 0)
		c->argv++;
	c->argc = c->kept;
	return NULL;
}

const struct opt *cli_next(struct cli *c)
{
	const struct opt *o = next_option(c);

	if (!o) {
		cli_check_rules(c);
		if (*c->ignored)
			cli_warn(c, "ignored:%s", c->ignored);
		return NULL;
	}
	if (c->n_given == c->room && grow(&c->given, &c->room, sizeof *c->given, 16))
		cli_die(c, "out of memory");
	c->given[c->n_given++] = (struct cli_given){ o, c->value };
	return o;
}

/* ---- values ---- */

/* The choices "a|b|c" as "a, b or c". */
struct words {
	char s[256];
};

static struct words in_words(const char *choices)
{
	struct words words = { "" };
	size_t at = 0, n;

	for (const char *s = choices; (n = next_choice(&s)); s += n)
		at += (size_t)snprintf(words.s + at, sizeof words.s - at, "%s%.*s",
			!at ? "" : s[n] == '|' ? ", " : " or ", (int)n, s);
	return words;
}

int cli_choice(const struct cli *c, const struct opt *o)
{
	int i = choice_of(o->arg, c->value);

	if (i < 0)
		cli_usage(c, "%s: \"%s\" is not %s", cli_row_spell(o).s, c->value, in_words(o->arg).s);
	return i;
}

const char *cli_word(const struct cli *c, const struct opt *o)
{
	cli_choice(c, o);
	return c->value;
}

long long cli_integer(const struct cli *c, const struct opt *o, long long low, long long high)
{
	const char *s = c->value, *digits = s + (*s == '-');
	long long n;

	errno = 0;
	n = strtoll(s, NULL, 10);
	if (!*digits || digits[strspn(digits, "0123456789")] || errno || n < low || n > high)
		cli_usage(c, "%s: \"%s\" is not an integer from %lld to %lld", cli_row_spell(o).s, s, low, high);
	return n;
}

/* [-]digits[.digits][e[±]digits], with at least one digit before or after the point */
static int is_real(const char *s)
{
	size_t whole, part = 0;

	s += *s == '-';
	s += whole = strspn(s, "0123456789");
	if (*s == '.')
		s += 1 + (part = strspn(s + 1, "0123456789"));
	if (!whole && !part)
		return 0;
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '-' || *s == '+';
		if (!*s)
			return 0;
		s += strspn(s, "0123456789");
	}
	return !*s;
}

double cli_real(const struct cli *c, const struct opt *o, double low, double high)
{
	/* no program here calls setlocale(), so the decimal point is a point */
	double x = is_real(c->value) ? strtod(c->value, NULL) : NAN;

	if (!(x >= low && x <= high))
		cli_usage(c, "%s: \"%s\" is not a number from %.7g to %.7g", cli_row_spell(o).s, c->value, low, high);
	return x;
}

/* ---- start and end ---- */

void cli_start(struct cli *c, int argc, char **argv)
{
	static const char *const names[] = { "standard input", "standard output", "standard error" };
	int fd;

	c->argc = argc;
	c->argv = argv;
	/* exceeding the limit on file size should be an error of write(2), like a full disk, not a signal */
	signal(SIGXFSZ, SIG_IGN);
	guard_stack(c->program);
	find_errors();
	for (fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			cli_die(c, "%s: closed", names[fd]);
}

void cli_binary(const struct cli *c, int fd)
{
	if (isatty(fd))
		cli_usage(c, fd ? "standard output: a terminal; this writes binary frames: pipe it to a program or a "
			"file (try --help)"
			: "standard input: a terminal; this reads binary frames: pipe them in (try --help)");
}

int cli_end(const struct cli *c)
{
	struct why w;
	int failed;

	if (out_flush(&w))
		cli_die(c, "%s", w.text);
	errno = 0;
	failed = fflush(stdout) || ferror(stdout);
	if (fclose(stdout) || failed)
		cli_die(c, "standard output: %s", errno ? strerror(errno) : "write error");
	return 0;
}

size_t cli_scaled(const char *text, double *scale)
{
	const char *equals = strrchr(text, '=');
	char *end = NULL;

	*scale = equals ? strtod(equals + 1, &end) : 1;
	if (equals && end > equals + 1 && !*end)
		return (size_t)(equals - text);
	*scale = 1;
	return strlen(text);
}
