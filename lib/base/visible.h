/* visible: text of any origin, such as a model's, for a terminal. A control character could set the title, clear the
 * screen or hide text, so its picture (U+2400 and on) or U+FFFD takes its place. A newline and a tab stay. */
#ifndef VISIBLE_H
#define VISIBLE_H

#include <stddef.h>
#include <stdint.h>

/* Whether the character ends a line or changes the direction of text: it could disguise what follows it in a list. */
static inline int visible_disguises(int32_t point)
{
	return (point >= 0x2028 && point < 0x202f) || (point >= 0x2066 && point < 0x206a);
}

/* The character that is shown for this one; point -1 is an invalid byte. */
int32_t visible_point(int32_t point);

struct visible {                /* starts as zeros */
	char part[4];           /* [n] of a character, which may be divided between calls */
	size_t n;
};

typedef void visible_sink(void *context, const char *s, size_t n);

/* Passes s[n] on to the sink, which must not keep it. visible_end(): nothing follows, so an incomplete character is
 * invalid. */
void visible_put(struct visible *v, const char *s, size_t n, visible_sink *put, void *context);
void visible_end(struct visible *v, visible_sink *put, void *context);

#endif
