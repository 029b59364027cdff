/* The copy of a conversation is in OpenAI's form: arguments are objects, null content is "", members that are null are
 * left out. A shape changes it from there. */
#include "variant.h"

#include <string.h>

#include "lib/base/json_edit.h"
#include "content.h"
#include "shape.h"

static int is_empty(const struct json *v)
{
	return v->type == JSON_NULL || (v->type == JSON_STRING && !v->n);
}

/* Makes the arguments of a call an object if they are the text of one; models write nothing where there are none. */
static int parse_arguments(struct arena *a, struct json *call)
{
	struct json *arguments = json_need(a, call, "arguments");
	const struct json *v;
	struct why ignored;

	if (!arguments)
		return -1;
	if (is_empty(arguments)) {
		json_become(arguments, &(struct json){ .type = JSON_OBJECT });
	} else if (arguments->type == JSON_STRING) {
		v = json_parse(a, arguments->s, arguments->n, &ignored);
		if (v && v->type == JSON_OBJECT)
			json_become(arguments, v);
	}
	return 0;
}

/* Some clients write all members there may be; null says no more than their absence. */
static void drop_nulls(struct json *message)
{
	struct json *before = NULL, *next;

	for (struct json *m = message->child; m; m = next) {
		next = m->next;
		if (m->type == JSON_NULL || (!strcmp(m->key, "tool_calls") && m->type == JSON_ARRAY && !m->n))
			json_remove(message, before, m);
		else
			before = m;
	}
}

/* The function of a call or a tool, in OpenAI's form or by itself. */
static struct json *function_of(struct json *v)
{
	struct json *function = json_find(v, "function");

	return function && function->type == JSON_OBJECT ? function : v;
}

/* Lists the calls of a message, with arguments as objects, and its content beside them as a string. */
static int add_calls(struct variant *x, struct json *message)
{
	struct json *calls = json_find(message, "tool_calls"), *content, *function;

	if (!calls || calls->type != JSON_ARRAY || !calls->n)
		return 0;
	if (!(content = json_need(x->arena, message, "content")))
		return -1;
	if (is_empty(content)) {
		json_become_string(content, "", 0);
		x->choices |= SHAPE_NULL;
	}
	for (struct json *call = calls->child; call; call = call->next) {
		function = function_of(call);
		if (function->type != JSON_OBJECT)
			continue;
		if (parse_arguments(x->arena, function))
			return -1;
		x->choices |= SHAPE_TEXTS;
		x->call[x->n_calls++] = function;
	}
	return 0;
}

/* Lists the texts of content that is a part, which becomes a list of one, or a list of parts. */
static int add_parts(struct variant *x, struct json *content)
{
	struct json *only, *text;

	if (json_get_string(content, "text")) {
		if (!(only = json_new(x->arena, JSON_OBJECT)))
			return -1;
		json_become(only, content);
		json_become(content, &(struct json){ .type = JSON_ARRAY });
		json_add(content, NULL, only);
	}
	x->choices |= SHAPE_JOINED;
	for (struct json *part = content->child; part; part = part->next) {
		text = part->type == JSON_OBJECT ? json_find(part, "text") : part;
		if (text && text->type == JSON_STRING)
			x->part[x->n_parts++] = text;
	}
	return 0;
}

/* What clients and templates call reasoning. */
static const char *const reasonings[] = { "reasoning_content", "reasoning", "thinking" };
enum { REASONINGS = sizeof reasonings / sizeof *reasonings };

static struct json *reasoning_of(struct json *message)
{
	for (size_t i = 0; i < REASONINGS; i++) {
		struct json *text = json_find(message, reasonings[i]);

		if (text && text->type == JSON_STRING && text->n)
			return text;
	}
	return NULL;
}

/* Whether v or a value in it has null among its types. */
static int has_null_types(const struct json *v)
{
	const struct json *types = json_get(v, "type");

	if (types && types->type == JSON_ARRAY)
		for (const struct json *type = types->child; type; type = type->next)
			if (type->type == JSON_STRING && !strcmp(type->s, "null"))
				return 1;
	for (const struct json *c = v->child; c; c = c->next)
		if (has_null_types(c))
			return 1;
	return 0;
}

static size_t count_nodes(const struct json *v)
{
	size_t n = 1;

	for (const struct json *c = v->child; c; c = c->next)
		n += count_nodes(c);
	return n;
}

static int is_from(const struct json *message, const char *role)
{
	return !strcmp(json_get_string(message, "role"), role);
}

/* The content of a message if it is a string, else NULL. */
static struct json *text_of(struct json *message)
{
	struct json *content = json_find(message, "content");

	return content && content->type == JSON_STRING ? content : NULL;
}

