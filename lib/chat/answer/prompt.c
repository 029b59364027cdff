/* The conversation is rendered with the start of an answer and without. */
#include "prompt.h"

#include <string.h>

static size_t common_start(const struct bytes *a, const struct bytes *b)
{
	size_t n = 0;

	while (n < a->n && n < b->n && a->p[n] == b->p[n])
		n++;
	return n;
}

/* Where the last message ends in the text, or 0. */
static size_t end_of_last(const struct chat *c, const struct bytes *text)
{
	const struct json *content = json_get(c->messages->last, "content");

	if (!content || content->type != JSON_STRING || !content->n)
		return 0;
	for (size_t at = text->n; at >= content->n; at--)
		if (!memcmp(text->p + at - content->n, content->s, content->n))
			return at;
	return 0;
}

int prompt_end(struct chat *c, const char *template, size_t n, const struct jinja_options *o, struct bytes *out,
	struct why *w)
{
	struct bytes with = { .limit = out->limit }, without = { .limit = out->limit };
	size_t from = 0;
	int failed = !c->messages->n && chat_add_text(c, "user", "?", 1, w);

	failed = failed || chat_render(c, template, n, o, &with, w) || chat_set_flag(c, "add_generation_prompt", 0, w);
	if (!failed) {
		if (!chat_render(c, template, n, o, &without, w))
			from = common_start(&with, &without);
		if (from == with.n)
			from = end_of_last(c, &with);
		failed = bytes_put(out, with.p + from, with.n - from) ? why(w, "out of memory") : 0;
		failed = chat_set_flag(c, "add_generation_prompt", 1, w) || failed;
	}
	bytes_free(&with);
	bytes_free(&without);
	return failed ? -1 : 0;
}
