/* Each sample is a conversation in OpenAI's form, given to chat_render(). */
#include "samples.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLE_MEMORY = 64 << 20, SAMPLE_TEXT_MAX = 2 << 20, SAMPLE_JSON_MAX = 2048 };

#define USER "{\"role\":\"user\",\"content\":\"Zquser\"}"
#define CALL(i, arguments) "{\"id\":\"" SAMPLE_ID #i "\",\"type\":\"function\",\"function\":{\"name\":\"" \
	SAMPLE_NAME #i "\",\"arguments\":{" arguments "}}}"
#define MEMBER(i, value) "\"" SAMPLE_KEY #i "\":" value
#define STRING(i) MEMBER(i, "\"" SAMPLE_VALUE #i "\"")
#define CONTENT(text) "\"content\":\"" text "\""
#define CALLS(list) ",\"tool_calls\":[" list "]"
#define ONE CALL(1, STRING(1))
#define REASON ",\"reasoning_content\":\"" SAMPLE_REASON "\""

/* The answer of each sample, and a word that must be shown. */
static const struct {
	const char *answer, *word;
} table[SAMPLES] = {
	[SAMPLE_PROMPT] = { NULL, "" },
	[SAMPLE_TEXT] = { CONTENT(SAMPLE_CONTENT), SAMPLE_CONTENT },
	[SAMPLE_THOUGHT] = { CONTENT(SAMPLE_CONTENT) REASON, SAMPLE_REASON },
	[SAMPLE_THOUGHT_CALL] = { CONTENT("") REASON CALLS(ONE), SAMPLE_REASON },
	[SAMPLE_TEXT_CALL] = { CONTENT(SAMPLE_CONTENT) CALLS(ONE), SAMPLE_CONTENT },
	[SAMPLE_CALL] = { CONTENT("") CALLS(ONE), SAMPLE_KEY "1" },
	[SAMPLE_ARGUMENTS] = { CONTENT("") CALLS(CALL(1, STRING(1) "," STRING(2))), SAMPLE_KEY "2" },
	[SAMPLE_CALLS] = { CONTENT("") CALLS(ONE "," CALL(2, STRING(2))), SAMPLE_KEY "2" },
	[SAMPLE_NUMBER_CALL] = { CONTENT("") CALLS(CALL(1, MEMBER(1, SAMPLE_INT))), SAMPLE_INT },
	[SAMPLE_LIST_CALL] = { CONTENT("") CALLS(CALL(1, MEMBER(1, "[\"" SAMPLE_VALUE "1\"]"))), SAMPLE_VALUE },
	[SAMPLE_RAW_CALL] = { CONTENT("") CALLS(CALL(1, MEMBER(1, "\"<" SAMPLE_VALUE "1\""))), "<" SAMPLE_VALUE },
};

const char *samples_find(struct span text, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; text.s && i + n <= text.n; i++)
		if (!memcmp(text.s + i, word, n))
			return text.s + i;
	return NULL;
}

const char *samples_find_last(struct span text, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = text.n + 1; text.s && i-- > n;)
		if (!memcmp(text.s + i - n, word, n))
			return text.s + i - n;
	return NULL;
}

/* A conversation with the variables of c and other messages. */
static int start(struct chat *sample, const struct chat *c, const char *messages, int prompt, struct why *w)
{
	struct json *copy;

	if (chat_start(sample, SAMPLE_MEMORY, w))
		return -1;
	for (const struct json *v = c->variables->child; v; v = v->next) {
		if (!strcmp(v->key, "messages") || !strcmp(v->key, "add_generation_prompt"))
			continue;
		if (!(copy = json_new(&sample->arena, v->type)))
			return why(w, "out of memory");
		*copy = *v;
		copy->next = NULL;
		json_add(sample->variables, v->key, copy);
	}
	return chat_set_flag(sample, "add_generation_prompt", prompt, w)
		|| chat_add_json(sample, messages, strlen(messages), w) ? -1 : 0;
}

/* Renders one: 1, or 0 if the template refuses it; -1: memory is short. */
static int render(const struct chat *c, const char *answer, const struct jinja *t, const struct jinja_options *o,
	struct arena *a, struct span *text, struct why *w)
{
	struct bytes out = { .limit = SAMPLE_TEXT_MAX };
	char messages[SAMPLE_JSON_MAX];
	struct chat sample;
	char *copy = NULL;
	int failed;

	if (answer)
		snprintf(messages, sizeof messages, "[" USER ",{\"role\":\"assistant\",%s}]", answer);
	else
		snprintf(messages, sizeof messages, "[" USER "]");
	failed = start(&sample, c, messages, !answer, w);
	if (!failed && !chat_render_parsed(&sample, t, o, &out, w) && out.n) {
		if (!(copy = arena_text(a, out.n + 1)))
			failed = why(w, "out of memory");
		else
			memcpy(copy, out.p, out.n);
	}
	if (copy)
		copy[out.n] = '\0';
	*text = (struct span){ copy, out.n };
	bytes_free(&out);
	chat_end(&sample);
	return failed ? -1 : copy != NULL;
}

int samples_render(const struct chat *c, const struct jinja *t, const struct jinja_options *o, struct arena *a,
	struct span text[SAMPLES], struct why *w)
{
	for (int i = 0; i < SAMPLES; i++) {
		text[i] = (struct span){ 0 };
		if (t && render(c, table[i].answer, t, o, a, &text[i], w) < 0)
			return -1;
		if (!samples_find(text[i], table[i].word))
			text[i] = (struct span){ 0 };
	}
	return 0;
}
