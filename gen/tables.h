/* tables: the options of gen and of ask, and which exclude or require others. */
#ifndef TABLES_H
#define TABLES_H

#include "lib/base/cli.h"

/* PASSED: only for a stage (arguments.c). */
enum { PASSED = 1, ECHO, STOP, COLOR, JSON, LOGPROBS, LINES, BEST_OF, ALL, PENALTY, CONVERSATION, HISTORY,
	APPEND, PRINT, OWN, HOSTS, DRAFT_MODEL, DRAFT_MAX, JSON_SCHEMA, LENIENT, THINK, NO_THINK, NO_STDIN, VERIFY,
	TOOL_COMMAND, TOOL_TIME, YES, REQUESTS, ORDERED, RESUME, CACHE };

/* The tables of gen in the order of --help, which has those of other programs (chat_opts, fwd_opts, sampler_opts)
 * between them. */
extern const struct opt prompt_opts[], model_opts[], pipeline_opts[], draw_opts[], schema_opts[];
extern const struct cli_rule option_rules[];

/* The same for ask, which also has draw_opts and schema_opts. */
extern const struct opt ask_opts[], ask_model_opts[];
extern const struct cli_rule ask_rules[];

#endif
