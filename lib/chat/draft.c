/* The copy of a conversation is in OpenAI's form: arguments are objects, null content is "", members that are null are
 * left out. A shape changes it from there. */
#include "draft.h"

#include <string.h>

#include "content.h"
#include "shape.h"

struct json *draft_member(struct json *object, const char *key)
{
	const struct json *found = json_get(object, key);
	struct json *m = found ? object->child : NULL;

	while (m != found)
		m = m->next;
	return m;
}

/* ---- copying ---- */

static struct json *copy_of(struct arena *a, const struct json *v)
{
	struct json *copy = json_new(a, v->type), *child;

	if (!copy)
		return NULL;
	*copy = *v;
	copy->n = v->type == JSON_ARRAY || v->type == JSON_OBJECT ? 0 : v->n;
	copy->child = copy->last = copy->next = NULL;
	for (const struct json *c = v->child; c; c = c->next) {
		if (!(child = copy_of(a, c)))
			return NULL;
		json_add(copy, NULL, child);
		child->key = c->key;
		child->key_n = c->key_n;
	}
	return copy;
}

void draft_become(struct json *v, const struct json *of)
{
	struct json was = *v;

	*v = *of;
	v->key = was.key;
	v->key_n = was.key_n;
	v->next = was.next;
}

void draft_string(struct json *v, const char *s, size_t n)
{
	draft_become(v, &(struct json){ .type = JSON_STRING, .s = s, .n = n });
}

/* The same with a copy of the text, which is freed. */
static int become_text(struct arena *a, struct json *v, struct bytes *text)
{
	char *copy = text->failed ? NULL : arena_text(a, text->n + 1);

	if (copy) {
		if (text->n)
			memcpy(copy, text->p, text->n);
		copy[text->n] = '\0';
		draft_string(v, copy, text->n);
	}
	bytes_free(text);
	return copy ? 0 : -1;
}

/* The member of that name; a new one that is null if there is none. NULL: out of memory. */
static struct json *need_member(struct arena *a, struct json *object, const char *key)
{
	struct json *m = draft_member(object, key);

	if (!m && (m = json_new(a, JSON_NULL)))
		json_add(object, key, m);
	return m;
}

/* Removes a child, given the one before it, or NULL. */
static void drop(struct json *parent, struct json *before, struct json *child)
{
	if (before)
		before->next = child->next;
	else
		parent->child = child->next;
	if (parent->last == child)
		parent->last = before;
	parent->n--;
}

static int is_empty(const struct json *v)
{
	return v->type == JSON_NULL || (v->type == JSON_STRING && !v->n);
}

/* Makes the arguments of a call an object if they are the text of one; models write nothing where there are none. */
static int parse_arguments(struct arena *a, struct json *call)
{
	struct json *arguments = need_member(a, call, "arguments");
	const struct json *v;
	struct why ignored;

	if (!arguments)
		return -1;
	if (is_empty(arguments)) {
		draft_become(arguments, &(struct json){ .type = JSON_OBJECT });
	} else if (arguments->type == JSON_STRING) {
		v = json_parse(a, arguments->s, arguments->n, &ignored);
		if (v && v->type == JSON_OBJECT)
			draft_become(arguments, v);
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
			drop(message, before, m);
		else
			before = m;
	}
}

/* The function of a call or a tool, in OpenAI's form or by itself. */
static struct json *function_of(struct json *v)
{
	struct json *function = draft_member(v, "function");

	return function && function->type == JSON_OBJECT ? function : v;
}

/* Lists the calls of a message, with arguments as objects, and its content beside them as a string. */
static int add_calls(struct draft *d, struct json *message)
{
	struct json *calls = draft_member(message, "tool_calls"), *content, *function;

	if (!calls || calls->type != JSON_ARRAY || !calls->n)
		return 0;
	if (!(content = need_member(d->arena, message, "content")))
		return -1;
	if (is_empty(content)) {
		draft_string(content, "", 0);
		d->choices |= SHAPE_NULL;
	}
	for (struct json *call = calls->child; call; call = call->next) {
		function = function_of(call);
		if (function->type != JSON_OBJECT)
			continue;
		if (parse_arguments(d->arena, function))
			return -1;
		d->choices |= SHAPE_TEXTS;
		d->call[d->n_calls++] = function;
	}
	return 0;
}

/* Lists the texts of content that is a part, which becomes a list of one, or a list of parts. */
static int add_parts(struct draft *d, struct json *content)
{
	struct json *only, *text;

	if (json_get_string(content, "text")) {
		if (!(only = json_new(d->arena, JSON_OBJECT)))
			return -1;
		draft_become(only, content);
		draft_become(content, &(struct json){ .type = JSON_ARRAY });
		json_add(content, NULL, only);
	}
	d->choices |= SHAPE_JOINED;
	for (struct json *part = content->child; part; part = part->next) {
		text = part->type == JSON_OBJECT ? draft_member(part, "text") : part;
		if (text && text->type == JSON_STRING)
			d->part[d->n_parts++] = text;
	}
	return 0;
}

