/* strftime_now(): the conversions of C's strftime() with the flags and widths that Python has from glibc. libc is asked
 * for plain conversions alone, so that every system prints the same. */
#include "builtin.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/size.h"

#define NUMBERS "CdegGHIjklmMsSuUVwWyY"
#define LETTERS NUMBERS "aAbBcDFfhnpPrRtTxXzZ%"

enum { LONGEST = 64 };          /* conversion, without its padding */

struct conversion {             /* %[flags][width]letter */
	char pad;                       /* '0', '_' for spaces, '-' for none; 0: as the letter has it */
	int upper, swapped;             /* flags ^ and # */
	size_t width;                   /* at most `most` */
	char letter;
};

/* How many of s[n], which begins with '%', are a conversion; 0: they are text. */
static size_t parse(const char *s, size_t n, size_t most, struct conversion *c)
{
	size_t i = 1;

	*c = (struct conversion){ .pad = 0 };
	for (; i < n && s[i] && strchr("_-0^#", s[i]); i++)
		if (s[i] == '^')
			c->upper = 1;
		else if (s[i] == '#')
			c->swapped = 1;
		else
			c->pad = s[i];
	for (; i < n && isdigit((unsigned char)s[i]); i++)
		c->width = size_min(c->width * 10 + (size_t)(s[i] - '0'), most);
	i += i + 1 < n && (s[i] == 'E' || s[i] == 'O');         /* other forms, of which the C locale has none */
	if (i == n || !s[i] || !strchr(LETTERS, s[i]))
		return 0;
	c->letter = s[i];
	return i + 1;
}

/* The conversion without flags and width. The time of datetime.now() has no zone. */
static size_t plain(char letter, const struct tm *now, long microseconds, char text[LONGEST])
{
	static const char *const alike[] = { "kH", "lI", "Pp" };        /* which POSIX lacks */
	char format[] = { '%', letter, '\0' };

	if (letter == 'z' || letter == 'Z')
		return 0;
	if (letter == 'f')
		return (size_t)snprintf(text, LONGEST, "%06ld", microseconds);
	for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
		if (letter == alike[i][0])
			format[1] = alike[i][1];
	return strftime(text, LONGEST, format, now);
}

static void set_case(const struct conversion *c, char *text, size_t n)
{
	int upper = c->upper || (c->swapped && strchr("aAbBh", c->letter));
	int lower = c->letter == 'P' || (c->swapped && c->letter == 'p');

	for (size_t i = 0; i < n && (upper || lower); i++)
		text[i] = (char)(lower ? tolower : toupper)((unsigned char)text[i]);
}

/* Writes it to `to`, which has room for its width and LONGEST more. */
static size_t convert(struct conversion c, const struct tm *now, long microseconds, char *to)
{
	char text[LONGEST], *from = text, fill = ' ';
	size_t n = plain(c.letter, now, microseconds, text), room = c.width;

	set_case(&c, text, n);
	if (strchr(NUMBERS, c.letter)) {
		fill = (!c.pad && !strchr("ekl", c.letter)) || c.pad == '0' ? '0' : ' ';
		room = c.pad == '-' ? room : size_max(room, n);
		for (; n > 1 && (*from == '0' || *from == ' '); n--)
			from++;
	} else if (c.pad == '0')
		fill = '0';
	room = c.letter == 'z' || c.letter == 'Z' || room < n ? 0 : room - n;
	memset(to, fill, room);
	memcpy(to + room, from, n);
	return room + n;
}

struct jv global_strftime_now(struct env *e, struct call *c)
{
	struct jv f = arg_str(e, c, 0, jv_str("", 0));
	struct timespec t = { 0 };
	struct conversion conversion;
	struct tm now;
	size_t n = 0, most = 1024, taken;
	char *text;

	f.n = (uint32_t)(f.n ? strnlen(f.s, f.n) : 0);
	if (e->now)
		now = *e->now;
	else if (clock_gettime(CLOCK_REALTIME, &t) || !localtime_r(&t.tv_sec, &now))
		env_fail(e, "strftime_now: the local time is not known");
	while (most < 256 * (size_t)f.n)        /* where Python gives up */
		most *= 2;
	env_tick(e, most / 8);
	text = env_text(e, 2 * most + LONGEST);
	for (uint32_t i = 0; i < f.n && n < most; i += (uint32_t)taken) {
		taken = f.s[i] == '%' ? parse(f.s + i, f.n - i, most, &conversion) : 0;
		if (taken)
			n += convert(conversion, &now, t.tv_nsec / 1000, text + n);
		else {
			text[n++] = f.s[i];
			taken = 1;
		}
	}
	return jv_str(text, n < most ? n : 0);
}
