/* /v1/responses, OpenAI's API of items. Nothing is kept: each request has the whole conversation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints.h"
#include "lib/base/members.h"
#include "responses_input.h"
#include "sampling.h"
#include "turn.h"

struct response {
	struct turn turn;
	int started, cut;               /* cut: by the limit of tokens */
	struct bytes request;           /* members of the request that are told in the answer, as JSON */
};

static const char *const names[] = { "parallel_tool_calls", "top_logprobs", NULL };

/* ---- the response as an object ---- */

/* Keeps what the answer says of the request. The defaults are those of the API. */
static void keep_request(struct response *r, const struct json *body)
{
	static const struct {
		const char *name, *none;
	} told[] = {
		{ "instructions", "null" }, { "max_output_tokens", "null" }, { "metadata", "{}" },
		{ "parallel_tool_calls", "true" }, { "reasoning", "{\"effort\":null,\"summary\":null}" },
		{ "temperature", "null" }, { "text", "{\"format\":{\"type\":\"text\"}}" },
		{ "tool_choice", "\"auto\"" }, { "tools", "[]" }, { "top_p", "null" }, { "user", "null" }
	};
	struct json_writer to = members_to(&r->request);

	for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
		const struct json *v = member_given(body, told[i].name);

		if (v)
			member_value(&to, told[i].name, v);
		else
			member_raw(&to, told[i].name, told[i].none);
	}
}

/* The id of an item of the answer. */
static void write_item_id(struct json_writer *to, const char *key, const struct exchange *x,
	const struct turn_item *item)
{
	static const char *const prefixes[] = { "rs", "msg", "fc" };
	char id[96];

	snprintf(id, sizeof id, "%s_%s_%zu", prefixes[item->kind], x->id + strlen("resp_"), item->number);
	member_text(to, key, id);
}

/* A part of an item's content, as the members of the open object. whole: with its text. */
static void write_part(struct json_writer *to, const struct turn_item *item, int whole)
{
	const char *text = whole ? bytes_text(&item->text) : "";

	member_text(to, "type", item->kind == TURN_TEXT ? "output_text" : "reasoning_text");
	member_bytes(to, "text", text, whole ? item->text.n : 0);
	if (item->kind == TURN_REASONING)
		return;
	member_raw(to, "annotations", "[]");
	member_open(to, "logprobs", '[');
	if (whole && item->logprobs.n)
		members_raw(to, &item->logprobs);
	json_close(to, ']');
}

static void write_item(struct json_writer *to, const struct exchange *x, const struct turn_item *item, int whole)
{
	static const char *const types[] = { "reasoning", "message", "function_call" };

	json_open(to, '{');
	write_item_id(to, "id", x, item);
	member_text(to, "type", types[item->kind]);
	member_text(to, "status", whole ? "completed" : "in_progress");
	if (item->kind == TURN_CALL) {
		member_text(to, "call_id", item->id);
		member_text(to, "name", item->name);
		member_bytes(to, "arguments", whole ? bytes_text(&item->text) : "", whole ? item->text.n : 0);
	} else {
		if (item->kind == TURN_TEXT)
			member_text(to, "role", "assistant");
		else
			member_raw(to, "summary", "[]");
		member_open(to, "content", '[');
		if (whole) {
			json_open(to, '{');
			write_part(to, item, 1);
			json_close(to, '}');
		}
		json_close(to, ']');
	}
	json_close(to, '}');
}

static void write_usage(struct json_writer *to, const struct json *usage)
{
	if (!usage) {
		member_null(to, "usage");
		return;
	}
	member_open(to, "usage", '{');
	member_int(to, "input_tokens", member_count(usage, "prompt_tokens"));
	member_open(to, "input_tokens_details", '{');
	member_int(to, "cached_tokens", member_count(json_get(usage, "prompt_tokens_details"), "cached_tokens"));
	json_close(to, '}');
	member_int(to, "output_tokens", member_count(usage, "completion_tokens"));
	member_open(to, "output_tokens_details", '{');
	member_int(to, "reasoning_tokens",
		member_count(json_get(usage, "completion_tokens_details"), "reasoning_tokens"));
	json_close(to, '}');
	member_int(to, "total_tokens", member_count(usage, "prompt_tokens") + member_count(usage, "completion_tokens"));
	json_close(to, '}');
}

