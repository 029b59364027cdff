/* Messages and variables as the tree that jinja_render() takes. */
#include "chat.h"

#include <string.h>

#include "lib/base/json_edit.h"
#include "lib/base/utf8.h"
#include "shape.h"

static int full(const struct chat *c, struct why *w)
{
	return why(w, "the conversation needs more memory than the %zu MiB it may have", c->arena.limit >> 20);
}

static char *copy_text(struct chat *c, const char *s, size_t n)
{
	char *copy = arena_text(&c->arena, n + 1);

	if (copy) {
		if (n)
			memcpy(copy, s, n);
		copy[n] = '\0';
	}
	return copy;
}

/* Sets name[n] to v, replacing an earlier value. */
static int set_value(struct chat *c, const char *name, size_t n, struct json *v, struct why *w)
{
	char *key;

	for (struct json *m = c->variables->child; m; m = m->next) {
		if (m->key_n == n && !memcmp(m->key, name, n)) {
			struct json old = *m;

			*m = *v;
			m->key = old.key;
			m->key_n = old.key_n;
			m->next = old.next;
			return 0;
		}
	}
	key = copy_text(c, name, n);
	if (!key)
		return full(c, w);
	json_add(c->variables, key, v);
	v->key_n = n;
	return 0;
}

int chat_start(struct chat *c, size_t memory, struct why *w)
{
	*c = (struct chat){ .arena.limit = memory };
	c->variables = json_new(&c->arena, JSON_OBJECT);
	c->messages = json_new(&c->arena, JSON_ARRAY);
	if (!c->variables || !c->messages)
		return full(c, w);
	json_add(c->variables, "messages", c->messages);
	return chat_set_flag(c, "add_generation_prompt", 1, w);
}

static int add_message(struct chat *c, struct json *v, struct why *w)
{
	if (v->type != JSON_OBJECT)
		return why(w, "message %zu: expected an object, not %s", c->messages->n + 1, json_type_name(v));
	if (!json_get_string(v, "role"))
		return why(w, "message %zu has no role", c->messages->n + 1);
	v->next = NULL;
	json_add(c->messages, NULL, v);
	return 0;
}

static int add_messages(struct chat *c, struct json *list, struct why *w)
{
	struct json *next;

	if (list->type != JSON_ARRAY)
		return why(w, "messages: expected an array, not %s", json_type_name(list));
	for (struct json *v = list->child; v; v = next) {
		next = v->next;
		if (add_message(c, v, w))
			return -1;
	}
	return 0;
}

/* A message, an array of messages, or an object with a member messages. */
static int add_value(struct chat *c, struct json *v, struct why *w)
{
	struct json *next;

	if (v->type == JSON_ARRAY)
		return add_messages(c, v, w);
	if (!json_get(v, "messages"))
		return add_message(c, v, w);
	for (struct json *m = v->child; m; m = next) {
		next = m->next;
		m->next = NULL;
		if (!strcmp(m->key, "messages") ? add_messages(c, m, w) : set_value(c, m->key, m->key_n, m, w))
			return -1;
	}
	return 0;
}

int chat_add_json(struct chat *c, const char *text, size_t n, struct why *w)
{
	size_t number = 1, length, values = 0;
	struct why cause;
	struct json *v;

	for (size_t at = 0; at < n; at += length + 1, number++) {
		const char *end = memchr(text + at, '\n', n - at);

		length = end ? (size_t)(end - text) - at : n - at;
		if (json_blank(text + at, length) == length)
			continue;
		v = json_parse_line(&c->arena, text + at, length, number, w);
		if (!v && !values)
			return (v = json_parse(&c->arena, text, n, w)) ? add_value(c, v, w) : -1;
		if (!v)
			return -1;
		if (add_value(c, v, &cause))
			return why(w, "line %zu: %s", number, cause.text);
		values++;
	}
	return 0;
}

/* A string node with a copy of the text, which must be UTF-8. */
static struct json *new_text(struct chat *c, const char *text, size_t n, struct why *w)
{
	size_t good = utf8_valid(text, n);
	struct json *v = NULL;
	char *copy;

