/* detok: ids to text. It is the only stage that sees bytes, so it decides where a stop string ends a generation: it
 * prints the text before it and exits or, with --frames, acts as a filter in the loop that copies ids up to the
 * stop. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
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
	{ JSON, "json", NULL, "with --lines: print JSON objects: seq, text, count, stop_reason, stop" },
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
	{ "frames", .excludes = "generated" },
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
	int stopped;            /* by a stop string: skipping the rest */
	int open;               /* ids came since the last generation ended */
	int own;                /* its sequence has options of its own */
	size_t refused;         /* sequences whose options were refused */
	uint32_t seq;           /* their sequence */
	uint32_t next;          /* the position after the last sampled id, or FRAME_APPEND */
	struct card card;       /* of our vocabulary */
} detok = { .suffix = "", .end_fd = -1, .next = FRAME_APPEND };

static void must(int failed)
{
	if (failed)
		cli_die(&c, "%s", w.text);
}

/* For a frame to --end. */
static void must_tell(int failed)
{
	if (failed)
		cli_die(&c, "%s: %s", detok.end, w.text);
}

/* Ends the text, because a stop string ended with the id before pos. */
static void stop_here(struct printer *p, uint32_t pos, uint32_t seq)
{
	size_t n;
	const char *s = stop_string(p->stop, p->found, &n);

	detok.stopped = 1;
	must(out_flush(&w));
	must_tell(detok.end_fd >= 0 && frame_write_stop(detok.end_fd, s, n, pos, seq, &w));
}

/* For --pieces. */
static void print_piece(struct printer *p, int32_t id, int sampled)
{
	size_t n;
	const char *piece = printer_piece(p, id, sampled, &n);

	out_print("%" PRId32 " ", id);
	texts_line(piece, n);
}

static void print_ids(struct printer *p, struct frame_in *in, const struct frame *f)
{
	int sampled = (f->flags & FRAME_SAMPLED) != 0;
	int32_t ids[256];
	uint32_t i, k, n;

	if (detok.open && f->seq != detok.seq)
		cli_die(&c, "%s: frame %" PRIu64 ": sequence %" PRIu32 " before the end of sequence %" PRIu32
			": --lines prints several", in->name, in->number, f->seq, detok.seq);
	if (f->pos == 0)
		printer_start(p);
	detok.open = 1;
	detok.seq = f->seq;
	for (i = 0; i < f->rows && !detok.stopped; i += n) {
		n = f->rows - i < 256 ? f->rows - i : 256;
		must(frame_read(in, f, ids, n, &w));
		for (k = 0; k < n && !detok.stopped; k++) {
			if (card_check_id(ids[k], detok.card.n_vocab, &w))
				must(frame_why(in, &w));
			if (detok.pieces)
				print_piece(p, ids[k], sampled);
			else if (printer_id(p, ids[k], sampled))
				stop_here(p, f->pos == FRAME_APPEND ? FRAME_APPEND : f->pos + i + k + 1, f->seq);
		}
	}
	must(out_flush(&w));
}

/* The generation is over. */
static void end_text(struct printer *p)
{
	printer_end(p);
	out_shown_end();
	out_text(detok.suffix);
	must(out_flush(&w));
	detok.stopped = detok.open = 0;
	detok.next = FRAME_APPEND;
}

/* Handles sampled ids that do not continue the text: they begin another one. */
static void follow(struct printer *p, const struct frame *f)
{
	if (detok.next != FRAME_APPEND && f->pos != FRAME_APPEND && f->pos != detok.next)
		end_text(p);
	detok.next = f->pos == FRAME_APPEND ? FRAME_APPEND : f->pos + f->rows;
}

static void check_card(struct frame_in *in, const struct frame *f)
{
	struct card card;

	must(card_read(in, f, &card, &w) || card_agree(&card, in->name, &detok.card, c.argv[0], &w));
}

/* The options of the sequence were refused, for the reason s[n]. */
static void refuse(uint32_t seq, const char *s, size_t n)
{
	cli_warn(&c, "sequence %" PRIu32 ": %.*s", seq, (int)n, s);
	detok.refused++;
}

static void take_options(struct printer *p, const struct printer *line, struct frame_in *in, const struct frame *f)
{
	struct why reason;
	char *words = NULL;
	size_t room = 0;

	must(frame_read_all(in, f, &words, &room, &w));
	detok.own = !stops_change(p, line, &c, words, f->rows, &reason);
	if (!detok.own)
		refuse(f->seq, reason.text, strlen(reason.text));
	detok.stopped = !detok.own;
	free(words);
}

/* Ends the text, and tells --end why. */
static void take_end(struct printer *p, const struct printer *line, struct frame_in *in, const struct frame *f)
{
	char text[FRAME_STOP_MAX];
	int told = detok.stopped;

	end_text(p);
	if (detok.own && f->seq)
		must(stops_change(p, line, &c, "", 0, &w));
	must(frame_read(in, f, text, f->rows, &w));
	must_tell(!told && detok.end_fd >= 0 && frame_write(detok.end_fd, f, text, &w));
	if (!told && f->flags == FRAME_END_REFUSED)
		refuse(f->seq, text, f->rows);
}

static void print_all(const struct printer *line, struct frame_in *in)
{
	struct printer own, *p = &own;
	struct frame f;
	int got = 0;

	must(printer_fork(p, line, &w));

	while ((detok.turns || !detok.stopped) && (got = frame_next(in, &f, &w)) > 0) {
		if (f.kind == FRAME_CARD)
			check_card(in, &f);
		if (f.kind == FRAME_IDS && f.flags & FRAME_SAMPLED)
			follow(p, &f);
		if (f.kind == FRAME_IDS && !detok.stopped && (f.flags & FRAME_SAMPLED || !detok.generated))
			print_ids(p, in, &f);
		if (f.kind == FRAME_OPTS)
			take_options(p, line, in, &f);
		if (f.kind == FRAME_END && f.seq != FRAME_NO_SEQ)
			take_end(p, line, in, &f);
	}
	printer_end(p);
	out_shown_end();
	if (detok.open)
		out_text(detok.suffix);
	must(got < 0 || out_flush(&w));
	printer_close(p);
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
		must(filter_stop(&p, &c, &in, detok.turns, &w));
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
