/* typed: what a user has typed so far: UTF-8 text of one line or several, the cursor in it, and what was killed, to be
 * yanked. */
#ifndef TYPED_H
#define TYPED_H

#include "lib/base/bytes.h"

struct typed {                  /* starts as zeroes but for text.limit, which bounds all of it */
	struct bytes text;
	size_t at;              /* the cursor is before text.p[at]; never inside a character */
	struct bytes killed;
};

void typed_free(struct typed *t);

/* Puts s[n] in place of text[from..to), and the cursor after it; at the cursor; in place of everything. Where there is
 * no room for it nothing changes. */
void typed_replace(struct typed *t, size_t from, size_t to, const char *s, size_t n);
void typed_insert(struct typed *t, const char *s, size_t n);
void typed_set(struct typed *t, const char *s, size_t n);

/* Places in the text, seen from the place `at`: a character to the left or right; the start or end of the line; a word
 * of letters, digits and everything past ASCII; to the left, a word between white space. */
size_t typed_left(const struct typed *t, size_t at);
size_t typed_right(const struct typed *t, size_t at);
size_t typed_line_start(const struct typed *t, size_t at);
size_t typed_line_end(const struct typed *t, size_t at);
size_t typed_word_left(const struct typed *t, size_t at);
size_t typed_word_right(const struct typed *t, size_t at);
size_t typed_space_left(const struct typed *t, size_t at);

/* Moves the cursor to the line above or below, at the same column. Returns 0 if there is none. */
int typed_up(struct typed *t);
int typed_down(struct typed *t);

/* Kills text[from..to), of which the cursor is one end. more: the last key killed too, and both are yanked together. */
void typed_kill(struct typed *t, size_t from, size_t to, int more);

/* Swaps the characters before and after the cursor, or the last two of a line, and moves on. */
void typed_transpose(struct typed *t);

#endif
