/* Code points of text. */
#include "text.h"

#include "lib/base/space.h"
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

int text_digit(char c)
{
	int low = c | 32;

	return c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'z' ? low - 'a' + 10 : 99;
}

bool text_is(int32_t c, enum text_class what)
{
	enum unicode_class class = c < 0 || c >= UNICODE_END ? UNICODE_OTHER : unicode_class((uint32_t)c);
	bool letter = class >= UNICODE_LU && class <= UNICODE_LO;

	return what == TEXT_DIGIT ? c >= '0' && c <= '9' :
		what == TEXT_LETTER ? letter :
		what == TEXT_ALNUM ? letter || class == UNICODE_NUMBER :
		what == TEXT_SPACE ? space_char(c) :
		what == TEXT_ASCII ? c >= 0 && c < 0x80 :
		class >= UNICODE_LU && class <= UNICODE_BLANK;
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
	for (const struct unicode_run *r = unicode_lowers; c >= 0x80 && r < unicode_lowers + unicode_n_lowers; r++) {
		uint32_t further = (uint32_t)c - r->to;

		if (further <= r->last - r->first && further % r->every == 0)
			return (int32_t)(r->first + further);
	}
	return c == 0x131 ? 'I' : c == 0x17f ? 'S' : c;
}

int32_t text_lower(int32_t c)
{
	return c < 0 ? c : (int32_t)unicode_lower((uint32_t)c);
}

unsigned text_recase(char out[4], int32_t c, enum text_case to, bool first)
{
	bool up = to == TEXT_UPPER || (to == TEXT_SWAP && text_upper(c) != c) ||
		(first && (to == TEXT_CAPITAL || to == TEXT_TITLE || to == TEXT_HEADING));
	const char *pair = NULL;

	if (c == 0xdf && (up || to == TEXT_SWAP))
		pair = to == TEXT_UPPER || to == TEXT_SWAP ? "SS" : "Ss";
	else if (to == TEXT_FOLD && (c == 0xdf || c == 0x1e9e))
		pair = "ss";
	if (pair) {
		memcpy(out, pair, 2);
		return 2;
	}
	if (to == TEXT_FOLD)
		c = c == 0x17f ? 's' : c == 0x3c2 ? 0x3c3 : c == 0xb5 ? 0x3bc : c;
	return utf8_put(out, up ? text_upper(c) : text_lower(c));
}