	if (good < n) {
		why(w, "byte %zu of the text is not valid UTF-8", good);
		return NULL;
	}
	copy = copy_text(c, text, n);
	if (copy)
		v = json_new_string(&c->arena, copy, n);
	if (!v)
		full(c, w);
	return v;
}

int chat_add_text(struct chat *c, const char *role, const char *text, size_t n, struct why *w)
{
	struct json *message = json_new(&c->arena, JSON_OBJECT), *r, *content;

	if (!message)
		return full(c, w);
	r = new_text(c, role, strlen(role), w);
	content = r ? new_text(c, text, n, w) : NULL;
	if (!content)
		return -1;
	json_add(message, "role", r);
	json_add(message, "content", content);
	return add_message(c, message, w);
}

int chat_set_text(struct chat *c, const char *name, const char *text, size_t n, struct why *w)
{
	struct json *v = new_text(c, text, n, w);

	return v ? set_value(c, name, strlen(name), v, w) : -1;
}

int chat_set_flag(struct chat *c, const char *name, int on, struct why *w)
{
	struct json *v = json_new(&c->arena, on ? JSON_TRUE : JSON_FALSE);

	return v ? set_value(c, name, strlen(name), v, w) : full(c, w);
}

int chat_set_json(struct chat *c, const char *name, const char *text, size_t n, struct why *w)
{
	struct json *v = json_parse(&c->arena, text, n, w);

	return v ? set_value(c, name, strlen(name), v, w) : -1;
}

int chat_set(struct chat *c, const char *assignment, struct why *w)
{
	const char *equals = strchr(assignment, '=');
	struct why ignored;
	struct json *v;

	if (!equals || equals == assignment)
		return why(w, "expected NAME=VALUE, not \"%s\"", assignment);
	v = json_parse(&c->arena, equals + 1, strlen(equals + 1), &ignored);
	if (!v)
		v = new_text(c, equals + 1, strlen(equals + 1), w);
	if (!v)
		return -1;
	if ((size_t)(equals - assignment) == strlen("messages") && !memcmp(assignment, "messages", strlen("messages")))
		return add_messages(c, v, w);
	return set_value(c, assignment, (size_t)(equals - assignment), v, w);
}

/* ---- rendering ---- */

/* Ends the content of the last message, an answer, with the needle. */
static int mark_end(struct chat *c, struct json *variables, const char *needle, struct why *w)
{
	struct json *message = json_find(variables, "messages")->last, *end = json_find(message, "content");
	size_t n = strlen(needle);
	char *text;

	if (!end) {
		if (!(end = json_new_string(&c->arena, "", 0)))
			return full(c, w);
		json_add(message, "content", end);
	}
	if (end->type == JSON_ARRAY && end->n)
		end = end->last;
	if (end->type == JSON_OBJECT && json_get_string(end, "text"))
		end = json_find(end, "text");
	if (end->type != JSON_NULL && end->type != JSON_STRING)
		return why(w, "the last message does not end with text");
	if (!(text = arena_text(&c->arena, end->n + n + 1)))
		return full(c, w);
	if (end->n)
		memcpy(text, end->s, end->n);
	memcpy(text + end->n, needle, n + 1);
	json_become_string(end, text, end->n + n);
	return 0;
}

/* Renders the conversation up to where the last message ends. What a template puts around it is not known, so a needle
 * marks its end. */
static int render_open(struct chat *c, struct json *variables, const struct jinja *t, const struct jinja_options *o,
	struct bytes *out, struct why *w)
{
	static const char needle[] = "(the\\end)";
	const size_t n = sizeof needle - 1;
	size_t start = out->n, at;

	if (mark_end(c, variables, needle, w) || jinja_render(t, variables, o, out, w))
		return -1;
	for (at = out->n; at >= start + n && memcmp(out->p + at - n, needle, n); at--)
		;
	if (at < start + n)
		return why(w, "the template does not show the end of the last message as it is");
	out->n = at - n;
	return 0;
}

