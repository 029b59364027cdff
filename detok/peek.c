/* peek: any stream as text, in 80 columns or as CSV: cards, ids, the best of each row of logits; with a model also the
 * pieces of ids. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/cli.h"
#include "lib/base/guard.h"
#include "lib/base/system.h"
#include "lib/gguf/gguf.h"
#include "lib/gguf/models.h"
#include "view.h"

enum { TOP = 1, SEQ, STOP, FORMAT };

static const struct opt opts[] = {
	{ 'm', "model", "MODEL", "show the pieces of its vocabulary, and check that the stream matches" },
	{ TOP, "top", "N", "show the N best of each row of logits, at most 1000 (default: 5)" },
	{ FORMAT, "ids", NULL, "print only ids, one per line" },
	{ SEQ, "seq", "N", "print only cards and the frames of sequence N" },
	{ FORMAT, "raw", NULL, "with --seq: write these frames as a stream, as sequence 0" },
	{ FORMAT, "color", NULL, "print the text; on a terminal, shade tokens by how surprising they were" },
	{ STOP, "stop", "TEXT", "with --color: stop before this text and exit; \\n is a new line; repeatable" },
	{ FORMAT, "html", NULL, "print the same text as a web page; pointing at a token shows the N best" },
	{ FORMAT, "svg", NULL, "print the same text as a picture" },
	{ FORMAT, "bars", NULL, "print the N best for each token as bars, the actual one marked" },
	{ FORMAT, "json", NULL, "print a JSON object for each token, one per line" },
	{ FORMAT, "csv", NULL, "print comma-separated values, one line for each id, with a heading" },
	{ 0 }
};

static const struct cli_rule rules[] = {
	{ .one_of = "ids csv raw color html svg bars json" },
	{ "seq", .excludes = "color html svg bars json" },
	{ "raw", .requires = "seq" },
	{ "stop", .requires = "color" },
	{ 0 }
};
static struct cli c = { .program = "peek", .synopsis = "[options] [STREAM ...]", .purpose = "a stream as text",
	.opts = opts, .rules = rules,
	.examples = "  tok m.gguf < text | fwd --all m.gguf > logits.lms\n"
		"  peek -m m.gguf --top 3 logits.lms\n"
		"  peek -m m.gguf --color logits.lms\n" };
static struct why w;

static struct view view = { .format = &format_lines, .top = 5, .only_seq = -1 };

static void show_as(const char *option)
{
	static const struct format *const formats[] = { &format_ids, &format_csv, &format_raw, &format_text,
		&format_bars, &format_json, &format_html, &format_svg };
	size_t i = 0;

	while (strcmp(formats[i]->option, option))
		i++;
	view.format = formats[i];
}

static void add_stop(void)
{
	struct stop **strings = &view.until.strings;

	cli_must(&c, !*strings && !(*strings = stop_open(&w)), &w);
	if (stop_add_quoted(*strings, c.value, &w) < 0)
		cli_refuse(&c, "--stop: %s", w.text);
}

/* Returns the model file, or NULL. */
static const char *take_options(void)
{
	const char *model = NULL;
	const struct opt *o;

	while ((o = cli_next(&c)))
		switch (o->letter) {
		case 'm': model = c.value; break;
		case TOP: view.top = (size_t)cli_integer(&c, o, 1, TOP_MAX); break;
		case SEQ: view.only_seq = cli_integer(&c, o, 0, FRAME_NO_SEQ - 1); break;
		case STOP: add_stop(); break;
		case FORMAT: show_as(o->name); break;
		}
	return model;
}

static void show_stream(int fd, const char *name)
{
	cli_must(&c, view_stream(&view, fd, name, &w) < 0, &w);
}

static void show_file(const char *name)
{
	int fd;

	if (!strcmp(name, "-")) {
		show_stream(0, "standard input");
		return;
	}
	if ((fd = open(name, O_RDONLY)) < 0)
		cli_die(&c, "%s: %s", name, strerror(errno));
	show_stream(fd, name);
	close(fd);
}

int main(int argc, char **argv)
{
	struct vocab *vocab = NULL;
	struct gguf *g = NULL;
	const char *model;
	int rows, columns;

	cli_start(&c, argc, argv);
	model = take_options();
	if (view.format == &format_raw)
		cli_binary(&c, 1);
	if (!c.argc)
		cli_binary(&c, 0);
	guard_arm(c.program);
	if (model)
		cli_must(&c, !(g = gguf_open(models_path(model, &w), 0, &w))
			|| !(vocab = vocab_open(g, VOCAB_PIECES, &w)), &w);
	system_terminal_size(1, &columns, &rows);
	view.columns = (size_t)columns;
	view.coloured = system_coloured(1);
	view_open(&view, vocab);
	if (!c.argc)
		show_file("-");
	for (int i = 0; i < c.argc && !view.until.found; i++)
		show_file(c.argv[i]);
	view_close(&view);
	stop_close(view.until.strings);
	if (model) {
		vocab_close(vocab);
		gguf_close(g);
	}
	return cli_end(&c);
}
