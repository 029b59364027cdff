/* quote: escaping and unescaping. */
#include "quote.h"

#include <stdio.h>
#include <string.h>

#include "utf8.h"
#include "visible.h"

size_t quote_next(const char *s, size_t n, char mark, char *out, unsigned *used)
{
	static const char escaped[] = "\a\b\t\n\v\f\r\\", letters[] = "abtnvfr\\";
	int32_t point = utf8_next(s, n, used);
	const char *e;
	size_t len = 0;
	unsigned b;

	if (*s == '"' && mark) {
		out[0] = mark;
		out[1] = '"';
		return 2;
	}
	if (*s && (e = strchr(escaped, *s))) {
		out[0] = '\\';
		out[1] = letters[e - escaped];
		return 2;
	}
	if (point < ' ' || (point >= 0x7f && point < 0xa0) || visible_disguises(point)) {
		for (b = 0; b < *used; b++)
			len += (size_t)snprintf(out + len, QUOTE_ROOM - len, "\\x%02x", (unsigned char)s[b]);
		return len;
	}
	memcpy(out, s, *used);
	return *used;
}

size_t quote_undo(const char *text, size_t n, char *out)
{
	static const char letters[] = "ntr\"'\\", meant[] = "\n\t\r\"'\\";
	const char *e;
	size_t made = 0, i;

	for (i = 0; i < n; i++)
		if (text[i] == '\\' && i + 1 < n && (e = memchr(letters, text[i + 1], sizeof letters - 1))) {
			out[made++] = meant[e - letters];
			i++;
		} else {
			out[made++] = text[i];
		}
	return made;
}
