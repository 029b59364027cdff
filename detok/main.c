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
#include "lib/stream/frame.h"
#include "filter.h"
#include "printer.h"
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

static struct {
	const char *suffix, *end;
	int generated, turns, frames, lines, ordered, json, pieces;
	int end_fd;             /* or -1 */
	size_t refused;         /* sequences whose options were refused */
	struct card card;       /* of our vocabulary */
} detok = { .suffix = "", .end_fd = -1 };

static void must(int failed)
{
	if (failed)
		cli_die(&c, "%s", w.text);
}

static void check_card(struct frame_in *in, const struct frame *f)
{
	struct card card;

	must(card_read(in, f, &card, &w) || card_agree(&card, in->name, &detok.card, c.argv[0], &w));
}

static void print_all(const struct printer *line, struct frame_in *in)
{
	struct single s = { .line = line, .c = &c, .generated = detok.generated, .pieces = detok.pieces,
		.suffix = detok.suffix, .end_fd = detok.end_fd, .end = detok.end, .next = FRAME_APPEND };
	struct why later;
	struct frame f;
	int got = 0;

	must(printer_fork(&s.printer, line, &w));
	while ((detok.turns || !s.stopped) && (got = frame_next(in, &f, &w)) > 0)
		if (f.kind == FRAME_CARD)
			check_card(in, &f);
		else
			must(single_frame(&s, in, &f, &w));
	must(single_end(&s, got < 0 ? &later : &w) || got < 0);
	detok.refused = s.refused;
}

static void print_lines(const struct printer *p, struct frame_in *in)
{
	struct texts t = { .printer = *p, .c = &c, .generated = detok.generated, .ordered = detok.ordered,
		.json = detok.json, .end_fd = detok.end_fd, .end = detok.end };
	struct why later;
	struct frame f;
	int got;

	t.printer.put = NULL;
	while ((got = frame_next(in, &f, &w)) > 0)
		if (f.kind == FRAME_CARD)
			check_card(in, &f);
		else
			must(texts_frame(&t, in, &f, &w));
	/* everything before a fault is printed */
	if (texts_end(&t, got < 0 ? &later : &w) || got < 0)
		cli_die(&c, "%s", w.text);
	detok.refused = t.refused;
}

static void options(struct printer *p)
{
	const struct opt *o;

	while ((o = cli_next(&c)))
		switch (o->letter) {
		case SPECIAL: p->special = 1; break;
		case MARKS: p->marks = 1; break;
		case GENERATED: detok.generated = 1; break;
		case SUFFIX: detok.suffix = c.value; break;
		case STOP: stops_add(&c, p); break;
		case PIECES: detok.pieces = 1; break;
		case TURNS: detok.turns = 1; break;
		case END: detok.end = c.value; break;
		case FRAMES: detok.frames = 1; break;
		case LINES: detok.lines = 1; break;
		case ORDERED: detok.ordered = 1; break;
		case JSON: detok.json = 1; break;
		}
	if (c.argc != 1)
		cli_usage(&c, "expected one operand, the model (try --help)");
	if (!detok.lines && !detok.frames && !detok.pieces && !*detok.suffix && isatty(STDOUT_FILENO))
		detok.suffix = "\n";
}

static void put(void *context, const char *s, size_t n)
{
	(void)context;
	out_shown(s, n);
}

int main(int argc, char **argv)
{
	static struct printer p = { .found = -1 };
	static struct frame_in in;
	struct vocab *vocab;
	struct gguf *g;

	cli_start(&c, argc, argv);
	must(!(p.stop = stop_open(&w)));
	options(&p);
	cli_binary(&c, 0);
	if (detok.frames)
		cli_binary(&c, 1);
	guard_arm(c.program);
	if (!(g = gguf_open(models_path(c.argv[0], &w), 0, &w)) || !(vocab = vocab_open(g, VOCAB_PIECES, &w)))
		cli_die(&c, "%s", w.text);
	if (detok.end && (detok.end_fd = open(detok.end, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
		cli_die(&c, "%s: %s", detok.end, strerror(errno));
	vocab_card(vocab, &detok.card);
	p.vocab = vocab;
	p.card = &detok.card;
	p.put = detok.frames ? NULL : put;
	frame_open_in(&in, 0, "standard input");
	if (detok.frames)
		must(filter_stop(&p, &c, &in, detok.generated, detok.turns, &w));
	else if (detok.lines)
		print_lines(&p, &in);
	else
		print_all(&p, &in);
	stop_close(p.stop);
	vocab_close(vocab);
	gguf_close(g);
	if (detok.refused)
		cli_failed(&c, "the options of %zu sequence%s were refused", detok.refused,
			detok.refused == 1 ? "" : "s");
	return cli_end(&c);
}
