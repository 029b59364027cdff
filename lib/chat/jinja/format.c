/* Python's two kinds of formatting: "..." % args and "...".format(args). */
#include "run.h"
#include "text.h"

#include "lib/base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDEST = INT32_MAX };

/* One field: [[fill]align][sign][#][0][width][,][.precision][type] */
struct field {
	const char *fill;
	unsigned fill_n;
	char align, sign, type, separator;
	bool alternate, zero;
	int64_t width, precision;   /* precision -1: not given */
};

static const struct field no_field = { .fill = " ", .fill_n = 1, .precision = -1 };

/* Reads digits; more than WIDEST is WIDEST + 1. Returns where they end. */
static const char *digits(const char *s, const char *end, int64_t *out)
{
	*out = 0;
	for (; s < end && text_is_digit(*s); s++)
		*out = *out <= WIDEST / 10 ? *out * 10 + (*s - '0') : (int64_t)WIDEST + 1;
	return s;
}

static bool at_any(const char *s, const char *end, const char *chars)
{
	return s < end && *s && strchr(chars, *s);
}

static void put_padding(struct env *e, const struct field *f, int64_t n)
{
	for (; n > 0; n--)
		env_put(e, f->fill, f->fill_n);
}

/* Pads s to the field's width. '=' pads after its first `head` bytes, the sign and 0x. */
static void put_padded(struct env *e, const struct field *f, struct jv s, char usual, size_t head)
{
	int64_t room = f->width - (int64_t)text_length(s.s, s.n), before;
	char align = f->align ? f->align : usual;

	env_tick(e, s.n / 16 + (uint64_t)f->width / 16);
	room = room < 0 ? 0 : room;
	before = align == '>' || align == '=' ? room : align == '^' ? room / 2 : 0;
	head = align == '=' ? head : 0;
	env_put(e, s.s, head);
	put_padding(e, f, before);
	env_put(e, s.s + head, s.n - head);
	put_padding(e, f, room - before);
}

/* Puts the number s in the field, with its sign, the base's prefix, zeros up to the precision of an integer, separators
 * and padding. */
