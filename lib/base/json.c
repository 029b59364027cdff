/* JSON text to tree: recursive descent over a bounded cursor. */
#include "json.h"

#include "hex.h"
#include "utf8.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct arena *arena;
	const char *start, *at, *end;
	struct why *w;
	size_t line;                /* the number of the first line */
	int depth;
	struct json *outer;         /* the array or object that all others are in */
};

static struct json *fail(struct reader *r, const char *at, const char *reason)
{
	size_t line = r->line, column = 1;

	for (const char *p = r->start; p < at; p++) {
		if (*p == '\n') {
			line++;
			column = 1;
		} else if (((unsigned char)*p & 0xc0) != 0x80) {
			column++;
		}
	}
	why(r->w, "line %zu, column %zu: %s", line, column, reason);
	return NULL;
}

static struct json *out_of_memory(struct reader *r)
{
	return fail(r, r->at, "the JSON text needs more memory than it may have");
}

size_t json_blank(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && (s[i] == ' ' || s[i] == '\n' || s[i] == '\r' || s[i] == '\t'))
		i++;
	return i;
}

static void skip_space(struct reader *r)
{
	r->at += json_blank(r->at, (size_t)(r->end - r->at));
}

static struct json *node(struct reader *r, enum json_type type)
{
	struct json *v = json_new(r->arena, type);

	return v ? v : out_of_memory(r);
}

static struct json *word(struct reader *r, const char *name, enum json_type type)
{
	size_t n = strlen(name);

	if ((size_t)(r->end - r->at) < n || memcmp(r->at, name, n))
		return fail(r, r->at, "not a JSON value");
	r->at += n;
	return node(r, type);
}

static const char *digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

/* Where the number at p ends; NULL if it is malformed. *whole: it has neither fraction nor exponent. */
static const char *scan_number(const char *p, const char *end, int *whole)
{
	const char *from = p + (p < end && *p == '-'), *to = digits(from, end), *integer = to;

	if (to == from || (*from == '0' && to > from + 1))
		return NULL;
	if (to < end && *to == '.') {
		from = to + 1;
		if ((to = digits(from, end)) == from)
			return NULL;
	}
	if (to < end && (*to == 'e' || *to == 'E')) {
		from = to + 1;
		from += from < end && (*from == '+' || *from == '-');
		if ((to = digits(from, end)) == from)
			return NULL;
	}
	*whole = to == integer;
	return to;
}

static struct json *number(struct reader *r)
{
	int whole;
	const char *end = scan_number(r->at, r->end, &whole);
	struct json *v;
	char *s;
	size_t n;

	if (!end)
		return fail(r, r->at, "malformed number");
	n = (size_t)(end - r->at);
	v = node(r, JSON_FLOAT);
	if (!v)
		return NULL;
	s = arena_text(r->arena, n + 1);
	if (!s)
		return out_of_memory(r);
	memcpy(s, r->at, n);
	s[n] = '\0';
	v->s = s;
	v->n = n;
	v->d = strtod(s, NULL);
	errno = 0;
	v->i = whole ? strtoll(s, NULL, 10) : 0;
	if (whole)
		v->type = errno ? JSON_BIG : JSON_INT;
	else if (isinf(v->d))
		return fail(r, r->at, "the number is too large");
	r->at = end;
	return v;
}

static int hex4(struct reader *r)
{
	int c = 0;

	if (r->end - r->at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(r->at[i]);

		if (digit < 0)
			return -1;
		c = c << 4 | digit;
	}
	r->at += 4;
	return c;
}

/* The code point of the \u escape whose digits begin at the cursor, or -1 with a reason. */
static int32_t escaped_unicode(struct reader *r)
{
	const char *start = r->at - 2;
	int32_t c = hex4(r), low;

	if (c < 0) {
		fail(r, start, "\\u needs four hexadecimal digits");
		return -1;
	}
	if (c < 0xd800 || c > 0xdfff)
		return c;
	if (c < 0xdc00 && r->end - r->at >= 2 && r->at[0] == '\\' && r->at[1] == 'u') {
		r->at += 2;
		low = hex4(r);
		if (low >= 0xdc00 && low <= 0xdfff)
			return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	fail(r, start, "incomplete surrogate pair");
	return -1;
}

/* The escape at the cursor as bytes in out; returns how many, or -1 with a reason. */
static int escape(struct reader *r, char out[4])
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *hit;
	int32_t c;

	if (r->end - r->at < 2) {
		fail(r, r->at, "unterminated string");
		return -1;
	}
	if (r->at[1] == 'u') {
		r->at += 2;
		c = escaped_unicode(r);
		return c < 0 ? -1 : (int)utf8_put(out, c);
	}
	hit = r->at[1] ? strchr(from, r->at[1]) : NULL;
	if (!hit) {
		fail(r, r->at, "unknown escape");
		return -1;
	}
	r->at += 2;
	out[0] = to[hit - from];
	return 1;
}

/* The quote that closes the string which starts at s; NULL if there is none. */
static const char *closing_quote(const char *s, const char *end)
{
	for (; s < end && *s != '"'; s++)
		if (*s == '\\' && ++s == end)
			return NULL;
	return s < end ? s : NULL;
}

