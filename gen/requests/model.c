#include "model.h"

#include <string.h>

#include "lib/base/slurp.h"
#include "lib/chat/chat_opts.h"
#include "lib/gguf/description.h"
#include "lib/grammar/grammar.h"

enum { SCHEMA_MEMORY = 1 << 30 };

/* Whether the template takes the tools, whatever the conversation. */
static int check_tools(struct chat *c, const char *tools, const struct bytes *template, struct why *w)
{
	struct bytes text = { .limit = CHAT_TEXT_MAX };
	int failed = chat_add_text(c, "user", "a", 1, w)
		|| chat_render(c, bytes_text(template), template->n, NULL, &text, w);

	bytes_free(&text);
	return failed ? why_in(w, tools) : 0;
}

static int check_setup(const struct model *m, struct why *w)
{
	const struct chat_setup *s = &m->setup;
	struct bytes template = { .limit = CHAT_FILE_MAX };
	struct jinja *t = NULL;
	struct chat c;
	int failed = chat_open(&c, s, m->vocab, w) || chat_choose(&c, s, m->gguf, &template, w) < 0;

	if (!failed && s->template && !(t = jinja_parse(bytes_text(&template), template.n, w))) {
		chat_explain(bytes_text(&template), template.n, w);
		failed = why_in(w, s->template);
	}
	if (!failed && s->tools)
		failed = check_tools(&c, s->tools, &template, w);
	jinja_free(t);
	bytes_free(&template);
	chat_end(&c);
	return failed ? -1 : 0;
}

/* The schema of the command line. The stage sample has its grammar for texts; in answers to messages, it has a place
 * that depends on the request. */
static int read_schema(struct model *m, const struct request *q, struct why *w)
{
	struct bytes text = { .limit = GRAMMAR_TEXT };
	int failed = 0;

	for (size_t i = 0; i < q->n_given && !failed; i++) {
		const char *name = q->given[i].o->name, *value = q->given[i].value;

		if (!strcmp(name, "json-schema"))
			failed = bytes_puts(&text, value) ? why(w, "out of memory") : 0;
		else if (!strcmp(name, "json-schema-file"))
			failed = slurp_text(value, &text, w);
	}
	m->arena.limit = SCHEMA_MEMORY;
	if (!failed && text.n && !(m->schema = json_parse(&m->arena, text.p, text.n, w)))
		failed = why_in(w, "--json-schema");
	m->lenient = q->lenient;
	bytes_free(&text);
	return failed;
}

int model_open(struct model *m, struct request *q, struct lessons *lessons, struct why *w)
{
	lessons_open(lessons);
	m->lessons = lessons;
	m->path = q->model;
	m->kv = &q->stage[KV];
	description_name(m->name, sizeof m->name, m->path);
	for (size_t i = 0; i < q->n_given; i++)
		if (chat_take(&m->setup, q->given[i].o, q->given[i].value, w) < 0)
			return -1;
	if (read_schema(m, q, w))
		return -1;
	if (!(m->gguf = gguf_open(m->path, 0, w)) || !(m->vocab = vocab_open(m->gguf, VOCAB_ENCODE, w)))
		return -1;
	vocab_card(m->vocab, &m->card);
	return m->setup.tools || m->setup.template || m->setup.name || m->setup.n_set ? check_setup(m, w) : 0;
}

void model_close(struct model *m)
{
	arena_free(&m->arena);
	vocab_close(m->vocab);
	gguf_close(m->gguf);
}