/* What clients and templates call reasoning. */
static const char *const reasonings[] = { "reasoning_content", "reasoning", "thinking" };
enum { REASONINGS = sizeof reasonings / sizeof *reasonings };

static struct json *reasoning_of(struct json *message)
{
	for (size_t i = 0; i < REASONINGS; i++) {
		struct json *text = draft_member(message, reasonings[i]);

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
	struct json *content = draft_member(message, "content");

	return content && content->type == JSON_STRING ? content : NULL;
}

int draft_open(struct draft *d, const struct chat *c, struct arena *a)
{
	size_t most = count_nodes(c->messages);
	const struct json *tools;
	struct json *content;

	*d = (struct draft){ .arena = a, .variables = copy_of(a, c->variables),
		.part = arena_array(a, most, sizeof *d->part), .call = arena_array(a, most, sizeof *d->call),
		.reason = arena_array(a, most, sizeof *d->reason) };
	if (!d->variables || !d->part || !d->call || !d->reason)
		return -1;
	d->messages = draft_member(d->variables, "messages");
	for (struct json *m = d->messages->child; m; m = m->next) {
		content = draft_member(m, "content");
		if (content && content->type == JSON_NULL)
			draft_string(content, "", 0);
		drop_nulls(m);
		if ((content_has_parts(content) && add_parts(d, content)) || add_calls(d, m))
			return -1;
	}
	for (struct json *m = d->messages->child; m; m = m->next) {
		if (is_from(m, "user") && (content = text_of(m)))
			d->user = content;
		d->choices |= is_from(m, "developer") ? SHAPE_SYSTEM : 0;
		if ((content = reasoning_of(m)))
			d->reason[d->n_reasons++] = content;
	}
	d->choices |= d->user ? SHAPE_PARTS : 0;
	if (is_from(d->messages->child, "system") || is_from(d->messages->child, "developer")) {
		d->choices |= SHAPE_USER;
		d->system = text_of(d->messages->child);
	}
	if ((tools = json_get(d->variables, "tools")))
		d->choices |= SHAPE_TOOLS | (has_null_types(tools) ? SHAPE_TYPES : 0);
	return 0;
}

/* ---- shapes ---- */

static int join_parts(struct draft *d)
{
	for (struct json *m = d->messages->child; m; m = m->next) {
		struct json *content = draft_member(m, "content");
		struct bytes text = { .limit = d->arena->limit };

		if (!content_has_parts(content))
			continue;
		if (content_text(content, &text) || become_text(d->arena, content, &text)) {
			bytes_free(&text);
			return -1;
		}
	}
	return 0;
}

/* Makes a value its JSON text. */
static int put_text(struct draft *d, struct json *v)
{
	struct bytes text = { .limit = d->arena->limit };
	struct json_writer w = json_to_bytes(&text);

	json_value(&w, v);
	return become_text(d->arena, v, &text);
}

static int put_arguments(struct draft *d)
{
	for (size_t i = 0; i < d->n_calls; i++) {
		struct json *arguments = draft_member(d->call[i], "arguments");

		if (arguments->type != JSON_STRING && put_text(d, arguments))
			return -1;
	}
	return 0;
}

/* Empties arguments that are no object: those of a call that was cut, for example. */
static void empty_arguments(struct draft *d)
{
	for (size_t i = 0; i < d->n_calls; i++) {
		struct json *arguments = draft_member(d->call[i], "arguments");

		if (arguments->type != JSON_OBJECT)
			draft_become(arguments, &(struct json){ .type = JSON_OBJECT });
	}
}

static void put_nulls(struct draft *d)
{
	for (struct json *m = d->messages->child; m; m = m->next) {
		struct json *content = draft_member(m, "content");

		if (content && is_empty(content) && json_get(m, "tool_calls"))
			draft_become(content, &(struct json){ .type = JSON_NULL });
	}
}

/* Puts the system messages that come first, and an empty line, before the text of the first user message. */
static int join_system(struct draft *d)
{
	struct json *messages = d->messages, *user = messages->child, *content;
	struct bytes text = { .limit = d->arena->limit };

	while (messages->child && is_from(messages->child, "system")) {
		content = text_of(messages->child);
		if (content && content->n) {
			bytes_put(&text, content->s, content->n);
			bytes_puts(&text, "\n\n");
		} else if (!content)
			text.failed = 1;
		drop(messages, NULL, messages->child);
	}
	for (user = messages->child; user && !is_from(user, "user"); user = user->next)
		;
	content = user ? text_of(user) : NULL;
	if (!content || bytes_put(&text, content->s, content->n)) {
		bytes_free(&text);
		return -1;
	}
	return become_text(d->arena, content, &text);
}

/* Removes null from lists of types. A list of one type that is left becomes that type. */
static void drop_null_types(struct json *v)
{
	struct json *types = draft_member(v, "type"), *before = NULL, *next;
	size_t n = types && types->type == JSON_ARRAY ? types->n : 0;

	for (struct json *type = n ? types->child : NULL; type; type = next) {
		next = type->next;
		if (type->type == JSON_STRING && !strcmp(type->s, "null"))
			drop(types, before, type);
		else
			before = type;
	}
	if (n && types->n < n && types->n == 1)
		draft_become(types, types->child);
	for (struct json *c = v->child; c; c = c->next)
		drop_null_types(c);
}

/* Makes a member that is missing or null an empty string or object. NULL: memory is short. */
static struct json *need_value(struct arena *a, struct json *object, const char *key, enum json_type type)
{
	struct json *m = need_member(a, object, key);