static const char *string(struct reader *r, size_t *n)
{
	const char *close = closing_quote(r->at + 1, r->end);
	char *out, *p;

	if (!close) {
		fail(r, r->at, "unterminated string");
		return NULL;
	}
	r->at++;
	p = out = arena_text(r->arena, (size_t)(close - r->at) + 1);
	if (!out) {
		out_of_memory(r);
		return NULL;
	}
	while (r->at < close) {
		unsigned len = 1;

		if (*r->at == '\\') {
			char piece[4];
			int got = escape(r, piece);

			if (got < 0)
				return NULL;
			memcpy(p, piece, (size_t)got);
			p += got;
			continue;
		}
		if ((unsigned char)*r->at < ' ' || utf8_next(r->at, (size_t)(close - r->at), &len) < 0) {
			fail(r, r->at, (unsigned char)*r->at < ' ' ? "control character in a string" : "invalid UTF-8");
			return NULL;
		}
		memcpy(p, r->at, len);
		p += len;
		r->at += len;
	}
	r->at = close + 1;
	*p = '\0';
	*n = (size_t)(p - out);
	return out;
}

static struct json *value(struct reader *r);

static int member_name(struct reader *r, const char **key, size_t *n)
{
	skip_space(r);
	if (r->at == r->end || *r->at != '"') {
		fail(r, r->at, "expected a member's name in quotes");
		return -1;
	}
	*key = string(r, n);
	if (!*key)
		return -1;
	skip_space(r);
	if (r->at == r->end || *r->at != ':') {
		fail(r, r->at, "expected ':'");
		return -1;
	}
	r->at++;
	return 0;
}

static struct json *children(struct reader *r, struct json *parent, char close)
{
	r->at++;
	skip_space(r);
	if (r->at < r->end && *r->at == close) {
		r->at++;
		return parent;
	}
	for (;;) {
		const char *key = NULL;
		size_t key_n = 0;
		struct json *child;

		if (close == '}' && member_name(r, &key, &key_n))
			return NULL;
		child = value(r);
		if (!child)
			return NULL;
		json_add(parent, NULL, child);
		child->key = key;
		child->key_n = key_n;
		skip_space(r);
		if (r->at < r->end && *r->at == close)
			break;
		if (r->at == r->end || *r->at != ',')
			return fail(r, r->at, close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
		r->at++;
	}
	r->at++;
	return parent;
}

static struct json *container(struct reader *r, enum json_type type, char close)
{
	struct json *v;

	if (r->depth == JSON_DEPTH)
		return fail(r, r->at, "nested too deeply");
	v = node(r, type);
	if (!r->depth++)
		r->outer = v;
	if (v)
		v = children(r, v, close);
	r->depth--;
	return v;
}

static struct json *value(struct reader *r)
{
	struct json *v;

	skip_space(r);
	if (r->at == r->end)
		return fail(r, r->at, "the text ends where a value is expected");
	switch (*r->at) {
	case '{':
		return container(r, JSON_OBJECT, '}');
	case '[':
		return container(r, JSON_ARRAY, ']');
	case '"':
		v = node(r, JSON_STRING);
		if (v && !(v->s = string(r, &v->n)))
			return NULL;
		return v;
	case 't':
		return word(r, "true", JSON_TRUE);
	case 'f':
		return word(r, "false", JSON_FALSE);
	case 'n':
		return word(r, "null", JSON_NULL);
	}
	if (*r->at == '-' || (*r->at >= '0' && *r->at <= '9'))
		return number(r);
	return fail(r, r->at, "not a JSON value");
}

struct json *json_parse_begun(struct arena *a, const char *text, size_t n, size_t line, const struct json **begun,
	struct why *w)
{
	const char *start = text + utf8_mark(text, n);
	struct reader r = { a, start, start, text + n, w, line, 0, NULL };
	struct json *v = value(&r);

	*begun = r.outer;
	if (!v)
		return NULL;
	skip_space(&r);
	return r.at == r.end ? v : fail(&r, r.at, "trailing text after the JSON value");
}

struct json *json_parse_line(struct arena *a, const char *text, size_t n, size_t line, struct why *w)
{
	const struct json *begun;

	return json_parse_begun(a, text, n, line, &begun, w);
}

struct json *json_parse(struct arena *a, const char *text, size_t n, struct why *w)
{
	return json_parse_line(a, text, n, 1, w);
}

const struct json *json_get(const struct json *v, const char *key)
{
	const struct json *found = NULL;
	size_t n = strlen(key);

	if (!v || v->type != JSON_OBJECT)
		return NULL;
	for (const struct json *m = v->child; m; m = m->next)
		if (m->key_n == n && !memcmp(m->key, key, n))
			found = m;
	return found;
}

const char *json_get_string(const struct json *v, const char *key)
{
	v = json_get(v, key);
	return v && v->type == JSON_STRING ? v->s : NULL;
}

const char *json_type_name(const struct json *v)
{
	static const char *const names[] = {
		[JSON_NULL] = "null", [JSON_FALSE] = "false", [JSON_TRUE] = "true",
		[JSON_INT] = "a number", [JSON_BIG] = "a number", [JSON_FLOAT] = "a number",
		[JSON_STRING] = "a string", [JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object",
	};

	return names[v->type];
}

struct json *json_new(struct arena *a, enum json_type type)
{
	struct json *v = arena_array(a, 1, sizeof *v);

	if (v)
		v->type = type;
	return v;
}

struct json *json_new_string(struct arena *a, const char *s, size_t n)
{
	struct json *v = json_new(a, JSON_STRING);

	if (v) {
		v->s = s;
		v->n = n;
	}
	return v;
}

void json_add(struct json *parent, const char *key, struct json *child)
{
	if (parent->last)
		parent->last->next = child;
	else
		parent->child = child;
	parent->last = child;
	parent->n++;
	child->key = key;
	child->key_n = key ? strlen(key) : 0;
}
