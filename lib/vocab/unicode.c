/* unicode: decoding arbitrary bytes; mappings of code points. */
#include "unicode.h"

#include <string.h>

#include "lib/base/utf8.h"

static int continues(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

uint32_t unicode_decode(const unsigned char *p, const unsigned char *end, size_t *n)
{
	size_t length = unicode_length(*p);
	uint32_t c = *p & (0x7fu >> length);

	*n = 1;
	if (*p < 0x80)
		return *p;
	if (length == 1 || *p >= 0xf8 || length > (size_t)(end - p) || !continues(p[1]))
		return UNICODE_BAD;
	c = c << 6 | (p[1] & 0x3f);
	if (length > 2) {
		if (!continues(p[2]))
			return UNICODE_BAD;
		c = c << 6 | (p[2] & 0x3f);
	}
	if (length > 3) {
		if (!continues(p[3]))
			return UNICODE_BAD;
		c = c << 6 | (p[3] & 0x3f);
	}
	*n = length;
	return c < UNICODE_END ? c : UNICODE_BAD;
}

size_t unicode_shortest(const unsigned char *p, const unsigned char *end, int above, char out[4], size_t *n)
{
	uint32_t c = unicode_next(p, end, n);

	if (c != UNICODE_BAD || *n < 4 || !above)
		return utf8_put(out, (int32_t)c);
	memcpy(out, p, *n);
	return *n;
}

static size_t shortest(uint32_t c)
{
	return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

size_t unicode_good(const char *s, size_t n, int above)
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
		if (c == UNICODE_BAD ? length != 3 && !(above && length == 4) : shortest(c) != length)
			break;
		p += length;
	}
	return (size_t)(p - start);
}

size_t unicode_repair(const char *s, size_t n, int above, char *out)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + n;
	size_t at = 0, length;

	for (; p < end; p += length)
		at += unicode_shortest(p, end, above, out + at, &length);
	return at;
}

/* The run that maps c, or NULL. */
static const struct unicode_run *find_run(const struct unicode_run *runs, size_t n, uint32_t c)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (runs[middle].last < c)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && runs[low].first <= c && (c - runs[low].first) % runs[low].every == 0 ? &runs[low] : NULL;
}

uint32_t unicode_lower(uint32_t c)
{
	const struct unicode_run *run;

	if (c < 0x80)
		return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
	run = find_run(unicode_lowers, unicode_n_lowers, c);
	return run ? run->to + (c - run->first) : c;
}

uint32_t unicode_base(uint32_t c)
{
	const struct unicode_run *run = c < 0x80 ? NULL : find_run(unicode_bases, unicode_n_bases, c);

	return run ? run->to : c;
}
