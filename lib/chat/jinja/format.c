/* Values in fields. */
#include "format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct format_field format_none = { .fill = { .kind = JV_STR, .n = 1, .s = " " }, .precision = -1 };

char format_take(struct jv *s, const char *bytes)
{
	if (!s->n || !memchr(bytes, *s->s, strlen(bytes)))
		return '\0';
	s->n--;
	return *s->s++;
}

int64_t format_digits(struct jv *s)
{
	int64_t n = 0;

	for (char c; (c = format_take(s, "0123456789"));)
		n = n <= FORMAT_WIDEST / 10 ? n * 10 + (c - '0') : (int64_t)FORMAT_WIDEST + 1;
	return n;
}

struct jv format_until(struct jv *s, const char *stops)
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
static void put_number(struct env *e, const struct format_field *f, const char *s, bool whole)
{
	int64_t every = f->type && strchr("xXob", f->type) ? 4 : 3, digits, n, zeros;
	size_t start = e->out->n, head;
	bool minus = *s == '-';

	s += minus;
	env_puts(e, minus ? "-" : f->sign == '+' ? "+" : f->sign == ' ' ? " " : "");
	if (whole && f->alternate && every == 4)
		env_printf(e, "0%c", f->type);
	head = e->out->n - start;
	n = (int64_t)strlen(s);
	zeros = whole ? f->precision - n : 0;
	digits = (int64_t)strspn(s, every == 4 ? "0123456789abcdefABCDEF" : "0123456789");
	if (f->separator && f->align == '=' && *f->fill.s == '0')
		for (zeros = 0; (int64_t)head + (digits + zeros - 1) / every + n + zeros < f->width;)
			zeros++;
	zeros = zeros < 0 ? 0 : zeros;
	for (int64_t i = 0, all = zeros + digits; i < all; i++) {
		if (f->separator && i && (all - i) % every == 0)
			env_put(e, &f->separator, 1);
		env_put(e, i < zeros ? "0" : s++, 1);
	}
	env_puts(e, s);
	format_padded(e, jv_since(e, start), f->fill, f->width, f->align ? f->align : '>', head);
}

/* An integer, whatever the type; in base 10 without one. */
static void put_integer(struct env *e, const struct format_field *f, struct jv v)
{
	unsigned base = f->type == 'x' || f->type == 'X' ? 16 : f->type == 'o' ? 8 : f->type == 'b' ? 2 : 10;
	char digits[72], *p = digits + sizeof digits - 1;
	uint64_t magnitude;

	if (v.kind == JV_BIG && base != 10)
		number_overflow(e);
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

/* Without a type: repr(), or with a precision %g that shows a fraction, or an exponent where that has no room.
 * alternate: with the zeros at the end of the fraction. */
static void spell_plain(char *s, size_t size, double d, int precision, bool alternate)
{
	int digits = precision ? precision : 1;
	char *exponent, *end;

	if (precision < 0) {
		json_spell_float(s, d);
		return;
	}
	if (alternate) {
		snprintf(s, size, "%#.*g", digits, d);
		if (s[strlen(s) - 1] == '.')
			snprintf(s, size, "%#.*e", digits - 1, d);
		return;
	}
	snprintf(s, size, "%.*g", digits, d);
	if (!isfinite(d) || strpbrk(s, ".e"))
		return;
	if (strlen(s) - (*s == '-') < (size_t)digits) {
		strcat(s, ".0");
		return;
	}
	snprintf(s, size, "%.*e", digits - 1, d);
	if (!strchr(s, '.'))
		return;
	for (exponent = end = strchr(s, 'e'); end[-1] == '0'; end--)    /* zeros at the end of the fraction */
		;
	end -= end[-1] == '.';
	memmove(end, exponent, strlen(exponent) + 1);
}

static void put_float(struct env *e, const struct format_field *f, double d)
{
	char format[] = "%#.*f", *s;
	int precision = f->precision < 0 ? 6 : (int)f->precision;
	size_t size = (size_t)precision + 400;

	if (f->precision > FORMAT_WIDEST - 400)
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
		spell_plain(s, size, d, (int)f->precision, f->alternate);
	}
	put_number(e, f, s, false);
}

void format_put_text(struct env *e, const struct format_field *f, struct jv v, char usual)
{
	char out[4];

	if (f->type == 'c' && v.kind != JV_STR) {
		if (!jv_in(v, JV_INTEGERS) || jv_integer(v) < 0 || jv_integer(v) > 0x10ffff)
			env_fail(e, "%%c requires int or char");
		v = jv_str(out, utf8_put(out, (int32_t)jv_integer(v)));
	}
	if (f->precision >= 0)
		v.n = (uint32_t)text_offset(v.s, v.n, f->precision);
	format_padded(e, v, f->fill, f->width, f->align && f->align != '=' ? f->align : usual, 0);
}

void format_put(struct env *e, const struct format_field *f, struct jv v)
{
	bool integer = jv_in(v, KIND(JV_INT) | KIND(JV_BIG));
	bool whole = (f->type && strchr("dxXob", f->type)) || (f->type == 'n' && integer);
	bool real = f->type && strchr("eEfFgGn%", f->type) && !whole;

	if (f->width > FORMAT_WIDEST || (uint64_t)f->width > e->arena->limit || f->precision > FORMAT_WIDEST)
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
	else if (whole || (integer && !f->type))
		put_integer(e, f, v);
	else
		format_put_text(e, f, jv_to_str(e, v), '<');
}

struct jv format_repr(struct env *e, struct jv v, bool ascii)
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
