/* The two ways Python lays values out in text: "..." % args and "...".format(args). */
#include "priv.h"

#include "lib/base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDEST = INT32_MAX };

/* One field: [[fill]align][sign][#][0][width][,][.precision][type] */
struct field {
	const char *fill;
	unsigned fill_n;
	char align, sign, type;
	bool alternate, zero, comma;
	int64_t width, precision;   /* precision -1: not given */
};

/* The number at s, which ends behind it; a longer one than can be is WIDEST + 1. */
static const char *number(const char *s, const char *end, int64_t *out)
{
	*out = 0;
	for (; s < end && *s >= '0' && *s <= '9'; s++)
		*out = *out <= WIDEST / 10 ? *out * 10 + (*s - '0') : (int64_t)WIDEST + 1;
	return s;
}

static void put_padding(struct bytes *b, const struct field *f, int64_t n)
{
	for (; n > 0 && !b->failed; n--)
		bytes_put(b, f->fill, f->fill_n);
}

/* s[n] set into the field's width; '=' pads behind its first `head` bytes, a sign and 0x. */
static void put_field(struct bytes *b, const struct field *f, const char *s, size_t n, char usual, size_t head)
{
	int64_t room = f->width - (int64_t)text_length(s, n);
	char align = f->align ? f->align : usual;
	int64_t before = align == '>' ? room : align == '^' ? room / 2 : 0;

	if (align == '=') {
		bytes_put(b, s, head);
		put_padding(b, f, room);
		bytes_put(b, s + head, n - head);
		return;
	}
	put_padding(b, f, before);
	bytes_put(b, s, n);
	put_padding(b, f, room - (before > 0 ? before : 0));
}

/* A spelt number in the field: a sign and a base's mark, zeros up to its precision (integers), commas, padding. */
static int put_digits(struct env *e, struct bytes *b, const struct field *f, const char *s, bool whole)
{
	struct bytes out = jinja_buffer(e);
	bool minus = *s == '-';
	size_t n, group = strspn(s + minus, "0123456789"), head;
	const char *mark = f->alternate && f->type == 'x' ? "0x" : f->type == 'X' ? "0X" : f->type == 'o' ? "0o" : "0b";

	s += minus;
	bytes_puts(&out, minus ? "-" : f->sign == '+' ? "+" : f->sign == ' ' ? " " : "");
	if (whole && f->alternate && f->type && strchr("xXob", f->type))
		bytes_puts(&out, mark);
	head = out.n;
	n = strlen(s);
	for (int64_t zeros = whole ? f->precision - (int64_t)n : 0; zeros > 0 && !out.failed; zeros--)
		bytes_puts(&out, "0");
	for (size_t i = 0; f->comma && i < group; i++, s++, n--) {
		if (i && (group - i) % 3 == 0)
			bytes_puts(&out, ",");
		bytes_put(&out, s, 1);
	}
	bytes_put(&out, s, n);
	if (!out.failed)
		put_field(b, f, out.p, out.n, '>', head);
	b->failed |= out.failed;
	bytes_free(&out);
	return b->failed ? -1 : 0;
}

static int put_integer(struct env *e, struct bytes *b, const struct field *f, struct jv v)
{
	static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
	unsigned base = f->type == 'x' || f->type == 'X' ? 16 : f->type == 'o' ? 8 : f->type == 'b' ? 2 : 10;
	int64_t i = jv_is_integer(v) ? jv_integer(v) : 0;
	uint64_t magnitude = i < 0 ? -(uint64_t)i : (uint64_t)i;
	char digits[72], *p = digits + sizeof digits - 1;

	if (v.kind == JV_BIG)
		return base == 10 ? put_digits(e, b, f, v.s, true) : (jv_fail(e, "an integer does not fit 64 bits"), -1);
	*p = '\0';
	do
		*--p = (f->type == 'X' ? upper : lower)[magnitude % base];
	while (magnitude /= base);
	if (i < 0)
		*--p = '-';
	return put_digits(e, b, f, p, true);
}

