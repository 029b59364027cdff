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
#include "listing.h"
#include "render.h"

enum { IDS = 1, CSV, SEQ, RAW, COLOR, HTML, SVG, BARS, JSON, STOP };

static const struct opt opts[] = {
	{ 'm', "model", "MODEL", "show the pieces of its vocabulary, and check that the stream matches" },
	{ 'n', "top", "N", "show the N best of each row of logits, at most 1000 (default: 5)" },
	{ IDS, "ids", NULL, "print only ids, one per line" },
	{ SEQ, "seq", "N", "print only cards and the frames of sequence N" },
	{ RAW, "raw", NULL, "with --seq: write these frames as a stream, as sequence 0" },
	{ COLOR, "color", NULL, "print the text; on a terminal, shade tokens by how surprising they were" },
	{ STOP, "stop", "TEXT", "with --color: stop before this text and exit; \\n is a new line; repeatable" },
	{ HTML, "html", NULL, "print the same text as a web page; pointing at a token shows the N best" },
	{ SVG, "svg", NULL, "print the same text as a picture" },
	{ BARS, "bars", NULL, "print the N best for each token as bars, the actual one marked" },
	{ JSON, "json", NULL, "print a JSON object for each token, one per line" },
	{ CSV, "csv", NULL, "print comma-separated values, one line for each id, with a heading" },
	{ 0 }
};

static struct cli c = { .program = "peek", .synopsis = "[options] [STREAM ...]", .purpose = "a stream as text",
	.opts = opts };
static struct why w;

static struct listing listing = { .format = &listing_lines, .top = 5, .seq = -1 };
static struct render render;

static void must(int failed)
{
	if (failed)
		cli_die(&c, "%s", w.text);
}

static void list_as(const struct listing_format *format)
{
	if (listing.format != &listing_lines && listing.format != format)
		cli_usage(&c, "--ids, --csv and --raw exclude each other");
	listing.format = format;
}

static void render_as(const struct render_kind *kind)
{
	if (render.kind && render.kind != kind)
		cli_usage(&c, "--%s and --%s exclude each other", render.kind->name, kind->name);
	render.kind = kind;
}

/* Returns the model file, or NULL. */
static const char *take_options(void)
{
	const char *model = NULL;
	const struct opt *o;

	while ((o = cli_next(&c)))
		switch (o->letter) {
		case 'm': model = c.value; break;
		case 'n': listing.top = (size_t)cli_integer(&c, o, 1, LISTING_TOP_MAX); break;
		case IDS: list_as(&listing_ids); break;
		case CSV: list_as(&listing_csv); break;
		case COLOR: render_as(&render_text); break;
		case HTML: render_as(&render_html); break;
		case SVG: render_as(&render_svg); break;
		case BARS: render_as(&render_bars); break;
		case JSON: render_as(&render_json); break;
		case STOP:
			must(!render.stop.strings && !(render.stop.strings = stop_open(&w)));
			if (stop_add_quoted(render.stop.strings, c.value, &w) < 0)
				cli_refuse(&c, "--stop: %s", w.text);
			break;
		case RAW: list_as(&listing_raw); break;
		case SEQ: listing.seq = cli_integer(&c, o, 0, FRAME_NO_SEQ - 1); break;
		}
	if (render.stop.strings && render.kind != &render_text)
		cli_usage(&c, "--stop requires --color");
	if (render.kind && (listing.format != &listing_lines || listing.seq >= 0))
		cli_usage(&c, "--%s excludes --ids, --csv, --seq and --raw", render.kind->name);
	if (listing.format == &listing_raw && listing.seq < 0)
		cli_usage(&c, "--raw requires --seq");
	return model;
}

static void start(const struct vocab *vocab)
{
	int columns, rows;

	if (!render.kind) {
		listing_open(&listing, vocab);
		return;
	}
	system_terminal_size(1, &columns, &rows);
	render.vocab = vocab;
	render.top = listing.top;
	render.columns = (size_t)columns;
	render.coloured = system_coloured(1);
	must(render_open(&render, &w) < 0);
}

static void show_stream(int fd, const char *name)
{
	must(render.kind ? render_stream(&render, fd, name, &w) < 0 : listing_stream(&listing, fd, name, &w) < 0);
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

	cli_start(&c, argc, argv);
	model = take_options();
	if (listing.format == &listing_raw)
		cli_binary(&c, 1);
	if (!c.argc)
		cli_binary(&c, 0);
	guard_arm(c.program);
	if (model)
		must(!(g = gguf_open(models_path(model, &w), 0, &w)) || !(vocab = vocab_open(g, VOCAB_PIECES, &w)));
	start(vocab);
	if (!c.argc)
		show_file("-");
	for (int i = 0; i < c.argc && !render.stop.found; i++)
		show_file(c.argv[i]);
	if (render.kind)
		render_close(&render);
	stop_close(render.stop.strings);
	listing_close(&listing);
	if (model) {
		vocab_close(vocab);
		gguf_close(g);
	}
	return cli_end(&c);
}
