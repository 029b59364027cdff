/* Code points of text. */
#include "text.h"

#include "lib/base/utf8.h"
#include "lib/vocab/unicode.h"

#include <string.h>

size_t text_length(const char *s, size_t n)
{
	size_t count = 0;
	unsigned used;

	for (size_t at = 0; at < n; at += used, count++)
		utf8_next(s + at, n - at, &used);
	return count;
}

size_t text_offset(const char *s, size_t n, int64_t i)
{
	size_t at = 0;
	unsigned used;

	for (; i > 0 && at < n; at += used, i--)
		utf8_next(s + at, n - at, &used);
	return at;
}

const char *text_find(const char *s, size_t n, const char *what, size_t what_n)
{
	const char *end = s + n;

	if (!what_n)
		return s;
	while ((size_t)(end - s) >= what_n && (s = memchr(s, *what, (size_t)(end - s) - what_n + 1))) {
		if (!memcmp(s, what, what_n))
			return s;
		s++;
	}
	return NULL;
}

const char *text_find_last(const char *s, size_t n, const char *what, size_t what_n)
{
	if (!what_n)
		return s + n;
	for (size_t at = n; at >= what_n; at--)
		if (!memcmp(s + at - what_n, what, what_n))
			return s + at - what_n;
	return NULL;
}

uint64_t text_find_cost(size_t n, size_t what_n)
{
	return n / 4 + (uint64_t)n * what_n / 256;
}

static bool in_classes(int32_t c, enum unicode_class from, enum unicode_class to)
{
	enum unicode_class class = c < 0 || c >= UNICODE_END ? UNICODE_OTHER : unicode_class((uint32_t)c);

	return class >= from && class <= to;
}

bool text_is_letter(int32_t c)
{
	return in_classes(c, UNICODE_LU, UNICODE_LO);
}

int text_digit(char c)
{
	int low = c | 32;

	return c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'z' ? low - 'a' + 10 : 99;
}

bool text_is_digit(int32_t c)
{
	return c >= '0' && c <= '9';
}

bool text_is_alnum(int32_t c)
{
	return text_is_letter(c) || in_classes(c, UNICODE_NUMBER, UNICODE_NUMBER);
}

bool text_is_ascii(int32_t c)
{
	return c >= 0 && c < 0x80;
}

bool text_is_printable(int32_t c)
{
	return in_classes(c, UNICODE_LU, UNICODE_BLANK);
}

/* Lower-case letters first..last, whose capitals lie `up` away. With up 0 capitals and small letters alternate, and
 * the small ones are odd (1) or even (2). */
static const struct cased {
	int32_t first, last, up;
	int odd;
} cased[] = {
	{ 'a', 'z', -32, 0 }, { 0xb5, 0xb5, 743, 0 }, { 0xe0, 0xf6, -32, 0 }, { 0xf8, 0xfe, -32, 0 },
	{ 0xff, 0xff, 121, 0 }, { 0x100, 0x12f, 0, 1 }, { 0x132, 0x137, 0, 1 }, { 0x139, 0x148, 0, 2 },
	{ 0x14a, 0x177, 0, 1 }, { 0x179, 0x17e, 0, 2 }, { 0x1cd, 0x1dc, 0, 2 }, { 0x1de, 0x1ef, 0, 1 },
	{ 0x1f8, 0x21f, 0, 1 }, { 0x222, 0x233, 0, 1 }, { 0x3ac, 0x3ac, -38, 0 }, { 0x3ad, 0x3af, -37, 0 },
	{ 0x3b1, 0x3c1, -32, 0 }, { 0x3c3, 0x3cb, -32, 0 }, { 0x3c2, 0x3c2, -31, 0 }, { 0x3cc, 0x3cc, -64, 0 },
	{ 0x3cd, 0x3ce, -63, 0 }, { 0x430, 0x44f, -32, 0 }, { 0x450, 0x45f, -80, 0 }, { 0x460, 0x481, 0, 1 },
	{ 0x48a, 0x4bf, 0, 1 }, { 0x4c1, 0x4ce, 0, 2 }, { 0x4d0, 0x52f, 0, 1 }, { 0x561, 0x586, -48, 0 },
	{ 0x1e00, 0x1e95, 0, 1 }, { 0x1ea0, 0x1eff, 0, 1 }, { 0x2170, 0x217f, -16, 0 }, { 0x24d0, 0x24e9, -26, 0 },
	{ 0xff41, 0xff5a, -32, 0 }, { 0x10428, 0x1044f, -40, 0 },
};

static const struct cased *const cased_end = cased + sizeof cased / sizeof *cased;

int32_t text_upper(int32_t c)
{
	for (const struct cased *t = cased; t < cased_end; t++)
		if (c >= t->first && c <= t->last)
			return t->up ? c + t->up : (c & 1) == (t->odd & 1) ? c - 1 : c;
	return c == 0x131 ? 'I' : c;
}

int32_t text_lower(int32_t c)
{
	if (c < 0x80)
		return c >= 'A' && c <= 'Z' ? c + 32 : c;
	for (const struct cased *t = cased; t < cased_end; t++) {
		if (!t->up && c >= t->first && c <= t->last)
			return (c & 1) == (t->odd & 1) ? c : c + 1;
		if (t->up && c >= t->first + t->up && c <= t->last + t->up && c - t->up != 0xb5 && c - t->up != 0x3c2)
			return c - t->up;
	}
	return c;
}

unsigned text_recase(char out[4], int32_t c, enum text_case to, bool first)
{
	bool up = to == TEXT_UPPER || (to == TEXT_SWAP && text_upper(c) != c) ||
		(first && (to == TEXT_CAPITAL || to == TEXT_TITLE || to == TEXT_HEADING));

	if (c == 0xdf && (up || to == TEXT_SWAP || to == TEXT_FOLD)) {
		memcpy(out, to == TEXT_FOLD ? "ss" : to == TEXT_UPPER || to == TEXT_SWAP ? "SS" : "Ss", 2);
		return 2;
	}
	if (to == TEXT_FOLD) {
		if (c == 0x1e9e) {
			memcpy(out, "ss", 2);
			return 2;
		}
		c = c == 0x17f ? 's' : c == 0x3c2 ? 0x3c3 : c == 0xb5 ? 0x3bc : c;
	}
	return utf8_put(out, up ? text_upper(c) : text_lower(c));
}
