/* unicode: decoding, and the classes of characters that the pre-tokenizers distinguish (Unicode 15.1). `make unicode`
 * generates the table from Debian's unicode-data. */
#ifndef UNICODE_H
#define UNICODE_H

#include <stddef.h>
#include <stdint.h>

enum unicode_class {            /* each code point has one; the comments name its general categories */
	UNICODE_OTHER,          /* Cn: unassigned */
	UNICODE_LU, UNICODE_LL, UNICODE_LT, UNICODE_LM, UNICODE_LO,
	UNICODE_MARK,           /* M* */
	UNICODE_NUMBER,         /* N* */
	UNICODE_PUNCTUATION,    /* P* */
	UNICODE_SYMBOL,         /* S* */
	UNICODE_BLANK,          /* U+0020 */
	UNICODE_NEWLINE,        /* U+000A, U+000D */
	UNICODE_SPACE,          /* the other white space: U+0009 U+000B U+000C U+0085 and the rest of Z* */
	UNICODE_CONTROL,        /* the rest of C*: controls, formats, surrogates, private use */
	UNICODE_LONG = 31       /* no class: a byte that is no character */
};

enum { UNICODE_BAD = 0xfffd, UNICODE_END = 0x110000 };

/* Two levels: the block of 128 code points, then the code point in it. */
extern const unsigned char unicode_block[UNICODE_END / 128];
extern const unsigned char unicode_in_block[][128];

/* The classes of ASCII, and UNICODE_LONG for the other bytes. */
extern const unsigned char unicode_byte[256];

static inline enum unicode_class unicode_class(uint32_t c)      /* c below UNICODE_END */
{
	return (enum unicode_class)unicode_in_block[unicode_block[c >> 7]][c & 127];
}

struct unicode_run {            /* code points that are mapped alike: first, first + every, ..., last */
	uint32_t first, last, to, every;
};

extern const struct unicode_run unicode_lowers[], unicode_bases[];
extern const size_t unicode_n_lowers, unicode_n_bases;

/* The lower-case letter of c, or c. */
uint32_t unicode_lower(uint32_t c);

/* The first code point of c's canonical decomposition (NFD): a letter without its accents, the first letter of a
 * syllable of Hangul. Or c. */
uint32_t unicode_base(uint32_t c);

static inline int unicode_is_white(uint32_t c)
{
	return 1 << unicode_class(c) & (1 << UNICODE_BLANK | 1 << UNICODE_NEWLINE | 1 << UNICODE_SPACE);
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

/* The class of the character at p, with p < end, and its length in *n. */
static inline enum unicode_class unicode_class_at(const unsigned char *p, const unsigned char *end, size_t *n)
{
	*n = 1;
	return *p < 0x80 ? (enum unicode_class)unicode_byte[*p] : unicode_class(unicode_decode(p, end, n));
}

/* The length of a character, 1 to 4, judged by its first byte alone. */
static inline size_t unicode_length(unsigned char lead)
{
	return lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* Writes the code point at p in its shortest form; returns its length there, and its length at p in *n. above: a
 * sequence above U+10FFFF stays as it is. */
size_t unicode_shortest(const unsigned char *p, const unsigned char *end, int above, char out[4], size_t *n);

/* How many bytes at the start of s[n] unicode_repair() would not change. */
size_t unicode_good(const char *s, size_t n, int above);

/* Writes the code points of s[n] in their shortest forms to out, at most 3·n bytes; returns how many. */
size_t unicode_repair(const char *s, size_t n, int above, char *out);

#endif
