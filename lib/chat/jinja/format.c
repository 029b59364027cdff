/* The two ways Python lays values out in text: "..." % args and "...".format(args). */
#include "priv.h"

#include "lib/base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WIDEST = 1 << 16 };

/* One field: [[fill]align][sign][#][0][width][,][.precision][type] */
struct field {
	const char *fill;
	unsigned fill_n;
	char align, sign, type;
	bool alternate, zero, comma;
	int width, precision;       /* -1: not given */
};

static const char *number(const char *s, const char *end, int *out)
{
	*out = 0;
	for (; s < end && *s >= '0' && *s <= '9'; s++)
		*out = *out < WIDEST ? *out * 10 + (*s - '0') : WIDEST;
	return s;
}

static void put_padding(struct bytes *b, const struct field *f, int64_t n)
{
	for (; n > 0 && !b->failed; n--)
		bytes_put(b, f->fill, f->fill_n);
}

/* s[n] with its sign, digits or text, set into the field's width. */
static void put_field(struct bytes *b, const struct field *f, const char *s, size_t n, char usual)
{
	int64_t room = f->width - (int64_t)text_length(s, n);
	char align = f->align ? f->align : usual;
	int64_t before = align == '>' ? room : align == '^' ? room / 2 : 0;
	size_t sign = n && (*s == '-' || *s == '+' || *s == ' ');

	if (align == '=') {
		bytes_put(b, s, sign);
		put_padding(b, f, room);
		bytes_put(b, s + sign, n - sign);
		return;
	}
	put_padding(b, f, before);
	bytes_put(b, s, n);
	put_padding(b, f, room - (before > 0 ? before : 0));
}

/* Commas between the thousands of the whole part. */
static void group(char *s, size_t size)
{
	char *digits = s + (*s == '-' || *s == '+' || *s == ' ');
	size_t whole = strspn(digits, "0123456789"), n = strlen(s) + 1;

	for (size_t i = whole; i > 3 && n < size; i -= 3) {
		memmove(digits + i - 2, digits + i - 3, n - (size_t)(digits - s) - (i - 3));
		digits[i - 3] = ',';
		n++;
	}
}

static void put_sign(char *s, size_t size, const struct field *f)
{
	if ((f->sign == '+' || f->sign == ' ') && *s != '-') {
		memmove(s + 1, s, strnlen(s, size - 2) + 1);
		s[0] = f->sign;
		s[size - 1] = '\0';
	}
}

static void spell_integer(char *s, size_t size, int64_t i, const struct field *f)
{
	uint64_t magnitude = i < 0 ? -(uint64_t)i : (uint64_t)i;
	const char *minus = i < 0 ? "-" : "";
	char digits[72], *p = digits + sizeof digits;

	if (f->type == 'x' || f->type == 'X') {
		snprintf(s, size, f->type == 'x' ? "%s%s%" PRIx64 : "%s%s%" PRIX64, minus, !f->alternate ? "" : f->type == 'x' ? "0x" : "0X", magnitude);
	} else if (f->type == 'o') {
		snprintf(s, size, "%s%s%" PRIo64, minus, f->alternate ? "0o" : "", magnitude);
	} else if (f->type == 'b') {
		*--p = '\0';
		do
			*--p = (char)('0' + (magnitude & 1));
		while (magnitude >>= 1);
		snprintf(s, size, "%s%s%s", minus, f->alternate ? "0b" : "", p);
	} else {
		snprintf(s, size, "%s%" PRIu64, minus, magnitude);
	}
	if (f->comma)
		group(s, size);
	put_sign(s, size, f);
}

static void spell_float(char *s, size_t size, double d, const struct field *f)
{
	int precision = f->precision < 0 ? 6 : f->precision > 60 ? 60 : f->precision;

	switch (f->type) {
	case 'f':
	case 'F':
		snprintf(s, size, "%.*f", precision, d);
		break;
	case 'e':
		snprintf(s, size, "%.*e", precision, d);
		break;
	case 'E':
		snprintf(s, size, "%.*E", precision, d);
		break;
	case '%':
		snprintf(s, size, "%.*f%%", precision, d * 100);
		break;
	default:
		if (f->type || f->precision >= 0)
			snprintf(s, size, f->type == 'G' ? "%.*G" : "%.*g", precision, d);
		else
			json_spell_float(s, d);
	}
	if (f->comma)
		group(s, size);
	put_sign(s, size, f);
}

static int put_text(struct env *e, struct bytes *b, const struct field *f, struct jv s, char usual)
{
	size_t n = s.n;

	if (s.kind == JV_ERROR || jinja_tick(e, s.n / 16 + (unsigned)f->width / 16))
		return -1;
	if (f->precision >= 0)
		n = text_offset(s.s, s.n, f->precision);
	put_field(b, f, s.s, n, usual);
	return 0;
}

/* The value under a field of either kind. */
static int put_value(struct env *e, struct bytes *b, const struct field *f, struct jv v)
{
	char s[512];

	if (jinja_tick(e, 1 + (unsigned)f->width / 16))
		return -1;
	if (f->type && strchr("dixXobc", f->type)) {
		if (v.kind == JV_FLOAT && f->type == 'd' && v.d > -9e18 && v.d < 9e18)
			v = jv_int((int64_t)v.d);
		if (!jv_is_integer(v))
			return jv_fail(e, "an integer is wanted for the format '%c', not %s", f->type, jv_type(v)), -1;
		spell_integer(s, sizeof s, jv_integer(v), f);
	} else if (f->type && strchr("eEfFgG%", f->type)) {
		if (!jv_is_number(v))
			return jv_fail(e, "a number is wanted for the format '%c', not %s", f->type, jv_type(v)), -1;
		spell_float(s, sizeof s, jv_number(v), f);
	} else if (v.kind == JV_FLOAT && f->type == 0) {
		spell_float(s, sizeof s, v.d, f);
	} else if (v.kind == JV_INT && f->type == 0) {
		spell_integer(s, sizeof s, v.i, f);
	} else {
		return put_text(e, b, f, jv_to_str(e, v), '<');
	}
	put_field(b, f, s, strlen(s), '>');
	return 0;
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
	if (s != end)
		return jv_fail(e, "invalid format specifier"), -1;
	return 0;
}

/* The value of a replacement field's name: "", "0", "name", with .attributes and [items] after it. */
static struct jv named_value(struct env *e, const struct call *c, const char *s, const char *end, uint32_t *taken)
{
	const char *stop = s;
	struct jv v = { .kind = JV_ABSENT };
	int place;

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
