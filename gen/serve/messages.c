/* /v1/messages, Anthropic's API. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints.h"
#include "lib/base/members.h"
#include "messages_input.h"
#include "sampling.h"
#include "turn.h"

enum { INPUT_MEMORY = 64 << 20 };

struct message {
	struct turn turn;
	int started;                    /* its first event is written */
	char reason[32];                /* why the text ended, as the engine says, */
	struct bytes stop;              /* and the stop string that ended it, or empty */
};

static const char *const names[] = { "max_tokens", NULL };

/* ---- events ---- */

static struct json_writer begin_event(struct bytes *b, const char *type)
{
	struct json_writer to;

	*b = exchange_buffer();
	to = members_to(b);
	json_open(&to, '{');
	member_text(&to, "type", type);
	return to;
}

static void end_event(struct exchange *x, struct json_writer *to, const char *type)
{
	json_close(to, '}');
	exchange_event(x, type, to->bytes);
}

static void write_usage(struct json_writer *to, const struct json *usage)
{
	int64_t cached = member_count(json_get(usage, "prompt_tokens_details"), "cached_tokens");

	member_open(to, "usage", '{');
	member_int(to, "input_tokens", member_count(usage, "prompt_tokens") - cached);
	member_int(to, "cache_creation_input_tokens", 0);
	member_int(to, "cache_read_input_tokens", cached);
	member_int(to, "output_tokens", member_count(usage, "completion_tokens"));
	json_close(to, '}');
}

/* The members of a message up to its content. */
static void write_head(struct json_writer *to, const struct exchange *x)
{
	member_text(to, "id", x->id);
	member_text(to, "type", "message");
	member_text(to, "role", "assistant");
	member_text(to, "model", x->service->name);
}

static void write_reason(struct json_writer *to, const struct message *m)
{
	const char *reason = !strcmp(m->reason, "length") ? "max_tokens" : !strcmp(m->reason, "tool_calls")
		? "tool_use" : "end_turn";

	member_text(to, "stop_reason", m->stop.n ? "stop_sequence" : reason);
	if (m->stop.n)
		member_bytes(to, "stop_sequence", m->stop.p, m->stop.n);
	else
		member_null(to, "stop_sequence");
}

static void start(struct exchange *x)
{
	struct bytes b;
	struct json_writer to = begin_event(&b, "message_start");

	member_open(&to, "message", '{');
	write_head(&to, x);
	member_raw(&to, "content", "[]");
	member_null(&to, "stop_reason");
	member_null(&to, "stop_sequence");
	write_usage(&to, NULL);
	json_close(&to, '}');
	end_event(x, &to, "message_start");
}

static void ping(struct exchange *x)
{
	struct bytes b;
	struct json_writer to = begin_event(&b, "ping");

	end_event(x, &to, "ping");
}

static void block_opened(void *context, const struct turn_item *item)
{
	struct bytes b;
	struct json_writer to = begin_event(&b, "content_block_start");

	member_int(&to, "index", (int64_t)item->number);
	member_open(&to, "content_block", '{');
	if (item->kind == TURN_CALL) {
		member_text(&to, "type", "tool_use");
		member_text(&to, "id", item->id);
		member_text(&to, "name", item->name);
		member_raw(&to, "input", "{}");
	} else if (item->kind == TURN_REASONING) {
		member_text(&to, "type", "thinking");
		member_text(&to, "thinking", "");
		member_text(&to, "signature", "");
	} else {
		member_text(&to, "type", "text");
		member_text(&to, "text", "");
	}
	json_close(&to, '}');
	end_event(context, &to, "content_block_start");
}

static void block_added(void *context, const struct turn_item *item, const char *s, size_t n, const char *logprobs)
{
	static const struct {
		const char *type, *key;
	} deltas[] = {
		[TURN_REASONING] = { "thinking_delta", "thinking" }, [TURN_TEXT] = { "text_delta", "text" },
		[TURN_CALL] = { "input_json_delta", "partial_json" }
	};
	struct bytes b;
	struct json_writer to = begin_event(&b, "content_block_delta");

	member_int(&to, "index", (int64_t)item->number);
	member_open(&to, "delta", '{');
	member_text(&to, "type", deltas[item->kind].type);
	member_bytes(&to, deltas[item->kind].key, s, n);
	json_close(&to, '}');
	end_event(context, &to, "content_block_delta");
}

static void block_closed(void *context, const struct turn_item *item)
{
	struct bytes b;
	struct json_writer to = begin_event(&b, "content_block_stop");

	member_int(&to, "index", (int64_t)item->number);
	end_event(context, &to, "content_block_stop");
}

/* ---- the request ---- */