static int put_float(struct env *e, struct bytes *b, const struct field *f, double d)
{
	char format[] = "%#.*f", *s;
	int precision = f->precision < 0 ? 6 : (int)f->precision;
	size_t size = (size_t)precision + 400;
	int n;

	if (f->precision > WIDEST - 400 || jinja_tick(e, size / 8) || !(s = arena_text(&e->arena, size)))
		return jv_full(e), -1;
	if (!f->type && f->precision < 0) {
		json_spell_float(s, d);
		return put_digits(e, b, f, s, false);
	}
	format[4] = f->type == '%' ? 'f' : f->type ? f->type : 'g';
	if (!f->alternate)
		memmove(format + 1, format + 2, 4);
	n = snprintf(s, size, format, precision, f->type == '%' ? d * 100 : d);
	if (f->type == '%')
		memcpy(s + n, "%", 2);
	return put_digits(e, b, f, s, false);
}

static int put_text(struct env *e, struct bytes *b, const struct field *f, struct jv s, char usual)
{
	size_t n = s.n;

	if (s.kind == JV_ERROR || jinja_tick(e, s.n / 16 + (uint64_t)f->width / 16))
		return -1;
	if (f->precision >= 0)
		n = text_offset(s.s, s.n, f->precision);
	put_field(b, f, s.s, n, usual, 0);
	return 0;
}

/* The value under a field of either kind. */
static int put_value(struct env *e, struct bytes *b, const struct field *f, struct jv v)
{
	if (f->width > WIDEST || (uint64_t)f->width > e->arena.limit || f->precision > WIDEST || jinja_tick(e, 1 + (uint64_t)f->width / 16))
		return jv_full(e), -1;
	if (f->type && strchr("dixXobc", f->type)) {
		if (v.kind == JV_FLOAT && f->type == 'd')
			v = jinja_truncate(e, v.d);
		if (v.kind == JV_ERROR || (!jv_is_integer(v) && v.kind != JV_BIG))
			return jv_fail(e, "an integer is wanted for the format '%c', not %s", f->type, jv_type(v)), -1;
		return put_integer(e, b, f, v);
	}
	if (f->type && strchr("eEfFgG%", f->type)) {
		if (v.kind == JV_BIG)
			v = jv_float(strtod(v.s, NULL));
		if (!jv_is_number(v))
			return jv_fail(e, "a number is wanted for the format '%c', not %s", f->type, jv_type(v)), -1;
		return put_float(e, b, f, jv_number(v));
	}
	if (v.kind == JV_FLOAT && f->type == 0)
		return put_float(e, b, f, v.d);
	if (v.kind == JV_INT && f->type == 0)
		return put_integer(e, b, f, v);
	return put_text(e, b, f, jv_to_str(e, v), '<');
}

static struct jv repr(struct env *e, struct jv v)
{
	struct bytes b = jinja_buffer(e);

	if (jv_put_repr(e, &b, v)) {
		bytes_free(&b);
		return jv_full(e);
	}
	return jv_take(e, &b);
}

struct percent {
	struct jv format, args;
	struct bytes out;
	const char *at, *end;
	uint32_t taken;
};

/* What the conversion at the cursor speaks of: the next argument, or %(name). */
static struct jv percent_argument(struct env *e, struct percent *p, const char *name, size_t n)
{
	if (name) {
		struct jv *v = p->args.kind == JV_DICT ? jv_dict_get(e, p->args.dict, jv_str(name, n)) : NULL;

		return v ? *v : jv_fail(e, "the format wants a mapping with that name");
	}
	if (p->args.kind != JV_TUPLE)
		return p->taken++ ? jv_fail(e, "not enough arguments for format string") : p->args;
	return p->taken < p->args.list->n ? p->args.list->items[p->taken++] : jv_fail(e, "not enough arguments for format string");
}

