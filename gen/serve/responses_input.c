/* The input is a text or a list of items. Items of an assistant's turn, which are reasoning, messages and calls, become
 * one message; it is gathered until an item of somebody else follows. */
#include "responses_input.h"

#include <string.h>

#include "lib/base/members.h"
#include "sampling.h"

enum { TURN_MAX = 64 << 20 };

/* The assistant's turn that is being gathered. */
struct gathered {
	struct bytes reasoning, text, calls;    /* calls: JSON objects, separated by commas */
	int any, has_text;
};

/* ---- the assistant's turn ---- */

static struct gathered start(void)
{
	return (struct gathered){ .reasoning.limit = TURN_MAX, .text.limit = TURN_MAX, .calls.limit = TURN_MAX };
}

/* Writes the message, if there is one, and begins anew. */
static void flush(struct gathered *g, struct json_writer *to)
{
	if (g->any) {
		json_open(to, '{');
		member_text(to, "role", "assistant");
		if (g->reasoning.n)
			member_bytes(to, "reasoning_content", g->reasoning.p, g->reasoning.n);
		if (g->has_text || !g->calls.n)
			member_bytes(to, "content", bytes_text(&g->text), g->text.n);
		if (g->calls.n) {
			member_open(to, "tool_calls", '[');
			members_raw(to, &g->calls);
			json_close(to, ']');
		}
		json_close(to, '}');
	}
	to->failed |= g->reasoning.failed || g->text.failed || g->calls.failed;
	bytes_free(&g->reasoning);
	bytes_free(&g->text);
	bytes_free(&g->calls);
	*g = start();
}

/* Appends the texts of a list of parts, or a string. -1: a part has none. */
static int append_text(struct bytes *out, const struct json *content, struct why *w)
{
	if (content && content->type == JSON_STRING)
		return bytes_put(out, content->s, content->n) ? why(w, "out of memory") : 0;
	for (const struct json *p = member_first(content); p; p = p->next) {
		const struct json *text = json_get(p, member_is(p, "refusal") ? "refusal" : "text");
		const char *type = json_get_string(p, "type");

		if (!text || text->type != JSON_STRING)
			return why(w, "parts of type %.40s are not supported", type ? type : "null");
		if (bytes_put(out, text->s, text->n))
			return why(w, "out of memory");
	}
	return 0;
}

static void gather_call(struct gathered *g, const struct json *item)
{
	const char *id = json_get_string(item, "call_id"), *name = json_get_string(item, "name");
	const char *arguments = json_get_string(item, "arguments");
	struct json_writer to = members_to(&g->calls);

	to.items = g->calls.n > 0;
	json_open(&to, '{');
	member_text(&to, "id", id ? id : "");
	member_text(&to, "type", "function");
	member_open(&to, "function", '{');
	member_text(&to, "name", name ? name : "");
	member_text(&to, "arguments", arguments ? arguments : "{}");
	json_close(&to, '}');
	json_close(&to, '}');
}

/* ---- items ---- */

static int write_content(struct json_writer *to, const struct json *content, struct why *w)
{
	struct bytes text = { .limit = TURN_MAX };
	int failed = append_text(&text, content, w);

	member_bytes(to, "content", bytes_text(&text), text.n);
	bytes_free(&text);
	return failed;
}

static int write_message(struct json_writer *to, struct gathered *g, const struct json *item, struct why *w)
{
	const char *role = json_get_string(item, "role");
	const struct json *content = json_get(item, "content");
	int failed;

	if (!role || (strcmp(role, "user") && strcmp(role, "assistant") && strcmp(role, "system")
	    && strcmp(role, "developer")))
		return why(w, "a role must be user, assistant, system or developer");
	if (*role == 'a') {
		if (g->calls.n || g->has_text)
			flush(g, to);
		g->any = g->has_text = 1;
		return append_text(&g->text, content, w);
	}
	flush(g, to);
	json_open(to, '{');
	member_text(to, "role", *role == 'd' ? "system" : role);
	failed = write_content(to, content, w);
	json_close(to, '}');
	return failed;
}

