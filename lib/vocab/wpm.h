/* wpm: the words of WordPiece. */
#ifndef WPM_H
#define WPM_H

#include <stddef.h>

struct vocab;

/* Finds the first word of the text up to `end`: it starts at *from and ends where the return value says. Writes it as
 * tokens spell it, *n bytes, at most 2 · (end - text); word may be NULL. *n is 0 if there is none. */
const char *wpm_word(const struct vocab *v, const char *text, const char *end, const char **from, char *word,
	size_t *n);

#endif
