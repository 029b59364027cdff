/* Arguments of which each has tags. Values are typed by the tool's schema; strings are told as they come, other values
 * when they are complete. Where values are tags inside each other, objects and lists are levels of a stack. */
#include <string.h>

#include "reader.h"

static const struct span any_key = { 0 };

static void tell(struct answer *a, const char *text)
{
	reader_tell(a, ANSWER_ARGUMENTS, text, strlen(text));
}

static void tell_escaped(struct answer *a, const char *s, size_t n)
{
	struct bytes out = { .limit = a->text.limit };

	value_put_escaped(s, n, &out);
	if (out.n)
		reader_tell(a, ANSWER_ARGUMENTS, out.p, out.n);
	a->text.failed |= out.failed;
	bytes_free(&out);
}

static struct level *top(struct answer *a)
{
	return &a->level[a->levels - 1];
}

static const struct json *schema_of(struct answer *a)
{
	struct level *l = top(a);

	return l->close == ']' ? schema_items(l->schema) : schema_member(l->schema, (struct span){ a->key, a->key_n });
}

/* The start of an object or a list. */
static void push(struct answer *a, char open)
{
	struct level *l = &a->level[a->levels];

	*l = (struct level){ .schema = schema_of(a), .close = open == '{' ? '}' : ']', .key_n = a->key_n };
	memcpy(l->key, a->key, a->key_n);
	a->levels++;
	tell(a, open == '{' ? "{" : "[");
	a->state = READ_TAGS;
}

/* Whether a value ends at s, and another value or the end of a container or of the call follows; *n: its length. */
static enum match value_ends(const struct answer *a, const char *end, struct span key, struct span s, size_t *n)
{
	const struct level *l = &a->level[a->levels - 1];
	const struct {
		const char *pattern;
		struct span key;
	} others[] = {
		{ a->call->key, any_key }, { a->call->item, any_key }, { a->call->item_end, any_key },
		{ a->levels > 1 ? a->call->value_end : "", { l->key, l->key_n } },
	};
	enum match match, next;
	struct span rest;
	struct found f;
	size_t which;

	match = reader_match(a, end, s, key, &f);
	if (match != MATCH_YES)
		return match;
	*n = f.n;
	rest = span_trim_start(span_drop(s, f.n));
	if (!rest.n)
		return a->ended ? MATCH_YES : MATCH_MORE;
	match = call_closes(a, rest, &which, &which);
	for (size_t i = 0; i < sizeof others / sizeof *others && match != MATCH_YES; i++) {
		next = *others[i].pattern ? reader_match(a, others[i].pattern, rest, others[i].key, &f) : MATCH_NO;
		match = next > match ? next : match;
	}
	return match == MATCH_MORE && a->ended ? MATCH_YES : match;
}

/* How the value that is being read ends. */
static const char *value_end(struct answer *a)
{
	return top(a)->close == ']' ? a->call->item_end : a->call->value_end;
}

/* Finds the end of the value in s from byte `from` on. MATCH_YES: *at, without white space of the marker, and after it
 * *n bytes. Else *at bytes are certainly part of the value. */
static enum match find_end(struct answer *a, const char *end, struct span s, size_t from, size_t *at, size_t *n)
{
	const struct span key = { a->key, a->key_n };
	size_t lead = pattern_lead(end), space = 0;
	const char first = *pattern_core(end);
	enum match match = MATCH_NO;
	size_t i = from;

	for (; i < s.n; i++) {
		if (s.s[i] == first)
			match = value_ends(a, end, key, span_drop(s, i), n);
		if (match != MATCH_NO)
			break;
		space = span_is_space(s.s[i]) ? space + 1 : 0;
	}
	while (space > lead || (space && memcmp(s.s + i - space, end + lead - space, space) && i < s.n))
		space--;
	*at = i - space;
	*n += space;
	return match;
}

/* A value was read, and `n` bytes with its end. */
static int end_value(struct answer *a, size_t n)
{
	a->at += n;
	a->state = READ_TAGS;
	return 1;
}

int read_string(struct answer *a)
{
	struct span s = reader_left(a);
	size_t at, n = 0;
	enum match match = find_end(a, value_end(a), s, 0, &at, &n);

	if (a->ended && match == MATCH_NO)
		at = s.n;
	tell_escaped(a, s.s, at);
	if (match == MATCH_YES) {
		tell(a, "\"");
		return end_value(a, at + n);
	}
	a->at += a->ended ? s.n : at;
	return 0;
}

/* The end of raw text is certain: it has no other. */
int read_raw(struct answer *a)
{
	struct span s = reader_left(a);
	const char *end = a->call->raw_end;
	struct found f;
	enum match match = MATCH_NO;
	size_t i = 0;

	for (; i < s.n && match == MATCH_NO; i += match == MATCH_NO)
		if (s.s[i] == *end)
			match = pattern_match(end, s.s + i, s.n - i, 1, any_key, &f);
	tell_escaped(a, s.s, i);
	a->at += i;
	if (match != MATCH_YES)
		return 0;
	a->at += f.n;
	a->state = READ_STRING;
	return 1;
}

