/* A state machine over bytes, with tables of escape sequences. */
#include "keyboard.h"

#include <string.h>

#include "lib/base/utf8.h"

/* By the letter: ctrl-A is 1. */
static const enum key controls[32] = {
	[1] = KEY_HOME, [2] = KEY_LEFT, [3] = KEY_INTERRUPT, [4] = KEY_END_OR_DELETE, [5] = KEY_END, [6] = KEY_RIGHT,
	[7] = KEY_CANCEL, [8] = KEY_BACKSPACE, [9] = KEY_TAB, [10] = KEY_ENTER, [11] = KEY_KILL_END, [12] = KEY_CLEAR,
	[13] = KEY_ENTER, [14] = KEY_NEWER, [16] = KEY_OLDER, [18] = KEY_SEARCH, [19] = KEY_SEARCH_FORWARD,
	[20] = KEY_TRANSPOSE, [21] = KEY_KILL_LINE, [23] = KEY_KILL_SPACE, [25] = KEY_YANK, [26] = KEY_SUSPEND
};

/* After Escape, which is how a terminal sends Alt. */
static const struct {
	unsigned char byte;
	enum key key;
} alts[] = {
	{ 'b', KEY_WORD_LEFT }, { 'f', KEY_WORD_RIGHT }, { 'd', KEY_KILL_WORD }, { 127, KEY_KILL_WORD_BACK },
	{ 8, KEY_KILL_WORD_BACK }, { 13, KEY_NEWLINE }, { 10, KEY_NEWLINE }, { 3, KEY_INTERRUPT }
};

/* What follows ESC [ or, where it is one letter, ESC O. */
static const struct {
	const char *sequence;
	enum key key;
} sequences[] = {
	{ "A", KEY_UP }, { "B", KEY_DOWN }, { "C", KEY_RIGHT }, { "D", KEY_LEFT }, { "H", KEY_HOME }, { "F", KEY_END },
	{ "1~", KEY_HOME }, { "7~", KEY_HOME }, { "4~", KEY_END }, { "8~", KEY_END },
	{ "3~", KEY_DELETE }, { "1;5C", KEY_WORD_RIGHT }, { "1;5D", KEY_WORD_LEFT }, { "1;3C", KEY_WORD_RIGHT },
	{ "1;3D", KEY_WORD_LEFT }, { "5C", KEY_WORD_RIGHT }, { "5D", KEY_WORD_LEFT }, { "3;5~", KEY_KILL_WORD },
	{ "200~", KEY_PASTED }, { "201~", KEY_PASTED }
};

static enum key begin(struct keyboard *k, int state, unsigned char byte)
{
	k->state = state;
	k->sequence[0] = (char)byte;
	k->length = 1;
	return KEY_NONE;
}

static enum key text(struct keyboard *k, const char *s, size_t n)
{
	k->n = n;
	memcpy(k->text, s, n);
	return k->paste == KEYBOARD_SKIPPING ? KEY_NONE : KEY_TEXT;
}

/* Bytes that are no character, so that nothing is lost unseen. */
static enum key invalid(struct keyboard *k)
{
	return text(k, "\xef\xbf\xbd", 3);
}

/* A ^C ends a paste, too; the second of two also where its end never comes. */
static enum key interrupt(struct keyboard *k)
{
	k->paste = k->paste == KEYBOARD_PASTING ? KEYBOARD_SKIPPING : KEYBOARD_TYPING;
	return KEY_INTERRUPT;
}

static enum key plain(struct keyboard *k, unsigned char byte)
{
	k->state = KEYBOARD_GROUND;
	if (byte == 27)
		return begin(k, KEYBOARD_ESCAPE, byte);
	if (byte >= 0xc2 && byte < 0xf5)
		return begin(k, KEYBOARD_UTF8, byte);
	if (byte >= 0x80)
		return invalid(k);
	if (byte == 3)
		return interrupt(k);
	if (byte == 127)
		return k->paste ? KEY_NONE : KEY_BACKSPACE;
	/* Of a line that ends in two, the first counts. */
	if (byte == '\n' && k->returned)
		return KEY_NONE;
	k->returned = byte == '\r';
	if (k->paste && (byte == '\r' || byte == '\n'))
		return k->paste == KEYBOARD_SKIPPING ? KEY_NONE : KEY_NEWLINE;
	if (byte < ' ' && !k->paste) {
		k->returned = 0;
		return controls[byte];
	}
	if (byte < ' ' && byte != '\t')
		return KEY_NONE;
	return text(k, (char *)&byte, 1);
}

static enum key alt(struct keyboard *k, unsigned char byte)
{
	if (byte == '[' || byte == 'O') {
		k->length = 0;
		k->state = byte == '[' ? KEYBOARD_CSI : KEYBOARD_SS3;
		return KEY_NONE;
	}
	k->state = KEYBOARD_GROUND;
	if (byte >= 0x80 || byte == 27)
		return plain(k, byte);
	for (size_t i = 0; i < sizeof alts / sizeof *alts && !k->paste; i++)
		if (alts[i].byte == byte)
			return alts[i].key;
	return KEY_NONE;
}

static enum key known(struct keyboard *k)
{
	for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
		enum key key = sequences[i].key;

		if (k->length != strlen(sequences[i].sequence)
		    || memcmp(k->sequence, sequences[i].sequence, k->length))
			continue;
		if (key != KEY_PASTED)
			return k->paste ? KEY_NONE : key;
		k->paste = k->sequence[2] == '0' ? KEYBOARD_PASTING : KEYBOARD_TYPING;
		return k->paste ? KEY_NONE : KEY_PASTED;
	}
	return KEY_NONE;
}

static enum key sequence(struct keyboard *k, unsigned char byte)
{
	if (byte < ' ' || byte >= 127)
		return plain(k, byte);
	if (k->length < sizeof k->sequence)
		k->sequence[k->length++] = (char)byte;
	if (k->state == KEYBOARD_CSI && byte < 0x40)
		return KEY_NONE;
	k->state = KEYBOARD_GROUND;
	return known(k);
}

static enum key character(struct keyboard *k, unsigned char byte)
{
	unsigned used, want = utf8_length((unsigned char)k->sequence[0]);
	int32_t c;

	k->sequence[k->length++] = (char)byte;
	if (k->length < want)
		return KEY_NONE;
	k->state = KEYBOARD_GROUND;
	if ((c = utf8_next(k->sequence, k->length, &used)) < 0)
		return invalid(k);
	/* C1 control characters are no text. */
	return c < 0xa0 ? KEY_NONE : text(k, k->sequence, k->length);
}

enum key keyboard_next(struct keyboard *k, const unsigned char *input, size_t *used)
{
	unsigned char byte = input[*used];

	if (k->state == KEYBOARD_UTF8 && (byte & 0xc0) != 0x80)
		return keyboard_give_up(k);
	++*used;
	switch (k->state) {
	case KEYBOARD_ESCAPE: return alt(k, byte);
	case KEYBOARD_CSI:
	case KEYBOARD_SS3: return sequence(k, byte);
	case KEYBOARD_UTF8: return character(k, byte);
	default: return plain(k, byte);
	}
}

int keyboard_pending(const struct keyboard *k)
{
	return k->state != KEYBOARD_GROUND;
}

enum key keyboard_give_up(struct keyboard *k)
{
	int state = k->state;

	k->state = KEYBOARD_GROUND;
	if (state == KEYBOARD_UTF8)
		return invalid(k);
	return state == KEYBOARD_ESCAPE && !k->paste ? KEY_CANCEL : KEY_NONE;
}
