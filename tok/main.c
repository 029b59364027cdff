/* tok: text, or decimal ids, to ids. Reads each file whole, because a pre-tokenizer may look ahead to the end of the
 * text; writes a card, then a frame of ids for each file. With --lines each line is a text and a sequence of its own,
 * written as soon as it has come. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/cli.h"
#include "lib/base/guard.h"
#include "lib/base/lines.h"
#include "lib/base/out.h"
#include "lib/base/quote.h"
#include "lib/base/slurp.h"
#include "lib/gguf/gguf.h"
#include "lib/stream/frame.h"
#include "lib/vocab/align.h"
#include "lib/vocab/vocab.h"

enum { BOS = 1, NO_BOS, EOS, NO_EOS, NO_PARSE_SPECIAL, TEXT, OFFSETS, COUNT, RAW, IDS, LINES, CHUNK };

static const struct opt opts[] = {
	{ LINES, "lines", NULL, "each line is a text: sequence 1, 2, ..." },
	{ 'e', "escape", NULL, "\\n, \\r, \\t, \\\", \\' and \\\\ in the text stand for what they do in C" },
	{ 'a', "append", NULL, "continue a sequence: no position in the frames, no BOS, EOS or leading space" },
	{ BOS, "bos", NULL, "add BOS at the start, even if the model does not ask for it" },
	{ NO_BOS, "no-bos", NULL, "add neither BOS nor EOS" },
	{ EOS, "eos", NULL, "add EOS at the end, even if the model does not ask for it" },
	{ NO_EOS, "no-eos", NULL, "add no EOS" },
	{ NO_PARSE_SPECIAL, "no-parse-special", NULL,
		"treat control tokens in the text as plain text (for untrusted input)" },
	{ RAW, "raw", NULL, "keep invalid UTF-8 byte for byte (default: as llama.cpp does)" },
	{ IDS, "ids", NULL, "read decimal ids instead of text; add neither BOS nor EOS" },
	{ CHUNK, "chunk", "N",
		"cut the ids into texts of N, each from position 0 and with BOS in place of its first id if\n"
		"BOS is added; drop the rest (for score --chunk)" },
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
	int append, plain, raw, text, offsets, count, ids, lines, escape;
	size_t chunk;           /* 0: one sequence */
	struct vocab *vocab;
	struct card card;
	int carded;             /* the card was written */
	uint64_t total;         /* ids so far */
	uint64_t bytes;         /* of the files before */
	uint32_t seq;           /* with --lines: lines so far, */
	uint32_t failed;        /* and those that have no ids */
} run;

/* A text, or a part of one. */
struct part {
	const char *name;       /* of its file */
	char *s;                /* [n] */
	size_t n;
	int first, last;        /* of its text */
};

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

static void must(int failed)
{
	if (failed)
		cli_die(&c, "%s", w.text);
}

static void write_card(void)
{
	must(!run.carded && card_write(1, &run.card, &w));
	run.carded = 1;
}

static void write_frames(const struct ids *ids)
{
	size_t done, n;

	for (done = 0; done < ids->n; done += n) {
		n = ids->n - done < FRAME_IDS_MAX ? ids->n - done : FRAME_IDS_MAX;
		write_card();
		if (run.total + n >= FRAME_APPEND && !run.append)
			cli_die(&c, "more tokens than a stream has positions");
		must(frame_write_ids(1, ids->id + done, (uint32_t)n, run.append ? FRAME_APPEND : (uint32_t)run.total,
			0, 0, &w));
		run.total += n;
	}
}

/* All whole chunks of the ids of all files, once the last is there; each is a frame at position 0. */
static void write_chunks(const struct ids *more, int last)
{
	static struct ids ids;

	must(ids_append(&ids, more->id, more->n, &w));
	if (last && ids.n < run.chunk)
		cli_die(&c, "%zu tokens: less than a chunk", ids.n);
	for (size_t i = 0; last && i + run.chunk <= ids.n; i += run.chunk) {
		if (adds_bos())
			ids.id[i] = run.card.bos;
		write_card();
		must(frame_write_ids(1, ids.id + i, (uint32_t)run.chunk, 0, 0, 0, &w));
	}
}

