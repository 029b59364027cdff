/* Where calls begin and end, and arguments that are JSON. */
#include <stdio.h>
#include <string.h>

#include "reader.h"

/* ---- JSON, as far as it is there ---- */

/* Where the white space at s[at] ends. */
static size_t skip_space(struct span s, size_t at)
{
	return at + span_space(span_drop(s, at));
}

/* Skips the JSON value at s[*at]: a scalar may be anything without separators. */
static enum match skip_value(struct span s, size_t *at)
{
	int depth = 0, in_string = 0;

	for (size_t i = *at; i < s.n; i++) {
		char c = s.s[i];

		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = 0;
			if (in_string || depth)
				continue;
		} else if (c == '"') {
			in_string = 1;
			continue;
		} else if (c == '{' || c == '[') {
			depth++;
			continue;
		} else if (depth) {
			depth -= c == '}' || c == ']';
			if (depth)
				continue;
		} else if (c != ',' && c != '}' && c != ']' && !span_is_space(c)) {
			continue;
		} else {
			i--;    /* a scalar ended */
		}
		*at = i + 1;
		return MATCH_YES;
	}
	return MATCH_MORE;
}

/* Reads "KEY": at s[*at], with white space around. */
static enum match read_key(struct span s, size_t *at, struct span *key)
{
	size_t i = skip_space(s, *at), from = i;

	if (i < s.n && s.s[i] != '"')
		return MATCH_NO;
	if (i == s.n || skip_value(s, &i) != MATCH_YES)
		return MATCH_MORE;
	*key = (struct span){ s.s + from + 1, i - from - 2 };
	i = skip_space(s, i);
	if (i == s.n)
		return MATCH_MORE;
	if (s.s[i] != ':')
		return MATCH_NO;
	*at = skip_space(s, i + 1);
	return *at < s.n ? MATCH_YES : MATCH_MORE;
}

static int is_arguments(const struct call_format *call, struct span key)
{
	return span_equal(key, span_of(call->arguments)) || span_equal(key, span_of("arguments"))
		|| span_equal(key, span_of("parameters"));
}

static struct span without_quotes(struct span s)
{
	return s.n > 1 && *s.s == '"' ? (struct span){ s.s + 1, s.n - 2 } : s;
}

/* An object, up to its arguments if the name comes first, else to its end. */
static enum match object_begins(const struct call_format *call, struct span s, struct head *head)
{
	size_t at = skip_space(s, 0), from;
	struct span key, value;
	enum match match;

	if (at == s.n)
		return MATCH_MORE;
	if (s.s[at++] != '{')
		return MATCH_NO;
	while ((match = read_key(s, &at, &key)) == MATCH_YES) {
		from = at;
		if (!*call->name)
			head->name = key;
		if (head->name.n && (!*call->name || is_arguments(call, key))) {
			head->n = at;
			return MATCH_YES;
		}
		if ((match = skip_value(s, &at)) != MATCH_YES)
			break;
		value = (struct span){ s.s + from, at - from };
		if (span_equal(key, span_of(call->name)) && *value.s != '"')
			return MATCH_NO;
		if (span_equal(key, span_of(call->name)))
			head->name = without_quotes(value);
		else if (is_arguments(call, key))
			head->arguments = value;
		else if (*call->id && span_equal(key, span_of(call->id)))
			head->id = without_quotes(value);
		else if (call->bare && !span_equal(key, span_of("type")) && !span_equal(key, span_of("id")))
			return MATCH_NO;
		at = skip_space(s, at);
		if (at < s.n && s.s[at] == '}') {
			head->n = at;
			return head->name.n ? MATCH_YES : MATCH_NO;
		}
		if (at < s.n && s.s[at++] != ',')
			return MATCH_NO;
	}
	return match;
}

/* ---- where calls begin and end ---- */

enum match call_closes(const struct answer *a, struct span s, size_t *n, size_t *which)
{
	const struct closes *closes = &a->closes[a->call - a->format->call];
	enum match match, any = MATCH_NO;
	struct found f;

	for (size_t i = a->closed; i < closes->n; i++) {
		match = reader_match(a, closes->text[i], s, (struct span){ 0 }, &f);
		if (match == MATCH_YES) {
			*n = f.n;
			*which = i;
			return match;
		}
		if (match == MATCH_MORE)
			any = match;
	}
	return any;
}

