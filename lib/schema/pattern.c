/* Regular expressions, as patterns in schemas are written, to GBNF: each character as it is spelt inside a JSON string.
 * A pattern looks for a match anywhere in the string, unless ^ and $ hold it: so where an alternative does not begin with ^, any characters may come
 * first. What no grammar can follow (looking around, back references, \b) is refused by name. */
#include "lib/grammar/class.h"
#include "lib/grammar/grammar.h"
#include "lib/base/utf8.h"
#include "priv.h"

#include <stdlib.h>
#include <string.h>

struct regex {
	struct schema *c;
	const char *at, *end;
	struct bytes *to;
	int depth;
};

static int refuse(struct regex *x, const char *what)
{
	return schema_fail(x->c, "pattern: %s", what);
}

static int put(struct regex *x, const char *s)
{
	return schema_put(x->c, x->to, s);
}

static int peek(const struct regex *x)
{
	return x->at < x->end ? (unsigned char)*x->at : -1;
}

static uint32_t sum(uint32_t a, uint32_t b)
{
	return a == UINT32_MAX || b == UINT32_MAX || a + b < a ? UINT32_MAX : a + b;
}

static uint32_t product(uint32_t a, uint32_t b)
{
	uint64_t p = (uint64_t)a * b;

	return !a || !b ? 0 : a == UINT32_MAX || b == UINT32_MAX || p > UINT32_MAX ? UINT32_MAX : (uint32_t)p;
}

/* ---- characters ---- */

/* The escape that JSON has for a control character, or 0. */
static char short_escape(uint32_t point)
{
	static const char from[] = "\b\f\n\r\t", to[] = "bfnrt";
	const char *hit = point && point < 0x20 ? strchr(from, (int)point) : NULL;

	return hit ? to[hit - from] : 0;
}

/* Points that stand for themselves in JSON are one class of GBNF; the others are alternatives, as they are escaped. Control characters without an
 * escape of their own never come. */
static int write_points(struct regex *x, const struct points *set)
{
	int any = 0, inside = 0;

	if (put(x, "("))
		return -1;
	for (uint32_t p = 0; p < 0x80; p++) {
		char escape = p == '"' || p == '\\' ? (char)p : short_escape(p);

		for (size_t i = 0; escape && i < set->n && set->range[i].first <= p; i++) {
			if (set->range[i].last < p)
				continue;
			if (put(x, any ? " | " : "") || schema_print(x->c, x->to, "\"\\\\%s%c\"", p == '"' || p == '\\' ? "\\" : "", escape))
				return -1;
			any = 1;
		}
	}
	for (size_t i = 0; i < set->n; i++) {
		uint32_t from = set->range[i].first < 0x20 ? 0x20 : set->range[i].first;

		while (from <= set->range[i].last) {
			uint32_t last = set->range[i].last, next;

			last = from <= '"' && last >= '"' ? '"' - 1 : from <= '\\' && last >= '\\' ? '\\' - 1 : from <= 0x7f && last >= 0x7f ? 0x7e : last;
			next = last + (last < set->range[i].last ? 2 : 1);
			if (from <= last) {
				if (!inside && put(x, any ? " | [" : "["))
					return -1;
				if (schema_print(x->c, x->to, from == last ? "\\U%08X" : "\\U%08X-\\U%08X", (unsigned)from, (unsigned)last))
					return -1;
				any = inside = 1;
			}
			from = next;
		}
	}
	if (!any)
		return refuse(x, "a class without a character that a JSON string may hold as it is");
	return put(x, inside ? "])" : ")");
}

static int hex(struct regex *x, int digits)
{
	int c = 0;

	while (digits--) {
		int h = peek(x), digit = h >= '0' && h <= '9' ? h - '0' : h >= 'a' && h <= 'f' ? h - 'a' + 10 : h >= 'A' && h <= 'F' ? h - 'A' + 10 : -1;

		if (digit < 0)
			return refuse(x, "\\x wants two hexadecimal digits, \\u four");
		c = c << 4 | digit;
		x->at++;
	}
	return c;
}

/* The classes that are written as an escape; 1 if it was one, 0 if not. */
static int named_class(char name, struct points *set)
{
	struct points class = { 0 };
	int bad = 0;

	switch (name) {
	case 'd': case 'D':
		bad = points_add(&class, '0', '9');
		break;
	case 'w': case 'W':
		bad = points_add(&class, '0', '9') || points_add(&class, 'A', 'Z') || points_add(&class, 'a', 'z') || points_add(&class, '_', '_');
		break;
	case 's': case 'S':
		bad = points_add(&class, '\t', '\r') || points_add(&class, ' ', ' ') || points_add(&class, 0xa0, 0xa0) || points_add(&class, 0x1680, 0x1680)
			|| points_add(&class, 0x2000, 0x200a) || points_add(&class, 0x2028, 0x2029) || points_add(&class, 0x202f, 0x202f)
			|| points_add(&class, 0x205f, 0x205f) || points_add(&class, 0x3000, 0x3000) || points_add(&class, 0xfeff, 0xfeff);
		break;
	default:
		return 0;
	}
	bad = bad || points_settle(&class, name < 'a');
	for (size_t i = 0; i < class.n && !bad; i++)
		bad = points_add(set, class.range[i].first, class.range[i].last);
	points_free(&class);
	return bad ? -1 : 1;
}