int variant_open(struct variant *x, const struct chat *c, struct arena *a)
{
	size_t most = count_nodes(c->messages);
	const struct json *tools;
	struct json *content;

	*x = (struct variant){ .arena = a, .variables = json_copy(a, c->variables),
		.part = arena_array(a, most, sizeof *x->part), .call = arena_array(a, most, sizeof *x->call),
		.reason = arena_array(a, most, sizeof *x->reason) };
	if (!x->variables || !x->part || !x->call || !x->reason)
		return -1;
	x->messages = json_find(x->variables, "messages");
	for (struct json *m = x->messages->child; m; m = m->next) {
		content = json_find(m, "content");
		if (content && content->type == JSON_NULL)
			json_become_string(content, "", 0);
		drop_nulls(m);
		if ((content_has_parts(content) && add_parts(x, content)) || add_calls(x, m))
			return -1;
	}
	for (struct json *m = x->messages->child; m; m = m->next) {
		if (is_from(m, "user") && (content = text_of(m)))
			x->user = content;
		x->choices |= is_from(m, "developer") ? SHAPE_SYSTEM : 0;
		if ((content = reasoning_of(m)))
			x->reason[x->n_reasons++] = content;
	}
	x->choices |= x->user ? SHAPE_PARTS : 0;
	if (is_from(x->messages->child, "system") || is_from(x->messages->child, "developer")) {
		x->choices |= SHAPE_USER;
		x->system = text_of(x->messages->child);
	}
	if ((tools = json_get(x->variables, "tools")))
		x->choices |= SHAPE_TOOLS | (has_null_types(tools) ? SHAPE_TYPES : 0);
	return 0;
}

/* ---- shapes ---- */

/* Makes v a string: a copy of the text, which is freed. */
static int become_text(struct arena *a, struct json *v, struct bytes *text)
{
	char *copy = text->failed ? NULL : arena_text(a, text->n + 1);

	if (copy) {
		if (text->n)
			memcpy(copy, text->p, text->n);
		copy[text->n] = '\0';
		json_become_string(v, copy, text->n);
	}
	bytes_free(text);
	return copy ? 0 : -1;
}

static int join_parts(struct variant *x)
{
	for (struct json *m = x->messages->child; m; m = m->next) {
		struct json *content = json_find(m, "content");
		struct bytes text = { .limit = x->arena->limit };

		if (!content_has_parts(content))
			continue;
		if (content_text(content, &text) || become_text(x->arena, content, &text)) {
			bytes_free(&text);
			return -1;
		}
	}
	return 0;
}

/* Makes a value its JSON text. */
static int put_text(struct variant *x, struct json *v)
{
	struct bytes text = { .limit = x->arena->limit };
	struct json_writer w = json_to_bytes(&text);

	json_value(&w, v);
	return become_text(x->arena, v, &text);
}

static int put_arguments(struct variant *x)
{
	for (size_t i = 0; i < x->n_calls; i++) {
		struct json *arguments = json_find(x->call[i], "arguments");

		if (arguments->type != JSON_STRING && put_text(x, arguments))
			return -1;
	}
	return 0;
}

/* Empties arguments that are no object: those of a call that was cut, for example. */
static void empty_arguments(struct variant *x)
{
	for (size_t i = 0; i < x->n_calls; i++) {
		struct json *arguments = json_find(x->call[i], "arguments");

		if (arguments->type != JSON_OBJECT)
			json_become(arguments, &(struct json){ .type = JSON_OBJECT });
	}
}

static void put_nulls(struct variant *x)
{
	for (struct json *m = x->messages->child; m; m = m->next) {
		struct json *content = json_find(m, "content");

		if (content && is_empty(content) && json_get(m, "tool_calls"))
			json_become(content, &(struct json){ .type = JSON_NULL });
	}
}

/* Puts the system messages that come first, and an empty line, before the text of the first user message. */
static int join_system(struct variant *x)
{
	struct json *messages = x->messages, *user = messages->child, *content;
	struct bytes text = { .limit = x->arena->limit };

	while (messages->child && is_from(messages->child, "system")) {
		content = text_of(messages->child);
		if (content && content->n) {
			bytes_put(&text, content->s, content->n);
			bytes_puts(&text, "\n\n");
		} else if (!content)
			text.failed = 1;
		json_remove(messages, NULL, messages->child);
	}
	for (user = messages->child; user && !is_from(user, "user"); user = user->next)
		;
	content = user ? text_of(user) : NULL;
	if (!content || bytes_put(&text, content->s, content->n)) {
		bytes_free(&text);
		return -1;
	}
	return become_text(x->arena, content, &text);
}

/* Removes null from lists of types. A list of one type that is left becomes that type. */
static void drop_null_types(struct json *v)
{
	struct json *types = json_find(v, "type"), *before = NULL, *next;
	size_t n = types && types->type == JSON_ARRAY ? types->n : 0;

	for (struct json *type = n ? types->child : NULL; type; type = next) {
		next = type->next;
		if (type->type == JSON_STRING && !strcmp(type->s, "null"))
			json_remove(types, before, type);
		else
			before = type;
	}
	if (n && types->n < n && types->n == 1)
		json_become(types, types->child);
	for (struct json *c = v->child; c; c = c->next)
		drop_null_types(c);
}

/* Makes a member that is missing or null an empty string or object. NULL: memory is short. */
static struct json *need_value(struct arena *a, struct json *object, const char *key, enum json_type type)
{
	struct json *m = json_need(a, object, key);

