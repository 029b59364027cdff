/* Regular expressions of patterns, with each character as it is spelt inside a JSON string. A pattern matches
 * anywhere in the string unless ^ or $ anchor it, so any characters may precede an alternative that does not begin
 * with ^. What a grammar cannot express (looking around, back references, \b) is an error that names it. */
#include "lib/base/hex.h"
#include "lib/base/utf8.h"
#include "lib/grammar/class.h"
#include "lib/grammar/grammar.h"
#include "converter.h"

#include <string.h>

struct regex {
	struct converter *c;
	const char *at, *end;
	int depth;
};

static int refuse(struct regex *x, const char *what)
{
	return schema_fail(x->c, "pattern: %s", what);
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

/* The letter of the short escape that JSON has for a control character, or 0. */
static char short_escape(uint32_t point)
{
	static const char from[] = "\b\f\n\r\t", to[] = "bfnrt";
	const char *hit = point && point < 0x20 ? strchr(from, (int)point) : NULL;

	return hit ? to[hit - from] : 0;
}

static int has_point(const struct points *set, uint32_t p)
{
	for (size_t i = 0; i < set->n && set->range[i].first <= p; i++)
		if (p <= set->range[i].last)
			return 1;
	return 0;
}

/* The points of a set that JSON does not escape, spelt as a class of GBNF. */
static void spell_class(const struct points *set, struct bytes *out)
{
	for (size_t i = 0; i < set->n; i++) {
		uint32_t from = set->range[i].first < 0x20 ? 0x20 : set->range[i].first;

		while (from <= set->range[i].last) {
			uint32_t last = set->range[i].last, next;

			last = from <= '"' && last >= '"' ? '"' - 1 : from <= '\\' && last >= '\\' ? '\\' - 1
				: from <= 0x7f && last >= 0x7f ? 0x7e : last;
			next = last + (last < set->range[i].last ? 2 : 1);
			if (from <= last)
				gbnf_spell(out, from);
			if (from < last) {
				bytes_puts(out, "-");
				gbnf_spell(out, last);
			}
			from = next;
		}
	}
}

/* Points that JSON does not escape are one class of GBNF; the others are alternatives, each with its escape. Control
 * characters without a short escape are left out. */
static struct gbnf_expr *write_points(struct regex *x, const struct points *set)
{
	struct gbnf *g = &x->c->g;
	struct gbnf_expr *out = gbnf_alternatives(g);
	struct bytes class = { .limit = SIZE_MAX };

	for (uint32_t p = 0; p < 0x80; p++) {
		char escape[] = { '\\', p == '"' || p == '\\' ? (char)p : short_escape(p) };

		if (escape[1] && has_point(set, p))
			gbnf_add(g, out, gbnf_text(g, escape, 2));
	}
	spell_class(set, &class);
	if (class.failed)
		schema_no_memory(x->c);
	if (class.n)
		gbnf_add(g, out, gbnf_class(g, class.p, class.n));
	bytes_free(&class);
	if (gbnf_is_never(out))
		refuse(x, "a class without a character that a JSON string may hold as it is");
	return out;
}

static int hex(struct regex *x, int digits)
{
	int c = 0;

	while (digits--) {
		int digit = hex_digit(peek(x));

		if (digit < 0)
			return refuse(x, "\\x must be followed by two hexadecimal digits, \\u by four");
		c = c << 4 | digit;
		x->at++;
	}
	return c;
}

/* Adds the class that an escape names; 1 if it names one, 0 if not, -1: no memory. */
static int named_class(char name, struct points *set)
{
	static const uint32_t digits[][2] = { { '0', '9' }, { 0 } };
	static const uint32_t word[][2] = { { '0', '9' }, { 'A', 'Z' }, { 'a', 'z' }, { '_', '_' }, { 0 } };
	static const uint32_t space[][2] = { { '\t', '\r' }, { ' ', ' ' }, { 0xa0, 0xa0 }, { 0x1680, 0x1680 },
		{ 0x2000, 0x200a }, { 0x2028, 0x2029 }, { 0x202f, 0x202f }, { 0x205f, 0x205f }, { 0x3000, 0x3000 },
		{ 0xfeff, 0xfeff }, { 0 } };
	const uint32_t (*range)[2] = name == 'd' || name == 'D' ? digits : name == 'w' || name == 'W' ? word
		: name == 's' || name == 'S' ? space : NULL;
	struct points class = { 0 };
	int bad = 0;

	if (!range)
		return 0;
	for (; (*range)[1] && !bad; range++)
		bad = points_add(&class, (*range)[0], (*range)[1]);
	bad = bad || points_settle(&class, name < 'a');
	for (size_t i = 0; i < class.n && !bad; i++)
		bad = points_add(set, class.range[i].first, class.range[i].last);
	points_free(&class);
	return bad ? -1 : 1;
}

/* The character after a backslash, past which the position is. -1: the reason is set. */
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
			if (low < 0)
				return -1;
			c = low >= 0xdc00 && low <= 0xdfff ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : c;
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
	if (e < 0)
		return refuse(x, "it ends in a backslash");
	return schema_fail(x->c, "pattern: the escape \\%c%s is not supported", e >= ' ' && e < 0x7f ? e : '?',
		e == 'c' ? " (a control letter)" : "");
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

static struct gbnf_expr *class(struct regex *x)
{
	struct gbnf_expr *out = gbnf_never();
	struct points set = { 0 };
	int not, bad = 0;

	x->at++;
	not = peek(x) == '^';
	x->at += not;
	while (!bad && peek(x) != ']')
		bad = peek(x) < 0 ? refuse(x, "a class that is not closed") : class_member(x, &set);
	x->at++;
	if (!bad && points_settle(&set, not))
		schema_no_memory(x->c);
	else if (!bad)
		out = write_points(x, &set);
	points_free(&set);
	return out;
}

static struct gbnf_expr *single(struct regex *x)
{
	struct gbnf_expr *out = gbnf_never();
	struct points set = { 0 };
	int named = 0, bad = 0;
	int32_t c;

	if (peek(x) == '.') {
		x->at++;
		bad = points_add(&set, '\n', '\n') || points_add(&set, '\r', '\r') || points_add(&set, 0x2028, 0x2029)
			|| points_settle(&set, 1);
	} else if (x->end - x->at > 1 && *x->at == '\\' && (named = named_class(x->at[1], &set))) {
		x->at += 2;
		bad = named < 0 || points_settle(&set, 0);
	} else {
		c = character(x, 0);
		bad = c >= 0 && points_add(&set, (uint32_t)c, (uint32_t)c);
	}
	if (bad)
		schema_no_memory(x->c);
	else if (!x->c->failed)
		out = write_points(x, &set);
	points_free(&set);
	return out;
}

/* ---- structure ---- */

static struct gbnf_expr *alternatives(struct regex *x, struct schema_span *span);

/* Skips "(", "(?:" or "(?<name>". */
static void open_group(struct regex *x)
{
	const char *s = ++x->at, *close = memchr(s, '>', (size_t)(x->end - s));
	size_t n = (size_t)(x->end - s);

	if (!n || *s != '?')
		return;
	if (n > 1 && s[1] == ':')
		x->at += 2;
	else if (n > 3 && s[1] == '<' && s[2] != '=' && s[2] != '!' && close)
		x->at = close + 1;
	else
		refuse(x, "looking ahead or behind ((?=, (?!, (?<=, (?<!) is not supported");
}

static struct gbnf_expr *group(struct regex *x, struct schema_span *span)
{
	struct gbnf_expr *out;

	open_group(x);
	if (++x->depth > GRAMMAR_DEPTH / 4)
		refuse(x, "groups are nested too deeply");
	if (x->c->failed)
		return gbnf_never();
	out = alternatives(x, span);
	x->depth--;
	if (peek(x) != ')')
		refuse(x, "a group that is not closed");
	x->at++;
	return out;
}

/* Reads a number. -1: there is none, or it is too large. */
static int64_t number(struct regex *x)
{
	const char *from = x->at;
	int64_t v = 0;

	for (; peek(x) >= '0' && peek(x) <= '9'; x->at++)
		v = v > GRAMMAR_REPEAT ? v : v * 10 + (*x->at - '0');
	return x->at == from || v > GRAMMAR_REPEAT ? -1 : v;
}

/* Reads {n}, {n,} or {n,m}, from the opening brace up to the closing one. */
static void braces(struct regex *x, uint32_t *low, uint32_t *high)
{
	int64_t from, to;

	x->at++;
	from = to = number(x);
	*high = (uint32_t)to;
	if (from >= 0 && peek(x) == ',') {
		x->at++;
		*high = GBNF_FOREVER;
		if (peek(x) != '}') {
			to = number(x);
			*high = (uint32_t)to;
		}
	}
	*low = (uint32_t)from;
	if (peek(x) != '}' || from < 0 || to < 0 || *low > *high)
		refuse(x, "a repetition is {n}, {n,} or {n,m}, of no more than 1000000000");
}

/* Reads a repetition, if there is one. */
static int quantifier(struct regex *x, uint32_t *low, uint32_t *high)
{
	*low = 0;
	*high = GBNF_FOREVER;
	switch (peek(x)) {
	case '*':
		break;
	case '+':
		*low = 1;
		break;
	case '?':
		*high = 1;
		break;
	case '{':
		braces(x, low, high);
		break;
	default:
		return 0;
	}
	x->at++;
	return 1;
}

static struct gbnf_expr *repeated(struct regex *x, struct gbnf_expr *e, struct schema_span *span)
{
	uint32_t low, high;

	if (x->c->failed || !quantifier(x, &low, &high) || x->c->failed)
		return e;
	if (peek(x) == '?')             /* as few as possible: the same strings */
		x->at++;
	if (peek(x) == '*' || peek(x) == '+' || peek(x) == '?' || peek(x) == '{')
		refuse(x, "a repetition of a repetition");
	span->min = product(span->min, low);
	span->max = product(span->max, high);
	return gbnf_repeat(&x->c->g, e, low, high);
}

/* A character, a class or a group, with its repetition. */
static struct gbnf_expr *element(struct regex *x, struct schema_span *span)
{
	struct gbnf_expr *e = gbnf_never();

	*span = (struct schema_span){ 1, 1 };
	switch (peek(x)) {
	case '^':
		refuse(x, "^ anywhere but at the beginning is not supported");
		break;
	case '*': case '+': case '?': case '{':
		refuse(x, "a repetition with nothing before it");
		break;
	case '(':
		e = group(x, span);
		break;
	case '[':
		e = class(x);
		break;
	default:
		e = single(x);
	}
	return repeated(x, e, span);
}

/* A sequence, up to the end, a `|` or a ')'. Outside groups an anchor at either end is dropped, and any characters
 * may stand where one is missing. */
static struct gbnf_expr *sequence(struct regex *x, struct schema_span *span)
{
	struct gbnf *g = &x->c->g;
	struct gbnf_expr *out = gbnf_sequence(g), *any = gbnf_repeat(g, gbnf_primitive(g, GBNF_CHAR), 0, GBNF_FOREVER);
	int begins = x->depth > 0, ends = begins;

	if (!begins && peek(x) == '^') {
		x->at++;
		begins = 1;
	}
	*span = (struct schema_span){ 0, begins ? 0 : UINT32_MAX };
	if (!begins)
		gbnf_add(g, out, any);
	while (!x->c->failed && peek(x) >= 0 && peek(x) != '|' && peek(x) != ')') {
		struct schema_span one;

		if (peek(x) == '$') {
			x->at++;
			ends = 1;
			if (x->depth || (peek(x) >= 0 && peek(x) != '|'))
				refuse(x, "$ anywhere but at the end is not supported");
			continue;
		}
		gbnf_add(g, out, element(x, &one));
		span->min = sum(span->min, one.min);
		span->max = sum(span->max, one.max);
	}
	if (ends)
		return out;
	span->max = UINT32_MAX;
	gbnf_add(g, out, any);
	return out;
}

static struct gbnf_expr *alternatives(struct regex *x, struct schema_span *span)
{
	struct gbnf_expr *out = gbnf_alternatives(&x->c->g);
	struct schema_span one;

	gbnf_add(&x->c->g, out, sequence(x, span));
	while (!x->c->failed && peek(x) == '|') {
		x->at++;
		gbnf_add(&x->c->g, out, sequence(x, &one));
		span->min = one.min < span->min ? one.min : span->min;
		span->max = one.max > span->max ? one.max : span->max;
	}
	return out;
}

struct gbnf_expr *schema_pattern(struct converter *c, const char *pattern, size_t n, struct schema_span *span)
{
	struct regex x = { .c = c, .at = pattern, .end = pattern + n };
	struct gbnf_expr *out = alternatives(&x, span);

	if (!c->failed && peek(&x) == ')')
		refuse(&x, "')' without '('");
	return out;
}