static int percent_field(struct env *e, struct percent *p)
{
	struct field f = { .fill = " ", .fill_n = 1, .precision = -1, .align = '>' };
	const char *name = NULL;
	size_t name_n = 0;
	struct jv v;

	if (p->at < p->end && *p->at == '(') {
		const char *close = memchr(p->at, ')', (size_t)(p->end - p->at));

		if (!close)
			return jv_fail(e, "incomplete format key"), -1;
		name = p->at + 1;
		name_n = (size_t)(close - name);
		p->at = close + 1;
	}
	for (; p->at < p->end && *p->at && strchr("-+ #0", *p->at); p->at++) {
		if (*p->at == '-')
			f.align = '<';
		else if (*p->at == '#')
			f.alternate = true;
		else if (*p->at == '0')
			f.zero = true;
		else
			f.sign = *p->at;
	}
	p->at = number(p->at, p->end, &f.width);
	if (p->at < p->end && *p->at == '.')
		p->at = number(p->at + 1, p->end, &f.precision);
	if (p->at == p->end || !*p->at || !strchr("sradixXoeEfFgGc%", *p->at))
		return jv_fail(e, "incomplete or unsupported format"), -1;
	f.type = *p->at++;
	if (f.type == '%')
		return bytes_puts(&p->out, "%");
	v = percent_argument(e, p, name, name_n);
	if (v.kind == JV_ERROR)
		return -1;
	if (f.type == 'c' && v.kind == JV_STR && text_length(v.s, v.n) != 1)
		return jv_fail(e, "%%c requires int or char"), -1;
	if (strchr("sra", f.type) || (f.type == 'c' && v.kind == JV_STR)) {
		v = f.type == 'r' || f.type == 'a' ? repr(e, v) : p->format.markup ? text_escape(e, v) : jv_to_str(e, v);
		f.type = 's';
		return put_text(e, &p->out, &f, v, '>');
	}
	if (f.type == 'c') {
		char piece[4];

		if (!jv_is_integer(v) || jv_integer(v) < 0 || jv_integer(v) > 0x10ffff)
			return jv_fail(e, "%%c requires int or char"), -1;
		f.type = 's';
		return put_text(e, &p->out, &f, jv_str(piece, utf8_put(piece, (int32_t)jv_integer(v))), '>');
	}
	if (f.zero && f.align == '>') {
		f.fill = "0";
		f.align = '=';
	}
	if (f.type == 'i' || f.type == 'u')
		f.type = 'd';
	return put_value(e, &p->out, &f, v);
}

struct jv text_percent(struct env *e, struct jv format, struct jv args)
{
	struct percent p = { format, args, jinja_buffer(e), format.s, format.s + format.n, 0 };
	struct jv out;

	while (p.at < p.end) {
		const char *percent = memchr(p.at, '%', (size_t)(p.end - p.at));

		bytes_put(&p.out, p.at, (size_t)((percent ? percent : p.end) - p.at));
		if (!percent)
			break;
		p.at = percent + 1;
		if (percent_field(e, &p)) {
			bytes_free(&p.out);
			return jv_full(e);
		}
	}
	if (args.kind == JV_TUPLE ? p.taken < args.list->n : !p.taken && args.kind != JV_DICT && args.kind != JV_LIST) {
		bytes_free(&p.out);
		return jv_fail(e, "not all arguments converted during string formatting");
	}
	out = jv_take(e, &p.out);
	out.markup = format.markup;
	return out;
}

static int read_spec(struct env *e, const char *s, const char *end, struct field *f)
{
	unsigned used = 0;

	if (s < end)
		utf8_next(s, (size_t)(end - s), &used);
	if (s + used < end && s[used] && strchr("<>^=", s[used])) {
		f->fill = s;
		f->fill_n = used;
		f->align = s[used];
		s += used + 1;
	} else if (s < end && *s && strchr("<>^=", *s)) {
		f->align = *s++;
	}
	if (s < end && (*s == '+' || *s == '-' || *s == ' '))
		f->sign = *s++;
	if (s < end && *s == '#')
		f->alternate = *s++;
	if (s < end && *s == '0') {
		f->fill = "0";
		f->fill_n = 1;
		f->align = f->align ? f->align : '=';
	}
	s = number(s, end, &f->width);
	if (s < end && *s == ',')
		f->comma = *s++;
	if (s < end && *s == '.')
		s = number(s + 1, end, &f->precision);
	if (s < end && *s && strchr("sdxXobeEfFgG%", *s))
		f->type = *s++;
	if (f->precision >= 0 && f->type && strchr("dxXob", f->type))
		return jv_fail(e, "Precision not allowed in integer format specifier"), -1;
	if (s != end)
		return jv_fail(e, "invalid format specifier"), -1;
	return 0;
}

