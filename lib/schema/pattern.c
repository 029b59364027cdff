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

static void add_points(struct regex *x, struct points *set, uint32_t first, uint32_t last)
{
	if (points_add(set, first, last))
		schema_no_memory(x->c);
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
	static const uint32_t plain[][2] = { { ' ', '!' }, { '#', '[' }, { ']', '~' }, { 0x80, 0x10ffff } };

	for (size_t i = 0; i < set->n; i++)
		for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) {
			uint32_t first = set->range[i].first, last = set->range[i].last;

			first = first < plain[k][0] ? plain[k][0] : first;
			last = last > plain[k][1] ? plain[k][1] : last;
			if (first <= last)
				gbnf_spell(out, first);
			if (first < last) {
				bytes_puts(out, "-");
				gbnf_spell(out, last);
			}
		}
}

/* Points that JSON does not escape are one class of GBNF; the others are alternatives, each with its escape. Control
 * characters without a short escape are left out. */
static struct gbnf_expr *write_points(struct regex *x, const struct points *set)
{
	static const char escaped[] = "\b\t\n\f\r\"\\", letter[] = "btnfr\"\\";
	struct gbnf *g = &x->c->g;
	struct gbnf_expr *out = gbnf_alternatives(g);
	struct bytes class = { .limit = SIZE_MAX };

	for (size_t i = 0; escaped[i]; i++)
		if (has_point(set, (uint32_t)escaped[i]))
			gbnf_add(g, out, gbnf_text(g, (char[]){ '\\', letter[i] }, 2));
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

/* Reads \d, \s, \w or their complements, if one stands here; returns whether it does. */
static int named_class(struct regex *x, struct points *set)
{
	static const struct {
		char name;
		uint32_t range[10][2];
	} classes[] = {
		{ 'd', { { '0', '9' } } },
		{ 'w', { { '0', '9' }, { 'A', 'Z' }, { 'a', 'z' }, { '_', '_' } } },
		{ 's', { { '\t', '\r' }, { ' ', ' ' }, { 0xa0, 0xa0 }, { 0x1680, 0x1680 }, { 0x2000, 0x200a },
			{ 0x2028, 0x2029 }, { 0x202f, 0x202f }, { 0x205f, 0x205f }, { 0x3000, 0x3000 },
			{ 0xfeff, 0xfeff } } },
	};
	int name = x->end - x->at > 1 && *x->at == '\\' ? x->at[1] : 0;
	struct points class = { 0 };
	size_t k = 0;

	while (k < 3 && classes[k].name != (name | 0x20))
		k++;
	if (k == 3)
		return 0;
	x->at += 2;
	for (size_t i = 0; i < 10 && classes[k].range[i][1]; i++)
		add_points(x, &class, classes[k].range[i][0], classes[k].range[i][1]);
	if (points_settle(&class, name < 'a'))
		schema_no_memory(x->c);
	for (size_t i = 0; i < class.n; i++)
		add_points(x, set, class.range[i].first, class.range[i].last);
	points_free(&class);
	return 1;
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

/* Reads a character or a class by name; in a class in brackets also a range. */
static void member(struct regex *x, struct points *set, int in_class)
{
	int32_t first, last;

	if (named_class(x, set))
		return;
	first = last = character(x, in_class);
	if (in_class && first >= 0 && x->end - x->at > 1 && *x->at == '-' && x->at[1] != ']') {
		if (x->at[1] == '\\' && x->end - x->at > 2 && strchr("dDwWsS", x->at[2]))
			refuse(x, "a range that ends in a class");
		x->at++;
		last = character(x, 1);
	}
	if (first > last)
		refuse(x, "a range that ends before it begins");
	if (!x->c->failed)
		add_points(x, set, (uint32_t)first, (uint32_t)last);
}

/* A character or a set of them. */
static struct gbnf_expr *set(struct regex *x)
{
	struct gbnf_expr *out = gbnf_never();
	struct points points = { 0 };
	int not = 0, c = peek(x);

	x->at += c == '.' || c == '[';
	if (c == '.') {
		not = 1;
		add_points(x, &points, '\n', '\n');
		add_points(x, &points, '\r', '\r');
		add_points(x, &points, 0x2028, 0x2029);
	} else if (c == '[') {
		not = peek(x) == '^';
		x->at += not;
		while (!x->c->failed && peek(x) != ']')
			if (peek(x) < 0)
				refuse(x, "a class that is not closed");
			else
				member(x, &points, 1);
		x->at++;
	} else {
		member(x, &points, 0);
	}
	if (points_settle(&points, not))
		schema_no_memory(x->c);
	if (!x->c->failed)
		out = write_points(x, &points);
	points_free(&points);
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
	if (from >= 0 && peek(x) == ',') {
		x->at++;
		to = peek(x) == '}' ? GBNF_FOREVER : number(x);
	}
	*low = (uint32_t)from;
	*high = (uint32_t)to;
	if (peek(x) != '}' || from < 0 || to < from)
		refuse(x, "a repetition is {n}, {n,} or {n,m}, of no more than 1000000000");
}

static int is_quantifier(int c)
{
	return c == '*' || c == '+' || c == '?' || c == '{';
}

/* The expression with its repetition, if there is one. */
static struct gbnf_expr *repeated(struct regex *x, struct gbnf_expr *e, struct schema_span *span)
{
	uint32_t low = peek(x) == '+', high = peek(x) == '?' ? 1 : GBNF_FOREVER;

	if (x->c->failed || !is_quantifier(peek(x)))
		return e;
	if (peek(x) == '{')
		braces(x, &low, &high);
	x->at++;
	if (peek(x) == '?')             /* as few as possible: the same strings */
		x->at++;
	if (is_quantifier(peek(x)))
		refuse(x, "a repetition of a repetition");
	span->min = product(span->min, low);
	span->max = product(span->max, high);
	return gbnf_repeat(&x->c->g, e, low, high);
}

/* A character, a class or a group, with its repetition. */
static struct gbnf_expr *element(struct regex *x, struct schema_span *span)
{
	*span = (struct schema_span){ 1, 1 };
	if (peek(x) == '^')
		refuse(x, "^ anywhere but at the beginning is not supported");
	else if (is_quantifier(peek(x)))
		refuse(x, "a repetition with nothing before it");
	if (x->c->failed)
		return gbnf_never();
	return repeated(x, peek(x) == '(' ? group(x, span) : set(x), span);
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
