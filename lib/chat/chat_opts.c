/* The options of a conversation. */
#include "chat_opts.h"

#include <string.h>

const struct opt chat_opts[] = {
	{ OPT_SYSTEM, "system", "TEXT", "a system message, before all others" },
	{ OPT_TOOLS, "tools", "FILE", "a JSON array of the tools that the model may call" },
	{ OPT_SET, "set", "NAME=VALUE", "set a variable of the chat template, to JSON or text; repeatable" },
	{ OPT_TEMPLATE, "template", "NAME",
		"the chat template: chatml, gemma, llama2, llama3, mistral, phi3, plain, t5, or a file\n"
		"(default: the model's own, or else t5 for a model with an encoder, chatml for others)" },
	{ OPT_NAME, "template-name", "NAME",
		"the model's chat template of that name (default: tool_use with tools, if it has one)" },
	{ 0 }
};

int chat_take(struct chat_setup *s, const struct opt *o, const char *value, struct why *w)
{
	switch (o->letter) {
	case OPT_SYSTEM: s->system = value; return 1;
	case OPT_TOOLS: s->tools = value; return 1;
	case OPT_TEMPLATE: s->template = value; return 1;
	case OPT_NAME: s->name = value; return 1;
	case OPT_SET:
		if (s->n_set == CHAT_SETS)
			return why(w, "--set: more than %d times", CHAT_SETS);
		if (!strchr(value, '=') || *value == '=')
			return why(w, "--set: expected NAME=VALUE, not \"%s\"", value);
		if (strcspn(value, ".") < strcspn(value, "="))
			return why(w, "--set: \"%s\" is not a variable of a template; --override sets a key of the "
				"model", value);
		s->set[s->n_set++] = value;
		return 1;
	}
	return 0;
}
