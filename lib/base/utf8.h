/* utf8: decodes and encodes one code point at a time; any bytes are valid input. */
#ifndef UTF8_H
#define UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { UTF8_BAD = 0xfffd };

/* The length of a well-formed sequence that begins with this byte; 1 if none does. */
static inline unsigned utf8_length(unsigned char lead)
{
	return lead < 0xc2 || lead >= 0xf5 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* The code point at s[0..n), n at least 1, and in *used its length, 1 to 4. A byte that starts no well-formed sequence
 * (overlong, surrogate, past U+10FFFF, cut off) has length 1 and the value -1. */
static inline int32_t utf8_next(const char *s, size_t n, unsigned *used)
{
	const unsigned char *p = (const unsigned char *)s;
	static const int32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned len = utf8_length(p[0]);
	int32_t c;

	*used = 1;
	if (len == 1)
		return p[0] < 0x80 ? p[0] : -1;
	if (len > n)
		return -1;
	c = p[0] & (0x7f >> len);
	for (unsigned i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return -1;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return -1;
	*used = len;
	return c;
}

/* The length of the byte-order mark that s[n] begins with: 3, or 0 if there is none. Some editors write one at the
 * start of a file; it is not part of the text. */
static inline size_t utf8_mark(const char *s, size_t n)
{
	return n >= 3 && s[0] == '\xef' && s[1] == '\xbb' && s[2] == '\xbf' ? 3 : 0;
}

/* How many bytes of s[n] come before the first that is not UTF-8. */
static inline size_t utf8_valid(const char *s, size_t n)
{
	size_t at = 0;
	unsigned used;

	while (at < n && utf8_next(s + at, n - at, &used) >= 0)
		at += used;
	return at;
}

/* Writes c, at most U+10FFFF, as 1 to 4 bytes; returns how many. */
static inline unsigned utf8_put(char out[4], int32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

#endif
