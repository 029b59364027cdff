/* unicode: decoding arbitrary bytes. */
#include "unicode.h"

#include <string.h>

#include "lib/base/utf8.h"

static int continues(const unsigned char *p, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return 1;
}

uint32_t unicode_decode(const unsigned char *p, const unsigned char *end, size_t *n)
{
	size_t length = unicode_length(*p);
	uint32_t c;

	*n = 1;
	if (*p < 0x80)
		return *p;
	if (length == 1 || *p >= 0xf8 || length > (size_t)(end - p) || !continues(p, length))
		return UNICODE_BAD;
	*n = length;
	c = *p & (0x7fu >> length);
	for (size_t i = 1; i < length; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c < UNICODE_END ? c : UNICODE_BAD;
}

static size_t shortest(uint32_t c)
{
	return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

size_t unicode_good(const char *s, size_t n)
{
	const unsigned char *start = (const unsigned char *)s, *p = start, *end = start + n;
	uint64_t eight;
	size_t length;
	uint32_t c;

	while (p < end) {
		if (*p < 0x80) {
			p++;
			while (end - p >= 8 && (memcpy(&eight, p, 8), !(eight & 0x8080808080808080)))
				p += 8;
			continue;
		}
		c = unicode_decode(p, end, &length);
		if (shortest(c) != length || (c == UNICODE_BAD && *p != 0xef))
			break;
		p += length;
	}
	return (size_t)(p - start);
}

size_t unicode_repair(const char *s, size_t n, char *out)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + n;
	size_t at = 0, length;

	for (; p < end; p += length)
		at += utf8_put(out + at, (int32_t)unicode_next(p, end, &length));
	return at;
}
