/* text: Python's str by code points: length, search, letters and their cases. Malformed bytes count as one code point
 * each and are kept. */
#ifndef JINJA_TEXT_H
#define JINJA_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t text_length(const char *s, size_t n);            /* code points */
size_t text_offset(const char *s, size_t n, int64_t i); /* the byte where code point i starts, n past the end */

/* The first and last occurrence, or NULL. An empty `what` is found at the start and at the end. */
const char *text_find(const char *s, size_t n, const char *what, size_t what_n);
const char *text_find_last(const char *s, size_t n, const char *what, size_t what_n);
uint64_t text_find_cost(size_t n, size_t what_n);       /* the most steps that either takes */

int text_digit(char c);          /* the value of a digit or letter, 0 to 35; else 99 */
bool text_is_letter(int32_t c);
bool text_is_alnum(int32_t c);
bool text_is_digit(int32_t c);          /* 0 to 9 */
bool text_is_ascii(int32_t c);
bool text_is_printable(int32_t c);      /* shown by repr() as it is */

/* The other case of a letter, by its simple mapping; anything else unchanged. */
int32_t text_upper(int32_t c);
int32_t text_lower(int32_t c);

enum text_case { TEXT_UPPER, TEXT_LOWER, TEXT_CAPITAL, TEXT_TITLE, TEXT_HEADING, TEXT_SWAP, TEXT_FOLD };

/* The code point c in another case, to out; returns the bytes written. first: it begins a word. */
unsigned text_recase(char out[4], int32_t c, enum text_case to, bool first);

#endif