static int render_shape(struct chat *c, const struct jinja *t, const struct jinja_options *o, struct bytes *out,
	struct why *w)
{
	struct json *variables = shape_copy(c, c->shape, &c->arena, w);

	if (!variables)
		return -1;
	return c->open ? render_open(c, variables, t, o, out, w) : jinja_render(t, variables, o, out, w);
}

static int render(struct chat *c, const struct jinja *t, const struct jinja_options *o, struct bytes *out,
	struct why *w)
{
	size_t start = out->n;
	struct why ignored;

	if (shape_choose(c, t, o, &c->shape, w))
		return -1;
	if (!render_shape(c, t, o, out, w))
		return 0;
	out->n = start;
	c->shape |= SHAPE_EMPTY;
	return render_shape(c, t, o, out, &ignored);
}

/* Whether it is a template of Go's text/template, as Ollama's models have it: its actions are all in {{ }} and begin
 * with a field, a variable or a keyword. */
static int is_go(const char *s, size_t n)
{
	static const char *const begins[] = { ".", "$", "if ", "range ", "with ", "end", "else", "template ", "define ",
		"/*" };
	size_t k;

	for (size_t i = 0; i + 1 < n; i++) {
		if (s[i] != '{' || (s[i + 1] != '{' && s[i + 1] != '%'))
			continue;
		if (s[i + 1] == '%')
			return 0;
		i += 2;
		i += i < n && s[i] == '-';
		i += json_blank(s + i, n - i);
		for (k = 0; k < sizeof begins / sizeof *begins; k++)
			if (n - i > strlen(begins[k]) && !memcmp(s + i, begins[k], strlen(begins[k])))
				return 1;
	}
	return 0;
}

int chat_render_parsed(struct chat *c, const struct jinja *t, const struct jinja_options *o, struct bytes *out,
	struct why *w)
{
	if (!c->messages->n)
		return why(w, "the conversation has no message");
	if (c->open && strcmp(json_get_string(c->messages->last, "role"), "assistant"))
		return why(w, "the last message is not the assistant's");
	return render(c, t, o, out, w);
}

int chat_explain(const char *template, size_t n, struct why *w)
{
	return is_go(template, n)
		? why(w, "the template is not Jinja but Go, as Ollama uses it; try --template chatml") : -1;
}

int chat_render(struct chat *c, const char *template, size_t n, const struct jinja_options *o, struct bytes *out,
	struct why *w)
{
	struct jinja *t = jinja_parse(template, n, w);
	int failed = !t || chat_render_parsed(c, t, o, out, w);

	jinja_free(t);
	return failed ? chat_explain(template, n, w) : 0;
}

int chat_continue(struct chat *c, struct why *w)
{
	c->open = 1;
	return chat_set_flag(c, "add_generation_prompt", 0, w);
}

const char *chat_remark(const struct chat *c, unsigned *i)
{
	static const struct {
		unsigned shape;
		const char *text;
	} remarks[] = {
		{ SHAPE_SYSTEM, "developer messages become system messages" },
		{ SHAPE_USER, "the system message is joined to the first user message" },
		{ SHAPE_JOINED, "contents in parts are joined, a line for each part" },
		{ SHAPE_PARTS, "contents become lists of a part" },
		{ SHAPE_LOST, "the template does not show all messages, parts of contents and tool calls" },
		{ SHAPE_TYPES, "null is left out of the types in the schemas of the tools" },
		{ SHAPE_TOOLS, "tools without parameters or descriptions get empty ones" },
		{ SHAPE_NAMES, "reasoning is given under all its names" },
		{ SHAPE_THOUGHTS, "reasoning becomes a part of the content" },
		{ SHAPE_EMPTY, "arguments of tool calls that are no JSON object are left out" },
		{ SHAPE_TEXT_TOOLS, "lists of tools in other variables than tools become JSON texts" },
	};

	while (*i < sizeof remarks / sizeof *remarks)
		if (c->shape & remarks[(*i)++].shape)
			return remarks[*i - 1].text;
	return NULL;
}

void chat_end(struct chat *c)
{
	arena_free(&c->arena);
}