/* One character as it stands or after a backslash, which the cursor is behind; -1 with the reason. */
static int32_t escaped(struct regex *x, int in_class)
{
	static const char from[] = "nrtfv0", to[] = "\n\r\t\f\v\0", plain[] = "^$\\.*+?()[]{}|/-\"'#&,:;<=>@!%`~_ ";
	int e = peek(x);
	const char *hit = e > 0 ? strchr(from, e) : NULL;

	x->at++;
	if (e == 'x' || e == 'u') {
		int c = hex(x, e == 'x' ? 2 : 4), low;

		if (c >= 0xd800 && c <= 0xdbff && x->end - x->at > 2 && x->at[0] == '\\' && x->at[1] == 'u') {
			x->at += 2;
			low = hex(x, 4);
			c = low < 0 ? -1 : low >= 0xdc00 && low <= 0xdfff ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : c;
		}
		return c >= 0xd800 && c <= 0xdfff ? refuse(x, "half a surrogate pair") : c;
	}
	if (hit)
		return to[hit - from];
	if (e > 0 && strchr(plain, e))
		return e;
	if (e == 'b' && in_class)
		return '\b';
	if (e == 'b' || e == 'B')
		return refuse(x, "word boundaries (\\b, \\B) are not supported");
	if ((e >= '1' && e <= '9') || e == 'k')
		return refuse(x, "back references are not supported");
	if (e == 'p' || e == 'P')
		return refuse(x, "Unicode properties (\\p{...}) are not supported");
	return refuse(x, "an escape that is not supported");
}

static int32_t character(struct regex *x, int in_class)
{
	unsigned used;
	int32_t c;

	if (*x->at == '\\') {
		x->at++;
		return escaped(x, in_class);
	}
	c = utf8_next(x->at, (size_t)(x->end - x->at), &used);
	x->at += used;
	return c;
}

static int class_member(struct regex *x, struct points *set)
{
	int32_t first, last;
	int named = 0;

	if (x->end - x->at > 1 && *x->at == '\\' && (named = named_class(x->at[1], set))) {
		x->at += 2;
		return named < 0 ? refuse(x, "no memory") : 0;
	}
	first = last = character(x, 1);
	if (first >= 0 && x->end - x->at > 1 && *x->at == '-' && x->at[1] != ']') {
		if (x->at[1] == '\\' && x->end - x->at > 2 && strchr("dDwWsS", x->at[2]))
			return refuse(x, "a range that ends in a class");
		x->at++;
		last = character(x, 1);
	}
	if (first < 0 || last < 0)
		return -1;
	if (first > last)
		return refuse(x, "a range that ends before it begins");
	return points_add(set, (uint32_t)first, (uint32_t)last) ? refuse(x, "no memory") : 0;
}

static int class(struct regex *x)
{
	struct points set = { 0 };
	int not, bad = 0;

	x->at++;
	not = peek(x) == '^';
	x->at += not;
	while (!bad && peek(x) != ']')
		bad = peek(x) < 0 ? refuse(x, "a class that is not closed") : class_member(x, &set);
	if (!bad) {
		x->at++;
		bad = points_settle(&set, not) ? refuse(x, "no memory") : write_points(x, &set);
	}
	points_free(&set);
	return bad;
}

static int single(struct regex *x)
{
	struct points set = { 0 };
	int named = 0, bad = 0;
	int32_t c;

	if (peek(x) == '.') {
		x->at++;
		bad = points_add(&set, '\n', '\n') || points_add(&set, '\r', '\r') || points_add(&set, 0x2028, 0x2029) || points_settle(&set, 1);
	} else if (x->end - x->at > 1 && *x->at == '\\' && (named = named_class(x->at[1], &set))) {
		x->at += 2;
		bad = named < 0 || points_settle(&set, 0);
	} else {
		c = character(x, 0);
		if (c < 0)
			return -1;
		bad = points_add(&set, (uint32_t)c, (uint32_t)c);
	}
	bad = bad ? refuse(x, "no memory") : write_points(x, &set);
	points_free(&set);
	return bad;
}

/* ---- structure ---- */

static int alternatives(struct regex *x, struct schema_span *span);

