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
