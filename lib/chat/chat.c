/* Messages and variables as the tree that jinja_render() takes. */
#include "chat.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/utf8.h"
#include "content.h"

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
	if (strcspn(assignment, ".") < (size_t)(equals - assignment))
		return why(w, "\"%s\": not a variable of a template", assignment);
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

/* The member that json_get() finds, to be changed. */
static struct json *member(struct json *object, const char *key)
{
	const struct json *found = json_get(object, key);
	struct json *m = found ? object->child : NULL;

	while (m != found)
		m = m->next;
	return m;
}

/* Lists the texts of all contents that are parts, in text[], which may be NULL. Returns their number. */
static size_t list_texts(const struct chat *c, struct json **text)
{
	size_t n = 0;

	for (struct json *m = c->messages->child; m; m = m->next) {
		struct json *content = member(m, "content"), *part = content, *s;

		if (!content_has_parts(content))
			continue;
		if (content->type == JSON_ARRAY)
			part = content->child;
		for (; part; part = content->type == JSON_ARRAY ? part->next : NULL) {
			s = part->type == JSON_OBJECT ? member(part, "text") : part;
			if (!s || s->type != JSON_STRING)
				continue;
			if (text)
				text[n] = s;
			n++;
		}
	}
	return n;
}

/* Whether the template reads the texts of contents that are parts, which is tried out: it renders the conversation with
 * a needle in place of each text. It may fail, leave needles out, or print a part as Python or JSON would, which
 * doubles the backslash of a needle. Returns -1 with a reason if it fails. */
static int takes_parts(struct chat *c, const struct jinja *t, const struct jinja_options *o, struct why *w)
{
	struct probe {
		struct json was;
		char needle[24];
	} *probe;
	struct bytes out = { .limit = c->arena.limit };
	size_t n = list_texts(c, NULL);
	struct json **text = arena_array(&c->arena, n, sizeof *text);
	int takes;

	if (!(probe = arena_array(&c->arena, n, sizeof *probe)) || !text)
		return full(c, w);
	list_texts(c, text);
	for (size_t i = 0; i < n; i++) {
		probe[i].was = *text[i];
		text[i]->n = (size_t)snprintf(probe[i].needle, sizeof probe[i].needle, "(%zu\\)", i);
		text[i]->s = probe[i].needle;
	}
	takes = jinja_render(t, c->variables, o, &out, w) ? -1 : !bytes_put(&out, "", 1);
	for (size_t i = 0; i < n; i++) {
		if (takes > 0 && !strstr(out.p, probe[i].needle))
			takes = 0;
		*text[i] = probe[i].was;
	}
	bytes_free(&out);
	return takes;
}

/* Replaces contents that are parts by strings. failed: why the template does not read them, or NULL if it does not
 * fail. */
static int join_parts(struct chat *c, const struct why *failed, struct why *w)
{
	size_t number = 1;

	for (struct json *m = c->messages->child; m; m = m->next, number++) {
		struct bytes text = { .limit = c->arena.limit };
		struct json *content = member(m, "content");
		int parts = content_has_parts(content), joined = parts && !content_text(content, &text);
		char *copy = joined ? copy_text(c, text.p, text.n) : NULL;

		if (copy) {
			content->type = JSON_STRING;
			content->s = copy;
			content->n = text.n;
			content->child = NULL;
		}
		joined |= text.failed;  /* out of memory, as without a copy */
		bytes_free(&text);
		if (joined && !copy)
			return full(c, w);
		if (parts && !joined)
			return why(w, "message %zu: a part is not text, and the template %s%s", number,
				failed ? "fails: " : "does not read all parts", failed ? failed->text : "");
	}
	return 0;
}

static int has_parts(const struct chat *c)
{
	for (const struct json *m = c->messages->child; m; m = m->next)
		if (content_has_parts(json_get(m, "content")))
			return 1;
	return 0;
}

int chat_render(struct chat *c, const char *template, size_t n, const struct jinja_options *o, struct bytes *out,
	struct why *w)
{
	struct jinja *t;
	struct why cause;
	int takes, failed;

	if (!c->messages->n)
		return why(w, "the conversation has no message");
	t = jinja_parse(template, n, w);
	if (!t)
		return -1;
	takes = has_parts(c) ? takes_parts(c, t, o, &cause) : 1;
	failed = takes > 0 ? 0 : join_parts(c, takes < 0 ? &cause : NULL, w);
	failed = failed ? -1 : jinja_render(t, c->variables, o, out, w);
	jinja_free(t);
	return failed;
}

void chat_end(struct chat *c)
{
	arena_free(&c->arena);
}