/* Each id with its bytes in text[n]. The first and the last may be BOS and EOS, which are at its ends. */
static void write_offsets(const struct ids *ids, const struct part *p, int flags)
{
	int bos = p->first && adds_bos(), eos = p->last && adds_eos();
	const char *s = p->s, *from, *to;
	struct align align;

	align_start(&align, run.vocab, s, p->n, flags);
	for (size_t i = 0; i < ids->n; i++) {
		if (bos && i == 0)
			from = to = s;
		else if (eos && i == ids->n - 1)
			from = to = s + p->n;
		else
			align_next(&align, ids->id + i, ids->n - i - (size_t)eos, &from, &to);
		out_print("%d %llu %llu\n", (int)ids->id[i], (unsigned long long)(run.bytes + (size_t)(from - s)),
			(unsigned long long)(run.bytes + (size_t)(to - s)));
	}
	run.bytes += p->n;
}

/* Appends the decimal ids in the text. */
static int read_ids(const struct part *p, struct ids *ids)
{
	static const char white[] = " \t\n\v\f\r";
	size_t line = run.lines ? run.seq : 1, at = 0, start;
	int64_t id;

	while (at < p->n) {
		if (memchr(white, p->s[at], sizeof white - 1)) {
			line += p->s[at++] == '\n';
			continue;
		}
		id = 0;
		for (start = at; at < p->n && isdigit((unsigned char)p->s[at]) && id < run.card.n_vocab; at++)
			id = 10 * id + (p->s[at] - '0');
		if (at == start || id >= run.card.n_vocab || (at < p->n && !memchr(white, p->s[at], sizeof white - 1)))
			return why(&w, "line %zu: not a token id from 0 to %d", line, (int)run.card.n_vocab - 1);
		add(ids, (int32_t)id);
	}
	return 0;
}

static int encode_flags(const struct part *p)
{
	return (run.plain ? 0 : VOCAB_SPECIAL) | (run.raw ? VOCAB_RAW : 0) |
		(!p->first || run.append ? VOCAB_CONTINUE : 0);
}

/* The ids of the part, with BOS and EOS at the ends of its text. -1 with a reason. */
static int encode(struct part *p, struct ids *ids)
{
	static int warned;
	int bos = p->first && adds_bos();

	ids->n = 0;
	if (run.escape)
		p->n = quote_undo(p->s, p->n, p->s);
	if (bos)
		add(ids, run.card.bos);
	if (run.ids && read_ids(p, ids))
		return why_in(&w, p->name);
	if (!run.ids && vocab_encode(run.vocab, p->s, p->n, encode_flags(p), ids, &w))
		return -1;
	if (bos && ids->n > 1 && ids->id[1] == run.card.bos && !warned++)
		cli_warn(&c, "warning: the text begins with BOS (id %d); --no-bos avoids a second one",
			(int)run.card.bos);
	if (p->last && adds_eos())
		add(ids, vocab_rules(run.vocab)->eos);
	return 0;
}

static int writes_frames(void)
{
	return !run.text && !run.offsets && !run.count;
}

static void convert(const char *name, int first, int last)
{
	static struct bytes text = { .limit = PTRDIFF_MAX };
	struct part part = { .name = strcmp(name, "-") ? name : "standard input", .first = first, .last = last };
	static char none[1];
	static struct ids ids;

	text.n = 0;
	must(slurp(name, &text, &w));
	part.s = text.p ? text.p : none;
	part.n = text.n;
	must(encode(&part, &ids));
	if (run.chunk)
		write_chunks(&ids, last);
	else if (writes_frames())
		write_frames(&ids);
	else
		run.total += ids.n;
	if (run.offsets)
		write_offsets(&ids, &part, encode_flags(&part));
	for (size_t i = 0; run.text && i < ids.n; i++)
		out_print("%d\n", (int)ids.id[i]);
}

/* ---- lines ---- */

