/* detok: ids to bytes, frame by frame, at once. What it prints of a prompt is the text that tok was given: SPM's vocabularies put a space before text
 * at the start of a sequence and after each special token, and in frames that no sampler made that one space is taken off again. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cli.h"
#include "lib/stream/frame.h"
#include "lib/gguf/gguf.h"
#include "lib/base/guard.h"
#include "lib/base/quote.h"
#include "lib/stream/stop.h"
#include "lib/vocab/vocab.h"

enum { SPECIAL = 1, END, STOP, END_FD, TURNS };

static const struct opt opts[] = {
	{ SPECIAL, "special", NULL, "print control tokens, too" },
	{ END, "end", "TEXT", "what to print where a generation ends (default: nothing)" },
	{ STOP, "stop", "TEXT", "print as far as this text, without it, and exit; \\n is a new line; repeatable" },
	{ TURNS, "turns", NULL, "after such a text go on with the next `end ` frame instead" },
	{ END_FD, "end-fd", "N", "write to descriptor N an `end ` frame that says how each generation ended" },
	{ 0 }
};

static struct cli c = { .program = "detok", .synopsis = "[options] MODEL < ids > text", .purpose = "ids to text", .opts = opts };
static struct why w;

struct text {
	const struct vocab *vocab;
	struct stop *stop;
	int stopped;            /* by a stop string, whose number is */
	int by;
	int special, turns;
	int end_fd;             /* or -1 */
	const char *end;
	int prefixed;           /* a piece of a prompt that comes now begins with a space that tok has put there */
	size_t n;
	char bytes[65536];
};

static void flush(struct text *t)
{
	if (frame_write_bytes(1, t->bytes, t->n, &w) < 0)
		cli_die(&c, "%s", w.text);
	t->n = 0;
}

static void put(void *context, const char *s, size_t n)
{
	struct text *t = context;

	if (n > sizeof t->bytes - t->n)
		flush(t);
	if (n > sizeof t->bytes) {
		if (frame_write_bytes(1, s, n, &w) < 0)
			cli_die(&c, "%s", w.text);
		return;
	}
	memcpy(t->bytes + t->n, s, n);
	t->n += n;
}

/* -1: no such id. */
static int put_id(struct text *t, int32_t id, int sampled)
{
	size_t n;
	const char *piece = vocab_piece(t->vocab, id, t->special, &n);

	if (!piece)
		return -1;
	if (vocab_is_special(t->vocab, id)) {
		t->prefixed = vocab_space_prefix(t->vocab);
	} else {
		if (t->prefixed && !sampled && n && *piece == ' ') {
			piece++;
			n--;
		}
		t->prefixed = 0;
	}
	t->by = stop_feed(t->stop, piece, n, put, t);
	t->stopped = t->by >= 0;
	return 0;
}

/* A stop string ended the text with the id before pos. */
static void tell_stop(struct text *t, uint32_t pos, uint32_t seq)
{
	size_t n;
	const char *s = stop_string(t->stop, t->by, &n);

	if (t->end_fd >= 0 && frame_write_stop(t->end_fd, s, n, pos, seq, &w) < 0)
		cli_die(&c, "%s", w.text);
}

static void put_frame(struct text *t, struct frame_in *in, const struct frame *f)
{
	int32_t ids[1024];
	uint32_t i, k, n;

	if (f->pos == 0)
		t->prefixed = vocab_space_prefix(t->vocab);
	for (i = 0; i < f->rows; i += n) {
		n = f->rows - i < 1024 ? f->rows - i : 1024;
		if (frame_read(in, f, ids, n, &w) < 0)
			cli_die(&c, "%s", w.text);
		for (k = 0; k < n; k++)
			if (put_id(t, ids[k], (f->flags & FRAME_SAMPLED) != 0) < 0) {
				flush(t);
				cli_die(&c, "%s: frame %" PRIu64 ": id %" PRId32 " is outside the vocabulary", in->name, in->number, ids[k]);
			} else if (t->stopped) {
				flush(t);
				tell_stop(t, f->pos == FRAME_APPEND ? FRAME_APPEND : f->pos + i + k + 1, f->seq);
				return;
			}
	}
	flush(t);
}

/* The end of a generation: what looked like the beginning of a stop string was none. */
static void put_end(struct text *t, struct frame_in *in, const struct frame *f)
{
	stop_end(t->stop, put, t);
	put(t, t->end, strlen(t->end));
	flush(t);
	if (!t->stopped && t->end_fd >= 0 && frame_copy(in, f, t->end_fd, &w) < 0)
		cli_die(&c, "%s", w.text);
	t->stopped = 0;
}

static void add_stop(struct text *t)
{
	char *s = malloc(strlen(c.value) + 1);

	if (!s || stop_add(t->stop, s, quote_undo(c.value, s), &w) < 0)
		cli_usage(&c, "--stop: %s", s ? w.text : "out of memory");
	free(s);
}

static void take_end_fd(struct text *t, const struct opt *o)
{
	t->end_fd = (int)cli_integer(&c, o, 1, INT16_MAX);
	if (fcntl(t->end_fd, F_GETFD) < 0)
		cli_usage(&c, "--end-fd: descriptor %d is not open", t->end_fd);
}

int main(int argc, char **argv)
{
	static struct text t;
	static struct frame_in in;
	struct card mine, card;
	struct vocab *vocab;
	struct gguf *g;
	struct frame f;
	const struct opt *o;
	int got = 0;

	c.argc = argc;
	c.argv = argv;
	cli_start(&c);
	t.end = "";
	t.end_fd = -1;
	if (!(t.stop = stop_open(&w)))
		cli_die(&c, "%s", w.text);
	while ((o = cli_next(&c)))
		switch (o->letter) {
		case SPECIAL: t.special = 1; break;
		case END: t.end = c.value; break;
		case STOP: add_stop(&t); break;
		case TURNS: t.turns = 1; break;
		case END_FD: take_end_fd(&t, o); break;
		}
	if (c.argc != 1)
		cli_usage(&c, "one operand: the model whose ids these are (try --help)");
	cli_binary(&c, 0);
	guard_arm(c.program);
	if (!(g = gguf_open(c.argv[0], 0, &w)) || !(vocab = vocab_open(g, VOCAB_PIECES, &w)))
		cli_die(&c, "%s", w.text);
	t.vocab = vocab;
	vocab_card(vocab, &mine);
	frame_open_in(&in, 0, "stdin");
	while ((t.turns || !t.stopped) && (got = frame_next(&in, &f, &w)) > 0) {
		if (f.kind == FRAME_IDS && !t.stopped)
			put_frame(&t, &in, &f);
		if (f.kind == FRAME_END)
			put_end(&t, &in, &f);
		if (f.kind == FRAME_CARD && (card_read(&in, &f, &card, &w) < 0 || card_agree(&card, "stdin", &mine, c.argv[0], &w) < 0))
			cli_die(&c, "%s", w.text);
	}
	if (t.stopped && !t.turns)
		put(&t, t.end, strlen(t.end));
	stop_end(t.stop, put, &t);
	flush(&t);
	if (got < 0)
		cli_die(&c, "%s", w.text);
	stop_close(t.stop);
	vocab_close(vocab);
	gguf_close(g);
	return cli_end(&c);
}
