/* tok: text, or decimal ids, to ids. Reads each file whole, because a pre-tokenizer may look ahead to the end of the
 * text; writes a card, then a frame of ids for each file. With --lines each line is a separate text and sequence,
 * written as soon as it has come. */
#include <inttypes.h>

#include "lib/base/cli.h"
#include "lib/base/guard.h"
#include "lib/base/out.h"
#include "lib/gguf/gguf.h"
#include "lib/gguf/models.h"
#include "lib/stream/card.h"
#include "document.h"
#include "pair.h"
#include "prompts.h"

enum { BOS = 1, NO_BOS, EOS, NO_EOS, NO_PARSE_SPECIAL, DECIMAL, OFFSETS, COUNT, RAW, CHOMP, IDS, LINES, PAIR, JSON,
	CHUNK };

static const struct opt opts[] = {
	{ LINES, "lines", NULL, "make each line a text of its own: sequence 1, 2, ..." },
	{ PAIR, "pair", NULL,
		"make each line a pair of texts, for a reranker: the query, a tab, and the document" },
	{ JSON, "json", NULL,
		"with --lines: each line is a JSON string, as chat --lines writes them, or an\n"
		"array of ids;\n"
		"with --pair: an array of two strings" },
	{ 'e', "escape", NULL, "\\n, \\r, \\t, \\\", \\' and \\\\ in the text have their meaning in C" },
	{ 'a', "append", NULL, "continue a sequence: no position in the frames, no BOS, EOS or leading space" },
	{ BOS, "bos", NULL, "add BOS at the start, even if the model does not ask for it" },
	{ NO_BOS, "no-bos", NULL, "add neither BOS nor EOS" },
	{ EOS, "eos", NULL, "add EOS at the end, even if the model does not ask for it" },
	{ NO_EOS, "no-eos", NULL, "add no EOS" },
	{ NO_PARSE_SPECIAL, "no-parse-special", NULL,
		"treat control tokens in the text as plain text (for untrusted input)" },
	{ CHOMP, "chomp", NULL, "leave out a newline at the end of the text" },
	{ RAW, "raw", NULL, "keep invalid UTF-8 byte for byte (default: as llama.cpp does)" },
	{ IDS, "ids", NULL, "read decimal ids instead of text; add neither BOS nor EOS" },
	{ CHUNK, "chunk", "N",
		"divide the ids into chunks of N, each from position 0 and with BOS in place of its\n"
		"first id if BOS is added; drop the rest (for score --chunk)" },
	{ DECIMAL, "decimal", NULL, "write the tokens as decimal ids, one per line" },
	{ OFFSETS, "offsets", NULL, "write a line for each token: its id and its range of bytes, ID FROM TO" },
	{ COUNT, "count", NULL, "write only the number of tokens" },
	{ 0 }
};

static const struct cli_rule rules[] = {
	{ .one_of = "decimal offsets count" },
	{ "chunk", .excludes = "decimal offsets count append lines" },
	{ "ids", .excludes = "offsets" },
	{ "chomp", .excludes = "ids lines" },
	{ "escape", .excludes = "ids offsets", .reason = "they need the text unchanged" },
	{ "lines", .excludes = "append offsets" },
	{ "pair", .excludes = "append offsets ids chunk bos no-bos eos no-eos chomp" },
	{ "json", .requires = "lines pair" },
	{ "json", .excludes = "ids escape" },
	{ 0 }
};

static struct cli c = {
	.program = "tok", .synopsis = "[options] MODEL [FILE ...] > ids",
	.purpose = "text to ids; reads standard input if there is no FILE, or for -", .opts = opts, .rules = rules,
	.common = "lines pair json escape append bos no-bos no-parse-special chomp ids chunk decimal "
		"offsets count",
	.examples = "  echo hi | tok m.gguf | peek\n"
		"  tok --count m.gguf < text\n"
		"  tok --lines m.gguf prompts.txt | fwd m.gguf | ...\n"
};
static struct why w;

static void warn(const char *text)
{
	cli_warn(&c, "%s", text);
}

static struct tok t = { .warn = warn };
static struct pairing pairing;

static void take_options(void)
{
	const struct opt *o;

	while ((o = cli_next(&c)))
		switch (o->letter) {
		case LINES: t.lines = 1; break;
		case PAIR: t.lines = 1; t.pairing = &pairing; break;
		case JSON: t.json = 1; break;
		case 'e': t.escape = 1; break;
		case 'a': t.append = 1; break;
		case BOS: t.bos = ADD_ALWAYS; break;
		case NO_BOS: t.bos = ADD_NEVER; break;
		case EOS: t.eos = ADD_ALWAYS; break;
		case NO_EOS: t.eos = ADD_NEVER; break;
		case NO_PARSE_SPECIAL: t.plain = 1; break;
		case CHOMP: t.chomp = 1; break;
		case RAW: t.raw = 1; break;
		case IDS: t.from_ids = 1; break;
		case CHUNK: t.chunk = (size_t)cli_integer(&c, o, 2, FRAME_IDS_MAX); break;
		case DECIMAL: t.decimal = 1; break;
		case OFFSETS: t.offsets = 1; break;
		case COUNT: t.count = 1; break;
		}
	if (!c.argc)
		cli_usage(&c, "no model (try --help)");
}

static struct gguf *open_vocabulary(void)
{
	struct gguf *g = gguf_open(models_path(c.argv[0], &w), 0, &w);

	cli_must(&c, !g || !(t.vocab = vocab_open(g, t.from_ids ? VOCAB_PIECES : VOCAB_ENCODE, &w)), &w);
	if (vocab_warning(t.vocab))
		cli_warn(&c, "%s: %s", c.argv[0], vocab_warning(t.vocab));
	vocab_card(t.vocab, &t.card);
	if (t.bos == ADD_ALWAYS && t.card.bos < 0)
		cli_die(&c, "%s: the vocabulary has no BOS token", c.argv[0]);
	if (t.eos == ADD_ALWAYS && vocab_rules(t.vocab)->eos < 0)
		cli_die(&c, "%s: the vocabulary has no EOS token", c.argv[0]);
	cli_must(&c, t.pairing && pairing_open(&pairing, g, t.vocab, &w), &w);
	return g;
}

static void write_document(char **files, int n)
{
	for (int i = 0; i < n; i++)
		cli_must(&c, document_add(&t, files[i], i == 0, i == n - 1, &w), &w);
	if (t.count)
		out_print("%llu\n", (unsigned long long)t.n_ids);
}

static void write_prompts(char **files, int n)
{
	cli_must(&c, tok_writes_frames(&t) && card_write(1, &t.card, &w), &w);
	for (int i = 0; i < n; i++)
		cli_must(&c, prompts_add(&t, files[i], &w), &w);
	cli_must(&c, tok_writes_frames(&t) && frame_write_end(1, 0, 0, FRAME_NO_SEQ, &w), &w);
	if (t.n_failed)
		cli_failed(&c, "lines that failed: %" PRIu32 " of %" PRIu32, t.n_failed, t.n_lines);
}

int main(int argc, char **argv)
{
	static char *from_stdin[] = { "-" };
	struct gguf *g;

	cli_start(&c, argc, argv);
	take_options();
	if (tok_writes_frames(&t))
		cli_binary(&c, 1);
	guard_arm(c.program);
	g = open_vocabulary();
	(t.lines ? write_prompts : write_document)(c.argc > 1 ? c.argv + 1 : from_stdin, c.argc > 1 ? c.argc - 1 : 1);
	vocab_close(t.vocab);
	gguf_close(g);
	return cli_end(&c);
}
