/* Rows and places. */
#include "chat_opts.h"

const struct opt chat_opts[] = {
	{ OPT_SYSTEM, "system", "TEXT", "a chat's system message, before all others" },
	{ OPT_TOOLS, "tools", "FILE", "a JSON array of the tools that the model may call in a chat" },
	{ OPT_SET, "set", "NAME=VALUE", "a variable of the chat template's own: JSON, or else text; may be repeated" },
	{ OPT_TEMPLATE, "template", "NAME", "the chat template: chatml, gemma, llama2, llama3, mistral, phi3, or a file\n(default: the model's own)" },
	{ OPT_NAME, "template-name", "NAME", "the model's chat template of that name (default: its tool_use for tools, if any)" },
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
			return why(w, "--set: more than %d of them", CHAT_SETS);
		s->set[s->n_set++] = value;
		return 1;
	}
	return 0;
}
