/* The JSON of a message and of deltas. */
#include "message.h"

#include "lib/base/members.h"

static const size_t MESSAGE_MAX = (size_t)1 << 31;

static void text(struct json_writer *w, const char *name, struct span s)
{
	member_bytes(w, name, s.s, s.n);
}

static struct span of(const struct bytes *b)
{
	return (struct span){ b->p, b->n };
}

/* The members of a call. A delta has what is new of it: the start, or more arguments, or an id. */
static void put_call(struct json_writer *w, struct span id, struct span name, struct span arguments)
{
	if (id.n)
		text(w, "id", id);
	if (name.n)
		text(w, "type", span_of("function"));
	if (name.n || arguments.n) {
		member_open(w, "function", '{');
		if (name.n)
			text(w, "name", name);
		text(w, "arguments", arguments);
		json_close(w, '}');
	}
}

static void put_delta(struct message *m, struct span id, struct span name, struct span arguments)
{
	struct json_writer w = json_to_bytes(m->out);

	json_open(&w, '{');
	member_open(&w, "tool_calls", '[');
	json_open(&w, '{');
	member_int(&w, "index", (int64_t)m->n_calls - 1);
	put_call(&w, id, name, arguments);
	json_close(&w, '}');
	json_close(&w, ']');
	json_close(&w, '}');
	bytes_puts(m->out, "\n");
}

static void put_text_delta(struct message *m, const char *name, struct span s)
{
	struct json_writer w = json_to_bytes(m->out);

	json_open(&w, '{');
	text(&w, name, s);
	json_close(&w, '}');
	bytes_puts(m->out, "\n");
}

static void tell_delta(void *context, enum answer_part part, struct span s)
{
	static const struct span none = { 0 };
	struct message *m = context;

	if (part == ANSWER_ID)
		put_delta(m, s, none, none);
	else if (part == ANSWER_ARGUMENTS)
		put_delta(m, none, none, s);
	else
		put_text_delta(m, part == ANSWER_CONTENT ? "content" : "reasoning_content", s);
}

static void begin_delta(void *context, struct span name, struct span id)
{
	struct message *m = context;

	m->n_calls++;
	put_delta(m, id, name, (struct span){ 0 });
}

static void become(struct bytes *b, struct span s)
{
	b->n = 0;
	bytes_put(b, s.s, s.n);
}

static void tell(void *context, enum answer_part part, struct span s)
{
	struct message *m = context;
	struct bytes *const parts[] = { [ANSWER_REASONING] = &m->reasoning, [ANSWER_CONTENT] = &m->content,
		[ANSWER_ARGUMENTS] = &m->arguments, [ANSWER_ID] = &m->id };

	bytes_put(parts[part], s.s, s.n);
}

/* Puts the last call, which is complete, to the others. */
static void end_call(struct message *m)
{
	struct json_writer w = json_to_bytes(&m->calls);

	if (!m->n_calls)
		return;
	if (m->n_calls > 1)
		bytes_puts(&m->calls, ", ");
	json_open(&w, '{');
	put_call(&w, of(&m->id), of(&m->name), of(&m->arguments));
	json_close(&w, '}');
}

static void begin(void *context, struct span name, struct span id)
{
	struct message *m = context;

	end_call(m);
	m->n_calls++;
	become(&m->name, name);
	become(&m->id, id);
	m->arguments.n = 0;
}

void message_start(struct message *m, int stream, struct bytes *out)
{
	const struct bytes empty = { .limit = MESSAGE_MAX };

	*m = (struct message){ .sink = { tell, begin, m }, .stream = stream, .out = out, .content = empty,
		.reasoning = empty, .calls = empty, .id = empty, .name = empty, .arguments = empty };
	if (stream) {
		m->sink = (struct answer_sink){ tell_delta, begin_delta, m };
		bytes_puts(out, "{\"role\": \"assistant\", \"content\": \"\"}\n");
	}
}

int message_end(struct message *m)
{
	struct bytes *const all[] = { &m->content, &m->reasoning, &m->calls, &m->id, &m->name, &m->arguments };
	struct json_writer w = json_to_bytes(m->out);
	int failed = 0;

	if (!m->stream) {
		end_call(m);
		bytes_put(&m->calls, "", 1);
		json_open(&w, '{');
		text(&w, "role", span_of("assistant"));
		if (m->content.n || !m->n_calls)
			text(&w, "content", of(&m->content));
		else {
			member_null(&w, "content");
		}
		if (m->reasoning.n)
			text(&w, "reasoning_content", of(&m->reasoning));
		if (m->n_calls && !m->calls.failed) {
			member_open(&w, "tool_calls", '[');
			json_raw(&w, m->calls.p);
			json_close(&w, ']');
		}
		json_close(&w, '}');
		bytes_puts(m->out, "\n");
	}
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		failed |= all[i]->failed;
		bytes_free(all[i]);
	}
	return failed || m->out->failed ? -1 : 0;
}
