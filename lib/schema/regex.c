/* Reads patterns. What is not known is an error that names it. */
#include "regex.h"

#include <string.h>

#include "lib/base/hex.h"
#include "lib/base/utf8.h"
#include "lib/grammar/grammar.h"
#include "lib/vocab/unicode.h"
#include "converter.h"

struct reading {
	struct converter *c;
	const char *at, *end;
	int depth;
};

static int refuse(struct reading *x, const char *what)
{
	return schema_fail(x->c, "pattern: %s", what);
}

static int peek(const struct reading *x)
{
	return x->at < x->end ? (unsigned char)*x->at : -1;
}

static int begins_with(const struct reading *x, const char *s)
{
	size_t n = strlen(s);

	return (size_t)(x->end - x->at) >= n && !memcmp(x->at, s, n);
}

static struct regex *make(struct reading *x, enum regex_kind kind)
{
	struct regex *r = arena_array(&x->c->arena, 1, sizeof *r);

	if (!r)
		schema_no_memory(x->c);
	else
		r->kind = kind;
	return r;
}

/* ---- characters ---- */

static void add_points(struct converter *c, struct points *set, uint32_t first, uint32_t last)
{
	if (points_add(set, first, last))
		schema_no_memory(c);
}

void regex_keep(struct converter *c, struct points *set, int not)
{
	struct points kept = { .n = set->n };

	if (points_settle(set, not))
		schema_no_memory(c);
	kept.n = set->n;
	kept.range = c->failed ? NULL : arena_array(&c->arena, set->n + 1, sizeof *kept.range);
	if (!kept.range)
		schema_no_memory(c);
	else if (set->n)
		memcpy(kept.range, set->range, set->n * sizeof *kept.range);
	kept.n = kept.range ? set->n : 0;
	points_free(set);
	*set = kept;
}

static const struct named_class {
	char name;
	uint32_t range[10][2];
} classes[] = {
	{ 'd', { { '0', '9' } } },
	{ 'w', { { '0', '9' }, { 'A', 'Z' }, { 'a', 'z' }, { '_', '_' } } },
	{ 's', { { '\t', '\r' }, { ' ', ' ' }, { 0xa0, 0xa0 }, { 0x1680, 0x1680 }, { 0x2000, 0x200a },
		{ 0x2028, 0x2029 }, { 0x202f, 0x202f }, { 0x205f, 0x205f }, { 0x3000, 0x3000 },
		{ 0xfeff, 0xfeff } } },
};

static struct points points_of_class(struct converter *c, const struct named_class *class)
{
	struct points set = { 0 };

	for (size_t i = 0; i < 10 && class->range[i][1]; i++)
		add_points(c, &set, class->range[i][0], class->range[i][1]);
	return set;
}

struct points regex_word(struct converter *c, int not)
{
	struct points set = points_of_class(c, &classes[1]);

	regex_keep(c, &set, not);
	return set;
}

/* Adds the class or its complement. */
static void add_class(struct reading *x, struct points *set, struct points *class, int not)
{
	if (points_settle(class, not))
		schema_no_memory(x->c);
	for (size_t i = 0; i < class->n; i++)
		add_points(x->c, set, class->range[i].first, class->range[i].last);
	points_free(class);
}

static const struct property {
	const char *name;
	unsigned classes;               /* of unicode.h: a set of bits */
} properties[] = {
#define LETTERS (1u << UNICODE_LU | 1u << UNICODE_LL | 1u << UNICODE_LT | 1u << UNICODE_LM | 1u << UNICODE_LO)
	{ "L", LETTERS }, { "Letter", LETTERS }, { "Lu", 1u << UNICODE_LU }, { "Uppercase_Letter", 1u << UNICODE_LU },
	{ "Ll", 1u << UNICODE_LL }, { "Lowercase_Letter", 1u << UNICODE_LL }, { "Lt", 1u << UNICODE_LT },
	{ "Lm", 1u << UNICODE_LM }, { "Lo", 1u << UNICODE_LO }, { "M", 1u << UNICODE_MARK },
	{ "Mark", 1u << UNICODE_MARK }, { "N", 1u << UNICODE_NUMBER }, { "Number", 1u << UNICODE_NUMBER },
	{ "P", 1u << UNICODE_PUNCTUATION }, { "Punctuation", 1u << UNICODE_PUNCTUATION },
	{ "S", 1u << UNICODE_SYMBOL }, { "Symbol", 1u << UNICODE_SYMBOL },
#undef LETTERS
};

