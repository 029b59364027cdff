/* text: Python's str by code points: length, letters and their cases. Malformed bytes count as one code point each and
 * are kept. */
#ifndef JINJA_TEXT_H
#define JINJA_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t text_length(const char *s, size_t n);            /* code points */
size_t text_offset(const char *s, size_t n, int64_t i); /* the byte where code point i starts, n past the end */

int text_digit(char c);         /* the value of a digit or letter, 0 to 35; else 99 */

/* TEXT_DIGIT is a decimal digit of any script, TEXT_NUMBER any numeric character; TEXT_CASED is a letter with a case;
 * TEXT_INNER is what may stand between the letters of a word, for the final sigma; TEXT_PRINTABLE is what repr() shows
 * as it is. */
enum text_class { TEXT_DIGIT, TEXT_NUMBER, TEXT_LETTER, TEXT_CASED, TEXT_ALNUM, TEXT_SPACE, TEXT_INNER, TEXT_ASCII,
	TEXT_PRINTABLE };
bool text_is(int32_t c, enum text_class what);

/* The other case of a letter, by its simple mapping; anything else unchanged. */
int32_t text_upper(int32_t c);
int32_t text_lower(int32_t c);

enum text_case { TEXT_UPPER, TEXT_LOWER, TEXT_CAPITAL, TEXT_TITLE, TEXT_HEADING, TEXT_SWAP, TEXT_FOLD };

/* The code point c in another case, to out; returns the bytes written. first: it begins a word. */
unsigned text_recase(char out[4], int32_t c, enum text_case to, bool first);

#endif
