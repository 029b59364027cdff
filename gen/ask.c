/* ask: one question, one document, one answer. A conversation of one turn, of which only the answer is printed. */
#include "fwd/fwd_opts.h"
#include "lib/base/cli.h"
#include "lib/chat/chat_opts.h"
#include "lib/sampler/opts.h"
#include "arguments.h"
#include "options.h"
#include "run.h"
#include "tables.h"

static struct cli c = { .program = "ask", .synopsis = "[options] QUESTION... [< DOCUMENT]",
	.purpose = "a question to a language model, and its answer", .opts = ask_opts,
	.more = { chat_opts, ask_model_opts, fwd_opts, draw_opts, sampler_opts, schema_opts }, .rules = ask_rules,
	.common = "file no-stdin n-predict schema think no-think json history system tools model ctx-size threads seed "
		"temp",
	.examples = "  ask --no-stdin \"What is the capital of Norway?\"\n"
		"  ask \"Summarise this:\" < report.txt > summary.txt\n"
		"  git diff | ask \"Write a commit message.\"\n" };

int main(int argc, char **argv)
{
	static struct request q;
	struct why w;
	int status;

	cli_start(&c, argc, argv);
	options_ask(&q, &c);
	cli_must(&c, arguments(&q, argv[0], &w), &w);
	status = run(&q);
	return status ? status : cli_end(&c);
}
