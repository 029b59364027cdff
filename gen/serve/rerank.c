/* /v1/rerank, as Cohere and Jina have it. */
#include <stdlib.h>

#include "endpoints.h"
#include "lib/base/members.h"
#include "texts.h"

/* ---- the request ---- */

/* The string that a document is, or has as "text"; NULL: none. */
static const struct json *text_of(const struct json *document)
{
	const struct json *v = document->type == JSON_OBJECT ? json_get(document, "text") : document;

	return v && v->type == JSON_STRING ? v : NULL;
}

static int are_documents(const struct json *list)
{
	const struct json *v = member_first(list);

	while (v && text_of(v))
		v = v->next;
	return list && list->type == JSON_ARRAY && !v;
}

static int ask(struct exchange *x, const struct json *body, struct why *w)
{
	const struct json *query = json_get(body, "query"), *documents = json_get(body, "documents");
	const struct json *top = member_given(body, "top_n"), *with = json_get(body, "return_documents");
	struct json_writer to;
	struct texts *t;
	size_t i = 0;

	if (!query || query->type != JSON_STRING)
		return why(w, "query: a text is required");
	if (!are_documents(documents))
		return why(w, "documents: a list of texts, or of objects with \"text\", is required");
	if (top && (top->type != JSON_INT || top->i < 1))
		return why(w, "top_n: a positive integer is required");
	if (texts_open(x, documents->n, "documents", w))
		return -1;
	t = x->own;
	exchange_name(x, "rerank-");
	t->with_documents = !with || with->type != JSON_FALSE;
	t->top = top && top->type == JSON_INT && (uint64_t)top->i < t->n ? (size_t)top->i : t->n;
	to = members_to(&t->query);
	json_value(&to, query);
	for (const struct json *v = documents->child; v; v = v->next) {
		to = members_to(&t->text[i++].json);
		json_value(&to, text_of(v));
	}
	texts_ask(x);
	return 0;
}

/* ---- the answer ---- */

/* By score; ties in the order of the request. */
static int compare(const void *a, const void *b)
{
	const struct text *x = *(struct text *const *)a, *y = *(struct text *const *)b;

	return x->score != y->score ? (x->score < y->score) - (x->score > y->score) : (x > y) - (x < y);
}

static void write_result(struct json_writer *to, const struct texts *t, const struct text *text)
{
	json_open(to, '{');
	member_int(to, "index", text - t->text);
	json_name(to, "relevance_score");
	json_float(to, text->score);
	if (t->with_documents) {
		member_open(to, "document", '{');
		json_name(to, "text");
		members_raw(to, &text->json);
		json_close(to, '}');
	}
	json_close(to, '}');
}

static void write_answer(struct exchange *x)
{
	const struct texts *t = x->own;
	const struct text **order = malloc(t->n * sizeof *order);
	struct bytes b = exchange_buffer();
	struct json_writer to = members_to(&b);

	if (!order) {
		exchange_fail(x, 503, NULL, "out of memory");
		return;
	}
	for (size_t i = 0; i < t->n; i++)
		order[i] = &t->text[i];
	qsort(order, t->n, sizeof *order, compare);
	json_open(&to, '{');
	member_text(&to, "id", x->id);
	member_text(&to, "object", "list");
	member_text(&to, "model", x->service->name);
	member_open(&to, "results", '[');
	for (size_t i = 0; i < t->top; i++)
		write_result(&to, t, order[i]);
	json_close(&to, ']');
	texts_write_usage(t, &to);
	json_close(&to, '}');
	b.failed |= to.failed;
	free(order);
	exchange_answer(x, &b);
}

/* Of several labels, the first counts. */
static void answer(struct exchange *x, const struct json *line, int last)
{
	const struct json *score = json_get(line, "score"), *first = member_first(json_get(line, "scores"));
	struct texts *t = x->own;
	struct text *text = texts_take(x, line);

	if (!text)
		return;
	score = first ? first : score;
	if (!score || score->type < JSON_INT || score->type > JSON_FLOAT) {
		exchange_fail(x, 500, NULL, "the engine gives no score");
		return;
	}
	text->score = score->d;
	if (t->answered == t->n)
		write_answer(x);
	else
		texts_ask(x);
}

const struct endpoint endpoint_rerank = { FORM_OPENAI, ask, answer, NULL, texts_close, NULL };
