/* keyboard: turns the bytes that a terminal sends into keys. Unknown escape sequences are skipped as a whole. Bytes
 * between the marks of a bracketed paste are always text, except ^C, which skips the rest of it. U+FFFD stands for a
 * byte that is not UTF-8. */
#ifndef TERM_KEYBOARD_H
#define TERM_KEYBOARD_H

#include <stddef.h>

enum key {
	KEY_NONE,               /* incomplete, or to be ignored */
	KEY_TEXT,               /* struct keyboard's text[n] */
	KEY_ENTER, KEY_NEWLINE, KEY_TAB, KEY_BACKSPACE, KEY_DELETE, KEY_LEFT, KEY_RIGHT, KEY_UP, KEY_DOWN, KEY_HOME,
	KEY_END, KEY_WORD_LEFT, KEY_WORD_RIGHT, KEY_KILL_END, KEY_KILL_LINE, KEY_KILL_SPACE, KEY_KILL_WORD,
	KEY_KILL_WORD_BACK, KEY_YANK, KEY_TRANSPOSE, KEY_CLEAR, KEY_SEARCH, KEY_SEARCH_FORWARD, KEY_OLDER, KEY_NEWER,
	KEY_INTERRUPT, KEY_END_OR_DELETE, KEY_SUSPEND, KEY_CANCEL, KEY_PASTED, KEY_REDRAW, KEY_HANGUP
};

enum { KEYBOARD_SEQUENCE = 32 };

struct keyboard {               /* starts as zeroes */
	char text[4];           /* of KEY_TEXT */
	size_t n;
	/* private */
	enum { KEYBOARD_TYPING, KEYBOARD_PASTING, KEYBOARD_SKIPPING } paste;    /* between the marks of a paste */
	int returned;           /* the last byte of it was a carriage return */
	enum { KEYBOARD_GROUND, KEYBOARD_ESCAPE, KEYBOARD_CSI, KEYBOARD_SS3, KEYBOARD_UTF8 } state;
	char sequence[KEYBOARD_SEQUENCE];
	size_t length;
};

/* Takes input[*used] and counts it: the key that it completes, or KEY_NONE. A byte that does not continue the character
 * before it is left for the next call. */
enum key keyboard_next(struct keyboard *k, const unsigned char *input, size_t *used);

/* Whether a key is incomplete; and the key that it is if no byte follows: Escape, or none. */
int keyboard_pending(const struct keyboard *k);
enum key keyboard_give_up(struct keyboard *k);

#endif