/* The property that stands after \p. NULL: the reason is set. */
static const struct property *read_property(struct reading *x)
{
	static const char category[] = "General_Category=", short_category[] = "gc=";
	const char *close = memchr(x->at, '}', (size_t)(x->end - x->at)), *name;

	if (peek(x) == '{' && close) {
		x->at++;
		x->at += begins_with(x, category) ? strlen(category)
			: begins_with(x, short_category) ? strlen(short_category) : 0;
		name = x->at;
		x->at = close + 1;
		for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
			if (strlen(properties[i].name) == (size_t)(close - name)
				&& !memcmp(properties[i].name, name, (size_t)(close - name)))
				return &properties[i];
	}
	refuse(x, "of the Unicode properties only L, Lu, Ll, Lt, Lm, Lo, M, N, P and S are supported (\\p{L})");
	return NULL;
}

/* Unassigned characters have no property and are in no complement: a later version of Unicode may assign them. */
static void add_property(struct reading *x, struct points *set, int not)
{
	const struct property *p = read_property(x);

	for (uint32_t c = 0, end; p && c < UNICODE_END; c = end) {
		enum unicode_class class = unicode_class(c);

		for (end = c + 1; end < UNICODE_END && unicode_class(end) == class; end++)
			;
		if (class != UNICODE_OTHER && (p->classes >> class & 1) != (unsigned)not)
			add_points(x->c, set, c, end - 1);
	}
}

/* Reads \d, \s, \w, \p or their complements, if one stands here; returns whether it does. */
static int named_class(struct reading *x, struct points *set)
{
	int name = x->end - x->at > 1 && *x->at == '\\' ? x->at[1] : 0;
	struct points class;

	if (name == 'p' || name == 'P') {
		x->at += 2;
		add_property(x, set, name == 'P');
		return 1;
	}
	for (size_t k = 0; k < sizeof classes / sizeof *classes; k++)
		if (name && classes[k].name == (name | 0x20)) {
			x->at += 2;
			class = points_of_class(x->c, &classes[k]);
			add_class(x, set, &class, name < 'a');
			return 1;
		}
	return 0;
}

static int hex(struct reading *x, int digits)
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

/* The code point of \u{H...}, past whose opening brace the position is. */
static int32_t braced_hex(struct reading *x)
{
	int32_t c = 0;
	int digit, n = 0;

	for (; (digit = hex_digit(peek(x))) >= 0 && c <= 0x10ffff; x->at++, n++)
		c = c << 4 | digit;
	if (!n || peek(x) != '}' || c > 0x10ffff)
		return refuse(x, "\\u{ must be followed by a code point and }");
	x->at++;
	return c;
}

/* After \x or \u. */
static int32_t numbered(struct reading *x, int e)
{
	int32_t c, low;

	if (e == 'u' && peek(x) == '{') {
		x->at++;
		c = braced_hex(x);
	} else {
		c = hex(x, e == 'x' ? 2 : 4);
		if (c >= 0xd800 && c <= 0xdbff && begins_with(x, "\\u")) {
			x->at += 2;
			low = hex(x, 4);
			if (low < 0)
				return -1;
			c = low >= 0xdc00 && low <= 0xdfff ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : c;
		}
	}
	return c >= 0xd800 && c <= 0xdfff ? refuse(x, "half a surrogate pair") : c;
}

/* The character after a backslash, past which the position is. -1: the reason is set. */
static int32_t escaped(struct reading *x, int in_class)
{
	static const char from[] = "nrtfv0", to[] = "\n\r\t\f\v\0", plain[] = "^$\\.*+?()[]{}|/-\"'#&,:;<=>@!%`~_ ";
	int e = peek(x), letter;
	const char *hit = e > 0 ? strchr(from, e) : NULL;

	x->at++;
	if (e == 'x' || e == 'u')
		return numbered(x, e);
	if (hit)
		return to[hit - from];
	if (e > 0 && strchr(plain, e))
		return e;
	if (e == 'b' && in_class)
		return '\b';
	letter = peek(x) | 0x20;
	if (e == 'c' && letter >= 'a' && letter <= 'z') {
		x->at++;
		return letter - 'a' + 1;
	}
	if ((e >= '1' && e <= '9') || e == 'k')
		return refuse(x, "back references are not supported");
	if (e < 0)
		return refuse(x, "it ends in a backslash");
	return schema_fail(x->c, "pattern: the escape \\%c is not supported", e >= ' ' && e < 0x7f ? e : '?');
}