/* Whether the arguments of the format, or the end of a call without any, are at s. */
static enum match arguments_begin(const struct answer *a, const struct call_format *call, struct span s)
{
	const struct closes *closes = &a->closes[call - a->format->call];
	enum match match = MATCH_NO;
	struct found f;

	if (!s.n)
		return a->ended ? MATCH_YES : MATCH_MORE;
	if (call->kind == CALL_JSON && (*s.s == '{' || *s.s == '"'))
		return MATCH_YES;
	if (call->kind == CALL_TAGS)
		match = reader_match(a, call->key, s, (struct span){ 0 }, &f);
	for (size_t i = 0; i < closes->n && match == MATCH_NO; i++)
		match = reader_match(a, closes->text[i], s, (struct span){ 0 }, &f);
	return match;
}

/* The name and the id that the text before the arguments has. */
static void set_names(const struct call_format *call, const struct found *f, struct head *head)
{
	struct span name = f->place[PATTERN_NAME], id = f->place[PATTERN_ID];
	const char *begin, *end;

	if (call->id_has_name && id.n) {
		name = id;
		for (size_t i = 0; i < id.n; i++) {
			if (id.s[i] == '.')
				name = (struct span){ id.s + i + 1, id.n - i - 1 };
			if (id.s[i] == ':')
				name.n = (size_t)(id.s + i - name.s);
		}
	} else if (call->id_has_name && name.n) {
		/* functions.NAME:NUMBER is the id */
		begin = end = strchr(call->begin, PATTERN_NAME);
		while (begin > call->begin && begin[-1] != '>')
			begin--;
		id.s = name.s - (end - begin);
		id.n = (size_t)(end - begin) + name.n + 1 + f->place[PATTERN_NUMBER].n;
	}
	head->name = name;
	head->id = id;
}

enum match call_begins(const struct answer *a, const struct call_format *call, struct span s, const struct found *f,
	struct head *head)
{
	size_t at = skip_space(s, 0);
	enum match match;

	*head = (struct head){ 0 };
	set_names(call, f, head);
	if (call->kind == CALL_MEMBERS)
		return object_begins(call, s, head);
	if (call->kind == CALL_LITERALS)
		return head->name.n ? MATCH_YES : MATCH_NO;
	match = arguments_begin(a, call, (struct span){ s.s + at, s.n - at });
	head->n = match == MATCH_YES ? at : 0;
	return head->name.n || match != MATCH_YES ? match : MATCH_NO;
}

/* An id for a call of which the model gives none, as some templates want it: nine letters and digits. */
static struct span new_id(const struct answer *a, char room[32])
{
	snprintf(room, 32, "call%05zu", a->number);
	return (struct span){ room, strlen(room) };
}

static void tell_id(struct answer *a, struct span id)
{
	if (!a->id_told)
		reader_tell(a, ANSWER_ID, id.s, id.n);
	a->id_told = 1;
}

void call_tell_id(struct answer *a)
{
	char room[32];

	tell_id(a, new_id(a, room));
}

void call_start(struct answer *a, const struct call_format *call, size_t skip, const struct head *head)
{
	static const enum reading readings[CALL_KINDS] = { [CALL_JSON] = READ_JSON, [CALL_MEMBERS] = READ_JSON,
		[CALL_TAGS] = READ_TAGS, [CALL_LITERALS] = READ_LITERALS };
	struct span id = head->id;
	char room[32];

	a->call = call;
	a->closed = 0;
	a->empty = 0;
	a->id_told = head->id.n || !*call->id;
	if (!head->id.n && a->id_told)
		id = new_id(a, room);
	tools_find(a->variables, head->name, &a->parameters);
	if (!a->silent)
		a->sink->call(a->sink->context, head->name, id);
	a->state = readings[call->kind];
	a->depth = a->in_string = a->escaped = 0;
	a->at += skip + head->n;
	if (call->kind == CALL_MEMBERS && a->text.p[a->at] == '}') {
		if (head->arguments.n)
			reader_tell(a, ANSWER_ARGUMENTS, head->arguments.s, head->arguments.n);
		else
			reader_tell(a, ANSWER_ARGUMENTS, "{}", 2);
		a->state = READ_MEMBERS;
	}
	if (call->kind == CALL_LITERALS || call->kind == CALL_TAGS)
		reader_tell(a, ANSWER_ARGUMENTS, "{", 1);
	literals_start(&a->literals, call->quote, 1);
	a->levels = 1;
	a->level[0] = (struct level){ .close = '}', .schema = a->parameters };
}