/* The value of a replacement field's name: "", "0", "name", with .attributes and [items] after it. */
static struct jv named_value(struct env *e, const struct call *c, const char *s, const char *end, uint32_t *taken)
{
	const char *stop = s;
	struct jv v = { .kind = JV_ABSENT };
	int64_t place;

	while (stop < end && *stop != '.' && *stop != '[')
		stop++;
	if (stop == s || number(s, stop, &place) == stop) {
		uint32_t i = stop == s ? (*taken)++ : (uint32_t)place;

		if (i >= c->n_pos)
			return jv_fail(e, "replacement index %u out of range", i);
		v = c->pos[i];
	} else {
		for (uint32_t i = 0; i < c->n_kw; i++)
			if (c->kw[i].n == (size_t)(stop - s) && !memcmp(c->kw[i].s, s, c->kw[i].n))
				v = c->kw[i].value;
		if (v.kind == JV_ABSENT)
			return jv_fail(e, "the format names an argument that was not given");
	}
	while (stop < end && v.kind != JV_ERROR) {
		char open = *stop++;

		s = stop;
		while (stop < end && (open == '[' ? *stop != ']' : *stop != '.' && *stop != '['))
			stop++;
		if (open == '.')
			v = jinja_getattr(e, v, jv_str(s, (size_t)(stop - s)));
		else
			v = jinja_getitem(e, v, stop > s && number(s, stop, &place) == stop ? jv_int(place) : jv_str(s, (size_t)(stop - s)));
		if (open == '[' && stop < end)
			stop++;
	}
	return v;
}

/* What stands between the braces: name[!conversion][:spec] */
static int replacement(struct env *e, struct bytes *b, struct jv format, const struct call *c, const char *s, const char *end, uint32_t *taken)
{
	struct field f = { .fill = " ", .fill_n = 1, .precision = -1 };
	const char *colon = memchr(s, ':', (size_t)(end - s)), *name_end = colon ? colon : end, *bang = memchr(s, '!', (size_t)(name_end - s));
	struct jv v = named_value(e, c, s, bang ? bang : name_end, taken);

	if (v.kind == JV_ERROR || (colon && read_spec(e, colon + 1, end, &f)))
		return -1;
	if (v.kind == JV_UNDEF && colon)
		return jv_fail_undefined(e, v), -1;
	if (bang)
		v = bang[1] == 's' ? jv_to_str(e, v) : repr(e, v);
	else if (format.markup)
		v = text_escape(e, v);
	return v.kind == JV_ERROR ? -1 : put_value(e, b, &f, v);
}

struct jv text_format(struct env *e, struct jv format, const struct call *c)
{
	struct bytes b = jinja_buffer(e);
	const char *at = format.s, *end = at + format.n;
	uint32_t taken = 0;
	struct jv out;

	while (at < end) {
		const char *close;

		if (*at != '{' && *at != '}') {
			bytes_put(&b, at++, 1);
		} else if (end - at >= 2 && at[1] == *at) {
			bytes_put(&b, at, 1);
			at += 2;
		} else if (*at == '}' || !(close = memchr(at, '}', (size_t)(end - at)))) {
			bytes_free(&b);
			return jv_fail(e, "a single brace in a format string");
		} else if (replacement(e, &b, format, c, at + 1, close, &taken)) {
			bytes_free(&b);
			return jv_full(e);
		} else {
			at = close + 1;
		}
	}
	out = jv_take(e, &b);
	out.markup = format.markup;
	return out;
}