/* The whole response; usage NULL: it is in progress. */
static void write_response(struct json_writer *to, const struct exchange *x, const struct json *usage)
{
	const struct response *r = x->own;

	json_open(to, '{');
	member_text(to, "id", x->id);
	member_text(to, "object", "response");
	member_int(to, "created_at", x->created);
	member_text(to, "status", !usage ? "in_progress" : r->cut ? "incomplete" : "completed");
	member_null(to, "error");
	member_raw(to, "incomplete_details", usage && r->cut ? "{\"reason\":\"max_output_tokens\"}" : "null");
	member_text(to, "model", x->service->name);
	member_open(to, "output", '[');
	for (size_t i = 0; usage && i < r->turn.n; i++)
		write_item(to, x, &r->turn.item[i], 1);
	json_close(to, ']');
	members_raw(to, &r->request);
	member_null(to, "previous_response_id");
	member_flag(to, "store", 0);
	member_text(to, "truncation", "disabled");
	write_usage(to, usage);
	json_close(to, '}');
}

/* ---- events ---- */

static struct json_writer begin_event(const struct exchange *x, struct bytes *b, const char *type)
{
	struct json_writer to;

	*b = exchange_buffer();
	to = members_to(b);
	json_open(&to, '{');
	member_text(&to, "type", type);
	member_int(&to, "sequence_number", (int64_t)x->events);
	return to;
}

static void end_event(struct exchange *x, struct json_writer *to, const char *type)
{
	json_close(to, '}');
	exchange_event(x, type, to->bytes);
}

static void tell_response(struct exchange *x, const char *type, const struct json *usage)
{
	struct bytes b;
	struct json_writer to = begin_event(x, &b, type);

	json_name(&to, "response");
	write_response(&to, x, usage);
	end_event(x, &to, type);
}

static void tell_item(struct exchange *x, const char *type, const struct turn_item *item, int whole)
{
	struct bytes b;
	struct json_writer to = begin_event(x, &b, type);

	member_int(&to, "output_index", (int64_t)item->number);
	json_name(&to, "item");
	write_item(&to, x, item, whole);
	end_event(x, &to, type);
}

/* Begins an event of the text of an item. */
static struct json_writer begin_text_event(const struct exchange *x, struct bytes *b, const char *type,
	const struct turn_item *item)
{
	struct json_writer to = begin_event(x, b, type);

	write_item_id(&to, "item_id", x, item);
	member_int(&to, "output_index", (int64_t)item->number);
	if (item->kind != TURN_CALL)
		member_int(&to, "content_index", 0);
	return to;
}

static void tell_part(struct exchange *x, const char *type, const struct turn_item *item, int whole)
{
	struct bytes b;
	struct json_writer to = begin_text_event(x, &b, type, item);

	member_open(&to, "part", '{');
	write_part(&to, item, whole);
	json_close(&to, '}');
	end_event(x, &to, type);
}

static void item_opened(void *context, const struct turn_item *item)
{
	tell_item(context, "response.output_item.added", item, 0);
	if (item->kind != TURN_CALL)
		tell_part(context, "response.content_part.added", item, 0);
}

static void item_added(void *context, const struct turn_item *item, const char *s, size_t n, const char *logprobs)
{
	static const char *const types[] = { "response.reasoning_text.delta", "response.output_text.delta",
		"response.function_call_arguments.delta" };
	struct bytes b;
	struct json_writer to = begin_text_event(context, &b, types[item->kind], item);

	member_bytes(&to, "delta", s, n);
	if (item->kind == TURN_TEXT) {
		member_open(&to, "logprobs", '[');
		json_raw(&to, logprobs);
		json_close(&to, ']');
	}
	end_event(context, &to, types[item->kind]);
}

