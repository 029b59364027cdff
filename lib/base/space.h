/* space: white space as defined by Python's str, which is how chat templates trim; and as in C. */
#ifndef SPACE_H
#define SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* isspace() in the C locale, for bytes and code points. */
static inline bool space_ascii(int32_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

bool space_char(int32_t c);                             /* is this code point white space? */
size_t space_leading(const char *s, size_t n);          /* bytes of white space that s[n] starts with */
size_t space_trimmed(const char *s, size_t n);          /* bytes of s[n] without the white space at its end */

/* Where the code point (or malformed byte) that ends at s[n] starts; n at least 1. */
size_t space_step_back(const char *s, size_t n);

#endif
