/* Options without a letter that several stages own, or that only gen and ask have, are numbered here. */
#include "tables.h"

#include "arguments.h"

/* Of gen and of ask. */
#define STOPS { STOP, "stop", "TEXT", "stop before this text; \\n is a new line; repeatable" }
#define LIKELY \
	{ LOGPROBS, "logprobs", "N", \
		"with --json: the N most likely tokens at each position, with log-probabilities" }
#define VERBOSE { 'v', "verbose", NULL, "print tokens, probabilities and times on stderr" }
#define OVERRIDE \
	{ PASSED, "override", "KEY=VALUE", "override a key of the model file, such as rope.freq_base; repeatable" }
#define DRAFTS \
	{ DRAFT_MODEL, "draft", "MODEL", "guess tokens with a small model, so that fwd evaluates several at once;\n" \
		"lookup: guess from repetitions in the text" }, \
	{ DRAFT_MAX, "draft-max", "N", "guess at most N tokens at once, fewer if that is faster (default: 8)" }

#define CALLS \
	{ TOOL_COMMAND, "tool-command", "FILE", \
		"run this program for each call of a tool: the argument is its name, stdin has the\n" \
		"arguments as JSON, stdout is the result; asks before, on a terminal" }, \
	{ TOOL_TIME, "tool-time", "SECONDS", "the seconds that the program has for a call (default: 60)" }, \
	{ YES, "yes", NULL, "run calls without asking" }

const struct opt prompt_opts[] = {
	{ .help = "Prompt and output" },
	{ 'p', "prompt", "TEXT", "the prompt, like an operand (-: stdin)" },
	{ 'f', "file", "FILE", "the prompt, from a file" },
	{ 'e', "escape", NULL, "\\n, \\r, \\t, \\\", \\' and \\\\ in the prompt have their meaning in C" },
	{ PASSED, "bos", NULL, "begin with BOS" },
	{ PASSED, "no-bos", NULL, "begin without BOS" },
	{ PASSED, "no-parse-special", NULL, "treat control tokens in the prompt as plain text" },
	{ ECHO, "echo", NULL, "print the prompt before the text" },
	{ 'n', "n-predict", "N", "stop after N tokens (default: -1: at the end of generation or a full context)" },
	STOPS,
	{ PASSED, "special", NULL, "show control tokens" },
	{ COLOR, "color", "[on|off|auto]", "shade the text by how surprising each token was, on a terminal" },
	{ JSON, "json", NULL, "print one line of JSON instead of the text: ids, text, log-probabilities, times" },
	LIKELY,
	{ VERIFY, "verify", "FILE", "check that texts were made as the lines of --json in FILE say (-: stdin);\n"
		"exit status as from diff: 0 all were, 1 not all, 2 trouble" },
	VERBOSE,
	{ .help = "Many prompts or texts" },
	{ LINES, "lines", "FILE", "answer the prompt on each line of FILE (-: stdin), with one line for each" },
	{ 'j', "jobs", "N", "with --lines, --requests: at most N texts at a time (default: " ARGUMENTS_JOBS ")" },
	{ 'N', "texts", "N", "generate N texts, with seeds from -s on, and print each on a line" },
	{ BEST_OF, "best-of", "N", "generate N texts, with seeds from -s on, and print the most likely" },
	{ ALL, "all", NULL, "with --best-of: print all of them, the best first" },
	{ PENALTY, "length-penalty", "A", "divide log-probabilities by the length to the power of A (default: 1)" },
	{ .help = "Requests" },
	{ REQUESTS, "requests", NULL,
		"answer the requests in the operand FILE (default: stdin), a JSON object on each line" },
	{ ORDERED, "ordered", NULL, "with --requests: answer in the order of the requests" },
	{ RESUME, "resume", "FILE", "with --requests: leave out those that are answered in FILE" },
	{ CACHE, "cache", "N", "with --requests: keep N tokens of finished texts, which others may begin with\n"
		"(default: twice the context)" },
	{ .help = "Conversation" },     /* chat_opts continue it */
	{ CONVERSATION, "chat", NULL,
		"hold a conversation: read a turn from each line of stdin, print each answer" },
	{ 'i', "interactive", NULL, "the same on a terminal; ^C ends an answer, ^D or ^C twice ends the conversation" },
	{ HISTORY, "history", "FILE", "continue the conversation in FILE, and append to it" },
	CALLS,
	{ 0 }
};

const struct opt model_opts[] = {
	{ .help = "Model and state" },
	{ 'm', "model", "MODEL", "the model (default: $LMPIPE_MODEL, or else the shipped model)" },
	{ APPEND, "append", NULL, "with --kv: append the prompt to the kept text (tok --append)" },
	OVERRIDE,
	{ 0 }
};

const struct opt pipeline_opts[] = {
	{ .help = "Pipeline" },
	{ PRINT, "print-pipeline", NULL, "print the shell commands that do the same, and exit" },
	{ OWN, "stage", "NAME=COMMAND", "run the shell command COMMAND instead of tok, fwd, sample or detok" },
	{ HOSTS, "hosts", "LIST", "run fwd's layers on several hosts by ssh: a:0-13,b:14-27; no name: this host" },
	DRAFTS,
	{ 0 }
};

