/* /tokenize, /detokenize and /apply-template, as llama.cpp's server has them, and /v1/messages/count_tokens. */
#include <string.h>

#include "endpoints.h"
#include "lib/base/members.h"
#include "messages_input.h"

/* Answers with one member of the line. */
static void answer_member(struct exchange *x, const struct json *line, const char *name)
{
	struct bytes b = exchange_buffer();
	struct json_writer to = members_to(&b);

	json_open(&to, '{');
	member_value(&to, name, json_get(line, name));
	json_close(&to, '}');
	exchange_answer(x, &b);
}

/* ---- /tokenize, /detokenize ---- */

static const char *const renamed[] = { "tokenize", "content", "detokenize", "tokens", NULL };

static int ask_tokenize(struct exchange *x, const struct json *body, struct why *w)
{
	static const char *const names[] = { "add_special", "with_pieces", NULL };
	const struct json *content = json_get(body, "content");
	struct bytes line;
	struct json_writer to;

	if (!content || content->type != JSON_STRING)
		return why(w, "content: a text is required");
	to = exchange_request(x, &line);
	member_value(&to, "tokenize", content);
	members_copy(&to, body, names);
	exchange_ask(x, &to);
	return 0;
}

static void answer_tokenize(struct exchange *x, const struct json *line, int last)
{
	answer_member(x, line, "tokens");
}

static int ask_detokenize(struct exchange *x, const struct json *body, struct why *w)
{
	const struct json *tokens = json_get(body, "tokens");
	struct bytes line;
	struct json_writer to;

	if (!tokens || tokens->type != JSON_ARRAY)
		return why(w, "tokens: a list of ids is required");
	to = exchange_request(x, &line);
	member_value(&to, "detokenize", tokens);
	exchange_ask(x, &to);
	return 0;
}

static void answer_detokenize(struct exchange *x, const struct json *line, int last)
{
	answer_member(x, line, "content");
}

/* ---- /apply-template ---- */

static int ask_apply_template(struct exchange *x, const struct json *body, struct why *w)
{
	static const char *const names[] = { "messages", "tools", "tool_choice", "parallel_tool_calls",
		"reasoning_effort", "response_format", "json_schema", "chat_template_kwargs", NULL };
	struct bytes line;
	struct json_writer to;

	if (!member_first(json_get(body, "messages")))
		return why(w, "messages: a list with a message is required");
	to = exchange_request(x, &line);
	member_flag(&to, "apply_template", 1);
	members_copy(&to, body, names);
	exchange_ask(x, &to);
	return 0;
}

static void answer_apply_template(struct exchange *x, const struct json *line, int last)
{
	answer_member(x, line, "prompt");
}

/* ---- /v1/messages/count_tokens: the prompt, then its ids ---- */

static int ask_count_tokens(struct exchange *x, const struct json *body, struct why *w)
{
	struct bytes line;
	struct json_writer to;
	const char *param = NULL;

	exchange_name(x, "");
	to = exchange_request(x, &line);
	member_flag(&to, "apply_template", 1);
	if (messages_input(&to, body, &param, w))
		exchange_fail(x, 400, param, w->text);
	exchange_ask(x, &to);
	return 0;
}

static void answer_count_tokens(struct exchange *x, const struct json *line, int last)
{
	const struct json *prompt = json_get(line, "prompt"), *tokens = json_get(line, "tokens");
	struct bytes b;
	struct json_writer to;

	if (prompt) {
		to = exchange_request(x, &b);
		member_value(&to, "tokenize", prompt);
		member_flag(&to, "add_special", 0);
		exchange_ask(x, &to);
		return;
	}
	b = exchange_buffer();
	to = members_to(&b);
	json_open(&to, '{');
	member_int(&to, "input_tokens", tokens && tokens->type == JSON_ARRAY ? (int64_t)tokens->n : 0);
	json_close(&to, '}');
	exchange_answer(x, &b);
}

const struct endpoint endpoint_tokenize = { FORM_OPENAI, ask_tokenize, answer_tokenize, NULL, NULL, renamed };
const struct endpoint endpoint_detokenize = { FORM_OPENAI, ask_detokenize, answer_detokenize, NULL, NULL, renamed };
const struct endpoint endpoint_apply_template = { FORM_OPENAI, ask_apply_template, answer_apply_template, NULL, NULL,
	NULL };
const struct endpoint endpoint_count_tokens = { FORM_ANTHROPIC, ask_count_tokens, answer_count_tokens, NULL, NULL,
	NULL };