static void put_number(struct env *e, const struct field *f, const char *s, bool whole)
{
	size_t start = e->out->n, head, group, every = f->type && strchr("xXob", f->type) ? 4 : 3;
	bool minus = *s == '-';
	int64_t n, zeros;
	struct jv text;

	s += minus;
	env_puts(e, minus ? "-" : f->sign == '+' ? "+" : f->sign == ' ' ? " " : "");
	if (whole && f->alternate && every == 4)
		env_printf(e, "0%c", f->type);
	head = e->out->n - start;
	n = (int64_t)strlen(s);
	zeros = whole ? f->precision - n : 0;
	group = strspn(s, every == 4 ? "0123456789abcdefABCDEF" : "0123456789");
	if (f->separator && f->align == '=' && *f->fill == '0')
		for (zeros = 0; (int64_t)(head + (group + (size_t)zeros - 1) / every) + n + zeros < f->width;)
			zeros++;
	for (; zeros > 0; zeros--) {
		env_puts(e, "0");
		if (f->separator && (group + (size_t)zeros - 1) % every == 0)
			env_put(e, &f->separator, 1);
	}
	for (size_t i = 0; f->separator && i < group; i++, s++) {
		if (i && (group - i) % every == 0)
			env_put(e, &f->separator, 1);
		env_put(e, s, 1);
	}
	env_puts(e, s);
	text = jv_since(e, start);
	put_padded(e, f, text, '>', head);
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

static void put_text(struct env *e, const struct field *f, struct jv s, char usual)
{
	if (f->precision >= 0)
		s.n = (uint32_t)text_offset(s.s, s.n, f->precision);
	put_padded(e, f, s, usual, 0);
}

static void put_character(struct env *e, const struct field *f, struct jv v, char usual)
{
	char out[4];

	if (!jv_in(v, JV_INTEGERS) || jv_integer(v) < 0 || jv_integer(v) > 0x10ffff)
		env_fail(e, "%%c requires int or char");
	put_text(e, f, jv_str(out, utf8_put(out, (int32_t)jv_integer(v))), usual);
}

/* The value in a field of either kind. */
static void put_value(struct env *e, const struct field *f, struct jv v)
{
	if (f->width > WIDEST || (uint64_t)f->width > e->arena->limit || f->precision > WIDEST)
		env_full(e);
	env_tick(e, 1 + (f->precision > 0 ? (uint64_t)f->precision / 16 : 0));
	if (f->type && strchr("dxXob", f->type)) {
		if (v.kind == JV_FLOAT && f->type == 'd')
			v = number_truncated(e, v.d);
		if (!jv_in(v, JV_INTEGERS | KIND(JV_BIG)))
			env_fail(e, "an integer is required for the format '%c', not %s", f->type, jv_type(v));
		put_integer(e, f, v);
	} else if (f->type && strchr("eEfFgGn%", f->type)) {
		if (v.kind == JV_BIG)
			v = jv_float(strtod(v.s, NULL));
		if (!jv_in(v, JV_NUMBERS))
			env_fail(e, "a number is required for the format '%c', not %s", f->type, jv_type(v));
		put_float(e, f, jv_number(v));
	} else if (v.kind == JV_FLOAT && !f->type) {
		put_float(e, f, v.d);
	} else if (jv_in(v, KIND(JV_INT) | KIND(JV_BIG)) && !f->type) {
		put_integer(e, f, v);
	} else {
		put_text(e, f, jv_to_str(e, v), '<');
	}
}

/* repr(), or ascii(). */
static struct jv repr(struct env *e, struct jv v, bool ascii)
{
	size_t start = e->out->n;
	struct jv s;
	unsigned used;

	jv_put_repr(e, v);
	s = jv_since(e, start);
	if (!ascii)
		return s;
	for (uint32_t at = 0; at < s.n; at += used) {
		int32_t c = utf8_next(s.s + at, s.n - at, &used);

		if (text_is_ascii(c))
			env_put(e, s.s + at, 1);
		else
			env_printf(e, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
	}
	return jv_since(e, start);
}

struct percent {
	struct jv format, args;
	const char *at, *end;
	uint32_t taken;
};

/* The next argument. */
static struct jv next_argument(struct env *e, struct percent *p)
{
	uint32_t n = p->args.kind == JV_TUPLE ? p->args.list->n : 1;

	if (p->taken >= n)
		env_fail(e, "not enough arguments for format string");
	return p->args.kind == JV_TUPLE ? p->args.list->items[p->taken++] : (p->taken++, p->args);
}

/* The argument of %(name), with the cursor after the parenthesis. */
static struct jv named_argument(struct env *e, struct percent *p)
{
	const char *close = memchr(p->at, ')', (size_t)(p->end - p->at));
	struct jv *v;

	if (!close)
		env_fail(e, "incomplete format key");
	v = p->args.kind == JV_DICT ? jv_dict_get(e, p->args.dict, jv_str(p->at, (size_t)(close - p->at))) : NULL;
	if (!v)
		env_fail(e, "the format requires a mapping with that name");
	p->at = close + 1;
	return *v;
}

/* A width or precision: digits or '*', for an argument. */
static int64_t percent_number(struct env *e, struct percent *p)
{
	struct jv v;
	int64_t n;

	if (!at_any(p->at, p->end, "*")) {
		p->at = digits(p->at, p->end, &n);
		return n;
	}
	p->at++;
	v = next_argument(e, p);
	if (!jv_in(v, JV_INTEGERS))
		env_fail(e, "* wants int");
	n = jv_integer(v);
	return n > WIDEST || n < -WIDEST ? (int64_t)WIDEST + 1 : n;
}

/* [flags][width][.precision][length]type, with the cursor on it. */
static struct field percent_field(struct env *e, struct percent *p)
{
	struct field f = no_field;

	f.align = '>';
	for (; at_any(p->at, p->end, "-+ #0"); p->at++) {
		if (*p->at == '-')
			f.align = '<';
		else if (*p->at == '#')
			f.alternate = true;
		else if (*p->at == '0')
			f.zero = true;
		else
			f.sign = *p->at;
	}
	f.width = percent_number(e, p);
	if (f.width < 0) {
		f.width = -f.width;
		f.align = '<';
	}
	if (at_any(p->at, p->end, ".")) {
		p->at++;
		f.precision = percent_number(e, p);
		f.precision = f.precision < 0 ? 0 : f.precision;
	}
	p->at += at_any(p->at, p->end, "hlL");
	if (!at_any(p->at, p->end, "sradiuxXoeEfFgGc%"))
		env_fail(e, "incomplete or unsupported format");
	f.type = *p->at++;
	return f;
}

static void put_percent(struct env *e, struct percent *p)
{
	struct jv v = jv_absent();
	struct field f;

	if (at_any(p->at, p->end, "(")) {
		p->at++;
		v = named_argument(e, p);
	}
	f = percent_field(e, p);
	if (f.type == '%') {
		env_puts(e, "%");
		return;
	}
	if (v.kind == JV_ABSENT)
		v = next_argument(e, p);
	if (f.type == 'i' || f.type == 'u')
		f.type = 'd';
	if (f.type == 'c' && v.kind != JV_STR) {
		put_character(e, &f, v, '>');
	} else if (strchr("srac", f.type)) {
		if (f.type == 'c' && text_length(v.s, v.n) != 1)
			env_fail(e, "%%c requires int or char");
		if (f.type == 'r' || f.type == 'a')
			v = repr(e, v, f.type == 'a');
		else
			v = p->format.markup ? markup_escape(e, v) : jv_to_str(e, v);
		f.type = 's';
		put_value(e, &f, v);
	} else {
		if (f.zero && f.align == '>') {
			f.fill = "0";
			f.align = '=';
		}
		put_value(e, &f, v);
	}
}

struct jv format_percent(struct env *e, struct jv format, struct jv args)
{
	struct percent p = { format, args, format.s, format.s + format.n, 0 };
	size_t start = e->out->n;

	while (p.at < p.end) {
		const char *percent = memchr(p.at, '%', (size_t)(p.end - p.at));

		env_put(e, p.at, (size_t)((percent ? percent : p.end) - p.at));
		p.at = percent ? percent + 1 : p.end;
		if (percent)
			put_percent(e, &p);
	}
	if (args.kind == JV_TUPLE ? p.taken < args.list->n : !p.taken && args.kind != JV_DICT && args.kind != JV_LIST)
		env_fail(e, "not all arguments converted during string formatting");
	return jv_markup(jv_since(e, start), format.markup);
}

static struct field read_spec(struct env *e, const char *s, const char *end)
{
	struct field f = no_field;
	unsigned used = 0;

	if (s < end)
		utf8_next(s, (size_t)(end - s), &used);
	if (at_any(s + used, end, "<>^=")) {
		f.fill = s;
		f.fill_n = used;
		f.align = s[used];
		s += used + 1;
	} else if (at_any(s, end, "<>^=")) {
		f.align = *s++;
	}
	if (at_any(s, end, "+- "))
		f.sign = *s++;
	if (at_any(s, end, "#"))
		f.alternate = *s++;
	if (at_any(s, end, "0")) {
		f.fill = "0";
		f.fill_n = 1;
		f.align = f.align ? f.align : '=';
	}
	s = digits(s, end, &f.width);
	if (at_any(s, end, ",_"))
		f.separator = *s++;
	if (at_any(s, end, "."))
		s = digits(s + 1, end, &f.precision);
	if (at_any(s, end, "sdxXobceEfFgGn%"))
		f.type = *s++;
	if (f.precision >= 0 && f.type && strchr("dxXobc", f.type))
		env_fail(e, "Precision not allowed in integer format specifier");
	if (s != end)
		env_fail(e, "invalid format specifier");
	return f;
}

/* A call of "...".format(): its arguments, and how many of them {} has used. */
struct braces {
	struct jv format;
	const struct call *c;
	uint32_t taken;
};

/* The value of a replacement field's name: "", "0", "name", with .attributes and [items] after it. */
static struct jv named_value(struct env *e, struct braces *b, const char *s, const char *end)
{
	const char *stop = s;
	const struct kwarg *kw;
	int64_t number;
	struct jv v;

	while (stop < end && *stop != '.' && *stop != '[')
		stop++;
	if (stop == s || digits(s, stop, &number) == stop) {
		number = stop == s ? b->taken++ : number;
		if (number >= b->c->n_pos)
			env_fail(e, "replacement index %d out of range", (int)number);
		v = b->c->pos[number];
	} else {
		kw = call_kwarg(b->c, s, (size_t)(stop - s));
		if (!kw)
			env_fail(e, "the format names an argument that was not given");
		v = kw->value;
	}
	while (stop < end) {
		char open = *stop++;

		s = stop;
		while (stop < end && (open == '[' ? *stop != ']' : *stop != '.' && *stop != '['))
			stop++;
		if (open == '.')
			v = eval_attribute(e, v, jv_str(s, (size_t)(stop - s)));
		else
			v = eval_item(e, v, stop > s && digits(s, stop, &number) == stop ? jv_int(number) :
				jv_str(s, (size_t)(stop - s)));
		stop += open == '[' && stop < end;
	}
	return v;
}

static struct jv expand(struct env *e, struct braces *b, const char *at, const char *end, int depth);

/* The field between two braces: name[!conversion][:spec]. */
static void put_replacement(struct env *e, struct braces *b, const char *s, const char *end, int depth)
{
	const char *colon = memchr(s, ':', (size_t)(end - s)), *name_end = colon ? colon : end;
	const char *bang = memchr(s, '!', (size_t)(name_end - s));
	struct jv v = named_value(e, b, s, bang ? bang : name_end), spec = jv_str("", 0);
	struct field f = no_field;

	if (colon) {
		spec = expand(e, b, colon + 1, end, depth + 1);
		f = read_spec(e, spec.s, spec.s + spec.n);
		jv_defined(e, v);
	}
	if (bang)
		v = bang + 1 < end && bang[1] == 's' ? jv_to_str(e, v) : repr(e, v, bang + 1 < end && bang[1] == 'a');
	else if (b->format.markup)
		v = markup_escape(e, v);
	if (spec.n && v.kind == JV_BOOL)
		v = jv_int(v.b);
	if (spec.n && !jv_in(v, JV_NUMBERS | KIND(JV_BIG) | KIND(JV_STR)))
		env_fail(e, "unsupported format string passed to %s.__format__", jv_type(v));
	if (f.type == 'c')
		put_character(e, &f, v, '<');
	else if (f.type == 'n' && v.kind != JV_FLOAT)
		put_integer(e, &f, v);
	else
		put_value(e, &f, v);
}

/* The brace that closes the one before s, or NULL. */
static const char *closing_brace(const char *s, const char *end)
{
	for (int nesting = 0; s < end; s++) {
		nesting += *s == '{';
		if (*s == '}' && !nesting--)
			return s;
	}
	return NULL;
}

/* The text of [at, end) with its replacement fields. */
static struct jv expand(struct env *e, struct braces *b, const char *at, const char *end, int depth)
{
	size_t start = e->out->n;

	if (depth > 2)
		env_fail(e, "Max string recursion exceeded");
	while (at < end) {
		const char *close = at;

		while (close < end && *close != '{' && *close != '}')
			close++;
		env_put(e, at, (size_t)(close - at));
		at = close;
		if (at == end)
			break;
		if (depth < 2 && end - at >= 2 && at[1] == *at) {
			env_put(e, at, 1);
			at += 2;
			continue;
		}
		close = *at == '{' ? closing_brace(at + 1, end) : NULL;
		if (!close)
			env_fail(e, "a single brace in a format string");
		put_replacement(e, b, at + 1, close, depth);
		at = close + 1;
	}
	return jv_since(e, start);
}

struct jv format_braces(struct env *e, struct jv format, const struct call *c)
{
	struct braces b = { format, c, 0 };

	return jv_markup(expand(e, &b, format.s, format.s + format.n, 1), format.markup);
}
