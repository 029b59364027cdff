/* score: what a stream of scores or logits says of its text: perplexity; how two streams of the same tokens differ. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "lib/base/cli.h"
#include "lib/base/guard.h"
#include "lib/base/out.h"
#include "against.h"
#include "choices.h"
#include "perplexity.h"

enum { CHUNK = 1, TABLE, WORST, JSON, AGAINST, CHOICES, IDS };
enum { WORST_MAX = 100000 };

static const struct opt opts[] = {
	{ 'm', "model", "MODEL", "show the pieces of its vocabulary and count bytes; check that the stream is of it" },
	{ CHUNK, "chunk", "N", "count only the tokens of the second half of each text of N, as of tok --chunk N" },
	{ CHOICES, "choices", "FILE",
		"which of several texts is the most likely, from lines of JSON with \"context\", \"choices\",\n"
		"\"answer\"; with the model, and the scores of what --ids writes" },
	{ IDS, "ids", NULL, "with --choices: write the tokens that fwd --score is to score" },
	{ TABLE, "table", NULL, "a line for each token, or each of the choices, instead of figures" },
	{ WORST, "worst", "N", "the N least likely tokens" },
	{ AGAINST, "against", "BASE",
		"how the logits or scores differ from those of another stream of the same tokens;\n"
		"exit status as diff's: 0 the same bits, 1 not, 2 trouble" },
	{ JSON, "json", NULL, "an object; with --table, a line with an object for each token" },
	{ 0 }
};

static struct cli c = { .program = "score", .synopsis = "[options] [STREAM]",
	.purpose = "how well a text was predicted", .opts = opts };
static struct why w;

static struct {
	const char *model, *against, *choices;
	int ids;
	struct perplexity perplexity;
} set;

static void take_options(void)
{
	struct perplexity *p = &set.perplexity;
	const struct opt *o;

	while ((o = cli_next(&c)))
		switch (o->letter) {
		case 'm': set.model = c.value; break;
		case CHUNK: p->chunk = (uint32_t)cli_integer(&c, o, 4, FRAME_IDS_MAX); break;
		case TABLE: p->table = 1; break;
		case WORST: p->most = (size_t)cli_integer(&c, o, 1, WORST_MAX); break;
		case CHOICES: set.choices = c.value; break;
		case IDS: set.ids = 1; break;
		case AGAINST: set.against = c.value; break;
		case JSON: p->as_json = 1; break;
		}
	if (set.choices && (!set.model || set.against || p->most || p->chunk))
		cli_usage(&c, !set.model ? "--choices requires -m" : "--choices excludes --against, --worst, --chunk");
	if (set.ids && (!set.choices || c.argc || p->table))
		cli_usage(&c, "--ids requires --choices, and no stream or --table");
	if (c.argc > 1)
		cli_usage(&c, "more than one stream (try --help)");
	if (set.against && (p->table || p->most || set.model))
		cli_usage(&c, "--against excludes %s", p->table ? "--table" : p->most ? "--worst" : "-m");
	if (p->table && p->most)
		cli_usage(&c, "--table and --worst exclude each other");
}

/* Whatever goes wrong; --against has 1 for streams that differ. */
static _Noreturn void die(void)
{
	if (set.against)
		cli_usage(&c, "%s", w.text);
	cli_die(&c, "%s", w.text);
}

/* The stream of that name; NULL or "-": standard input. */
static void open_stream(struct positions *p, const char *name)
{
	int fd = 0;

	if (!name || !strcmp(name, "-")) {
		cli_binary(&c, 0);
		name = "stdin";
	} else if ((fd = open(name, O_RDONLY)) < 0) {
		why(&w, "%s: %s", name, strerror(errno));
		die();
	}
	positions_open(p, fd, name);
}

/* The status of --against, once the figures have been written. */
static int compare(void)
{
	static struct positions base, other;
	struct against a = { .chunk = set.perplexity.chunk, .as_json = set.perplexity.as_json };
	int status;

	open_stream(&base, set.against);
	open_stream(&other, c.argc ? c.argv[0] : NULL);
	status = against_run(&a, &base, &other, &w);
	positions_close(&base);
	positions_close(&other);
	if (status < 0 || out_flush(&w) < 0)
		die();
	return status;
}

/* The tokens of the choices, or what their scores say. */
static void choose(void)
{
	static struct positions in;
	struct choices choices = { .table = set.perplexity.table, .as_json = set.perplexity.as_json };
	int status = items_open(&choices.items, set.choices, set.model, &w);

	if (status == 0 && set.ids) {
		cli_binary(&c, 1);
		status = items_write(&choices.items, &w);
	} else if (status == 0) {
		open_stream(&in, c.argc ? c.argv[0] : NULL);
		status = choices_run(&choices, &in, &w);
		positions_close(&in);
	}
	items_close(&choices.items);
	if (status < 0)
		die();
}

/* What the stream says of its text. */
static void measure(void)
{
	static struct positions in;
	struct token_pieces *pieces = NULL;

	if (set.model && !(pieces = pieces_open(set.model, &w)))
		die();
	open_stream(&in, c.argc ? c.argv[0] : NULL);
	set.perplexity.pieces = pieces;
	if (perplexity_run(&set.perplexity, &in, &w) < 0)
		die();
	positions_close(&in);
	pieces_close(pieces);
}

int main(int argc, char **argv)
{
	int status = 0;

	c.argc = argc;
	c.argv = argv;
	cli_start(&c);
	take_options();
	guard_arm(c.program);
	if (set.against)
		status = compare();
	else if (set.choices)
		choose();
	else
		measure();
	return cli_end(&c) || status;
}
