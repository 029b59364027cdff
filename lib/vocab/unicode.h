/* unicode: decoding, and the classes of characters that the pre-tokenizers distinguish (Unicode 15.1). `make unicode`
 * generates the table from Debian's unicode-data. */
#ifndef UNICODE_H
#define UNICODE_H

#include <stddef.h>
#include <stdint.h>

enum unicode_class {            /* each code point has one; the comments name its general categories */
	UNICODE_OTHER,          /* C*: controls, formats, surrogates, private use, unassigned */
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

/* Two levels: the block of 128 code points, then the code point in it. */
extern const unsigned char unicode_block[UNICODE_END / 128];
extern const unsigned char unicode_in_block[][128];

static inline enum unicode_class unicode_class(uint32_t c)      /* c below UNICODE_END */
{
	return (enum unicode_class)unicode_in_block[unicode_block[c >> 7]][c & 127];
}

/* The code point at p, with p < end, and its length in bytes in *n. Overlong forms and surrogates are decoded. A byte
 * that does not start a sequence of the right length gives U+FFFD and length 1; a sequence above U+10FFFF gives U+FFFD
 * as a whole. */
uint32_t unicode_decode(const unsigned char *p, const unsigned char *end, size_t *n);

static inline uint32_t unicode_next(const unsigned char *p, const unsigned char *end, size_t *n)
{
	if (*p < 0x80) {
		*n = 1;
		return *p;
	}
	return unicode_decode(p, end, n);
}

/* The length of a character, 1 to 4, judged by its first byte alone. */
static inline size_t unicode_length(unsigned char lead)
{
	return lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* How many bytes at the start of s[n] unicode_repair() would not change. */
size_t unicode_good(const char *s, size_t n);

/* Writes the code points of s[n] in their shortest forms to out, at most 3·n bytes; returns how many. */
size_t unicode_repair(const char *s, size_t n, char *out);

#endif
