/* White space at the ends of text. */
#include "space.h"

#include "utf8.h"

bool space_char(int32_t c)
{
	if (c < 0x80)
		return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20);
	return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029
		|| c == 0x202f || c == 0x205f || c == 0x3000;
}

size_t space_leading(const char *s, size_t n)
{
	size_t at = 0;
	unsigned used;

	while (at < n && space_char(utf8_next(s + at, n - at, &used)))
		at += used;
	return at;
}

size_t space_step_back(const char *s, size_t n)
{
	size_t at = n - 1;
	unsigned used;

	while (at && n - at < 4 && ((unsigned char)s[at] & 0xc0) == 0x80)
		at--;
	utf8_next(s + at, n - at, &used);
	return at + used == n ? at : n - 1;
}

size_t space_trimmed(const char *s, size_t n)
{
	unsigned used;

	while (n) {
		size_t at = space_step_back(s, n);

		if (!space_char(utf8_next(s + at, n - at, &used)))
			break;
		n = at;
	}
	return n;
}