static void item_closed(void *context, const struct turn_item *item)
{
	static const char *const types[] = { "response.reasoning_text.done", "response.output_text.done",
		"response.function_call_arguments.done" };
	struct bytes b;
	struct json_writer to = begin_text_event(context, &b, types[item->kind], item);

	if (item->kind == TURN_CALL)
		member_text(&to, "name", item->name);
	member_bytes(&to, item->kind == TURN_CALL ? "arguments" : "text", bytes_text(&item->text),
		item->text.n);
	if (item->kind == TURN_TEXT) {
		member_open(&to, "logprobs", '[');
		if (item->logprobs.n)
			members_raw(&to, &item->logprobs);
		json_close(&to, ']');
	}
	end_event(context, &to, types[item->kind]);
	if (item->kind != TURN_CALL)
		tell_part(context, "response.content_part.done", item, 1);
	tell_item(context, "response.output_item.done", item, 1);
}

/* ---- the request ---- */

static int wants_logprobs(const struct json *body)
{
	for (const struct json *v = member_first(json_get(body, "include")); v; v = v->next)
		if (v->type == JSON_STRING && !strcmp(v->s, "message.output_text.logprobs"))
			return 1;
	return json_get(body, "top_logprobs") != NULL;
}

static int ask(struct exchange *x, const struct json *body, struct why *w)
{
	const struct json *most = member_given(body, "max_output_tokens");
	const char *param = NULL;
	struct response *r = calloc(1, sizeof *r);
	struct bytes line;
	struct json_writer to;

	x->own = r;
	if (!r) {
		exchange_fail(x, 503, NULL, "out of memory");
		return 0;
	}
	r->request = exchange_buffer();
	keep_request(r, body);
	x->stream = member_is_true(body, "stream");
	if (x->stream)
		r->turn = (struct turn){ .opened = item_opened, .added = item_added, .closed = item_closed,
			.context = x };
	exchange_name(x, "resp_");
	to = exchange_request(x, &line);
	if (responses_input(&to, body, &param, w))
		exchange_fail(x, 400, param, w->text);
	if (most)
		member_value(&to, "max_tokens", most);
	if (wants_logprobs(body))
		member_flag(&to, "logprobs", 1);
	members_copy(&to, body, names);
	sampling_copy(&to, body);
	exchange_ask(x, &to);
	return 0;
}

/* ---- the answer ---- */

static void answer(struct exchange *x, const struct json *line, int last)
{
	const struct json *choice = member_first(json_get(line, "choices")), *usage = json_get(line, "usage");
	struct response *r = x->own;
	struct bytes b = exchange_buffer();
	struct json_writer to = members_to(&b);

	if (x->stream && !r->started) {
		tell_response(x, "response.created", NULL);
		tell_response(x, "response.in_progress", NULL);
	}
	r->started = 1;
	r->cut |= member_is_text(choice, "finish_reason", "length");
	turn_take(&r->turn, choice);
	if (last)
		turn_end(&r->turn);
	if (r->turn.failed || r->request.failed || (last && !usage)) {
		exchange_fail(x, 500, NULL, r->turn.failed || r->request.failed ? "out of memory"
			: "an answer without usage");
	} else if (last && x->stream) {
		tell_response(x, r->cut ? "response.incomplete" : "response.completed", usage);
		exchange_end_events(x);
	} else if (last) {
		write_response(&to, x, usage);
		exchange_answer(x, &b);
	}
}

static void close_response(struct exchange *x)
{
	struct response *r = x->own;

	turn_free(&r->turn);
	bytes_free(&r->request);
	free(r);
}

static const char *const renamed[] = { "messages", "input", "max_tokens", "max_output_tokens",
	"response_format", "text", "reasoning_effort", "reasoning", NULL };

const struct endpoint endpoint_responses = { FORM_RESPONSES, ask, answer, NULL, close_response, renamed };