const struct opt draw_opts[] = {
	{ .help = "Sampling" },         /* sampler_opts continue it */
	{ 's', "seed", "N", "seed of the draws (default: a random one, shown by -v)" },
	{ 0 }
};

const struct opt schema_opts[] = {
	{ JSON_SCHEMA, "json-schema", "TEXT", "draw only JSON that matches this schema" },
	{ JSON_SCHEMA, "json-schema-file", "FILE", "draw only JSON that matches the schema in FILE" },
	{ LENIENT, "lenient", NULL, "leave out of the schema what cannot be enforced, with a warning for each" },
	{ 0 }
};

#define ANY_CONVERSATION "chat interactive history system tools set template template-name"

const struct cli_rule option_rules[] = {
	{ ANY_CONVERSATION, .excludes = "bos no-bos no-parse-special escape append stage=tok",
		.reason = "the chat template decides" },
	{ "interactive", .excludes = "json" },
	{ "tool-command", .requires = "tools" },
	{ "tool-time yes", .requires = "tool-command" },
	{ "tool-command", .excludes = "lines texts best-of" },
	{ "lines", .excludes = "texts" },
	{ "lines texts", .excludes = "best-of kv verbose interactive history" },
	{ "jobs", .requires = "lines requests" },
	{ "best-of", .excludes = "kv stage=fwd interactive history" },
	{ "ordered resume cache", .requires = "requests" },
	{ "requests", .excludes = "prompt file escape append bos no-bos no-parse-special echo lines texts best-of json "
		"verbose color chat interactive history kv draft print-pipeline stage=tok stage=detok trace" },
	{ "best-of", .excludes = "stage=sample", .reason = "it needs the log-probabilities" },
	{ "all length-penalty", .requires = "best-of" },
	{ "all", .excludes = "json", .reason = "the line describes the best text" },
	{ "draft", .excludes = "stage=fwd" },
	{ "draft-max", .requires = "draft" },
	{ "append", .requires = "kv" },
	{ "hosts", .excludes = "stage=fwd" },
	{ "echo", .excludes = "json lines texts " ANY_CONVERSATION },
	{ "json", .excludes = "stage=detok" },
	{ "logprobs", .requires = "json" },
	{ "logprobs", .excludes = "stage=sample lines texts" },
	{ "color", .excludes = "json lines texts best-of stage=sample stage=detok " ANY_CONVERSATION },
	{ .one_of = "grammar grammar-file json-schema json-schema-file" },
	{ "grammar grammar-file json-schema json-schema-file", .excludes = "stage=sample" },
	{ "lenient", .requires = "json-schema json-schema-file" },
	{ .one_of = "stage=tok" }, { .one_of = "stage=fwd" }, { .one_of = "stage=sample" }, { .one_of = "stage=detok" },
	{ "control-vector-layers", .requires = "control-vector" },
	{ 0 }
};

const struct opt ask_opts[] = {
	{ .help = "Question and answer" },
	{ 'p', "prompt", "TEXT", "the question; the same as operands" },
	{ 'f', "file", "FILE", "a document that follows the question (default: stdin, unless it is a terminal)" },
	{ 'e', "escape", NULL, "\\n, \\r, \\t, \\\", \\' and \\\\ in the question have their meaning in C" },
	{ NO_STDIN, "no-stdin", NULL, "there is no document; for loops that read their own stdin" },
	{ 'n', "n-predict", "N", "stop the answer after N tokens (default: -1: at its end or a full context)" },
	{ 'N', "texts", "N", "print N answers, with seeds from -s on, each on a line" },
	STOPS,
	{ JSON_SCHEMA, "schema", "FILE", "the answer is JSON that matches this schema" },
	{ THINK, "think", NULL, "print the model's reasoning on stderr (default: if that is a terminal)" },
	{ NO_THINK, "no-think", NULL, "ask the model's template for no reasoning" },
	{ JSON, "json", NULL, "print one line of JSON instead of the answer: ids, text, log-probabilities, times" },
	LIKELY,
	VERBOSE,
	{ HISTORY, "history", "FILE", "continue the conversation in FILE, and append question and answer to it" },
	CALLS,
	{ 0 }
};

const struct opt ask_model_opts[] = {
	{ .help = "Model and state" },
	{ 'm', "model", "MODEL", "the model (default: $LMPIPE_MODEL, or else a small model that comes with lmpipe)" },
	OVERRIDE,
	DRAFTS,
	{ 0 }
};

const struct cli_rule ask_rules[] = {
	{ "file", .excludes = "no-stdin", .reason = "a file takes the place of stdin" },
	{ .one_of = "file" },
	{ .one_of = "think no-think" },
	{ "tool-command", .requires = "tools" },
	{ "tool-time yes", .requires = "tool-command" },
	{ "texts", .excludes = "history kv tool-command verbose logprobs" },
	{ "logprobs", .requires = "json" },
	{ "draft-max", .requires = "draft" },
	{ "lenient", .requires = "schema json-schema json-schema-file" },
	{ .one_of = "grammar grammar-file schema json-schema json-schema-file" },
	{ "control-vector-layers", .requires = "control-vector" },
	{ 0 }
};
