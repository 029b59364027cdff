/* gen: text from a prompt. Starts the stages and runs the loop between them; the stages implement the options. */
#include "fwd/fwd_opts.h"
#include "lib/base/cli.h"
#include "lib/chat/chat_opts.h"
#include "lib/sampler/opts.h"
#include "arguments.h"
#include "options.h"
#include "pipeline.h"
#include "run.h"
#include "tables.h"
#include "verify.h"

static struct cli c = { .program = "gen", .synopsis = "[options] [PROMPT] (default: the prompt from stdin)",
	.purpose = "text from a prompt: the loop of tok, fwd, sample and detok", .opts = prompt_opts,
	.more = { chat_opts, model_opts, fwd_opts, pipeline_opts, draw_opts, sampler_opts, schema_opts },
	.rules = option_rules,
	.common = "file n-predict stop json verbose lines texts chat interactive history model kv draft seed temp",
	.examples = "  gen -m m.gguf -n 100 \"Once upon a time\"\n"
		"  gen -m m.gguf -i\n"
		"  gen -m m.gguf --lines prompts.txt -n 20 > texts.txt\n" };

int main(int argc, char **argv)
{
	static struct request q;
	int status = 0;
	struct why w;

	cli_start(&c, argc, argv);
	options(&q, &c);
	if (q.verify)
		return verify(&q, &c, argv[0]);
	cli_must(&c, arguments(&q, argv[0], &w), &w);
	if (q.print_pipeline)
		pipeline_print(&q);
	else
		status = run(&q);
	return status ? status : cli_end(&c);
}