	if (m && m->type == JSON_NULL)
		draft_become(m, &(struct json){ .type = type, .s = "" });
	return m;
}

static int complete_tools(struct draft *d)
{
	struct arena *a = d->arena;

	for (struct json *t = draft_member(d->variables, "tools")->child; t; t = t->next) {
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
			draft_string(type, "object", 6);
		for (struct json *p = properties->child; p; p = p->next)
			if (p->type == JSON_OBJECT && !need_value(a, p, "description", JSON_STRING))
				return -1;
	}
	return 0;
}

static void rename_developers(struct draft *d)
{
	for (struct json *m = d->messages->child; m; m = m->next)
		if (is_from(m, "developer"))
			draft_string(draft_member(m, "role"), "system", 6);
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

static int put_parts(struct draft *d)
{
	for (struct json *m = d->messages->child; m; m = m->next) {
		struct json *content = text_of(m), *part;

		if (!content)
			continue;
		if (!(part = new_part(d->arena, "text", "text", content)))
			return -1;
		draft_become(content, &(struct json){ .type = JSON_ARRAY });
		json_add(content, NULL, part);
	}
	return 0;
}

static int name_reasoning(struct draft *d)
{
	struct json *text, *other;

	for (struct json *m = d->messages->child; m; m = m->next) {
		if (!(text = reasoning_of(m)))
			continue;
		for (size_t i = 0; i < REASONINGS; i++) {
			if (!(other = need_member(d->arena, m, reasonings[i])))
				return -1;
			draft_string(other, text->s, text->n);
		}
	}
	return 0;
}

static int put_thoughts(struct draft *d)
{
	struct json *reason, *content, *thought, *text;

	for (struct json *m = d->messages->child; m; m = m->next) {
		if (!(reason = reasoning_of(m)) || !(content = need_member(d->arena, m, "content")))
			continue;
		if (content->type != JSON_STRING && content->type != JSON_NULL)
			continue;
		thought = new_part(d->arena, "thinking", "thinking", reason);
		text = content->n ? new_part(d->arena, "text", "text", content) : NULL;
		if (!thought || (content->n && !text))
			return -1;
		draft_become(content, &(struct json){ .type = JSON_ARRAY });
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

int draft_has_text_tools(const struct draft *d)
{
	for (const struct json *v = d->variables->child; v; v = v->next)
		if (has_tools(v))
			return 1;
	return 0;
}

static int put_text_tools(struct draft *d)
{
	for (struct json *v = d->variables->child; v; v = v->next)
		if (has_tools(v) && put_text(d, v))
			return -1;
	return 0;
}

int draft_shape(struct draft *d, unsigned shape)
{
	if (shape & SHAPE_SYSTEM)
		rename_developers(d);
	if (shape & SHAPE_EMPTY)
		empty_arguments(d);
	if ((shape & SHAPE_JOINED && join_parts(d)) || (shape & SHAPE_USER && join_system(d))
	    || (shape & SHAPE_TEXTS && put_arguments(d)) || (shape & SHAPE_TOOLS && complete_tools(d)))
		return -1;
	if (shape & SHAPE_NULL)
		put_nulls(d);
	if (shape & SHAPE_PARTS && (shape & SHAPE_JOINED || put_parts(d)))
		return -1;
	if ((shape & SHAPE_NAMES && name_reasoning(d)) || (shape & SHAPE_THOUGHTS && put_thoughts(d))
	    || (shape & SHAPE_TEXT_TOOLS && put_text_tools(d)))
		return -1;
	if (shape & SHAPE_TYPES)
		drop_null_types(draft_member(d->variables, "tools"));
	return 0;
}
