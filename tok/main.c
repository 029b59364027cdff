/* tok: text, or decimal ids, to ids. Reads each file whole, because a pre-tokenizer may look ahead to the end of the
 * text; writes a card, then a frame of ids for each file. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/cli.h"
#include "lib/base/guard.h"
#include "lib/base/out.h"
#include "lib/base/slurp.h"
#include "lib/gguf/gguf.h"
#include "lib/stream/frame.h"
#include "lib/vocab/align.h"
#include "lib/vocab/vocab.h"

enum { BOS = 1, NO_BOS, EOS, NO_EOS, NO_PARSE_SPECIAL, TEXT, OFFSETS, COUNT, RAW, IDS };

static const struct opt opts[] = {
	{ 'a', "append", NULL, "continue a sequence: no position in the frames, no BOS, EOS or leading space" },
	{ BOS, "bos", NULL, "add BOS at the start, even if the model does not ask for it" },
	{ NO_BOS, "no-bos", NULL, "add neither BOS nor EOS" },
	{ EOS, "eos", NULL, "add EOS at the end, even if the model does not ask for it" },
	{ NO_EOS, "no-eos", NULL, "add no EOS" },
	{ NO_PARSE_SPECIAL, "no-parse-special", NULL,
		"treat control tokens in the text as plain text (for untrusted input)" },
	{ RAW, "raw", NULL, "keep invalid UTF-8 byte for byte (default: as llama.cpp does)" },
	{ IDS, "ids", NULL, "read decimal ids instead of text; add neither BOS nor EOS" },
	{ TEXT, "text", NULL, "write the tokens as decimal ids, one a line" },
	{ OFFSETS, "offsets", NULL, "write each token as its id and its bytes in the text: ID FROM TO" },
	{ COUNT, "count", NULL, "write the number of tokens and nothing else" },
	{ 0 }
};

static struct cli c = {
	.program = "tok", .synopsis = "[options] MODEL [FILE ...] > ids",
	.purpose = "text to ids; reads standard input without a FILE, or where FILE is -", .opts = opts
};
static struct why w;

enum adding { AS_MODEL_SAYS, ALWAYS, NEVER };

static struct {
	enum adding bos, eos;
	int append, plain, raw, text, offsets, count, ids;
	struct vocab *vocab;
	struct card card;
	int carded;             /* the card was written */
	uint64_t total;         /* ids so far */
	uint64_t bytes;         /* of the files before */
} run;

static int adds_bos(void)
{
	return run.bos == ALWAYS ||
		(run.bos == AS_MODEL_SAYS && !run.append && !run.ids && vocab_rules(run.vocab)->add_bos);
}

static int adds_eos(void)
{
	return run.eos == ALWAYS ||
		(run.eos == AS_MODEL_SAYS && run.bos != NEVER && !run.append && !run.ids &&
			vocab_rules(run.vocab)->add_eos);
}

static void add(struct ids *ids, int32_t id)
{
	if (ids_add(ids, id))
		cli_die(&c, "out of memory");
}

static void write_frames(const struct ids *ids)
{
	size_t done, n;

	for (done = 0; done < ids->n; done += n) {
		n = ids->n - done < FRAME_IDS_MAX ? ids->n - done : FRAME_IDS_MAX;
		if (!run.carded && card_write(1, &run.card, &w))
			cli_die(&c, "%s", w.text);
		run.carded = 1;
		if (run.total + n >= FRAME_APPEND && !run.append)
			cli_die(&c, "more tokens than a stream has positions");
		if (frame_write_ids(1, ids->id + done, (uint32_t)n,
			run.append ? FRAME_APPEND : (uint32_t)run.total, 0, 0, &w))
			cli_die(&c, "%s", w.text);
		run.total += n;
	}
}

/* Each id with its bytes in text[n]. The first and the last may be BOS and EOS, which are at its ends. */
static void write_offsets(const struct ids *ids, int bos, int eos, const struct bytes *text, int flags)
{
	const char *s = text->p ? text->p : "";
	const char *from, *to;
	struct align align;

	align_start(&align, run.vocab, s, text->n, flags);
	for (size_t i = 0; i < ids->n; i++) {
		if (bos && i == 0)
			from = to = s;
		else if (eos && i == ids->n - 1)
			from = to = s + text->n;
		else
			align_next(&align, ids->id + i, ids->n - i - (size_t)eos, &from, &to);
		out_print("%d %llu %llu\n", (int)ids->id[i], (unsigned long long)(run.bytes + (size_t)(from - s)),
			(unsigned long long)(run.bytes + (size_t)(to - s)));
	}
	run.bytes += text->n;
}