static int32_t character(struct reading *x, int in_class)
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
static void member(struct reading *x, struct points *set, int in_class)
{
	int32_t first, last;

	if (named_class(x, set))
		return;
	first = last = character(x, in_class);
	if (in_class && first >= 0 && x->end - x->at > 1 && *x->at == '-' && x->at[1] != ']') {
		if (x->at[1] == '\\' && x->end - x->at > 2 && strchr("dDwWsSpP", x->at[2]))
			refuse(x, "a range that ends in a class");
		x->at++;
		last = character(x, 1);
	}
	if (first > last)
		refuse(x, "a range that ends before it begins");
	if (!x->c->failed)
		add_points(x->c, set, (uint32_t)first, (uint32_t)last);
}

/* A character or a set of them. */
static struct regex *set(struct reading *x)
{
	struct regex *r = make(x, REGEX_SET);
	struct points points = { 0 };
	int not = 0, c = peek(x);

	x->at += c == '.' || c == '[';
	if (c == '.') {
		not = 1;
		add_points(x->c, &points, '\n', '\n');
		add_points(x->c, &points, '\r', '\r');
		add_points(x->c, &points, 0x2028, 0x2029);
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
	regex_keep(x->c, &points, not);
	if (r)
		r->set = points;
	return r;
}

/* ---- structure ---- */

static struct regex *choice(struct reading *x);

/* Reads "(", "(?:", "(?<name>", "(?=" and its like, and the rest of the group. */
static struct regex *group(struct reading *x)
{
	const char *close = memchr(x->at, '>', (size_t)(x->end - x->at));
	struct regex *look = NULL, *out;

	if (begins_with(x, "(?=") || begins_with(x, "(?!") || begins_with(x, "(?<=") || begins_with(x, "(?<!")) {
		look = make(x, REGEX_LOOK);
		if (!look)
			return NULL;
		look->behind = x->at[2] == '<';
		x->at += 2 + look->behind;
		look->not = *x->at++ == '!';
	} else if (begins_with(x, "(?:")) {
		x->at += 3;
	} else if (begins_with(x, "(?<") && close) {
		x->at = close + 1;
	} else {
		if (begins_with(x, "(?"))
			refuse(x, "a group may begin with (?:, (?=, (?!, (?<=, (?<! or (?<name>");
		x->at++;
	}
	if (++x->depth > GRAMMAR_DEPTH / 4)
		refuse(x, "groups are nested too deeply");
	out = x->c->failed ? NULL : choice(x);
	x->depth--;
	if (!x->c->failed && peek(x) != ')')
		refuse(x, "a group that is not closed");
	x->at++;
	if (!look)
		return out;
	look->child = out;
	return look;
}

/* Reads a number. -1: there is none, or it is too large. */
static int64_t number(struct reading *x)
{
	const char *from = x->at;
	int64_t v = 0;

	for (; peek(x) >= '0' && peek(x) <= '9'; x->at++)
		v = v > GRAMMAR_REPEAT ? v : v * 10 + (*x->at - '0');
	return x->at == from || v > GRAMMAR_REPEAT ? -1 : v;
}

/* Reads {n}, {n,} or {n,m}, from the opening brace up to the closing one. */
static void braces(struct reading *x, uint32_t *low, uint32_t *high)
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

/* r with its repetition, if there is one. */
static struct regex *repeated(struct reading *x, struct regex *r)
{
	struct regex *out;

