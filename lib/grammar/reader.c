/* The characters of a grammar's text. */
#include "reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/hex.h"
#include "lib/base/utf8.h"
#include "node.h"

uint32_t reader_fail(struct grammar_reader *r, const char *at, const char *format, ...)
{
	size_t line = 1, column = 1;
	char reason[300];
	va_list ap;

	for (const char *s = r->start; s < at; s++) {
		column += ((unsigned char)*s & 0xc0) != 0x80;
		if (*s == '\n') {
			line++;
			column = 1;
		}
	}
	va_start(ap, format);
	vsnprintf(reason, sizeof reason, format, ap);
	va_end(ap);
	why(r->w, "line %zu, column %zu: %s", line, column, reason);
	return GRAMMAR_NONE;
}

int reader_peek(const struct grammar_reader *r)
{
	return r->at < r->end ? (unsigned char)*r->at : -1;
}

void reader_skip(struct grammar_reader *r, int lines)
{
	for (; r->at < r->end; r->at++) {
		if (*r->at == '#')
			while (r->at + 1 < r->end && r->at[1] != '\n')
				r->at++;
		else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r' && !(lines && *r->at == '\n'))
			break;
	}
}

static int is_name(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

size_t reader_name(const struct grammar_reader *r)
{
	const char *s = r->at;

	while (s < r->end && is_name((unsigned char)*s))
		s++;
	return (size_t)(s - r->at);
}

static int32_t hex(struct grammar_reader *r, unsigned digits)
{
	const char *from = r->at - 2;
	uint32_t c = 0;

	for (unsigned i = 0; i < digits; i++, r->at++) {
		int digit = hex_digit(reader_peek(r));

		if (digit < 0)
			return (int32_t)reader_fail(r, from, "\\%c must be followed by %u hexadecimal digits", from[1],
				digits);
		c = c << 4 | (uint32_t)digit;
	}
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return (int32_t)reader_fail(r, from, "U+%04X is not a character", (unsigned)c);
	return (int32_t)c;
}

int32_t reader_point(struct grammar_reader *r)
{
	static const char from[] = "nrt\\\"[]-^", to[] = "\n\r\t\\\"[]-^", numbers[] = "xuU";
	const char *hit;
	unsigned used;
	int32_t c;

	if (*r->at != '\\') {
		c = utf8_next(r->at, (size_t)(r->end - r->at), &used);
		if (c < 0)
			reader_fail(r, r->at, "invalid UTF-8");
		r->at += used;
		return c;
	}
	if (r->end - r->at < 2)
		return (int32_t)reader_fail(r, r->at, "the text ends in an escape");
	r->at += 2;
	hit = r->at[-1] ? strchr(numbers, r->at[-1]) : NULL;
	if (hit)
		return hex(r, 2u << (hit - numbers));
	hit = r->at[-1] ? strchr(from, r->at[-1]) : NULL;
	return hit ? to[hit - from] : (int32_t)reader_fail(r, r->at - 2, "unknown escape");
}
