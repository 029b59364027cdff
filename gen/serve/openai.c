/* /v1/chat/completions and /v1/completions. The engine's answers have the form of these APIs already but for the
 * envelope. */
#include <stdlib.h>

#include "endpoints.h"
#include "lib/base/members.h"
#include "sampling.h"

struct completion {
	const char *object, *chunk;     /* what the answer is called, and an event of it */
	int usage;                      /* the last event has it */
};

static const char *const chat_names[] = {
	"messages", "max_tokens", "max_completion_tokens", "n_predict", "stop", "logprobs", "top_logprobs", "n",
	"response_format", "json_schema", "tools", "tool_choice", "parallel_tool_calls", "reasoning_effort",
	"continue_final_message", NULL
};

static const char *const completion_names[] = {
	"prompt", "max_tokens", "max_completion_tokens", "n_predict", "stop", "logprobs", "n", "best_of",
	"response_format", "json_schema", "echo", "suffix", NULL
};

/* ---- the request ---- */

static int ask(struct exchange *x, const struct json *body, const char *id, const struct completion *kind,
	const char *const *names)
{
	struct completion *c = malloc(sizeof *c);
	struct bytes line;
	struct json_writer to;

	x->own = c;
	if (!c) {
		exchange_fail(x, 503, NULL, "out of memory");
		return 0;
	}
	*c = *kind;
	c->usage = member_is_true(json_get(body, "stream_options"), "include_usage");
	x->stream = member_is_true(body, "stream");
	exchange_name(x, id);
	to = exchange_request(x, &line);
	members_copy(&to, body, names);
	sampling_copy(&to, body);
	exchange_ask(x, &to);
	return 0;
}

static int ask_chat(struct exchange *x, const struct json *body, struct why *w)
{
	static const struct completion chat = { "chat.completion", "chat.completion.chunk", 0 };

	if (member_first(json_get(body, "messages")))
		return ask(x, body, "chatcmpl-", &chat, chat_names);
	exchange_fail(x, 400, "messages", "messages: a list with a message is required");
	return 0;
}

static int ask_completion(struct exchange *x, const struct json *body, struct why *w)
{
	static const struct completion text = { "text_completion", "text_completion", 0 };

	if (member_given(body, "prompt"))
		return ask(x, body, "cmpl-", &text, completion_names);
	exchange_fail(x, 400, "prompt", "prompt: a text or a list is required");
	return 0;
}

/* ---- the answer ---- */

static struct json_writer begin_envelope(struct bytes *b, const struct exchange *x, const char *object)
{
	struct json_writer to;

	*b = exchange_buffer();
	to = members_to(b);
	json_open(&to, '{');
	member_text(&to, "id", x->id);
	member_text(&to, "object", object);
	member_int(&to, "created", x->created);
	member_text(&to, "model", x->service->name);
	return to;
}

/* What the line of the engine has of these members. */
static void end_envelope(struct json_writer *to, const struct json *line)
{
	static const char *const names[] = { "usage", "timings", NULL };

	members_copy(to, line, names);
	json_close(to, '}');
}

static void answer_events(struct exchange *x, const struct json *line, int last)
{
	const struct completion *c = x->own;
	const struct json *choices = json_get(line, "choices");
	struct json_writer to;
	struct bytes b;

	if (member_first(choices)) {
		to = begin_envelope(&b, x, c->chunk);
		member_value(&to, "choices", choices);
		if (c->usage)
			member_null(&to, "usage");
		json_close(&to, '}');
		exchange_event(x, NULL, &b);
	}
	if (!last)
		return;
	if (c->usage) {
		to = begin_envelope(&b, x, c->chunk);
		member_raw(&to, "choices", "[]");
		end_envelope(&to, line);
		exchange_event(x, NULL, &b);
	}
	b = exchange_buffer();
	bytes_puts(&b, "[DONE]");
	exchange_event(x, NULL, &b);
	exchange_end_events(x);
}

static void answer(struct exchange *x, const struct json *line, int last)
{
	const struct completion *c = x->own;
	struct json_writer to;
	struct bytes b;

	if (x->stream) {
		answer_events(x, line, last);
		return;
	}
	to = begin_envelope(&b, x, c->object);
	member_value(&to, "choices", json_get(line, "choices"));
	end_envelope(&to, line);
	exchange_answer(x, &b);
}

const struct endpoint endpoint_chat = { FORM_OPENAI, ask_chat, answer, NULL, NULL, NULL };
const struct endpoint endpoint_completions = { FORM_OPENAI, ask_completion, answer, NULL, NULL, NULL };
