/* score: what a stream of scores or logits says of its text: perplexity; how two streams of the same tokens differ. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/cli.h"
#include "lib/base/guard.h"
#include "lib/base/out.h"
#include "lib/chat/chat_opts.h"
#include "against.h"
#include "choices.h"
#include "perplexity.h"
#include "scorer.h"
#include "settings.h"

static struct cli c = { .program = "score", .synopsis = "[options] [STREAM]",
	.purpose = "how well a text was predicted",
	.opts = settings_opts, .more = { chat_opts }, .rules = settings_rules,
	.common = "model chunk choices chat ids threads ctx-size backend lines table worst against json template",
	.examples = "  tok m.gguf < text | fwd --score m.gguf | score -m m.gguf --worst 5\n"
		"  score --against a.lms b.lms\n"
		"  score --choices choices.jsonl -m m.gguf\n" };
static struct why w;
static struct settings set;

static _Noreturn void die(void)
{
	cli_die(&c, "%s", w.text);
}

/* The stream of that name; NULL or "-": standard input. */
static void open_stream(struct positions *p, const char *name)
{
	int fd = 0;

	if (!name || !strcmp(name, "-")) {
		cli_binary(&c, 0);
		name = "standard input";
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
	struct against a = { .chunk = set.chunk, .as_json = set.as_json };
	int status;

	if (!strcmp(set.against, "-") && (!c.argc || !strcmp(c.argv[0], "-")))
		cli_usage(&c, "--against: standard input cannot be both streams");
	open_stream(&base, set.against);
	open_stream(&other, c.argc ? c.argv[0] : NULL);
	status = against_run(&a, &base, &other, &w);
	positions_close(&base);
	positions_close(&other);
	if (status < 0 || out_flush(&w) < 0)
		die();
	return status;
}

/* The figures by the scores of fwd, which gets the tokens of the items. Of several errors the cause is reported: an
 * item that does not fit the context, then what fwd says, then what is wrong with the scores. */
static int run_fwd(struct choices *choices)
{
	static struct positions in;
	struct scorer scorer = { .fwd = set.fwd };
	struct why of_fwd;
	int fd, status;

	if (stage_arg(&scorer.fwd, set.model, &w) || (fd = scorer_start(&scorer, &choices->items, &w)) < 0)
		return -1;
	positions_open(&in, fd, "fwd");
	status = choices_run(choices, &in, &w);
	positions_close(&in);
	close(fd);
	if (scorer_wait(&scorer, &of_fwd) < 0) {
		status = -1;
		w = of_fwd;
	}
	return in.carded && items_fit(&choices->items, set.choices, in.card.n_ctx, &w) < 0 ? -1 : status;
}

/* By those of the stream. */
static int read_scores(struct choices *choices)
{
	static struct positions in;
	int status;

	open_stream(&in, c.argv[0]);
	status = choices_run(choices, &in, &w);
	positions_close(&in);
	return status;
}

/* The tokens of the choices, or what their scores say. */
static void choose(void)
{
	struct choices choices = { .table = set.table, .as_json = set.as_json };
	int status = items_open(&choices.items, set.choices, set.model, set.chat ? &set.setup : NULL, &w);

	if (status == 0 && set.ids) {
		cli_binary(&c, 1);
		status = items_write(&choices.items, 1, &w);
	} else if (status == 0) {
		status = c.argc ? read_scores(&choices) : run_fwd(&choices);
	}
	items_close(&choices.items);
	if (status < 0)
		die();
}

/* What the stream says of its text. */
static void measure(void)
{
	static struct positions in;
	struct perplexity p = { .chunk = set.chunk, .as_json = set.as_json, .most = set.worst,
		.of = set.lines ? TEXTS : set.table ? TOKENS : WHOLE };
	struct token_pieces *pieces = NULL;

	if (set.model && !(pieces = pieces_open(set.model, &w)))
		die();
	open_stream(&in, c.argc ? c.argv[0] : NULL);
	p.pieces = pieces;
	if (perplexity_run(&p, &in, &w) < 0)
		die();
	positions_close(&in);
	pieces_close(pieces);
}

int main(int argc, char **argv)
{
	int status = 0;

	cli_start(&c, argc, argv);
	settings_read(&set, &c);
	guard_arm(c.program);
	if (set.against)
		status = compare();
	else if (set.choices)
		choose();
	else
		measure();
	return cli_end(&c) || status;
}