int read_value(struct answer *a)
{
	struct bytes out = { .limit = a->text.limit };
	struct span s = reader_left(a);
	size_t at, n = 0;
	enum match match = find_end(a, value_end(a), s, a->scanned, &at, &n);

	a->scanned = at;
	if (match != MATCH_YES)
		return 0;
	a->text.failed |= value_put((struct span){ s.s, at }, a->types, &out) != 0;
	if (out.n)
		reader_tell(a, ANSWER_ARGUMENTS, out.p, out.n);
	bytes_free(&out);
	return end_value(a, at + n);
}

/* Whether text that may be null may be another string: MATCH_YES if it is not null. */
static enum match not_null(const struct answer *a, struct span s)
{
	static const char *const words[] = { "null", "None" };

	for (size_t i = 0; i < 2; i++)
		if (!memcmp(s.s, words[i], s.n < 4 ? s.n : 4))
			return s.n < 4 && !a->ended ? MATCH_MORE : MATCH_NO;
	return MATCH_YES;
}

/* Whether values inside of the one at s show that it is an object or a list, or its type does: '{' or '[', else 0.
 * *more: that needs more text. */
static char container(struct answer *a, struct span s, int *more)
{
	struct span rest = span_trim_start(s);
	enum match key, item;
	struct found f;

	*more = 0;
	if (!*a->call->item || a->levels == READER_DEPTH)
		return 0;
	if (a->types == 1 << JSON_ARRAY || a->types == 1 << JSON_OBJECT)
		return a->types == 1 << JSON_ARRAY ? '[' : '{';
	if (a->types == 1 << JSON_STRING)
		return 0;
	item = reader_match(a, a->call->item, rest, any_key, &f);
	key = reader_match(a, a->call->key, rest, any_key, &f);
	*more = !a->ended && (key == MATCH_MORE || item == MATCH_MORE);
	return *more ? 0 : item == MATCH_YES ? '[' : key == MATCH_YES ? '{' : 0;
}

/* How the value at s, after its key, is to be read; *used: bytes that come before it. 0: more text is needed. */
static int begin_value(struct answer *a, struct span s, enum reading *how, size_t *used)
{
	const unsigned string = 1 << JSON_STRING, null = 1 << JSON_NULL;
	enum match match = MATCH_NO;
	struct found f;

	*used = 0;
	*how = a->types == string ? READ_STRING : READ_VALUE;
	if (*a->call->raw && (a->types & string || !a->types))
		match = pattern_match(a->call->raw, s.s, s.n, 1, any_key, &f);
	if (match == MATCH_YES) {
		*how = READ_RAW;
		*used = f.n;
	}
	if (match == MATCH_NO && a->types == (string | null)) {
		match = not_null(a, s);
		*how = match == MATCH_YES ? READ_STRING : READ_VALUE;
	}
	return match != MATCH_MORE || a->ended;
}

/* The types, where the key has a word for that of strings. */
static unsigned with_type(const struct answer *a, struct span type, unsigned types)
{
	const unsigned string = 1 << JSON_STRING;

	if (!*a->call->string || !type.n)
		return types;
	if (span_equal(type, span_of(a->call->string)))
		return string;
	return types == string ? 0 : types & ~string;
}

/* A key and its value, or the item of a list, at s; f: its begin. 0: more text is needed. */
static int read_member(struct answer *a, struct span s, const struct found *f)
{
	struct span rest = { s.s + f->n, s.n - f->n }, key = f->place[PATTERN_KEY];
	struct level *l = top(a);
	enum reading how = READ_TAGS;
	size_t used = 0;
	int more;
	char open;

	if (key.n)
		memcpy(a->key, key.s, key.n);
	a->key_n = key.n;
	a->types = with_type(a, f->place[PATTERN_TYPE], value_types(schema_of(a)));
	open = container(a, rest, &more);
	if (more || (!open && !begin_value(a, rest, &how, &used)))
		return 0;
	tell(a, l->items++ ? ", " : "");
	if (l->close == '}') {
		tell(a, "\"");
		tell_escaped(a, a->key, a->key_n);
		tell(a, "\": ");
	}
	a->at = (size_t)(s.s - a->text.p) + f->n + used;
	a->scanned = 0;
	a->state = how;
	if (open)
		push(a, open);
	else if (how != READ_VALUE)
		tell(a, "\"");
	return 1;
}

/* The end of an object or list at s, or of all arguments. */
static int read_close(struct answer *a, struct span s)
{
	struct level *l = top(a);
	enum match match = MATCH_NO;
	const char *end = a->call->value_end;
	struct found f;

	if (a->levels > 1) {
		if (a->level[a->levels - 2].close == ']')
			end = a->call->item_end;
		match = reader_match(a, end, s, (struct span){ l->key, l->key_n }, &f);
	}
	if (match == MATCH_MORE)
		return 0;
	do {
		reader_tell(a, ANSWER_ARGUMENTS, &top(a)->close, 1);
		a->levels--;
	} while (a->levels && match == MATCH_NO);
	if (a->levels)
		a->at = (size_t)(s.s - a->text.p) + f.n;
	else
		call_end(a);
	return 1;
}

int read_tags(struct answer *a)
{
	struct span s = span_trim_start(reader_left(a));
	const char *begin = top(a)->close == ']' ? a->call->item : a->call->key;
	enum match match;
	struct found f;

	if (!s.n)
		return 0;
	match = reader_match(a, begin, s, any_key, &f);
	if (match == MATCH_MORE)
		return 0;
	return match == MATCH_YES ? read_member(a, s, &f) : read_close(a, s);
}
