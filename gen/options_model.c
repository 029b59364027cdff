/* The model file is found, and looked at for its chat template. */
#include "options_parts.h"

#include <string.h>

#include "lib/chat/chat_opts.h"
#include "lib/chat/chat_setup.h"
#include "lib/gguf/gguf.h"
#include "lib/gguf/models.h"
#include "lib/process/find.h"

void options_model(struct request *q, const struct cli *c, const char *argv0, int is_chat)
{
	struct why w;

	if (q->draft && strcmp(q->draft, "lookup") && !models_path(q->draft, &w))
		cli_die(c, "--draft: %s", w.text);
	if (!q->model && !(q->model = find_model(argv0, is_chat ? "clerk-q8_0.gguf" : "tales-q8_0.gguf")))
		cli_usage(c, "no model: name one with -m or $LMPIPE_MODEL");
	cli_must(c, !(q->model = models_path(q->model, &w)), &w);
}

int options_has_template(const char *model)
{
	struct why ignored;
	struct gguf *g = gguf_open(model, 0, &ignored);
	int has = g ? gguf_find(g, "tokenizer.chat_template") != NULL : -1;

	gguf_close(g);
	return has;
}

int options_only_continues(const char *model)
{
	struct why ignored;
	struct gguf *g = options_has_template(model) ? NULL : gguf_open(model, 0, &ignored);
	int only = g && !strcmp(chat_fallback(g), "chatml");

	gguf_close(g);
	return only;
}

int options_names_template(const struct request *q)
{
	for (size_t i = 0; i < q->n_given; i++)
		if (q->given[i].o->letter == OPT_TEMPLATE || q->given[i].o->letter == OPT_NAME)
			return 1;
	return 0;
}
