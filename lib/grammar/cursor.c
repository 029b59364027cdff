/* The characters of a grammar's text. */
#include "cursor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/utf8.h"
#include "priv.h"

uint32_t cursor_fail(struct cursor *t, const char *at, const char *format, ...)
{
	size_t line = 1, column = 1;
	char reason[300];
	va_list ap;

	for (const char *s = t->start; s < at; s++) {
		column += ((unsigned char)*s & 0xc0) != 0x80;
		if (*s == '\n') {
			line++;
			column = 1;
		}
	}
	va_start(ap, format);
	vsnprintf(reason, sizeof reason, format, ap);
	va_end(ap);
	why(t->w, "line %zu, column %zu: %s", line, column, reason);
	return GRAMMAR_NONE;
}

int cursor_peek(const struct cursor *t)
{
	return t->at < t->end ? (unsigned char)*t->at : -1;
}

void cursor_skip(struct cursor *t, int lines)
{
	for (; t->at < t->end; t->at++) {
		if (*t->at == '#')
			while (t->at + 1 < t->end && t->at[1] != '\n')
				t->at++;
		else if (*t->at != ' ' && *t->at != '\t' && *t->at != '\r' && !(lines && *t->at == '\n'))
			break;
	}
}

static int is_name(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

size_t cursor_name(const struct cursor *t)
{
	const char *s = t->at;

	while (s < t->end && is_name((unsigned char)*s))
		s++;
	return (size_t)(s - t->at);
}

static int32_t hex(struct cursor *t, unsigned digits)
{
	const char *from = t->at - 2;
	uint32_t c = 0;

	for (unsigned i = 0; i < digits; i++, t->at++) {
		int h = cursor_peek(t);
		int digit = h >= '0' && h <= '9' ? h - '0' : h >= 'a' && h <= 'f' ? h - 'a' + 10 : h >= 'A' && h <= 'F' ? h - 'A' + 10 : -1;

		if (digit < 0) {
			cursor_fail(t, from, "\\%c wants %u hexadecimal digits", from[1], digits);
			return -1;
		}
		c = c << 4 | (uint32_t)digit;
	}
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
		cursor_fail(t, from, "U+%04X is no character", (unsigned)c);
		return -1;
	}
	return (int32_t)c;
}

int32_t cursor_point(struct cursor *t)
{
	static const char from[] = "nrt\\\"[]-^", to[] = "\n\r\t\\\"[]-^";
	const char *hit;
	unsigned used;
	int32_t c;

	if (*t->at != '\\') {
		c = utf8_next(t->at, (size_t)(t->end - t->at), &used);
		if (c < 0)
			cursor_fail(t, t->at, "bytes that are not UTF-8");
		t->at += used;
		return c;
	}
	if (t->end - t->at < 2) {
		cursor_fail(t, t->at, "the text ends in an escape");
		return -1;
	}
	t->at += 2;
	switch (t->at[-1]) {
	case 'x':
		return hex(t, 2);
	case 'u':
		return hex(t, 4);
	case 'U':
		return hex(t, 8);
	}
	hit = t->at[-1] ? strchr(from, t->at[-1]) : NULL;
	if (hit)
		return to[hit - from];
	cursor_fail(t, t->at - 2, "unknown escape");
	return -1;
}
