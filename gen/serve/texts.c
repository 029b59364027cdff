/* The engine returns the member "index", by which an answer finds its text. */
#include "texts.h"

#include <stdlib.h>

#include "lib/base/members.h"

enum { AT_ONCE = 64 };          /* texts of a request that the engine has */

int texts_open(struct exchange *x, size_t n, const char *name, struct why *w)
{
	struct texts *t = NULL;

	if (!n || n > TEXTS_MAX)
		return why(w, "%s: from 1 to %d texts are required, not %zu", name, TEXTS_MAX, n);
	if (!(t = calloc(1, sizeof *t)) || !(t->text = calloc(n, sizeof *t->text))) {
		free(t);
		exchange_fail(x, 503, NULL, "out of memory");
		return -1;
	}
	t->n = n;
	t->query = exchange_buffer();
	for (size_t i = 0; i < n; i++)
		t->text[i].json = t->text[i].embedding = exchange_buffer();
	x->own = t;
	return 0;
}

void texts_close(struct exchange *x)
{
	struct texts *t = x->own;

	for (size_t i = 0; i < t->n; i++) {
		bytes_free(&t->text[i].json);
		bytes_free(&t->text[i].embedding);
	}
	free(t->text);
	bytes_free(&t->query);
	free(t);
}

void texts_ask(struct exchange *x)
{
	struct texts *t = x->own;
	struct json_writer to;
	struct bytes line;

	while (!x->done && t->asked < t->n && t->asked - t->answered < AT_ONCE) {
		to = exchange_request(x, &line);
		member_int(&to, "index", (int64_t)t->asked);
		if (t->query.n) {
			json_name(&to, "query");
			members_raw(&to, &t->query);
		}
		json_name(&to, t->query.n ? "document" : "text");
		members_raw(&to, &t->text[t->asked++].json);
		if (t->dimensions)
			member_int(&to, "dimensions", t->dimensions);
		exchange_ask(x, &to);
	}
}

struct text *texts_take(struct exchange *x, const struct json *line)
{
	struct texts *t = x->own;
	const struct json *index = json_get(line, "index");
	struct text *text = index && index->type == JSON_INT && index->i >= 0 && (uint64_t)index->i < t->n
		? &t->text[index->i] : NULL;

	if (!text || text->answered) {
		exchange_fail(x, 500, NULL, "the engine answers what was not asked");
		return NULL;
	}
	text->answered = 1;
	t->answered++;
	t->tokens += member_count(json_get(line, "usage"), "prompt_tokens");
	return text;
}

void texts_write_usage(const struct texts *t, struct json_writer *to)
{
	member_open(to, "usage", '{');
	member_int(to, "prompt_tokens", t->tokens);
	member_int(to, "total_tokens", t->tokens);
	json_close(to, '}');
}
