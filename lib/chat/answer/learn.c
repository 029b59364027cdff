/* The conversation is rendered with the start of an answer and without. */
#include "learn.h"

#include <string.h>

#include "lib/base/json_edit.h"

static size_t common_start(const struct bytes *a, const struct bytes *b)
{
	size_t n = 0;

	while (n < a->n && n < b->n && a->p[n] == b->p[n])
		n++;
	return n;
}

/* The text of the last message, or of its last part. */
static struct span last_text(const struct chat *c)
{
	const struct json *content = json_get(c->messages->last, "content");

	if (content && content->type == JSON_ARRAY)
		content = json_get(content->last, "text");
	return content && content->type == JSON_STRING ? (struct span){ content->s, content->n } : span_of("");
}

/* Where the last message ends in the rendered text; at its end if the template does not show it as it is. */
static size_t end_of_last(const struct chat *c, const struct bytes *text)
{
	struct span last = span_trim_end(span_trim_start(last_text(c)));

	for (size_t at = text->n; last.n && at >= last.n; at--)
		if (!memcmp(text->p + at - last.n, last.s, last.n))
			return at;
	return text->n;
}

int learn_prompt(struct chat *c, const struct jinja *t, const struct jinja_options *o, const struct bytes *with,
	struct bytes *out, struct why *w)
{
	struct bytes without = { .limit = out->limit };
	struct why ignored;
	size_t from = 0;
	int failed = chat_set_flag(c, "add_generation_prompt", 0, w);

	if (!failed) {
		if (!chat_render_parsed(c, t, o, &without, &ignored))
			from = common_start(with, &without);
		if (from == with->n)
			from = end_of_last(c, with);
		failed = bytes_put(out, with->p + from, with->n - from) ? why(w, "out of memory") : 0;
		failed = chat_set_flag(c, "add_generation_prompt", 1, w) || failed;
	}
	bytes_free(&without);
	return failed ? -1 : 0;
}

/* All of it, by the template text[n], parsed as t. */
static int learn(struct chat *c, const char *text, size_t n, const struct jinja *t, const struct jinja_options *o,
	struct format *f, struct arena *a, struct bytes *prompt, struct why *w)
{
	struct bytes with = { .limit = prompt->limit };
	int failed = chat_render_parsed(c, t, o, &with, w) ? chat_explain(text, n, w)
		: learn_prompt(c, t, o, &with, prompt, w) || format_derive(f, c, text, n, t, o, a, w);

	bytes_free(&with);
	return failed ? -1 : 0;
}

static int learn_without_tools(struct chat *c, const char *text, size_t n, const struct jinja *t,
	const struct jinja_options *o, struct format *f, struct arena *a, struct bytes *prompt)
{
	struct json *tools = json_find(c->variables, "tools"), were;
	struct why ignored;
	int failed;

	if (!tools)
		return -1;
	were = *tools;
	json_become(tools, &(struct json){ .type = JSON_NULL });
	failed = learn(c, text, n, t, o, f, a, prompt, &ignored);
	json_become(tools, &were);
	return failed;
}

int learn_format(struct chat *c, const char *text, size_t n, const struct jinja_options *o, struct format *f,
	struct arena *a, struct bytes *prompt, struct why *w)
{
	struct jinja *t;
	int failed = !c->messages->n && chat_add_text(c, "user", "?", 1, w);

	if (failed)
		return -1;
	if (!(t = jinja_parse(text, n, w)))
		return chat_explain(text, n, w);
	failed = learn(c, text, n, t, o, f, a, prompt, w) && learn_without_tools(c, text, n, t, o, f, a, prompt);
	jinja_free(t);
	return failed ? -1 : 0;
}

size_t learn_calls(const struct chat *c)
{
	size_t n = 0;

	for (const struct json *m = c->messages->child; m; m = m->next) {
		const struct json *calls = json_get(m, "tool_calls");

		n += calls && calls->type == JSON_ARRAY ? calls->n : 0;
	}
	return n;
}
