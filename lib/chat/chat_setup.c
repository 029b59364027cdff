/* A conversation from a model and the options. */
#include "chat_setup.h"

#include "lib/base/slurp.h"

#include <stdio.h>
#include <string.h>

static const char key[] = "tokenizer.chat_template";

static int set_token(struct chat *c, const char *name, const struct vocab *v, int32_t id, struct why *w)
{
	size_t n = 0;
	const char *piece = id >= 0 ? vocab_piece(v, id, 1, &n) : "";

	return chat_set_text(c, name, piece, n, w);
}

static int add_tools(struct chat *c, const char *path, struct why *w)
{
	struct bytes text = { .limit = CHAT_FILE_MAX };
	struct why cause;
	int failed = slurp_text(path, &text, w);

	if (!failed && chat_set_json(c, "tools", text.p, text.n, &cause))
		failed = why(w, "%s: %s", path, cause.text);
	else if (!failed && json_get(c->variables, "tools")->type != JSON_ARRAY)
		failed = why(w, "%s: expected an array of tools, not %s", path,
			json_type_name(json_get(c->variables, "tools")));
	bytes_free(&text);
	return failed;
}

int chat_open(struct chat *c, const struct chat_setup *o, const struct vocab *v, struct why *w)
{
	if (chat_start(c, CHAT_MEMORY, w) || set_token(c, "bos_token", v, vocab_rules(v)->bos, w)
	    || set_token(c, "eos_token", v, vocab_rules(v)->eos, w)
	    || chat_set_flag(c, "add_bos_token", vocab_rules(v)->add_bos, w))
		return -1;
	if (o->system && chat_add_text(c, "system", o->system, strlen(o->system), w))
		return why_in(w, "the system message");
	return o->tools ? add_tools(c, o->tools, w) : 0;
}

/* "chatml, gemma, ..." */
static void list_names(char *s, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; chat_template_name(i) && n < room; i++)
		n += (size_t)snprintf(s + n, room - n, "%s%s", i ? ", " : "", chat_template_name(i));
}

/* A built-in template, or else the file of that name. */
static int named(const char *name, struct bytes *out, struct why *w)
{
	const char *text = chat_template(name);
	char names[128];
	struct why cause;

	if (text)
		return bytes_puts(out, text) ? why(w, "out of memory") : 0;
	if (!slurp_text(name, out, &cause))
		return 0;
	list_names(names, sizeof names);
	return why(w, "template %s; the built-in ones are %s", cause.text, names);
}

/* The model's own template, or the one of that name: 1, or 0 if there is none. */
static int own(const struct gguf *g, const char *name, struct bytes *out, struct why *w)
{
	char full[256];
	struct gguf_string text;
	int n = snprintf(full, sizeof full, name ? "%s.%s" : "%s", key, name);
	int found = (size_t)n < sizeof full ? gguf_text(g, full, &text, w) : 0;

	if (found > 0 && bytes_put(out, text.s, text.n))
		return why(w, "%s: %s: larger than %zu MiB", g->path, full, out->limit >> 20);
	return found;
}

static int has_encoder(const struct gguf *g)
{
	struct gguf_string arch;
	struct why ignored;
	char full[128];

	if (gguf_text(g, "general.architecture", &arch, &ignored) <= 0)
		return 0;
	snprintf(full, sizeof full, "%.*s.decoder_start_token_id", GGUF_SHOWN(arch));
	return gguf_find(g, full) != NULL;
}

const char *chat_fallback(const struct gguf *g)
{
	return has_encoder(g) ? "t5" : "chatml";
}

int chat_choose(struct chat *c, const struct chat_setup *o, const struct gguf *g, struct bytes *template, struct why *w)
{
	const char *fallback = chat_fallback(g);
	const struct json *tools;
	char names[128];
	int found = 0;

	for (int i = 0; i < o->n_set; i++)
		if (chat_set(c, o->set[i], w))
			return -1;
	if (o->template)
		return named(o->template, template, w);
	tools = json_get(c->variables, "tools");
	if (o->name)
		found = own(g, o->name, template, w);
	else if (tools && tools->type == JSON_ARRAY && tools->n)
		found = own(g, "tool_use", template, w);
	if (!found && !o->name)
		found = own(g, NULL, template, w);
	if (found)
		return found < 0 ? -1 : 0;
	if (o->name)
		return why(w, "%s: no %s.%s", g->path, key, o->name);
	if (bytes_puts(template, chat_template(fallback)))
		return why(w, "out of memory");
	list_names(names, sizeof names);
	why(w, "%s: no chat template; using %s (--template: %s, or a file)", g->path, fallback, names);
	return 1;
}
