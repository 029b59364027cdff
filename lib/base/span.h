/* span: a piece of a text, s[n], which is borrowed. */
#ifndef SPAN_H
#define SPAN_H

#include <stddef.h>
#include <string.h>

struct span {
	const char *s;
	size_t n;
};

static inline struct span span_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

/* From one place to another of the same text; empty if that comes first or there is none. */
static inline struct span span_between(const char *from, const char *to)
{
	return from && to && from < to ? (struct span){ from, (size_t)(to - from) } : (struct span){ from, 0 };
}

static inline struct span span_after(struct span s, const char *place)
{
	return span_between(place, s.s + s.n);
}

/* Without n bytes at its start or end. */
static inline struct span span_drop(struct span s, size_t n)
{
	return (struct span){ s.s + n, s.n - n };
}

static inline struct span span_drop_end(struct span s, size_t n)
{
	return (struct span){ s.s, s.n - n };
}

static inline int span_equal(struct span a, struct span b)
{
	return a.n == b.n && (!a.n || !memcmp(a.s, b.s, a.n));
}

static inline int span_begins(struct span s, struct span with)
{
	return s.n >= with.n && (!with.n || !memcmp(s.s, with.s, with.n));
}

/* ---- white space ---- */

static inline int span_is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* How many bytes of it s begins with. */
static inline size_t span_space(struct span s)
{
	size_t n = 0;

	while (n < s.n && span_is_space(s.s[n]))
		n++;
	return n;
}

static inline struct span span_trim_start(struct span s)
{
	return span_drop(s, span_space(s));
}

static inline struct span span_trim_end(struct span s)
{
	while (s.n && span_is_space(s.s[s.n - 1]))
		s.n--;
	return s;
}

#endif
