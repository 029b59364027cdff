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

/* Whether c is a decimal digit (Nd of Unicode 15.1). In each script they follow one another. */
static bool is_digit(int32_t c)
{
	static const int32_t zeros[] = {
		0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6,
		0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0,
		0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30,
		0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0,
		0x11950, 0x11c50, 0x11d50, 0x11da0, 0x11f50, 0x16a60, 0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2,
		0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e950, 0x1fbf0
	};

	for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
		if (c >= zeros[i] && c < zeros[i] + 10)
			return true;
	return false;
}

bool text_is(int32_t c, enum text_class what)
{
	enum unicode_class class = c < 0 || c >= UNICODE_END ? UNICODE_OTHER : unicode_class((uint32_t)c);
	bool letter = class >= UNICODE_LU && class <= UNICODE_LO;

	return what == TEXT_DIGIT ? class == UNICODE_NUMBER && is_digit(c)
		: what == TEXT_NUMBER ? class == UNICODE_NUMBER
		: what == TEXT_LETTER ? letter
		: what == TEXT_CASED ? class >= UNICODE_LU && class <= UNICODE_LT
		: what == TEXT_ALNUM ? letter || class == UNICODE_NUMBER
		: what == TEXT_SPACE ? space_char(c)
		: what == TEXT_INNER ? class == UNICODE_MARK || class == UNICODE_LM || c == 0x2019 || c == 0xb7
			|| (c > 0 && c < 0x80 && strchr("'.:^`", (int)c))
		: what == TEXT_ASCII ? c >= 0 && c < 0x80
		: class >= UNICODE_LU && class <= UNICODE_BLANK;
}

/* unicode_lowers backwards, and the lower-case letters that are no capital's: dotless i, long s, the micro sign and the
 * final sigma. */
int32_t text_upper(int32_t c)
{
	for (const struct unicode_run *r = unicode_lowers; r < unicode_lowers + unicode_n_lowers; r++) {
		uint32_t further = (uint32_t)c - r->to;

		if (further <= r->last - r->first && further % r->every == 0)
			return (int32_t)(r->first + further);
	}
	return c == 0x131 ? 'I' : c == 0x17f ? 'S' : c == 0xb5 ? 0x39c : c == 0x3c2 ? 0x3a3 : c;
}

int32_t text_lower(int32_t c)
{
	return c < 0 ? c : (int32_t)unicode_lower((uint32_t)c);
}

unsigned text_recase(char out[4], int32_t c, enum text_case to, bool first)
{
	bool up = to == TEXT_UPPER || (to == TEXT_SWAP && text_upper(c) != c)
		|| (first && (to == TEXT_CAPITAL || to == TEXT_TITLE || to == TEXT_HEADING));
	const char *several = NULL;

	if (c == 0xdf && (up || to == TEXT_SWAP))
		several = to == TEXT_UPPER || to == TEXT_SWAP ? "SS" : "Ss";
	else if (to == TEXT_FOLD && (c == 0xdf || c == 0x1e9e))
		several = "ss";
	else if (c == 0x130 && !up)
		several = "i\xcc\x87";
	if (several) {
		memcpy(out, several, strlen(several));
		return (unsigned)strlen(several);
	}
	if (to == TEXT_FOLD)
		c = c == 0x17f ? 's' : c == 0x3c2 ? 0x3c3 : c == 0xb5 ? 0x3bc : c;
	return utf8_put(out, up ? text_upper(c) : text_lower(c));
}