/* A line without tokens ends at once, so that the lines of the answers match. */
static void write_line(const struct ids *ids, int failed)
{
	if (run.count)
		out_print("%zu\n", ids->n);
	for (size_t i = 0; run.text && i < ids->n; i++)
		out_print(i ? " %d" : "%d", (int)ids->id[i]);
	if (run.text)
		out_char('\n');
	if (!writes_frames())
		must(out_flush(&w));
	else if (ids->n)
		must(frame_write_ids(1, ids->id, (uint32_t)ids->n, 0, 0, run.seq, &w));
	else
		must(frame_write_end(1, failed ? FRAME_END_ERROR : 0, 0, run.seq, &w));
}

/* The ids of line number run.seq. -1 with a reason that names it. */
static int encode_line(struct part *p, struct ids *ids)
{
	char where[32];

	if (encode(p, ids)) {
		if (run.ids)
			return -1;
	} else if (ids->n <= FRAME_IDS_MAX) {
		return 0;
	} else {
		why(&w, "more tokens than a frame holds");
	}
	snprintf(where, sizeof where, "line %" PRIu32, run.seq);
	why_in(&w, where);
	return why_in(&w, p->name);
}

/* Each line of the file is a sequence. One that has no ids fails alone. */
static void convert_lines(const char *name)
{
	static struct lines lines;
	static struct ids ids;
	struct part part = { .first = 1, .last = 1 };
	int got, failed;

	must(lines_open(&lines, name, &w));
	part.name = lines.name;
	while ((got = lines_next(&lines, &part.s, &part.n, &w)) > 0) {
		if (++run.seq == FRAME_NO_SEQ)
			cli_die(&c, "more lines than a stream has sequences");
		if ((failed = encode_line(&part, &ids))) {
			cli_warn(&c, "%s", w.text);
			ids.n = 0;
			run.failed++;
		}
		write_line(&ids, failed);
	}
	must(got < 0);
	lines_close(&lines);
}

static void end_lines(void)
{
	if (writes_frames())
		must(frame_write_end(1, 0, 0, FRAME_NO_SEQ, &w));
	if (run.failed)
		cli_failed(&c, "lines that failed: %" PRIu32 " of %" PRIu32, run.failed, run.seq);
}

static void take_options(void)
{
	const struct opt *o;

	while ((o = cli_next(&c)))
		switch (o->letter) {
		case LINES: run.lines = 1; break;
		case 'e': run.escape = 1; break;
		case 'a': run.append = 1; break;
		case BOS: run.bos = ALWAYS; break;
		case NO_BOS: run.bos = NEVER; break;
		case EOS: run.eos = ALWAYS; break;
		case NO_EOS: run.eos = NEVER; break;
		case NO_PARSE_SPECIAL: run.plain = 1; break;
		case RAW: run.raw = 1; break;
		case IDS: run.ids = 1; break;
		case CHUNK: run.chunk = (size_t)cli_integer(&c, o, 2, FRAME_IDS_MAX); break;
		case TEXT: run.text = 1; break;
		case OFFSETS: run.offsets = 1; break;
		case COUNT: run.count = 1; break;
		}
	if (!c.argc)
		cli_usage(&c, "name the model whose vocabulary to use (try --help)");
	if (run.text + run.offsets + run.count > 1)
		cli_usage(&c, "--text, --offsets and --count exclude each other");
	if (run.chunk && (!writes_frames() || run.append || run.lines))
		cli_usage(&c, "--chunk writes chunks: not with --text, --offsets, --count, -a or --lines");
	if (run.ids && run.offsets)
		cli_usage(&c, "--ids and --offsets exclude each other");
	if (run.escape && (run.ids || run.offsets))
		cli_usage(&c, "-e/--escape: not with --ids or --offsets, which are about the text as it is");
	if (run.lines && (run.append || run.offsets))
		cli_usage(&c, "--lines: not with -a/--append or --offsets");
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
	if (writes_frames())
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
	if (run.lines && writes_frames())
		write_card();
	for (int i = 0; i < n; i++)
		if (run.lines)
			convert_lines(files[i]);
		else
			convert(files[i], i == 0, i == n - 1);
	if (run.lines)
		end_lines();
	else if (run.count)
		out_print("%llu\n", (unsigned long long)run.total);
	vocab_close(run.vocab);
	gguf_close(g);
	return cli_end(&c);
}
