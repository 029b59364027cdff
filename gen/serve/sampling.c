/* A list, so that what names files or state of the server's user, such as kv, never comes from a client. */
#include "sampling.h"

#include <stddef.h>

#include "lib/base/members.h"

static const char *const names[] = {
	"temperature", "top_k", "top_p", "min_p", "typical_p", "top_n_sigma", "seed", "min_tokens", "logit_bias",
	"presence_penalty", "frequency_penalty", "repeat_penalty", "repeat_last_n", "xtc_probability", "xtc_threshold",
	"dynatemp_range", "dynatemp_exponent", "mirostat", "mirostat_tau", "mirostat_eta", "dry_multiplier",
	"dry_base", "dry_allowed_length", "dry_penalty_last_n", "grammar", "ignore_eos", "lora",
	"return_tokens", "chat_template_kwargs", NULL
};

void sampling_copy(struct json_writer *to, const struct json *body)
{
	members_copy(to, body, names);
}

void sampling_tool(struct json_writer *to, const char *name)
{
	member_open(to, "tool_choice", '{');
	member_text(to, "type", "function");
	member_open(to, "function", '{');
	member_text(to, "name", name);
	json_close(to, '}');
	json_close(to, '}');
}
