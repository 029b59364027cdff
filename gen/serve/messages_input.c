/* Anthropic's messages are lists of blocks; results of tools, which are blocks of the user's, become messages of their
 * own, and blocks of reasoning and calls members of the assistant's message. */
#include "messages_input.h"

#include <string.h>

#include "lib/base/members.h"
#include "sampling.h"

static void write_text_part(struct json_writer *to, const struct json *text)
{
	json_open(to, '{');
	member_text(to, "type", "text");
	member_value(to, "text", text);
	json_close(to, '}');
}

/* Writes the member content: a string, or the text blocks of a list. -1: a block is something else. */
static int write_content(struct json_writer *to, const struct json *content, struct why *w)
{
	if (!content || content->type == JSON_STRING || content->type == JSON_NULL) {
		if (content && content->type == JSON_STRING)
			member_value(to, "content", content);
		else
			member_text(to, "content", "");
		return 0;
	}
	if (content->type != JSON_ARRAY)
		return why(w, "content must be a string or a list of blocks");
	member_open(to, "content", '[');
	for (const struct json *b = content->child; b; b = b->next) {
		const char *type = json_get_string(b, "type");

		if (!member_is(b, "text") || !json_get_string(b, "text"))
			return why(w, "blocks of type %.40s are not supported", type ? type : "null");
		write_text_part(to, json_get(b, "text"));
	}
	json_close(to, ']');
	return 0;
}

/* ---- messages ---- */

static int write_results(struct json_writer *to, const struct json *content, struct why *w)
{
	for (const struct json *b = member_first(content); b; b = b->next) {
		const char *id = json_get_string(b, "tool_use_id");

		if (!member_is(b, "tool_result"))
			continue;
		json_open(to, '{');
		member_text(to, "role", "tool");
		member_text(to, "tool_call_id", id ? id : "");
		if (write_content(to, json_get(b, "content"), w))
			return -1;
		json_close(to, '}');
	}
	return 0;
}

static int write_user(struct json_writer *to, const char *role, const struct json *content, struct why *w)
{
	int results = 0, others = 0;

	for (const struct json *b = member_first(content); b; b = b->next) {
		const char *type = json_get_string(b, "type");

		if (member_is(b, "tool_result"))
			results = 1;
		else if (member_is(b, "text") && json_get_string(b, "text"))
			others = 1;
		else
			return why(w, "blocks of type %.40s are not supported", type ? type : "null");
	}
	if (results && write_results(to, content, w))
		return -1;
	if (results && !others)
		return 0;
	json_open(to, '{');
	member_text(to, "role", role);
	if (!results && write_content(to, content, w))
		return -1;
	if (results) {
		member_open(to, "content", '[');
		for (const struct json *b = member_first(content); b; b = b->next)
			if (member_is(b, "text"))
				write_text_part(to, json_get(b, "text"));
		json_close(to, ']');
	}
	json_close(to, '}');
	return 0;
}

/* Joins the member `key` of all blocks of a type. */
static void write_joined(struct json_writer *to, const char *name, const struct json *content, const char *type,
	const char *key)
{
	struct bytes text = { .limit = 64 << 20 };
	int found = 0;

	for (const struct json *b = member_first(content); b; b = b->next) {
		const struct json *s = member_is(b, type) ? json_get(b, key) : NULL;

		if (s && s->type == JSON_STRING) {
			bytes_put(&text, s->s, s->n);
			found = 1;
		}
	}
	if (found)
		member_bytes(to, name, bytes_text(&text), text.n);
	to->failed |= text.failed;
	bytes_free(&text);
}

static void write_call(struct json_writer *to, const struct json *block)
{
	const struct json *input = json_get(block, "input");
	const char *id = json_get_string(block, "id"), *name = json_get_string(block, "name");
	struct bytes arguments = { .limit = 64 << 20 };
	struct json_writer text = members_to(&arguments);

	if (input && input->type == JSON_OBJECT)
		json_value(&text, input);
	else
		json_raw(&text, "{}");
	json_open(to, '{');
	member_text(to, "id", id ? id : "");
	member_text(to, "type", "function");
	member_open(to, "function", '{');
	member_text(to, "name", name ? name : "");
	member_bytes(to, "arguments", arguments.p, arguments.n);
	json_close(to, '}');
	json_close(to, '}');
	to->failed |= text.failed;
	bytes_free(&arguments);
}

