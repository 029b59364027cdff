/* str.encode() and the bytes that it makes. */
#include "builtin.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct encoding {
	const char *names;              /* between spaces; the first is for messages */
	int32_t end;                    /* after the last code point */
	int unit;                       /* bytes of a unit: 1, 2 or 4 */
	bool big, mark;                 /* the order of bytes; begins with a byte-order mark */
} encodings[] = {
	{ "utf-8 utf8 u8", 0x110000, 1, false, false }, { "ascii us-ascii", 0x80, 1, false, false },
	{ "latin-1 latin1 iso-8859-1 l1", 0x100, 1, false, false }, { "utf-16 utf16", 0x110000, 2, false, true },
	{ "utf-16-le utf-16le", 0x110000, 2, false, false }, { "utf-16-be utf-16be", 0x110000, 2, true, false },
	{ "utf-32 utf32", 0x110000, 4, false, true }, { "utf-32-le utf-32le", 0x110000, 4, false, false },
	{ "utf-32-be utf-32be", 0x110000, 4, true, false },
};

/* The encoding of that name, in any case and with _ for -. */
static const struct encoding *find(struct env *e, struct jv name)
{
	char folded[32];

	if (name.n < sizeof folded) {
		for (uint32_t i = 0; i < name.n; i++)
			folded[i] = name.s[i] == '_' ? '-' : name.s[i];
		for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
			for (const char *s = encodings[i].names; *s; s += strcspn(s, " "), s += *s == ' ')
				if (strcspn(s, " ") == name.n && !strncasecmp(s, folded, name.n))
					return &encodings[i];
	}
	env_fail(e, "unknown encoding: %.*s", JV_SHOWN(name));
}

static void put_unit(struct env *e, const struct encoding *to, uint32_t unit)
{
	char out[4];

	for (int i = 0; i < to->unit; i++)
		out[to->big ? to->unit - 1 - i : i] = (char)(unit >> 8 * i);
	env_put(e, out, (size_t)to->unit);
}

static void put_code(struct env *e, const struct encoding *to, int32_t c)
{
	char out[4];

	if (to == encodings) {
		env_put(e, out, utf8_put(out, c));
	} else if (to->unit == 2 && c > 0xffff) {
		put_unit(e, to, 0xd800 + (uint32_t)(c - 0x10000) / 0x400);
		put_unit(e, to, 0xdc00 + (uint32_t)(c - 0x10000) % 0x400);
	} else
		put_unit(e, to, (uint32_t)c);
}

/* What takes the place of a character that the encoding does not have. */
static void put_missing(struct env *e, const struct encoding *to, struct jv errors, int32_t c, size_t number)
{
	char out[16] = "";

	if (jv_is(errors, "replace"))
		strcpy(out, "?");
	else if (jv_is(errors, "xmlcharrefreplace"))
		snprintf(out, sizeof out, "&#%d;", (int)c);
	else if (jv_is(errors, "backslashreplace"))
		snprintf(out, sizeof out, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
	else if (!jv_is(errors, "ignore"))
		env_fail(e, "'%.*s' codec can't encode character U+%04X in position %zu", (int)strcspn(to->names, " "),
			to->names, (unsigned)c, number);
	env_puts(e, out);
}

struct jv text_encode(struct env *e, struct call *c)
{
	const struct encoding *to = find(e, arg_str(e, c, 0, jv_str("utf-8", 5)));
	struct jv errors = arg_str(e, c, 1, jv_str("strict", 6)), rest = c->self, one, out;
	size_t start = e->out->n, number = 0;
	int32_t ch;

	env_tick(e, rest.n);
	if (to->mark)
		put_code(e, to, 0xfeff);
	for (; jv_next(&rest, &one, &ch); number++) {
		if (ch >= 0 && ch < to->end)
			put_code(e, to, ch);
		else if (ch < 0 && to == encodings)
			jv_put(e, one);         /* a byte that is not UTF-8 stays */
		else
			put_missing(e, to, errors, ch < 0 ? UTF8_BAD : ch, number);
	}
	out = jv_since(e, start);
	out.kind = JV_BYTES;
	return out;
}

static uint32_t unit_at(const struct encoding *from, const char *s)
{
	uint32_t unit = 0;

	for (int i = 0; i < from->unit; i++)
		unit = unit << 8 | (unsigned char)s[from->big ? i : from->unit - 1 - i];
	return unit;
}

/* Takes a character off s, which is not empty; -1 if it is malformed. */
static int32_t take_code(const struct encoding *from, struct jv *s)
{
	uint32_t unit, low;
	unsigned used;
	int32_t c;

	if (from == encodings) {
		c = utf8_next(s->s, s->n, &used);
		*s = jv_str(s->s + used, s->n - used);
		return c;
	}
	if (s->n < (uint32_t)from->unit) {
		s->n = 0;
		return -1;
	}
	unit = unit_at(from, s->s);
	*s = jv_str(s->s + from->unit, s->n - (uint32_t)from->unit);
	if (unit < 0xd800 || unit > 0xdfff || from->unit == 1)
		return unit < (uint32_t)from->end ? (int32_t)unit : -1;
	low = from->unit == 2 && unit < 0xdc00 && s->n >= 2 ? unit_at(from, s->s) : 0;
	if (low < 0xdc00 || low > 0xdfff)
		return -1;
	*s = jv_str(s->s + 2, s->n - 2);
	return (int32_t)(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
}

struct jv bytes_decode(struct env *e, struct call *c)
{
	const struct encoding *from = find(e, arg_str(e, c, 0, jv_str("utf-8", 5)));
	struct jv errors = arg_str(e, c, 1, jv_str("strict", 6)), rest = jv_str(c->self.s, c->self.n);
	size_t start = e->out->n;
	bool first = true;
	char out[4];
	int32_t ch;

	env_tick(e, rest.n);
	for (; rest.n; first = false) {
		ch = take_code(from, &rest);
		if (first && from->mark && ch == 0xfeff)
			continue;
		if (ch < 0 && jv_is(errors, "ignore"))
			continue;
		if (ch < 0 && !jv_is(errors, "replace"))
			env_fail(e, "'%.*s' codec can't decode the bytes", (int)strcspn(from->names, " "), from->names);
		env_put(e, out, utf8_put(out, ch < 0 ? UTF8_BAD : ch));
	}
	return jv_since(e, start);
}

struct jv bytes_hex(struct env *e, struct call *c)
{
	size_t start = e->out->n;

	env_tick(e, c->self.n);
	for (uint32_t i = 0; i < c->self.n; i++)
		env_printf(e, "%02x", (unsigned char)c->self.s[i]);
	return jv_since(e, start);
}
