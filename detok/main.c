/* detok: ids to text. It is the only stage that sees bytes, so it decides where a stop string ends a generation: it
 * prints the text before it and exits or, with --frames, acts as a filter in the loop that copies ids up to the
 * stop. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/cli.h"
#include "lib/base/guard.h"
#include "lib/base/out.h"
#include "lib/gguf/gguf.h"
#include "lib/gguf/models.h"
#include "lib/stream/card.h"
#include "filter.h"
#include "printer.h"
#include "settings.h"
#include "single.h"
#include "stops.h"
#include "texts.h"

enum { SPECIAL = 1, MARKS, GENERATED, SUFFIX, STOP, TURNS, END, FRAMES, LINES, ORDERED, JSON, PIECES };

static const struct opt opts[] = {
	{ SPECIAL, "special", NULL, "print control tokens, too" },
	{ MARKS, "marks", NULL, "print control tokens that may mark reasoning or tool calls" },
	{ GENERATED, "generated", NULL, "print only generated tokens, not the prompt" },
	{ STOP, "stop", "TEXT", "stop before this text and exit; \\n is a new line; repeatable" },
	{ TURNS, "turns", NULL, "after a stop string do not exit, but continue after the next `end ` frame" },
	{ SUFFIX, "suffix", "TEXT", "print this after each generation" },
	{ END, "end", "FILE", "write an `end ` frame to FILE that says how each generation ended" },
	{ LINES, "lines", NULL, "print one line for each sequence, as it ends; newlines in a text become \\n" },
	{ ORDERED, "ordered", NULL, "with --lines: print them in the order of the sequence numbers" },
	{ JSON, "json", NULL,
		"with --lines: print JSON objects: seq, prompt, text, count, stop_reason, stop, ids, tokens" },
	{ PIECES, "pieces", NULL, "print each token on a line, as its id and its text; newlines in it become \\n" },
	{ FRAMES, "frames", NULL,
		"write frames, not text: a filter that ends a stream of ids at a stop string" },
	{ 0 }
};

static const struct cli_rule rules[] = {
	{ .one_of = "lines frames pieces" },
	{ "lines frames pieces", .excludes = "suffix" },
	{ "lines pieces", .excludes = "turns" },
	{ "frames pieces", .excludes = "end" },
	{ "pieces", .excludes = "stop" },
	{ "ordered json", .requires = "lines" },
	{ 0 }
};
static struct cli c = { .program = "detok", .synopsis = "[options] MODEL < ids > text", .purpose = "ids to text",
	.opts = opts, .rules = rules,
	.examples = "  echo hi | tok m.gguf | detok m.gguf\n"
		"  ... | sample | tee f | detok --stop '\\n' m.gguf\n"
		"  ... | sample --turns | detok --lines m.gguf\n" };
static struct why w;

static struct settings set = { .c = &c, .suffix = "", .end_fd = -1 };
static struct card card;        /* of our vocabulary */
static size_t refused;          /* sequences whose options were refused */

static void check_card(struct frame_in *in, const struct frame *f)
{
	struct card its;

	cli_must(&c, card_read(in, f, &its, &w) || card_agree(&its, in->name, &card, c.argv[0], &w), &w);
}

static void print_all(const struct printer *line, struct frame_in *in)
{
	struct single s = { .set = &set, .line = line };
	struct why later;
	struct frame f;
	int got = 0;

	cli_must(&c, printer_fork(&s.printer, line, &w), &w);
	while ((set.turns || !s.stopped) && (got = frame_next(in, &f, &w)) > 0)
		if (f.kind == FRAME_CARD)
			check_card(in, &f);
		else
			cli_must(&c, single_frame(&s, in, &f, &w), &w);
	cli_must(&c, single_end(&s, got < 0 ? &later : &w) || got < 0, &w);
	refused = s.refused;
}

static void print_lines(const struct printer *p, struct frame_in *in)
{
	struct texts t = { .set = &set, .printer = *p };
	struct why later;
	struct frame f;
	int got;

	t.printer.put = NULL;
	while ((got = frame_next(in, &f, &w)) > 0)
		if (f.kind == FRAME_CARD)
			check_card(in, &f);
		else
			cli_must(&c, texts_frame(&t, in, &f, &w), &w);
	/* everything before a fault is printed */
	cli_must(&c, texts_end(&t, got < 0 ? &later : &w) || got < 0, &w);
	refused = t.refused;
}

static void options(struct printer *p)
{
	const struct opt *o;

	while ((o = cli_next(&c)))
		switch (o->letter) {
		case SPECIAL: p->special = 1; break;
		case MARKS: p->marks = 1; break;
		case GENERATED: set.generated = 1; break;
		case SUFFIX: set.suffix = c.value; break;
		case STOP: stops_add(&c, p); break;
		case PIECES: set.pieces = 1; break;
		case TURNS: set.turns = 1; break;
		case END: set.end = c.value; break;
		case FRAMES: set.frames = 1; break;
		case LINES: set.lines = 1; break;
		case ORDERED: set.ordered = 1; break;
		case JSON: set.json = 1; break;
		}
	if (c.argc != 1)
		cli_usage(&c, "expected one operand, the model (try --help)");
	if (!set.lines && !set.frames && !set.pieces && !*set.suffix && isatty(STDOUT_FILENO))
		set.suffix = "\n";
}

static void put(void *context, const char *s, size_t n)
{
	out_shown(s, n);
}

int main(int argc, char **argv)
{
	static struct printer p = { .found = -1 };
	static struct frame_in in;
	struct vocab *vocab;
	struct gguf *g;

	cli_start(&c, argc, argv);
	cli_must(&c, !(p.stop = stop_open(&w)), &w);
	options(&p);
	cli_binary(&c, 0);
	if (set.frames)
		cli_binary(&c, 1);
	guard_arm(c.program);
	cli_must(&c, !(g = gguf_open(models_path(c.argv[0], &w), 0, &w))
		|| !(vocab = vocab_open(g, VOCAB_PIECES, &w)), &w);
	if (set.end && (set.end_fd = open(set.end, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
		cli_die(&c, "%s: %s", set.end, strerror(errno));
	vocab_card(vocab, &card);
	p.vocab = vocab;
	p.card = &card;
	p.put = set.frames ? NULL : put;
	frame_open_in(&in, 0, "standard input");
	if (set.frames)
		cli_must(&c, filter_stop(&p, &set, &in, &w), &w);
	else if (set.lines)
		print_lines(&p, &in);
	else
		print_all(&p, &in);
	stop_close(p.stop);
	vocab_close(vocab);
	gguf_close(g);
	if (refused)
		cli_failed(&c, "the options of %zu sequence%s were refused", refused,
			refused == 1 ? "" : "s");
	return cli_end(&c);
}
