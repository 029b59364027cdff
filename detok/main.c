/* detok: ids to bytes, frame by frame, at once. What it prints of a prompt is the text that tok was given: SPM's vocabularies put a space before text
 * at the start of a sequence and after each special token, and in frames that no sampler made that one space is taken off again. */
#include <inttypes.h>
#include <string.h>

#include "../lib/cli.h"
#include "../lib/frame.h"
#include "../lib/gguf.h"
#include "../lib/guard.h"
#include "../lib/vocab.h"

enum { SPECIAL = 1 };

static const struct opt opts[] = {
	{ SPECIAL, "special", NULL, "print control tokens, too" },
	{ 0 }
};

static struct cli c = { .program = "detok", .synopsis = "[options] MODEL < ids > text", .purpose = "ids to text", .opts = opts };
static struct why w;

struct text {
	const struct vocab *vocab;
	int special;
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

static void put(struct text *t, const char *s, size_t n)
{
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
	put(t, piece, n);
	return 0;
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
			}
	}
	flush(t);
}

int main(int argc, char **argv)
{
	static struct text t;
	static struct frame_in in;
	struct card mine, card;
	struct vocab *vocab;
	struct gguf *g;
	struct frame f;
	int got;

	c.argc = argc;
	c.argv = argv;
	cli_start(&c);
	while (cli_next(&c))
		t.special = 1;
	if (c.argc != 1)
		cli_usage(&c, "one operand: the model whose ids these are (try --help)");
	cli_binary(&c, 0);
	guard_arm(c.program);
	if (!(g = gguf_open(c.argv[0], 0, &w)) || !(vocab = vocab_open(g, VOCAB_PIECES, &w)))
		cli_die(&c, "%s", w.text);
	t.vocab = vocab;
	t.prefixed = vocab_space_prefix(vocab);
	vocab_card(vocab, &mine);
	frame_open_in(&in, 0, "stdin");
	while ((got = frame_next(&in, &f, &w)) > 0) {
		if (f.kind == FRAME_IDS)
			put_frame(&t, &in, &f);
		if (f.kind == FRAME_CARD && (card_read(&in, &f, &card, &w) < 0 || card_agree(&card, "stdin", &mine, c.argv[0], &w) < 0))
			cli_die(&c, "%s", w.text);
	}
	if (got < 0)
		cli_die(&c, "%s", w.text);
	vocab_close(vocab);
	gguf_close(g);
	return cli_end(&c);
}