	if (m && m->type == JSON_NULL)
		json_become(m, &(struct json){ .type = type, .s = "" });
	return m;
}

static int complete_tools(struct variant *x)
{
	struct arena *a = x->arena;

	for (struct json *t = json_find(x->variables, "tools")->child; t; t = t->next) {
		struct json *function = function_of(t), *parameters, *type, *properties;

		if (function->type != JSON_OBJECT)
			continue;
		if (!need_value(a, function, "description", JSON_STRING)
		    || !(parameters = need_value(a, function, "parameters", JSON_OBJECT)))
			return -1;
		if (parameters->type != JSON_OBJECT)
			continue;
		if (!(type = need_value(a, parameters, "type", JSON_STRING))
		    || !(properties = need_value(a, parameters, "properties", JSON_OBJECT)))
			return -1;
		if (is_empty(type))
			json_become_string(type, "object", 6);
		for (struct json *p = properties->child; p; p = p->next)
			if (p->type == JSON_OBJECT && !need_value(a, p, "description", JSON_STRING))
				return -1;
	}
	return 0;
}

static void rename_developers(struct variant *x)
{
	for (struct json *m = x->messages->child; m; m = m->next)
		if (is_from(m, "developer"))
			json_become_string(json_find(m, "role"), "system", 6);
}

/* A part of content: an object with a type, and a text under that name or another. */
static struct json *new_part(struct arena *a, const char *type, const char *name, const struct json *text)
{
	struct json *part = json_new(a, JSON_OBJECT), *t = json_new_string(a, type, strlen(type));
	struct json *copy = json_new_string(a, text->s, text->n);

	if (!part || !t || !copy)
		return NULL;
	json_add(part, "type", t);
	json_add(part, name, copy);
	return part;
}

static int put_parts(struct variant *x)
{
	for (struct json *m = x->messages->child; m; m = m->next) {
		struct json *content = text_of(m), *part;

		if (!content)
			continue;
		if (!(part = new_part(x->arena, "text", "text", content)))
			return -1;
		json_become(content, &(struct json){ .type = JSON_ARRAY });
		json_add(content, NULL, part);
	}
	return 0;
}

static int name_reasoning(struct variant *x)
{
	struct json *text, *other;

	for (struct json *m = x->messages->child; m; m = m->next) {
		if (!(text = reasoning_of(m)))
			continue;
		for (size_t i = 0; i < REASONINGS; i++) {
			if (!(other = json_need(x->arena, m, reasonings[i])))
				return -1;
			json_become_string(other, text->s, text->n);
		}
	}
	return 0;
}

static int put_thoughts(struct variant *x)
{
	struct json *reason, *content, *thought, *text;

	for (struct json *m = x->messages->child; m; m = m->next) {
		if (!(reason = reasoning_of(m)) || !(content = json_need(x->arena, m, "content")))
			continue;
		if (content->type != JSON_STRING && content->type != JSON_NULL)
			continue;
		thought = new_part(x->arena, "thinking", "thinking", reason);
		text = content->n ? new_part(x->arena, "text", "text", content) : NULL;
		if (!thought || (content->n && !text))
			return -1;
		json_become(content, &(struct json){ .type = JSON_ARRAY });
		json_add(content, NULL, thought);
		if (text)
			json_add(content, NULL, text);
	}
	return 0;
}

/* Whether a variable has tools, under another name. */
static int has_tools(const struct json *variable)
{
	return strcmp(variable->key, "tools") && strcmp(variable->key, "messages") && variable->type == JSON_ARRAY
		&& json_get(variable->child, "name") && json_get(variable->child, "parameters");
}

int variant_has_text_tools(const struct variant *x)
{
	for (const struct json *v = x->variables->child; v; v = v->next)
		if (has_tools(v))
			return 1;
	return 0;
}

static int put_text_tools(struct variant *x)
{
	for (struct json *v = x->variables->child; v; v = v->next)
		if (has_tools(v) && put_text(x, v))
			return -1;
	return 0;
}

int variant_shape(struct variant *x, unsigned shape)
{
	if (shape & SHAPE_SYSTEM)
		rename_developers(x);
	if (shape & SHAPE_EMPTY)
		empty_arguments(x);
	if ((shape & SHAPE_JOINED && join_parts(x)) || (shape & SHAPE_USER && join_system(x))
	    || (shape & SHAPE_TEXTS && put_arguments(x)) || (shape & SHAPE_TOOLS && complete_tools(x)))
		return -1;
	if (shape & SHAPE_NULL)
		put_nulls(x);
	if (shape & SHAPE_PARTS && (shape & SHAPE_JOINED || put_parts(x)))
		return -1;
	if ((shape & SHAPE_NAMES && name_reasoning(x)) || (shape & SHAPE_THOUGHTS && put_thoughts(x))
	    || (shape & SHAPE_TEXT_TOOLS && put_text_tools(x)))
		return -1;
	if (shape & SHAPE_TYPES)
		drop_null_types(json_find(x->variables, "tools"));
	return 0;
}