static int group(struct regex *x, struct schema_span *span)
{
	x->at++;
	if (peek(x) == '?') {
		const char *s = x->at;

		if (x->end - s > 1 && s[1] == ':')
			x->at += 2;
		else if (x->end - s > 3 && s[1] == '<' && s[2] != '=' && s[2] != '!' && memchr(s, '>', (size_t)(x->end - s)))
			x->at = (const char *)memchr(s, '>', (size_t)(x->end - s)) + 1;
		else
			return refuse(x, "looking ahead or behind ((?=, (?!, (?<=, (?<!) is not supported");
	}
	if (++x->depth > GRAMMAR_DEPTH / 4)
		return refuse(x, "groups are nested too deeply");
	if (put(x, "(") || alternatives(x, span))
		return -1;
	x->depth--;
	if (peek(x) != ')')
		return refuse(x, "a group that is not closed");
	x->at++;
	return put(x, ")");
}

static int number(struct regex *x, uint32_t *out)
{
	const char *from = x->at;
	uint64_t v = 0;

	for (; peek(x) >= '0' && peek(x) <= '9'; x->at++)
		v = v > GRAMMAR_REPEAT ? v : v * 10 + (uint64_t)(*x->at - '0');
	if (x->at == from || v > GRAMMAR_REPEAT)
		return refuse(x, "a repetition is {n}, {n,} or {n,m}, of no more than 1000000000");
	*out = (uint32_t)v;
	return 0;
}

static int quantifier(struct regex *x, struct schema_span *span)
{
	uint32_t low = 0, high = UINT32_MAX;

	switch (peek(x)) {
	case '*':
		break;
	case '+':
		low = 1;
		break;
	case '?':
		high = 1;
		break;
	case '{':
		x->at++;
		if (number(x, &low))
			return -1;
		high = low;
		if (peek(x) == ',') {
			x->at++;
			high = UINT32_MAX;
			if (peek(x) != '}' && number(x, &high))
				return -1;
		}
		if (peek(x) != '}' || low > high)
			return refuse(x, "a repetition is {n}, {n,} or {n,m}, of no more than 1000000000");
		break;
	default:
		return 0;
	}
	x->at++;
	if (peek(x) == '?')             /* as few as possible: the same strings */
		x->at++;
	if (peek(x) == '*' || peek(x) == '+' || peek(x) == '?' || peek(x) == '{')
		return refuse(x, "a repetition of a repetition");
	span->min = product(span->min, low);
	span->max = product(span->max, high);
	return high == UINT32_MAX ? schema_print(x->c, x->to, "{%u,}", (unsigned)low)
		: schema_print(x->c, x->to, "{%u,%u}", (unsigned)low, (unsigned)high);
}

/* A sequence: up to the end, a `|` or a ')'. Outside of groups an anchor at either end is taken off, and any characters stand in for one that is
 * missing. */
static int sequence(struct regex *x, struct schema_span *span)
{
	int begins = x->depth > 0, ends = begins;

	if (!begins && peek(x) == '^') {
		x->at++;
		begins = 1;
	}
	*span = (struct schema_span){ 0, begins ? 0 : UINT32_MAX };
	if (put(x, "\"\"") || (!begins && (put(x, " ") || schema_primitive(x->c, x->to, SCHEMA_CHAR) || put(x, "*"))))
		return -1;
	while (peek(x) >= 0 && peek(x) != '|' && peek(x) != ')') {
		struct schema_span one = { 1, 1 };
		int bad;

		if (put(x, " "))
			return -1;
		switch (peek(x)) {
		case '$':
			x->at++;
			if (x->depth || (peek(x) >= 0 && peek(x) != '|'))
				return refuse(x, "$ anywhere but at the end is not supported");
			ends = 1;
			continue;
		case '^':
			return refuse(x, "^ anywhere but at the beginning is not supported");
		case '*': case '+': case '?': case '{':
			return refuse(x, "a repetition with nothing before it");
		case '(':
			bad = group(x, &one);
			break;
		case '[':
			bad = class(x);
			break;
		default:
			bad = single(x);
		}
		if (bad || quantifier(x, &one))
			return -1;
		span->min = sum(span->min, one.min);
		span->max = sum(span->max, one.max);
	}
	if (ends)
		return 0;
	span->max = UINT32_MAX;
	return put(x, " ") || schema_primitive(x->c, x->to, SCHEMA_CHAR) || put(x, "*") ? -1 : 0;
}

static int alternatives(struct regex *x, struct schema_span *span)
{
	struct schema_span one;

	if (sequence(x, span))
		return -1;
	while (peek(x) == '|') {
		x->at++;
		if (put(x, " | ") || sequence(x, &one))
			return -1;
		span->min = one.min < span->min ? one.min : span->min;
		span->max = one.max > span->max ? one.max : span->max;
	}
	return 0;
}

int schema_pattern(struct schema *c, const char *pattern, size_t n, struct schema_span *span, struct bytes *to)
{
	struct regex x = { .c = c, .at = pattern, .end = pattern + n, .to = to };

	if (put(&x, "(") || alternatives(&x, span))
		return -1;
	return peek(&x) == ')' ? refuse(&x, "')' without '('") : put(&x, ")");
}