static int write_item(struct json_writer *to, struct gathered *g, const struct json *item, struct why *w)
{
	const char *type = json_get_string(item, "type"), *id = json_get_string(item, "call_id");
	int failed;

	if (!type || !strcmp(type, "message"))
		return write_message(to, g, item, w);
	if (!strcmp(type, "function_call")) {
		g->any = 1;
		gather_call(g, item);
		return 0;
	}
	if (!strcmp(type, "reasoning")) {
		if (g->calls.n || g->has_text)
			flush(g, to);
		g->any = 1;
		return append_text(&g->reasoning, json_get(item, "content"), w);
	}
	if (!strcmp(type, "item_reference"))
		return why(w, "item_reference: answers are not kept; send the item itself (\"store\": false)");
	if (strcmp(type, "function_call_output"))
		return why(w, "items of type %.40s are not supported", type);
	flush(g, to);
	json_open(to, '{');
	member_text(to, "role", "tool");
	member_text(to, "tool_call_id", id ? id : "");
	failed = write_content(to, json_get(item, "output"), w);
	json_close(to, '}');
	return failed;
}

static int write_messages(struct json_writer *to, const struct json *body, struct why *w)
{
	const struct json *input = json_get(body, "input"), *instructions = json_get(body, "instructions");
	struct gathered g = start();
	int failed = 0;

	if (!input || (input->type != JSON_STRING && !member_first(input)))
		return why(w, "input: a text or a list of items is required");
	member_open(to, "messages", '[');
	if (instructions && instructions->type == JSON_STRING) {
		json_open(to, '{');
		member_text(to, "role", "system");
		member_value(to, "content", instructions);
		json_close(to, '}');
	}
	if (input->type == JSON_STRING) {
		json_open(to, '{');
		member_text(to, "role", "user");
		member_value(to, "content", input);
		json_close(to, '}');
	}
	for (const struct json *item = member_first(input); item && !failed; item = item->next)
		failed = write_item(to, &g, item, w);
	flush(&g, to);
	json_close(to, ']');
	return failed ? why_in(w, "input") : 0;
}

/* ---- tools and formats ---- */

static int write_tools(struct json_writer *to, const struct json *tools, struct why *w)
{
	static const char *const names[] = { "name", "description", "parameters", "strict", NULL };

	if (!member_first(tools))
		return 0;
	member_open(to, "tools", '[');
	for (const struct json *t = member_first(tools); t; t = t->next) {
		const char *type = json_get_string(t, "type");

		if (!member_is(t, "function") || !json_get_string(t, "name"))
			return why(w, "tools: %.60s is not supported", type ? type : "one without a type");
		json_open(to, '{');
		member_text(to, "type", "function");
		member_open(to, "function", '{');
		members_copy(to, t, names);
		json_close(to, '}');
		json_close(to, '}');
	}
	json_close(to, ']');
	return 0;
}

static int write_tool_choice(struct json_writer *to, const struct json *choice, struct why *w)
{
	const char *name = json_get_string(choice, "name");

	if (!choice)
		return 0;
	if (choice->type == JSON_STRING) {
		member_value(to, "tool_choice", choice);
		return 0;
	}
	if (!member_is(choice, "function") || !name)
		return why(w, "tool_choice: a word or a function is required");
	sampling_tool(to, name);
	return 0;
}

static void write_format(struct json_writer *to, const struct json *format)
{
	static const char *const names[] = { "name", "schema", "strict", NULL };

	if (!format || format->type != JSON_OBJECT)
		return;
	member_open(to, "response_format", '{');
	member_value(to, "type", json_get(format, "type"));
	if (member_is(format, "json_schema")) {
		member_open(to, "json_schema", '{');
		members_copy(to, format, names);
		json_close(to, '}');
	}
	json_close(to, '}');
}

/* What would need answers to be kept here. */
static const char *kept(const struct json *body)
{
	static const char *const names[] = { "previous_response_id", "conversation", "prompt", NULL };

	for (size_t i = 0; names[i]; i++)
		if (member_given(body, names[i]))
			return names[i];
	return member_is_true(body, "background") ? "background" : NULL;
}

static int fail(const char **param, const char *name)
{
	*param = name;
	return -1;
}

int responses_input(struct json_writer *to, const struct json *body, const char **param, struct why *w)
{
	const char *effort = json_get_string(json_get(body, "reasoning"), "effort"), *name = kept(body);

	if (name) {
		why(w, "%s: answers are not kept; send the whole conversation as input", name);
		return fail(param, name);
	}
	if (write_messages(to, body, w))
		return fail(param, "input");
	if (write_tools(to, json_get(body, "tools"), w))
		return fail(param, "tools");
	if (write_tool_choice(to, member_given(body, "tool_choice"), w))
		return fail(param, "tool_choice");
	write_format(to, json_get(json_get(body, "text"), "format"));
	if (effort)
		member_text(to, "reasoning_effort", effort);
	return 0;
}
