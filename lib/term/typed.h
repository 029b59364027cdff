/* typed: what a user has typed so far: UTF-8 text of one or more lines, the cursor, and the killed text that can be
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

/* typed_replace(): replaces text[from..to) by s[n] and puts the cursor after it. typed_insert(): inserts at the cursor.
 * typed_set(): replaces everything. Without enough room nothing changes. */
void typed_replace(struct typed *t, size_t from, size_t to, const char *s, size_t n);
void typed_insert(struct typed *t, const char *s, size_t n);
void typed_set(struct typed *t, const char *s, size_t n);

/* Positions relative to `at`: one character to the left or right; the start or end of the line; the start or end of a
 * word (letters, digits and everything beyond ASCII); to the left, a word delimited by white space. */
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

/* Kills text[from..to); the cursor is at one end. more: the last key killed, too, and both are yanked together. */
void typed_kill(struct typed *t, size_t from, size_t to, int more);

/* Swaps the characters before and after the cursor, or the last two of a line, and moves on. */
void typed_transpose(struct typed *t);

#endif