void call_end(struct answer *a)
{
	call_tell_id(a);
	a->number++;
	a->state = READ_AFTER;
}

/* ---- arguments that are JSON ---- */

/* What is no object: a string with JSON text in it, or nothing. */
static int read_other(struct answer *a)
{
	struct arena arena = { .limit = a->text.n * 4 + 65536 };
	struct span s = reader_left(a);
	const struct json *v = NULL;
	struct why ignored;
	size_t at = 0;

	if ((*s.s == '"' || a->call->kind == CALL_MEMBERS) && skip_value(s, &at) == MATCH_MORE) {
		if (!a->ended)
			return 0;
		at = s.n;
	}
	if (*s.s == '"')
		v = json_parse(&arena, s.s, at, &ignored);
	if (v && v->type == JSON_STRING && v->n)
		reader_tell(a, ANSWER_ARGUMENTS, v->s, v->n);
	else
		reader_tell(a, ANSWER_ARGUMENTS, "{}", 2);
	arena_free(&arena);
	a->at += at;
	a->state = READ_MEMBERS;
	return 1;
}

/* Control characters in strings, which JSON does not have, are escaped. */
int read_json(struct answer *a)
{
	struct span s = reader_left(a);
	size_t i = 0, told = 0;
	char escape[8];

	if (!a->depth && *s.s != '{')
		return read_other(a);
	do {
		char c = s.s[i++];

		if (a->in_string && (unsigned char)c < 0x20) {
			reader_tell(a, ANSWER_ARGUMENTS, s.s + told, i - 1 - told);
			reader_tell(a, ANSWER_ARGUMENTS, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", c));
			told = i;
		}
		if (a->escaped) {
			a->escaped = 0;
		} else if (a->in_string) {
			a->escaped = c == '\\';
			a->in_string = c != '"';
		} else if (c == '"') {
			a->in_string = 1;
		} else {
			a->depth += (c == '{' || c == '[') - (c == '}' || c == ']');
		}
	} while (a->depth > 0 && i < s.n);
	reader_tell(a, ANSWER_ARGUMENTS, s.s + told, i - told);
	a->at += i;
	if (!a->depth)
		a->state = READ_MEMBERS;
	return 1;
}

/* The members of an object after its arguments, and its end. */
int read_members(struct answer *a)
{
	struct span s = reader_left(a), key;
	size_t at = skip_space(s, 0), from;
	enum match match;

	if (a->call->kind != CALL_MEMBERS) {
		call_end(a);
		return 1;
	}
	if (at == s.n)
		return 0;
	if (s.s[at] == ',')
		at++;
	else if (s.s[at] == '}') {
		a->at += at + 1;
		call_end(a);
		return 1;
	}
	match = read_key(s, &at, &key);
	from = at;
	if (match == MATCH_YES)
		match = skip_value(s, &at);
	if (match == MATCH_MORE && !a->ended)
		return 0;
	if (match != MATCH_YES) {
		call_end(a);
		return 1;
	}
	if (*a->call->id && span_equal(key, span_of(a->call->id)))
		tell_id(a, without_quotes((struct span){ s.s + from, at - from }));
	a->at += at;
	return 1;
}

/* ---- arguments that are literals ---- */

int read_literals(struct answer *a)
{
	struct bytes out = { .limit = a->text.limit };
	struct span s = reader_left(a);
	size_t used;
	enum match match = literals_read(&a->literals, s.s, s.n, a->ended, &out, &used);

	if (out.n)
		reader_tell(a, ANSWER_ARGUMENTS, out.p, out.n);
	a->text.failed |= out.failed;
	bytes_free(&out);
	a->at += used;
	if (match == MATCH_YES)
		call_end(a);
	return match == MATCH_YES;
}
