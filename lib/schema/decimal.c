/* Decimal numbers, digit by digit. */
#include "decimal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void trim(struct decimal *d)
{
	int zeros = 0;

	while (d->fraction && !d->digit[d->whole + d->fraction - 1])
		d->fraction--;
	while (zeros < d->whole && !d->digit[zeros])
		zeros++;
	memmove(d->digit, d->digit + zeros, (size_t)(d->whole - zeros + d->fraction));
	d->whole -= zeros;
	d->negative &= d->whole || d->fraction;
}

static void set_largest(struct decimal *d)
{
	d->whole = DECIMAL_WHOLE;
	d->fraction = 0;
	memset(d->digit, 9, DECIMAL_WHOLE);
}

/* Digits with one point at most and an optional exponent. */
static int read_digits(struct decimal *d, const char *s)
{
	const char *mark = strpbrk(s, "eE");
	long exponent = mark ? strtol(mark + 1, NULL, 10) : 0, point = -1, n = 0, first = -1, last = -1;

	for (const char *p = s; p != mark && *p; p++) {         /* the places of the digits that are not 0 */
		if (*p == '.') {
			point = n;
			continue;
		}
		first = first < 0 && *p != '0' ? n : first;
		last = *p != '0' ? n : last;
		n++;
	}
	*d = (struct decimal){ 0 };
	if (first < 0)
		return 0;
	exponent = exponent > 9999 ? 9999 : exponent < -9999 ? -9999 : exponent;
	point = (point < 0 ? n : point) + exponent;             /* the place before which the point stands */
	if (point - first > DECIMAL_WHOLE) {
		set_largest(d);
		return 0;
	}
	if (last + 1 - point > DECIMAL_FRACTION)
		return -1;
	d->whole = point > first ? (int)(point - first) : 0;
	d->fraction = last >= point ? (int)(last + 1 - point) : 0;
	n = 0;
	for (const char *p = s; p != mark && *p; p++) {
		if (*p == '.')
			continue;
		if (n >= first && n <= last)
			d->digit[d->whole + n - point] = (char)(*p - '0');
		n++;
	}
	return 0;
}

int decimal_read(struct decimal *d, const struct json *v)
{
	char text[40];
	const char *s = v->s;

	if (!s) {
		snprintf(text, sizeof text, "%lld", (long long)v->i);
		s = text;
	}
	if (read_digits(d, s + (*s == '-')))
		return -1;
	d->negative = *s == '-' && !decimal_is_zero(d);
	return 0;
}

struct decimal decimal_of(const char *digits)
{
	struct decimal d;

	read_digits(&d, digits);
	return d;
}

int decimal_is_zero(const struct decimal *d)
{
	return !d->whole && !d->fraction;
}

static int digit_at(const struct decimal *d, int place)         /* after the point, or before it if negative */
{
	int i = d->whole + place;

	return i < 0 || place >= d->fraction ? 0 : d->digit[i];
}

int decimal_compare(const struct decimal *a, const struct decimal *b)
{
	int order = 0;

	if (a->negative != b->negative)
		return a->negative ? -1 : 1;
	for (int i = -DECIMAL_WHOLE; !order && i < DECIMAL_FRACTION; i++)
		order = digit_at(a, i) - digit_at(b, i);
	return a->negative ? -order : order;
}

void decimal_step(struct decimal *d, int place, int sign)
{
	struct decimal out = { .whole = DECIMAL_WHOLE, .fraction = DECIMAL_FRACTION };
	int carry = 0;

	for (int i = DECIMAL_FRACTION - 1; i >= -DECIMAL_WHOLE; i--) {
		int v = digit_at(d, i) + carry + (i == place - 1 ? sign : 0);

		carry = v < 0 ? -1 : v > 9;
		out.digit[DECIMAL_WHOLE + i] = (char)(v - 10 * carry);
	}
	if (carry < 0)
		out = (struct decimal){ 0 };
	else if (carry > 0)
		set_largest(&out);
	trim(&out);
	*d = out;
}