static int ask(struct exchange *x, const struct json *body, struct why *w)
{
	const struct json *most = json_get(body, "max_tokens"), *stop = member_given(body, "stop_sequences");
	const char *param = NULL;
	struct message *m = calloc(1, sizeof *m);
	struct bytes line;
	struct json_writer to;

	x->own = m;
	if (!m) {
		exchange_fail(x, 503, NULL, "out of memory");
		return 0;
	}
	if (!most || most->type != JSON_INT || most->i < 1) {
		exchange_fail(x, 400, "max_tokens", "max_tokens: a positive integer is required");
		return 0;
	}
	x->stream = member_is_true(body, "stream");
	m->stop = exchange_buffer();
	if (x->stream)
		m->turn = (struct turn){ .opened = block_opened, .added = block_added, .closed = block_closed,
			.context = x };
	exchange_name(x, "msg_");
	to = exchange_request(x, &line);
	if (messages_input(&to, body, &param, w))
		exchange_fail(x, 400, param, w->text);
	members_copy(&to, body, names);
	if (stop && !(stop->type == JSON_ARRAY && !stop->n))
		member_value(&to, "stop", stop);
	sampling_copy(&to, body);
	exchange_ask(x, &to);
	return 0;
}

/* ---- the answer ---- */

/* The arguments of a call: an object, or if they were cut off, none. */
static void write_input(struct json_writer *to, const struct turn_item *item)
{
	struct arena a = { .limit = INPUT_MEMORY };
	struct why w;
	struct json *input = json_parse(&a, bytes_text(&item->text), item->text.n, &w);

	json_name(to, "input");
	if (input && input->type == JSON_OBJECT)
		json_value(to, input);
	else
		json_raw(to, "{}");
	arena_free(&a);
}

static void write_block(struct json_writer *to, const struct turn_item *item)
{
	const char *text = bytes_text(&item->text);

	json_open(to, '{');
	if (item->kind == TURN_CALL) {
		member_text(to, "type", "tool_use");
		member_text(to, "id", item->id);
		member_text(to, "name", item->name);
		write_input(to, item);
	} else if (item->kind == TURN_REASONING) {
		member_text(to, "type", "thinking");
		member_bytes(to, "thinking", text, item->text.n);
		member_text(to, "signature", "");
	} else {
		member_text(to, "type", "text");
		member_bytes(to, "text", text, item->text.n);
	}
	json_close(to, '}');
}

static void answer_whole(struct exchange *x, const struct json *usage)
{
	const struct message *m = x->own;
	struct bytes b = exchange_buffer();
	struct json_writer to = members_to(&b);

	json_open(&to, '{');
	write_head(&to, x);
	member_open(&to, "content", '[');
	for (size_t i = 0; i < m->turn.n; i++)
		write_block(&to, &m->turn.item[i]);
	json_close(&to, ']');
	write_reason(&to, m);
	write_usage(&to, usage);
	json_close(&to, '}');
	exchange_answer(x, &b);
}

static void answer_last(struct exchange *x, const struct json *usage)
{
	struct bytes b;
	struct json_writer to = begin_event(&b, "message_delta");

	member_open(&to, "delta", '{');
	write_reason(&to, x->own);
	json_close(&to, '}');
	write_usage(&to, usage);
	end_event(x, &to, "message_delta");
	to = begin_event(&b, "message_stop");
	end_event(x, &to, "message_stop");
	exchange_end_events(x);
}

/* Keeps why the text ended, which is not always in the last line. */
static void take_reason(struct message *m, const struct json *choice)
{
	const char *reason = json_get_string(choice, "finish_reason");
	const struct json *stop = json_get(choice, "stop_reason");

	if (reason)
		snprintf(m->reason, sizeof m->reason, "%s", reason);
	if (stop && stop->type == JSON_STRING && !m->stop.n)
		bytes_put(&m->stop, stop->s, stop->n);
}

static void answer(struct exchange *x, const struct json *line, int last)
{
	const struct json *choice = member_first(json_get(line, "choices"));
	struct message *m = x->own;

	if (x->stream && !m->started)
		start(x);
	m->started = 1;
	turn_take(&m->turn, choice);
	take_reason(m, choice);
	if (m->turn.failed) {
		exchange_fail(x, 500, NULL, "out of memory");
		return;
	}
	if (last)
		turn_end(&m->turn);
	if (last && x->stream)
		answer_last(x, json_get(line, "usage"));
	else if (last)
		answer_whole(x, json_get(line, "usage"));
}

static void close_message(struct exchange *x)
{
	struct message *m = x->own;

	turn_free(&m->turn);
	bytes_free(&m->stop);
	free(m);
}

static const char *const renamed[] = { "stop", "stop_sequences", "response_format", "output_config", NULL };

const struct endpoint endpoint_messages = { FORM_ANTHROPIC, ask, answer, ping, close_message, renamed };
