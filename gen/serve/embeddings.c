/* /v1/embeddings, as OpenAI has it. */
#include <string.h>

#include "lib/base/le.h"
#include "endpoints.h"
#include "lib/base/members.h"
#include "texts.h"

/* ---- the request ---- */

/* A list of ids is one text. Which ids there are is for the engine to say. */
static int is_text(const struct json *v)
{
	return v->type == JSON_STRING || (v->type == JSON_ARRAY && v->child && v->child->type == JSON_INT);
}

static int are_texts(const struct json *list)
{
	const struct json *v = list->child;

	while (v && is_text(v))
		v = v->next;
	return list->type == JSON_ARRAY && !v;
}

static int ask(struct exchange *x, const struct json *body, struct why *w)
{
	const struct json *input = json_get(body, "input"), *dimensions = member_given(body, "dimensions");
	const char *format = json_get_string(body, "encoding_format");
	int one = input && is_text(input);
	struct texts *t;
	size_t i = 0;

	if (!one && !(input && are_texts(input)))
		return why(w, "input: a text, a list of texts, or lists of token ids are required");
	if (format && strcmp(format, "float") && strcmp(format, "base64"))
		return why(w, "encoding_format: \"float\" or \"base64\" is required");
	if (dimensions && (dimensions->type != JSON_INT || dimensions->i < 1))
		return why(w, "dimensions: a positive integer is required");
	if (texts_open(x, one ? 1 : input->n, "input", w))
		return -1;
	t = x->own;
	t->base64 = format && !strcmp(format, "base64");
	t->dimensions = member_count(body, "dimensions");
	for (const struct json *v = one ? input : input->child; i < t->n; v = v->next, i++) {
		struct json_writer to = members_to(&t->text[i].json);

		json_value(&to, v);
	}
	texts_ask(x);
	return 0;
}

/* ---- the answer ---- */

/* Floats of 32 bits, little-endian, as a string. */
static void put_base64(struct bytes *b, const struct json *numbers)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const struct json *v = numbers->child;
	size_t n = 4 * numbers->n;
	float f;
	unsigned char four[4];
	unsigned bits = 0;

	bytes_puts(b, "\"");
	for (size_t i = 0; i < n || i % 3; i++) {
		if (i < n && i % 4 == 0) {
			f = (float)v->d;
			le_convert(&f, sizeof f, 1);
			memcpy(four, &f, sizeof four);
			v = v->next;
		}
		bits = bits << 8 | (i < n ? four[i % 4] : 0u);
		if (i % 3 < 2)
			continue;
		for (size_t k = 0; k < 4; k++)
			bytes_put(b, k > 1 && i - 2 + k > n ? "=" : &digits[bits >> (18 - 6 * k) & 63], 1);
		bits = 0;
	}
	bytes_puts(b, "\"");
}

static void write_answer(struct exchange *x)
{
	const struct texts *t = x->own;
	struct bytes b = exchange_buffer();
	struct json_writer to = members_to(&b);

	json_open(&to, '{');
	member_text(&to, "object", "list");
	member_open(&to, "data", '[');
	for (size_t i = 0; i < t->n; i++) {
		json_open(&to, '{');
		member_text(&to, "object", "embedding");
		member_int(&to, "index", (int64_t)i);
		json_name(&to, "embedding");
		members_raw(&to, &t->text[i].embedding);
		json_close(&to, '}');
	}
	json_close(&to, ']');
	member_text(&to, "model", x->service->name);
	texts_write_usage(t, &to);
	json_close(&to, '}');
	b.failed |= to.failed;
	exchange_answer(x, &b);
}

static void answer(struct exchange *x, const struct json *line, int last)
{
	const struct json *embedding = json_get(line, "embedding");
	struct texts *t = x->own;
	struct text *text = texts_take(x, line);
	struct json_writer to;

	if (!text)
		return;
	if (!embedding || embedding->type != JSON_ARRAY) {
		exchange_fail(x, 500, NULL, "the engine gives no embedding");
		return;
	}
	to = members_to(&text->embedding);
	if (t->base64)
		put_base64(&text->embedding, embedding);
	else
		json_value(&to, embedding);
	if (text->embedding.failed)
		exchange_fail(x, 503, NULL, "out of memory");
	else if (t->answered == t->n)
		write_answer(x);
	else
		texts_ask(x);
}

const struct endpoint endpoint_embeddings = { FORM_OPENAI, ask, answer, NULL, texts_close, NULL };
