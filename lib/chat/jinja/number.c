/* Text to numbers, as Python reads them. */
#include "text.h"
#include "value.h"

#include "lib/base/space.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 4300, LIMB = 1000000000 };         /* of an integer in text, as in Python */

/* A terminated copy of s without the white space around it and the underscores between digits; NULL if an underscore is
 * elsewhere or s contains a NUL. */
static char *plain_digits(struct env *e, struct jv s)
{
	size_t n = 0, at = space_leading(s.s, s.n), stop = space_trimmed(s.s, s.n);
	char *text = env_text(e, (size_t)s.n + 1), last = '_';

	env_tick(e, s.n / 8);
	for (; at < stop; last = s.s[at++]) {
		if (!s.s[at] || (s.s[at] == '_' && strchr("+-._", last)) || (s.s[at] != '_' && n && last == '_'
				&& text_digit(s.s[at]) > 35))
			return NULL;
		if (s.s[at] != '_')
			text[n++] = s.s[at];
	}
	text[n] = '\0';
	return n && last != '_' ? text : NULL;
}

/* The integer with these digits, of any size; JV_ABSENT if they are not digits of the base. */
static struct jv integer_of(struct env *e, const char *s, int base, bool negative)
{
	size_t n = strlen(s), used = 1;
	uint32_t *limbs;
	char *out, *p;
	int64_t small;

	if (!n || n > MOST_DIGITS)
		return jv_absent;
	env_tick(e, n * n / 64);
	limbs = env_array(e, n / 5 + 2, sizeof *limbs);
	p = out = env_text(e, n * 2 + 16);
	for (; *s; s++) {
		uint64_t carry = (uint64_t)text_digit(*s);

		if (carry >= (uint64_t)base)
			return jv_absent;
		for (size_t i = 0; i < used; i++, carry /= LIMB) {
			carry += (uint64_t)limbs[i] * (uint64_t)base;
			limbs[i] = (uint32_t)(carry % LIMB);
		}
		if (carry)
			limbs[used++] = (uint32_t)carry;
	}
	p += sprintf(p, "%s%" PRIu32, negative ? "-" : "", limbs[used - 1]);
	while (--used)
		p += sprintf(p, "%09" PRIu32, limbs[used - 1]);
	errno = 0;
	small = strtoll(out, NULL, 10);
	return errno ? (struct jv){ .kind = JV_BIG, .n = (uint32_t)(p - out), .s = out } : jv_int(small);
}

struct jv number_integer(struct env *e, struct jv s, int64_t base)
{
	static const char letters[] = "bBoOxX";
	static const int bases[] = { 2, 8, 16 };
	const char *text = plain_digits(e, s), *hit;
	bool negative = text && *text == '-';

	if (!text || base < 0 || base == 1 || base > 36)
		return jv_absent;
	text += *text == '-' || *text == '+';
	hit = *text == '0' && text[1] ? strchr(letters, text[1]) : NULL;
	if (hit && (!base || base == bases[(hit - letters) / 2])) {
		base = bases[(hit - letters) / 2];
		text += 2;
	} else if (!base) {
		base = *text == '0' && strspn(text, "0") != strlen(text) ? 1 : 10;
	}
	return integer_of(e, text, (int)base, negative);
}

struct jv number_real(struct env *e, struct jv s)
{
	char *text = plain_digits(e, s), *end;
	double d;

	if (!text || strpbrk(text, "xX(pP"))
		return jv_absent;
	d = strtod(text, &end);
	return *end ? jv_absent : jv_float(d);
}
