/* Shapes are applied to copies of the conversation, so that any number can be tried. */
#include "shape.h"

#include <stdio.h>
#include <string.h>

#include "content.h"

enum { NEEDLES_MOST = 256 };    /* of each kind */

/* A copy of the conversation, and where needles go in it. */
struct draft {
	struct arena *arena;
	struct json *variables, *messages;
	struct json **part;             /* [n_parts]: texts of parts */
	struct json **call;             /* [n_calls]: the objects that have the arguments of tool calls */
	struct json *system;            /* the text of a system message that comes first */
	size_t n_parts, n_calls;
	unsigned choices;               /* the shapes that make a difference */
};

struct json *shape_member(struct json *object, const char *key)
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

/* Gives v the type and value of another node, but not its name. */
static void become(struct json *v, const struct json *of)
{
	struct json was = *v;

	*v = *of;
	v->key = was.key;
	v->key_n = was.key_n;
	v->next = was.next;
}

static void become_string(struct json *v, const char *s, size_t n)
{
	become(v, &(struct json){ .type = JSON_STRING, .s = s, .n = n });
}

/* The same with a copy of the text, which is freed. */
static int become_text(struct arena *a, struct json *v, struct bytes *text)
{
	char *copy = text->failed ? NULL : arena_text(a, text->n + 1);

	if (copy) {
		if (text->n)
			memcpy(copy, text->p, text->n);
		copy[text->n] = '\0';
		become_string(v, copy, text->n);
	}
	bytes_free(text);
	return copy ? 0 : -1;
}

