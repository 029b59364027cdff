/* Python's two kinds of formatting: "..." % args and "...".format(args). */
#include "builtin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDEST = INT32_MAX };

/* One field: [[fill]align][sign][#][0][width][,][.precision][type] */
struct field {
	struct jv fill;
	char align, sign, type, separator;
	bool alternate, zero;
	int64_t width, precision;   /* precision -1: not given */
};

static const struct field no_field = { .fill = { .kind = JV_STR, .n = 1, .s = " " }, .precision = -1 };

/* Takes the first byte off *s if it is one of `bytes`, else returns NUL. */
static char take(struct jv *s, const char *bytes)
{
	if (!s->n || !memchr(bytes, *s->s, strlen(bytes)))
		return '\0';
	s->n--;
	return *s->s++;
}

/* Takes digits; more than WIDEST is WIDEST + 1. */
static int64_t take_digits(struct jv *s)
{
	int64_t n = 0;

	for (char c; (c = take(s, "0123456789"));)
		n = n <= WIDEST / 10 ? n * 10 + (c - '0') : (int64_t)WIDEST + 1;
	return n;
}

/* Takes everything before one of `stops`. */
static struct jv take_until(struct jv *s, const char *stops)
{
	uint32_t n = 0;
	struct jv out;

	while (n < s->n && !memchr(stops, s->s[n], strlen(stops)))
		n++;
	out = jv_str(s->s, n);
	*s = jv_str(s->s + n, s->n - n);
	return out;
}

void format_padded(struct env *e, struct jv s, struct jv fill, int64_t width, char align, size_t head)
{
	int64_t n = (int64_t)text_length(s.s, s.n), room = width > n ? width - n : 0, before;

	if (room > (int64_t)e->arena->limit)
		env_full(e);
	env_tick(e, s.n / 16 + (uint64_t)room / 4);
	before = align == '<' ? 0 : align == '^' ? room / 2 : align == 'c' ? room / 2 + (room & width & 1) : room;
	head = align == '=' ? head : 0;
	env_put(e, s.s, head);
	for (int64_t i = 0; i <= room; i++) {
		if (i == before)
			env_put(e, s.s + head, s.n - head);
		if (i < room)
			jv_put(e, fill);
	}
}

/* Puts the number s in the field, with its sign, the base's prefix, zeros up to the precision of an integer, separators
 * and padding. */
static void put_number(struct env *e, const struct field *f, const char *s, bool whole)
{
	int64_t every = f->type && strchr("xXob", f->type) ? 4 : 3, group, n, zeros;
	size_t start = e->out->n, head;
	bool minus = *s == '-';

	s += minus;
	env_puts(e, minus ? "-" : f->sign == '+' ? "+" : f->sign == ' ' ? " " : "");
	if (whole && f->alternate && every == 4)
		env_printf(e, "0%c", f->type);
	head = e->out->n - start;
	n = (int64_t)strlen(s);
	zeros = whole ? f->precision - n : 0;
	group = (int64_t)strspn(s, every == 4 ? "0123456789abcdefABCDEF" : "0123456789");
	if (f->separator && f->align == '=' && *f->fill.s == '0')
		for (zeros = 0; (int64_t)head + (group + zeros - 1) / every + n + zeros < f->width;)
			zeros++;
	zeros = zeros < 0 ? 0 : zeros;
	for (int64_t i = 0, all = zeros + group; i < all; i++) {
		if (f->separator && i && (all - i) % every == 0)
			env_put(e, &f->separator, 1);
		env_put(e, i < zeros ? "0" : s++, 1);
	}
	env_puts(e, s);
	format_padded(e, jv_since(e, start), f->fill, f->width, f->align ? f->align : '>', head);
}