	if (x->c->failed || !is_quantifier(peek(x)) || !(out = make(x, REGEX_REPEAT)))
		return r;
	out->child = r;
	out->low = peek(x) == '+';
	out->high = peek(x) == '?' ? 1 : GBNF_FOREVER;
	if (peek(x) == '{')
		braces(x, &out->low, &out->high);
	x->at++;
	if (peek(x) == '?')             /* as few as possible: the same strings */
		x->at++;
	if (is_quantifier(peek(x)))
		refuse(x, "a repetition of a repetition");
	return out;
}

/* An assertion, or a character, a class or a group with its repetition. */
static struct regex *element(struct reading *x)
{
	struct regex *r;

	if (peek(x) == '^' || peek(x) == '$')
		return make(x, *x->at++ == '^' ? REGEX_BEGIN : REGEX_END);
	if (begins_with(x, "\\b") || begins_with(x, "\\B")) {
		r = make(x, REGEX_BORDER);
		if (r)
			r->not = x->at[1] == 'B';
		x->at += 2;
		return r;
	}
	if (is_quantifier(peek(x)))
		refuse(x, "a repetition with nothing before it");
	return x->c->failed ? NULL : repeated(x, peek(x) == '(' ? group(x) : set(x));
}

/* Up to the end, a '|' or a ')'. */
static struct regex *sequence(struct reading *x)
{
	struct regex *out = make(x, REGEX_SEQUENCE), **last = out ? &out->child : NULL;

	while (!x->c->failed && peek(x) >= 0 && peek(x) != '|' && peek(x) != ')')
		if ((*last = element(x)))
			last = &(*last)->next;
	return out;
}

static struct regex *choice(struct reading *x)
{
	struct regex *out = make(x, REGEX_CHOICE), **last;

	if (!out || !(out->child = sequence(x)))
		return NULL;
	for (last = &out->child->next; !x->c->failed && peek(x) == '|'; last = &(*last)->next) {
		x->at++;
		if (!(*last = sequence(x)))
			break;
	}
	return out;
}

struct regex *regex_parse(struct converter *c, const char *pattern, size_t n)
{
	struct reading x = { .c = c, .at = pattern, .end = pattern + n };
	struct regex *out = choice(&x);

	if (!c->failed && peek(&x) == ')')
		refuse(&x, "')' without '('");
	return c->failed ? NULL : out;
}

/* ---- what there is to know about one ---- */

static uint32_t sum(uint32_t a, uint32_t b)
{
	return a == UINT32_MAX || b == UINT32_MAX || a + b < a ? UINT32_MAX : a + b;
}

static uint32_t product(uint32_t a, uint32_t b)
{
	uint64_t p = (uint64_t)a * b;

	return !a || !b ? 0 : a == UINT32_MAX || b == UINT32_MAX || p > UINT32_MAX ? UINT32_MAX : (uint32_t)p;
}

struct regex_span regex_span(const struct regex *r)
{
	struct regex_span out = { 0, 0 }, one;

	switch (r->kind) {
	case REGEX_SET:
		return (struct regex_span){ 1, 1 };
	case REGEX_REPEAT:
		one = regex_span(r->child);
		return (struct regex_span){ product(one.min, r->low), product(one.max, r->high) };
	case REGEX_CHOICE:
		out = regex_span(r->child);
		for (const struct regex *i = r->child->next; i; i = i->next) {
			one = regex_span(i);
			out.min = one.min < out.min ? one.min : out.min;
			out.max = one.max > out.max ? one.max : out.max;
		}
		return out;
	case REGEX_SEQUENCE:
		for (const struct regex *i = r->child; i; i = i->next) {
			one = regex_span(i);
			out = (struct regex_span){ sum(out.min, one.min), sum(out.max, one.max) };
		}
		return out;
	case REGEX_BEGIN: case REGEX_END: case REGEX_BORDER: case REGEX_LOOK:
		break;
	}
	return out;
}

int regex_asserts(const struct regex *r)
{
	if (r->kind >= REGEX_BEGIN)
		return 1;
	for (const struct regex *i = r->kind == REGEX_SET ? NULL : r->child; i; i = i->next)
		if (regex_asserts(i))
			return 1;
	return 0;
}

void regex_limit(struct regex *r, uint32_t most)
{
	if (r->kind == REGEX_REPEAT && r->high > most)
		r->high = r->low > most ? r->low : most;
	for (struct regex *i = r->kind == REGEX_SET ? NULL : r->child; i; i = i->next)
		regex_limit(i, most);
}
