/* Characters of a pattern, and sets of them: escapes, classes, properties. */
#include "regex_reading.h"

#include "lib/base/hex.h"
#include "lib/base/utf8.h"
#include "lib/vocab/unicode.h"

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
static void add_class(struct regex_reading *x, struct points *set, struct points *class, int not)
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
static const struct property *read_property(struct regex_reading *x)
{
	static const char category[] = "General_Category=", short_category[] = "gc=";
	const char *close = memchr(x->at, '}', (size_t)(x->end - x->at)), *name;

	if (regex_peek(x) == '{' && close) {
		x->at++;
		x->at += regex_begins(x, category) ? strlen(category)
			: regex_begins(x, short_category) ? strlen(short_category) : 0;
		name = x->at;
		x->at = close + 1;
		for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
			if (strlen(properties[i].name) == (size_t)(close - name)
				&& !memcmp(properties[i].name, name, (size_t)(close - name)))
				return &properties[i];
	}
	regex_refuse(x, "of the Unicode properties only L, Lu, Ll, Lt, Lm, Lo, M, N, P and S are supported (\\p{L})");
	return NULL;
}

/* Unassigned characters have no property and are in no complement: a later version of Unicode may assign them. */
static void add_property(struct regex_reading *x, struct points *set, int not)
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
static int named_class(struct regex_reading *x, struct points *set)
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

static int hex(struct regex_reading *x, int digits)
{
	int c = 0;

	while (digits--) {
		int digit = hex_digit(regex_peek(x));

		if (digit < 0)
			return regex_refuse(x, "\\x must be followed by two hexadecimal digits, \\u by four");
		c = c << 4 | digit;
		x->at++;
	}
	return c;
}

/* The code point of \u{H...}, past whose opening brace the position is. */
static int32_t braced_hex(struct regex_reading *x)
{
	int32_t c = 0;
	int digit, n = 0;

	for (; (digit = hex_digit(regex_peek(x))) >= 0 && c <= 0x10ffff; x->at++, n++)
		c = c << 4 | digit;
	if (!n || regex_peek(x) != '}' || c > 0x10ffff)
		return regex_refuse(x, "\\u{ must be followed by a code point and }");
	x->at++;
	return c;
}

/* After \x or \u. */
static int32_t numbered(struct regex_reading *x, int e)
{
	int32_t c, low;

	if (e == 'u' && regex_peek(x) == '{') {
		x->at++;
		c = braced_hex(x);
	} else {
		c = hex(x, e == 'x' ? 2 : 4);
		if (c >= 0xd800 && c <= 0xdbff && regex_begins(x, "\\u")) {
			x->at += 2;
			low = hex(x, 4);
			if (low < 0)
				return -1;
			c = low >= 0xdc00 && low <= 0xdfff ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : c;
		}
	}
	return c >= 0xd800 && c <= 0xdfff ? regex_refuse(x, "half a surrogate pair") : c;
}

/* The character after a backslash, past which the position is. -1: the reason is set. */
static int32_t escaped(struct regex_reading *x, int in_class)
{
	static const char from[] = "nrtfv0", to[] = "\n\r\t\f\v\0", plain[] = "^$\\.*+?()[]{}|/-\"'#&,:;<=>@!%`~_ ";
	int e = regex_peek(x), letter;
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
	letter = regex_peek(x) | 0x20;
	if (e == 'c' && letter >= 'a' && letter <= 'z') {
		x->at++;
		return letter - 'a' + 1;
	}
	if ((e >= '1' && e <= '9') || e == 'k')
		return regex_refuse(x, "back references are not supported");
	if (e < 0)
		return regex_refuse(x, "it ends in a backslash");
	return schema_fail(x->c, "pattern: the escape \\%c is not supported", e >= ' ' && e < 0x7f ? e : '?');
}

static int32_t character(struct regex_reading *x, int in_class)
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
static void member(struct regex_reading *x, struct points *set, int in_class)
{
	int32_t first, last;

	if (named_class(x, set))
		return;
	first = last = character(x, in_class);
	if (in_class && first >= 0 && x->end - x->at > 1 && *x->at == '-' && x->at[1] != ']') {
		if (x->at[1] == '\\' && x->end - x->at > 2 && strchr("dDwWsSpP", x->at[2]))
			regex_refuse(x, "a range that ends in a class");
		x->at++;
		last = character(x, 1);
	}
	if (first > last)
		regex_refuse(x, "a range that ends before it begins");
	if (!x->c->failed)
		add_points(x->c, set, (uint32_t)first, (uint32_t)last);
}

void regex_read_set(struct regex_reading *x, struct points *set)
{
	int not = 0, c = regex_peek(x);

	x->at += c == '.' || c == '[';
	if (c == '.') {
		not = 1;
		add_points(x->c, set, '\n', '\n');
		add_points(x->c, set, '\r', '\r');
		add_points(x->c, set, 0x2028, 0x2029);
	} else if (c == '[') {
		not = regex_peek(x) == '^';
		x->at += not;
		while (!x->c->failed && regex_peek(x) != ']')
			if (regex_peek(x) < 0)
				regex_refuse(x, "a class that is not closed");
			else
				member(x, set, 1);
		x->at++;
	} else {
		member(x, set, 0);
	}
	regex_keep(x->c, set, not);
}