static void put_integer(struct env *e, const struct field *f, struct jv v)
{
	unsigned base = f->type == 'x' || f->type == 'X' ? 16 : f->type == 'o' ? 8 : f->type == 'b' ? 2 : 10;
	char digits[72], *p = digits + sizeof digits - 1;
	uint64_t magnitude;

	if (v.kind == JV_BIG && base != 10)
		env_fail(e, "an integer does not fit 64 bits");
	if (v.kind == JV_BIG) {
		put_number(e, f, v.s, true);
		return;
	}
	magnitude = jv_integer(v) < 0 ? -(uint64_t)jv_integer(v) : (uint64_t)jv_integer(v);
	*p = '\0';
	do
		*--p = (f->type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef")[magnitude % base];
	while (magnitude /= base);
	if (jv_integer(v) < 0)
		*--p = '-';
	put_number(e, f, p, true);
}

/* Without a type: repr(), or with a precision %g that shows a fraction, or an exponent where that has no room. */
static void spell_plain(char *s, size_t size, double d, int precision)
{
	int digits = precision ? precision : 1;

	if (precision < 0) {
		json_spell_float(s, d);
		return;
	}
	snprintf(s, size, "%.*g", digits, d);
	if (!isfinite(d) || strpbrk(s, ".e"))
		return;
	if (strlen(s) - (*s == '-') < (size_t)digits)
		strcat(s, ".0");
	else
		snprintf(s, size, "%.*e", digits - 1, d);
}

static void put_float(struct env *e, const struct field *f, double d)
{
	char format[] = "%#.*f", *s;
	int precision = f->precision < 0 ? 6 : (int)f->precision;
	size_t size = (size_t)precision + 400;

	if (f->precision > WIDEST - 400)
		env_full(e);
	env_tick(e, size / 8);
	s = env_text(e, size);
	if (f->type) {
		format[4] = f->type == '%' ? 'f' : f->type == 'n' ? 'g' : f->type;
		if (!f->alternate)
			memmove(format + 1, format + 2, 4);
		snprintf(s, size, format, precision, f->type == '%' ? d * 100 : d);
		if (f->type == '%')
			strcat(s, "%");
	} else {
		spell_plain(s, size, d, (int)f->precision);
	}
	put_number(e, f, s, false);
}

/* A string, or the character of a code point. */
static void put_text(struct env *e, const struct field *f, struct jv v, char usual)
{
	char out[4];

	if (f->type == 'c' && v.kind != JV_STR) {
		if (!jv_in(v, JV_INTEGERS) || jv_integer(v) < 0 || jv_integer(v) > 0x10ffff)
			env_fail(e, "%%c requires int or char");
		v = jv_str(out, utf8_put(out, (int32_t)jv_integer(v)));
	}
	if (f->precision >= 0)
		v.n = (uint32_t)text_offset(v.s, v.n, f->precision);
	format_padded(e, v, f->fill, f->width, f->align ? f->align : usual, 0);
}

/* The value in a field of either kind. */
static void put_value(struct env *e, const struct field *f, struct jv v)
{
	bool whole = f->type && strchr("dxXob", f->type), real = f->type && strchr("eEfFgGn%", f->type);

	if (f->width > WIDEST || (uint64_t)f->width > e->arena->limit || f->precision > WIDEST)
		env_full(e);
	env_tick(e, 1 + (f->precision > 0 ? (uint64_t)f->precision / 16 : 0));
	if (v.kind == JV_FLOAT && f->type == 'd')
		v = number_truncated(e, v.d);
	if (v.kind == JV_BIG && real)
		v = jv_float(strtod(v.s, NULL));
	if (whole && !jv_in(v, JV_INTEGERS | KIND(JV_BIG)))
		env_fail(e, "an integer is required for the format '%c', not %s", f->type, jv_type(v));
	if (real && !jv_in(v, JV_NUMBERS))
		env_fail(e, "a number is required for the format '%c', not %s", f->type, jv_type(v));
	if (real || (v.kind == JV_FLOAT && !f->type))
		put_float(e, f, jv_number(v));
	else if (whole || (jv_in(v, KIND(JV_INT) | KIND(JV_BIG)) && !f->type))
		put_integer(e, f, v);
	else
		put_text(e, f, jv_to_str(e, v), '<');
}

/* repr(), or ascii(). */
static struct jv repr(struct env *e, struct jv v, bool ascii)
{
	size_t start = e->out->n;
	struct jv s, one;
	int32_t c;

	jv_put_repr(e, v);
	s = jv_since(e, start);
	if (!ascii)
		return s;
	while (jv_next(&s, &one, &c)) {
		if (text_is(c, TEXT_ASCII))
			jv_put(e, one);
		else
			env_printf(e, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
	}
	return jv_since(e, start);
}

struct percent {
	struct jv rest, args;
	uint32_t taken;
	bool markup;
};

/* The next argument. */
static struct jv next_argument(struct env *e, struct percent *p)
{
	uint32_t n = p->args.kind == JV_TUPLE ? p->args.list->n : 1;

	if (p->taken >= n)
		env_fail(e, "not enough arguments for format string");
	return p->args.kind == JV_TUPLE ? p->args.list->items[p->taken++] : (p->taken++, p->args);
}

/* The argument of %(name), with the cursor on the name. */
static struct jv named_argument(struct env *e, struct percent *p)
{
	struct jv name = take_until(&p->rest, ")"), *v;

	if (!take(&p->rest, ")"))
		env_fail(e, "incomplete format key");
	v = p->args.kind == JV_DICT ? jv_dict_get(e, p->args.dict, name) : NULL;
	if (!v)
		env_fail(e, "the format requires a mapping with that name");
	return *v;
}

/* A width or precision: digits or '*', for an argument. */
static int64_t percent_number(struct env *e, struct percent *p)
{
	struct jv v;

	if (!take(&p->rest, "*"))
		return take_digits(&p->rest);
	v = next_argument(e, p);
	if (!jv_in(v, JV_INTEGERS))
		env_fail(e, "* wants int");
	return jv_integer(v) > WIDEST || jv_integer(v) < -WIDEST ? (int64_t)WIDEST + 1 : jv_integer(v);
}

/* [flags][width][.precision][length]type */
static struct field percent_field(struct env *e, struct percent *p)
{
	struct field f = no_field;

	f.align = '>';
	for (char c; (c = take(&p->rest, "-+ #0"));) {
		if (c == '-')
			f.align = '<';
		else if (c == '#')
			f.alternate = true;
		else if (c == '0')
			f.zero = true;
		else
			f.sign = c;
	}
	f.width = percent_number(e, p);
	if (f.width < 0) {
		f.width = -f.width;
		f.align = '<';
	}
	if (take(&p->rest, ".")) {
		f.precision = percent_number(e, p);
		f.precision = f.precision < 0 ? 0 : f.precision;
	}
	take(&p->rest, "hlL");
	f.type = take(&p->rest, "sradiuxXoeEfFgGc%");
	if (!f.type)
		env_fail(e, "incomplete or unsupported format");
	return f;
}

static void put_percent(struct env *e, struct percent *p)
{
	struct jv v = take(&p->rest, "(") ? named_argument(e, p) : jv_absent;
	struct field f = percent_field(e, p);

	if (f.type == '%') {
		env_puts(e, "%");
		return;
	}
	if (v.kind == JV_ABSENT)
		v = next_argument(e, p);
	if (f.type == 'c' && v.kind != JV_STR) {
		put_text(e, &f, v, '>');
		return;
	}
	if (f.type == 'c' && text_length(v.s, v.n) != 1)
		env_fail(e, "%%c requires int or char");
	if (f.type == 'r' || f.type == 'a')
		v = repr(e, v, f.type == 'a');
	else if (f.type == 's' || f.type == 'c')
		v = p->markup ? markup_escape(e, v) : jv_to_str(e, v);
	else if (f.zero && f.align == '>') {
		f.fill = jv_str("0", 1);
		f.align = '=';
	}
	f.type = strchr("rac", f.type) ? 's' : f.type == 'i' || f.type == 'u' ? 'd' : f.type;
	put_value(e, &f, v);
}

struct jv format_percent(struct env *e, struct jv format, struct jv args)
{
	struct percent p = { format, args, 0, format.markup };
	size_t start = e->out->n;

	while (p.rest.n) {
		jv_put(e, take_until(&p.rest, "%"));
		if (take(&p.rest, "%"))
			put_percent(e, &p);
	}
	if (args.kind == JV_TUPLE ? p.taken < args.list->n : !p.taken && args.kind != JV_DICT && args.kind != JV_LIST)
		env_fail(e, "not all arguments converted during string formatting");
	return jv_markup(jv_since(e, start), format.markup);
}

/* The filter: "..."|format(...), by %. */
struct jv text_percent(struct env *e, struct call *c)
{
	struct jv named = { .kind = JV_DICT, .dict = c->kw };

	return format_percent(e, c->self, c->kw && c->kw->n ? named : call_tuple(e, c, 0));
}

static struct field read_spec(struct env *e, struct jv s)
{
	struct field f = no_field;
	struct jv rest = s, first;
	int32_t c;

	if (jv_next(&rest, &first, &c) && (f.align = take(&rest, "<>^="))) {
		f.fill = first;
		s = rest;
	} else {
		f.align = take(&s, "<>^=");
	}
	f.sign = take(&s, "+- ");
	f.alternate = take(&s, "#");
	if (take(&s, "0")) {
		f.fill = jv_str("0", 1);
		f.align = f.align ? f.align : '=';
	}
	f.width = take_digits(&s);
	f.separator = take(&s, ",_");
	if (take(&s, "."))
		f.precision = take_digits(&s);
	f.type = take(&s, "sdxXobceEfFgGn%");
	if (f.precision >= 0 && f.type && strchr("dxXobc", f.type))
		env_fail(e, "Precision not allowed in integer format specifier");
	if (s.n)
		env_fail(e, "invalid format specifier");
	return f;
}

/* A call of "...".format(): its arguments, and how many of them {} has used. */
struct braces {
	const struct call *c;
	uint32_t taken;
};

/* The number that s is, or -1. */
static int64_t index_of(struct jv s)
{
	int64_t n = s.n ? take_digits(&s) : -1;

	return s.n ? -1 : n;
}

/* The value of a replacement field's name: "", "0", "name", with .attributes and [items] after it. */
static struct jv named_value(struct env *e, struct braces *b, struct jv s)
{
	struct jv name = take_until(&s, ".["), *named, v;
	int64_t number = name.n ? index_of(name) : b->taken++;

	if (number >= b->c->n_pos)
		env_fail(e, "replacement index %d out of range", (int)number);
	named = number < 0 && b->c->kw ? jv_dict_get(e, b->c->kw, name) : NULL;
	if (number < 0 && !named)
		env_fail(e, "the format names an argument that was not given");
	v = named ? *named : b->c->pos[number];
	while (s.n) {
		char open = take(&s, ".[");

		if (!open)
			env_fail(e, "Only '.' or '[' may follow ']' in format field specifier");
		name = take_until(&s, open == '[' ? "]" : ".[");
		number = open == '[' ? index_of(name) : -1;
		v = open == '.' ? eval_attribute(e, v, name) : eval_item(e, v, number < 0 ? name : jv_int(number));
		if (open == '[')
			take(&s, "]");
	}
	return v;
}

static struct jv expand(struct env *e, struct braces *b, struct jv rest, int depth);

/* The field between two braces: name[!conversion][:spec]. */
static void put_replacement(struct env *e, struct braces *b, struct jv s, int depth)
{
	struct jv conversion = take_until(&s, ":"), v = named_value(e, b, take_until(&conversion, "!"));
	struct field f = no_field;
	bool spec = false;

	if (take(&s, ":")) {
		s = expand(e, b, s, depth + 1);
		spec = s.n;
		f = read_spec(e, s);
		jv_defined(e, v);
	}
	if (take(&conversion, "!"))
		v = take(&conversion, "s") ? jv_to_str(e, v) : repr(e, v, take(&conversion, "a"));
	else if (b->c->self.markup)
		v = markup_escape(e, v);
	if (spec && v.kind == JV_BOOL)
		v = jv_int(v.b);
	if (spec && !jv_in(v, JV_NUMBERS | KIND(JV_BIG) | KIND(JV_STR)))
		env_fail(e, "unsupported format string passed to %s.__format__", jv_type(v));
	if (f.type == 'c')
		put_text(e, &f, v, '<');
	else if (f.type == 'n' && v.kind != JV_FLOAT)
		put_integer(e, &f, v);
	else
		put_value(e, &f, v);
}

/* The text before the brace that closes the one before *s; takes both. False if there is none. */
static bool take_field(struct jv *s, struct jv *field)
{
	int nesting = 0;

	for (uint32_t n = 0; n < s->n; n++) {
		nesting += s->s[n] == '{';
		if (s->s[n] == '}' && !nesting--) {
			*field = jv_str(s->s, n);
			*s = jv_str(s->s + n + 1, s->n - n - 1);
			return true;
		}
	}
	return false;
}

/* The text with its replacement fields. */
static struct jv expand(struct env *e, struct braces *b, struct jv rest, int depth)
{
	size_t start = e->out->n;
	struct jv field;

	if (depth > 2)
		env_fail(e, "Max string recursion exceeded");
	while (rest.n) {
		char brace[2] = { 0 };

		jv_put(e, take_until(&rest, "{}"));
		*brace = take(&rest, "{}");
		if (*brace && depth < 2 && take(&rest, brace)) {
			env_puts(e, brace);
		} else if (*brace) {
			if (*brace == '}' || !take_field(&rest, &field))
				env_fail(e, "a single brace in a format string");
			put_replacement(e, b, field, depth);
		}
	}
	return jv_since(e, start);
}

struct jv text_format(struct env *e, struct call *c)
{
	struct braces b = { c, 0 };

	return jv_markup(expand(e, &b, c->self, 1), c->self.markup);
}
