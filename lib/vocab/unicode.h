/* unicode: code points and what kind of character they are, as far as the pre-tokenizers ask (Unicode 15.1). The table is made
 * from Debian's unicode-data by unicode_gen.c: `make unicode`. */
#ifndef UNICODE_H
#define UNICODE_H

#include <stddef.h>
#include <stdint.h>

enum unicode_class {            /* every code point is in one; the general category it comes from */
	UNICODE_OTHER,          /* C*: controls, formats, surrogates, private use, and what is not assigned */
	UNICODE_LU, UNICODE_LL, UNICODE_LT, UNICODE_LM, UNICODE_LO,
	UNICODE_MARK,           /* M* */
	UNICODE_NUMBER,         /* N* */
	UNICODE_PUNCTUATION,    /* P* */
	UNICODE_SYMBOL,         /* S* */
	UNICODE_BLANK,          /* U+0020 */
	UNICODE_NEWLINE,        /* U+000A, U+000D */
	UNICODE_SPACE           /* the other white space: U+0009 U+000B U+000C U+0085 and the rest of Z* */
};

enum { UNICODE_BAD = 0xfffd, UNICODE_END = 0x110000 };

/* Two stages: the block of 128 code points, then the place in it. */
extern const unsigned char unicode_block[UNICODE_END / 128];
extern const unsigned char unicode_in_block[][128];

static inline enum unicode_class unicode_class(uint32_t c)      /* c below UNICODE_END */
{
	return (enum unicode_class)unicode_in_block[unicode_block[c >> 7]][c & 127];
}

/* The code point at p, with p < end, and its length in bytes in *n. Overlong forms and surrogates are taken as they are; a byte that starts no
 * sequence of the right shape has length 1 and is U+FFFD; so is a whole sequence above U+10FFFF. */
uint32_t unicode_decode(const unsigned char *p, const unsigned char *end, size_t *n);

static inline uint32_t unicode_next(const unsigned char *p, const unsigned char *end, size_t *n)
{
	if (*p < 0x80) {
		*n = 1;
		return *p;
	}
	return unicode_decode(p, end, n);
}

/* Bytes of the character that starts with this byte by its high bits alone, 1 to 4, whatever follows. */
static inline size_t unicode_length(unsigned char lead)
{
	return lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* How many bytes at the start of s[n] are as unicode_repair() would leave them. */
size_t unicode_good(const char *s, size_t n);

/* Writes s[n] with each code point of unicode_decode() in its shortest form. out has room for 3·n bytes. Returns how many were written. */
size_t unicode_repair(const char *s, size_t n, char *out);

#endif