/* Appends the decimal ids in the text. */
static void read_ids(const char *name, const struct bytes *text, struct ids *ids)
{
	static const char white[] = " \t\n\v\f\r";
	size_t line = 1, at = 0, start;
	int64_t id;

	while (at < text->n) {
		if (memchr(white, text->p[at], sizeof white - 1)) {
			line += text->p[at++] == '\n';
			continue;
		}
		id = 0;
		for (start = at; at < text->n && isdigit((unsigned char)text->p[at]) && id < run.card.n_vocab; at++)
			id = 10 * id + (text->p[at] - '0');
		if (at == start || id >= run.card.n_vocab ||
		    (at < text->n && !memchr(white, text->p[at], sizeof white - 1)))
			cli_die(&c, "%s: line %zu: not a token id from 0 to %d", strcmp(name, "-") ? name :
				"standard input", line, (int)run.card.n_vocab - 1);
		add(ids, (int32_t)id);
	}
}

static void convert(const char *name, int first, int last)
{
	static struct bytes text = { .limit = PTRDIFF_MAX };
	static struct ids ids;
	int flags = (run.plain ? 0 : VOCAB_SPECIAL) | (run.raw ? VOCAB_RAW : 0) |
		(!first || run.append ? VOCAB_CONTINUE : 0);
	int bos = first && adds_bos(), eos = last && adds_eos();

	ids.n = text.n = 0;
	if (slurp(name, &text, &w))
		cli_die(&c, "%s", w.text);
	if (bos)
		add(&ids, run.card.bos);
	if (run.ids)
		read_ids(name, &text, &ids);
	else if (vocab_encode(run.vocab, text.p, text.n, flags, &ids, &w))
		cli_die(&c, "%s", w.text);
	if (bos && ids.n > 1 && ids.id[1] == run.card.bos)
		fprintf(stderr, "tok: warning: the text begins with BOS (id %d); --no-bos avoids a second one\n",
			(int)run.card.bos);
	if (eos)
		add(&ids, vocab_rules(run.vocab)->eos);
	if (!run.text && !run.offsets && !run.count)
		write_frames(&ids);
	else
		run.total += ids.n;
	if (run.offsets)
		write_offsets(&ids, bos, eos, &text, flags);
	for (size_t i = 0; run.text && i < ids.n; i++)
		out_print("%d\n", (int)ids.id[i]);
}

static void take_options(void)
{
	const struct opt *o;

	while ((o = cli_next(&c)))
		switch (o->letter) {
		case 'a': run.append = 1; break;
		case BOS: run.bos = ALWAYS; break;
		case NO_BOS: run.bos = NEVER; break;
		case EOS: run.eos = ALWAYS; break;
		case NO_EOS: run.eos = NEVER; break;
		case NO_PARSE_SPECIAL: run.plain = 1; break;
		case RAW: run.raw = 1; break;
		case IDS: run.ids = 1; break;
		case TEXT: run.text = 1; break;
		case OFFSETS: run.offsets = 1; break;
		case COUNT: run.count = 1; break;
		}
	if (!c.argc)
		cli_usage(&c, "name the model whose vocabulary to use (try --help)");
	if (run.text + run.offsets + run.count > 1)
		cli_usage(&c, "--text, --offsets and --count exclude each other");
	if (run.ids && run.offsets)
		cli_usage(&c, "--ids and --offsets exclude each other");
}

int main(int argc, char **argv)
{
	static char *from_stdin[] = { "-" };
	struct gguf *g;
	char **files = from_stdin;
	int n = 1;

	c.argc = argc;
	c.argv = argv;
	cli_start(&c);
	take_options();
	if (!run.text && !run.offsets && !run.count)
		cli_binary(&c, 1);
	guard_arm(c.program);
	if (!(g = gguf_open(c.argv[0], 0, &w)) ||
	    !(run.vocab = vocab_open(g, run.ids ? VOCAB_PIECES : VOCAB_ENCODE, &w)))
		cli_die(&c, "%s", w.text);
	vocab_card(run.vocab, &run.card);
	if (run.bos == ALWAYS && run.card.bos < 0)
		cli_die(&c, "%s: the vocabulary has no BOS token", c.argv[0]);
	if (run.eos == ALWAYS && vocab_rules(run.vocab)->eos < 0)
		cli_die(&c, "%s: the vocabulary has no EOS token", c.argv[0]);
	if (c.argc > 1) {
		files = c.argv + 1;
		n = c.argc - 1;
	}
	for (int i = 0; i < n; i++)
		convert(files[i], i == 0, i == n - 1);
	if (run.count)
		out_print("%llu\n", (unsigned long long)run.total);
	vocab_close(run.vocab);
	gguf_close(g);
	return cli_end(&c);
}