static int write_assistant(struct json_writer *to, const struct json *content, struct why *w)
{
	int calls = 0;

	json_open(to, '{');
	member_text(to, "role", "assistant");
	if (!content || content->type != JSON_ARRAY) {
		if (write_content(to, content, w))
			return -1;
		json_close(to, '}');
		return 0;
	}
	for (const struct json *b = content->child; b; b = b->next) {
		const char *type = json_get_string(b, "type");

		calls |= member_is(b, "tool_use");
		if (!member_is(b, "text") && !member_is(b, "thinking") && !member_is(b, "redacted_thinking")
		    && !member_is(b, "tool_use"))
			return why(w, "blocks of type %.40s are not supported", type ? type : "null");
	}
	write_joined(to, "reasoning_content", content, "thinking", "thinking");
	write_joined(to, "content", content, "text", "text");
	if (calls) {
		member_open(to, "tool_calls", '[');
		for (const struct json *b = content->child; b; b = b->next)
			if (member_is(b, "tool_use"))
				write_call(to, b);
		json_close(to, ']');
	}
	json_close(to, '}');
	return 0;
}

static int write_messages(struct json_writer *to, const struct json *body, struct why *w)
{
	const struct json *messages = json_get(body, "messages"), *system = member_given(body, "system");

	if (!messages || messages->type != JSON_ARRAY || !messages->n)
		return why(w, "messages: a list with a message is required");
	member_open(to, "messages", '[');
	if (system) {
		json_open(to, '{');
		member_text(to, "role", "system");
		if (write_content(to, system, w))
			return why_in(w, "system");
		json_close(to, '}');
	}
	for (const struct json *m = messages->child; m; m = m->next) {
		const char *role = json_get_string(m, "role");
		const struct json *content = json_get(m, "content");

		if (!role || (strcmp(role, "user") && strcmp(role, "assistant") && strcmp(role, "system")))
			return why(w, "messages: a role must be user, assistant or system");
		if (*role == 'a' ? write_assistant(to, content, w) : write_user(to, role, content, w))
			return why_in(w, "messages");
	}
	json_close(to, ']');
	return 0;
}

/* ---- tools ---- */

static int write_tools(struct json_writer *to, const struct json *tools, struct why *w)
{
	if (!member_first(tools))
		return 0;
	member_open(to, "tools", '[');
	for (const struct json *t = member_first(tools); t; t = t->next) {
		const char *type = json_get_string(t, "type"), *name = json_get_string(t, "name");
		const struct json *description = json_get(t, "description");

		if ((type && strcmp(type, "custom")) || !name)
			return why(w, "tools: %.60s is not supported", type ? type : "one without a name");
		json_open(to, '{');
		member_text(to, "type", "function");
		member_open(to, "function", '{');
		member_text(to, "name", name);
		if (description && description->type == JSON_STRING)
			member_value(to, "description", description);
		if (json_get(t, "input_schema"))
			member_value(to, "parameters", json_get(t, "input_schema"));
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
	if (member_is_true(choice, "disable_parallel_tool_use"))
		member_flag(to, "parallel_tool_calls", 0);
	if (member_is(choice, "auto") || member_is(choice, "none")) {
		member_text(to, "tool_choice", json_get_string(choice, "type"));
	} else if (member_is(choice, "any")) {
		member_text(to, "tool_choice", "required");
	} else if (member_is(choice, "tool") && name) {
		sampling_tool(to, name);
	} else {
		return why(w, "tool_choice: the type must be auto, any, none or tool");
	}
	return 0;
}

/* ---- what else the prompt depends on ---- */

/* A format of output_config, or the older output_format. */
static int write_format(struct json_writer *to, const struct json *format, struct why *w)
{
	if (!format)
		return 0;
	if (!member_is(format, "json_schema") || !json_get(format, "schema"))
		return why(w, "output_config: the format must be json_schema with a schema");
	member_open(to, "response_format", '{');
	member_text(to, "type", "json_schema");
	member_open(to, "json_schema", '{');
	member_value(to, "schema", json_get(format, "schema"));
	json_close(to, '}');
	json_close(to, '}');
	return 0;
}

static int fail(const char **param, const char *name)
{
	*param = name;
	return -1;
}

int messages_input(struct json_writer *to, const struct json *body, const char **param, struct why *w)
{
	const struct json *config = json_get(body, "output_config"), *format = member_given(config, "format");
	const struct json *thinking = json_get(body, "thinking");
	const char *effort = json_get_string(config, "effort");

	if (write_messages(to, body, w))
		return fail(param, "messages");
	if (write_tools(to, json_get(body, "tools"), w))
		return fail(param, "tools");
	if (write_tool_choice(to, member_given(body, "tool_choice"), w))
		return fail(param, "tool_choice");
	if (write_format(to, format ? format : member_given(body, "output_format"), w))
		return fail(param, "output_config");
	if (effort)
		member_text(to, "reasoning_effort", effort);
	if (thinking && thinking->type == JSON_OBJECT && !json_get(body, "chat_template_kwargs"))
		member_raw(to, "chat_template_kwargs", member_is(thinking, "disabled") ? "{\"enable_thinking\":false}"
			: "{\"enable_thinking\":true}");
	return 0;
}