/* The member of that name; a new one that is null if there is none. NULL: out of memory. */
static struct json *need_member(struct arena *a, struct json *object, const char *key)
{
	struct json *m = shape_member(object, key);

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
		become(arguments, &(struct json){ .type = JSON_OBJECT });
	} else if (arguments->type == JSON_STRING) {
		v = json_parse(a, arguments->s, arguments->n, &ignored);
		if (v && v->type == JSON_OBJECT)
			become(arguments, v);
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

/* Lists the calls of a message, with arguments as objects, and its content beside them as a string. */
static int add_calls(struct draft *d, struct json *message)
{
	struct json *calls = shape_member(message, "tool_calls"), *content, *function;

	if (!calls || calls->type != JSON_ARRAY || !calls->n)
		return 0;
	if (!(content = need_member(d->arena, message, "content")))
		return -1;
	if (is_empty(content)) {
		become_string(content, "", 0);
		d->choices |= SHAPE_NULL;
	}
	for (struct json *call = calls->child; call; call = call->next) {
		function = shape_member(call, "function");
		function = function && function->type == JSON_OBJECT ? function : call;
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
		become(only, content);
		become(content, &(struct json){ .type = JSON_ARRAY });
		json_add(content, NULL, only);
	}
	d->choices |= SHAPE_JOINED;
	for (struct json *part = content->child; part; part = part->next) {
		text = part->type == JSON_OBJECT ? shape_member(part, "text") : part;
		if (text && text->type == JSON_STRING)
			d->part[d->n_parts++] = text;
	}
	return 0;
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

static int draft(struct draft *d, const struct chat *c, struct arena *a)
{
	size_t most = count_nodes(c->messages);
	const struct json *tools;
	struct json *content;

	*d = (struct draft){ .arena = a, .variables = copy_of(a, c->variables),
		.part = arena_array(a, most, sizeof *d->part), .call = arena_array(a, most, sizeof *d->call) };
	if (!d->variables || !d->part || !d->call)
		return -1;
	d->messages = shape_member(d->variables, "messages");
	for (struct json *m = d->messages->child; m; m = m->next) {
		content = shape_member(m, "content");
		if (content && content->type == JSON_NULL)
			become_string(content, "", 0);
		drop_nulls(m);
		if ((content_has_parts(content) && add_parts(d, content)) || add_calls(d, m))
			return -1;
	}
	if (!strcmp(json_get_string(d->messages->child, "role"), "system")) {
		d->choices |= SHAPE_USER;
		d->system = shape_member(d->messages->child, "content");
		if (d->system && d->system->type != JSON_STRING)
			d->system = NULL;
	}
	if ((tools = json_get(d->variables, "tools")) && has_null_types(tools))
		d->choices |= SHAPE_TYPES;
	return 0;
}

/* ---- shapes ---- */

static int join_parts(struct draft *d)
{
	for (struct json *m = d->messages->child; m; m = m->next) {
		struct json *content = shape_member(m, "content");
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

static int put_arguments(struct draft *d)
{
	for (size_t i = 0; i < d->n_calls; i++) {
		struct json *arguments = shape_member(d->call[i], "arguments");
		struct bytes text = { .limit = d->arena->limit };
		struct json_writer w = json_to_bytes(&text);

		if (arguments->type == JSON_STRING)
			continue;
		json_value(&w, arguments);
		if (become_text(d->arena, arguments, &text))
			return -1;
	}
	return 0;
}

static void put_nulls(struct draft *d)
{
	for (struct json *m = d->messages->child; m; m = m->next) {
		struct json *content = shape_member(m, "content");

		if (content && is_empty(content) && json_get(m, "tool_calls"))
			become(content, &(struct json){ .type = JSON_NULL });
	}
}

/* Puts the system messages that come first, and an empty line, before the text of the first user message. */
static int join_system(struct draft *d)
{
	struct json *messages = d->messages, *user = messages->child, *content;
	struct bytes text = { .limit = d->arena->limit };

	while (messages->child && !strcmp(json_get_string(messages->child, "role"), "system")) {
		content = shape_member(messages->child, "content");
		if (content && content->type == JSON_STRING && content->n) {
			bytes_put(&text, content->s, content->n);
			bytes_puts(&text, "\n\n");
		} else if (content && content->type != JSON_STRING)
			text.failed = 1;
		drop(messages, NULL, messages->child);
	}
	for (user = messages->child; user && strcmp(json_get_string(user, "role"), "user"); user = user->next)
		;
	content = user ? shape_member(user, "content") : NULL;
	if (!content || content->type != JSON_STRING || bytes_put(&text, content->s, content->n)) {
		bytes_free(&text);
		return -1;
	}
	return become_text(d->arena, content, &text);
}

/* Removes null from lists of types, and those that become empty; a list of one type becomes that type. */
static void drop_null_types(struct json *v)
{
	struct json *types = shape_member(v, "type"), *before = NULL, *next;

	if (types && types->type == JSON_ARRAY && has_null_types(v)) {
		for (struct json *type = types->child; type; type = next) {
			next = type->next;
			if (type->type == JSON_STRING && !strcmp(type->s, "null"))
				drop(types, before, type);
			else
				before = type;
		}
		if (types->n == 1)
			become(types, types->child);
	}
	for (struct json *c = v->child; c; c = c->next)
		drop_null_types(c);
}

/* Returns -1 if the conversation cannot have the shape, or memory is short. */
static int apply(struct draft *d, unsigned shape)
{
	if ((shape & SHAPE_JOINED && join_parts(d)) || (shape & SHAPE_USER && join_system(d)) ||
	    (shape & SHAPE_TEXTS && put_arguments(d)))
		return -1;
	if (shape & SHAPE_NULL)
		put_nulls(d);
	if (shape & SHAPE_TYPES)
		drop_null_types(shape_member(d->variables, "tools"));
	return 0;
}

static int full(const struct arena *a, struct why *w)
{
	return why(w, "the conversation needs more memory than the %zu MiB it may have", a->limit >> 20);
}

struct json *shape_copy(const struct chat *c, unsigned shape, struct arena *a, struct why *w)
{
	struct draft d;

	if (!draft(&d, c, a) && !apply(&d, shape))
		return d.variables;
	full(a, w);
	return NULL;
}

/* ---- needles ---- */

/* A text with a backslash, which is doubled where a template prints a value as Python or JSON would. */
static void text_needle(char out[32], size_t i)
{
	snprintf(out, 32, "(%zu\\)", i);
}

/* A name that may become a tag, and its value. */
static void argument_needle(char name[32], char value[32], size_t i)
{
	snprintf(name, 32, "needle%zun", i);
	snprintf(value, 32, "needle%zuv", i);
}

static size_t needles(size_t n)
{
	return n < NEEDLES_MOST ? n : NEEDLES_MOST;
}

/* Puts the needles in their places. */
static int hide(struct draft *d)
{
	char (*room)[32] = arena_array(d->arena, needles(d->n_parts) + 2 * needles(d->n_calls) + 1, sizeof *room);

	if (!room)
		return -1;
	for (size_t i = 0; i < needles(d->n_parts); i++, room++) {
		text_needle(*room, i);
		become_string(d->part[i], *room, strlen(*room));
	}
	if (d->system) {
		text_needle(*room, d->n_parts);
		become_string(d->system, *room, strlen(*room));
		room++;
	}
	for (size_t i = 0; i < needles(d->n_calls); i++, room += 2) {
		struct json *arguments = shape_member(d->call[i], "arguments");
		struct json *value = json_new_string(d->arena, room[1], 0);

		if (!value)
			return -1;
		argument_needle(room[0], room[1], i);
		value->n = strlen(room[1]);
		become(arguments, &(struct json){ .type = JSON_OBJECT });
		json_add(arguments, room[0], value);
	}
	return 0;
}

/* Where the needle is, searched from *at first, which is set to it; NULL: nowhere. */
static const char *find(const char *text, const char **at, const char *needle)
{
	const char *hit = strstr(*at, needle);

	if (!hit)
		hit = strstr(text, needle);
	*at = hit ? hit : *at;
	return hit;
}

/* What a template shows of the needles. */
struct shown {
	int score;              /* -1: it fails */
	int all, all_parts;
};

/* Twice the number of needles that the text shows. Arguments count half if they are there as Python prints a dict, or
 * as JSON within JSON. */
static struct shown look(const struct draft *d, const char *text)
{
	char needle[32], value[32];
	const char *at = text, *hit;
	struct shown s = { 0, 1, 1 };

	for (size_t i = 0; i < needles(d->n_parts); i++) {
		text_needle(needle, i);
		hit = find(text, &at, needle);
		s.score += hit ? 2 : 0;
		s.all_parts &= hit != NULL;
	}
	s.all = s.all_parts;
	if (d->system) {
		text_needle(needle, d->n_parts);
		s.all &= strstr(text, needle) != NULL;
		s.score += strstr(text, needle) ? 2 : 0;
	}
	at = text;
	for (size_t i = 0; i < needles(d->n_calls); i++) {
		int quoted;

		argument_needle(needle, value, i);
		hit = find(text, &at, needle);
		quoted = hit && hit > text + 1 && (hit[-1] == '\'' || (hit[-1] == '"' && hit[-2] == '\\'));
		s.score += !hit || !strstr(hit, value) ? 0 : quoted ? 1 : 2;
		s.all &= hit && !quoted;
	}
	return s;
}

/* What the template shows of a conversation in that shape. *w: the reason if it fails. */
static struct shown try(const struct chat *c, unsigned shape, const struct jinja *t, const struct jinja_options *o,
	struct why *w)
{
	struct bytes out = { .limit = c->arena.limit };
	struct arena a = { .limit = c->arena.limit };
	struct shown s = { .score = -1 };
	struct draft d;

	full(&a, w);
	if (!draft(&d, c, &a) && !hide(&d) && !apply(&d, shape) && !jinja_render(t, d.variables, o, &out, w) &&
	    !bytes_put(&out, "", 1))
		s = look(&d, out.p);
	bytes_free(&out);
	arena_free(&a);
	return s;
}

/* The number of the first message with a part that is not text, from 1; 0: none. */
static size_t find_picture(const struct chat *c)
{
	size_t number = 1;

	for (const struct json *m = c->messages->child; m; m = m->next, number++) {
		struct bytes text = { .limit = c->arena.limit };
		int failed = content_text(json_get(m, "content"), &text) && !text.failed;

		bytes_free(&text);
		if (failed)
			return number;
	}
	return 0;
}

int shape_choose(const struct chat *c, const struct jinja *t, const struct jinja_options *o, unsigned *shape,
	struct why *w)
{
	struct arena a = { .limit = c->arena.limit };
	struct shown best = { .score = -1 }, s;
	struct draft d;
	int failed = draft(&d, c, &a), joins;
	unsigned choices = d.choices;
	struct why cause, ignored;
	size_t picture;

	arena_free(&a);
	if (failed)
		return full(&a, w);
	*shape = 0;
	for (unsigned i = 0; choices && i < SHAPES && !best.all; i++) {
		if (i & ~choices)
			continue;
		s = try(c, i, t, o, i ? &ignored : &cause);
		joins = i & SHAPE_JOINED && !(*shape & SHAPE_JOINED) && s.score >= 0 && !best.all_parts;
		if (s.score > best.score || (s.score == best.score && joins)) {
			best = s;
			*shape = i;
		}
	}
	picture = choices & SHAPE_JOINED && !best.all_parts ? find_picture(c) : 0;
	if (picture)
		return why(w, "message %zu: a part is not text, and the template %s%s", picture,
			best.score < 0 ? "fails: " : "does not read all parts", best.score < 0 ? cause.text : "");
	*shape |= best.score >= 0 && !best.all ? SHAPE_LOST : 0;
	return 0;
}
