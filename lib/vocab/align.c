/* align: the pieces of the tokens, one after the other, are compared with the text. They differ where the tokenizer
 * repairs UTF-8, puts a space before the text, or drops bytes. */
#include "align.h"

#include <string.h>

#include "lib/base/utf8.h"
#include "priv.h"
#include "unicode.h"

void align_start(struct align *a, const struct vocab *v, const char *text, size_t n, int flags)
{
	*a = (struct align){ .v = v, .text = (const unsigned char *)text, .end = (const unsigned char *)text + n };
	a->repairs = !v->spm && !v->rwkv && !(flags & VOCAB_RAW);
	a->prefixed = v->rules.space_prefix && !(flags & VOCAB_CONTINUE);
}

/* Reads the next character, or byte; a space is U+2581 or a blank, whichever the token begins with. 0 at the end. */
static int read_unit(struct align *a, unsigned char first)
{
	static const unsigned char space[] = { 0xe2, 0x96, 0x81 };
	int escaped = a->end - a->text >= 3 && !memcmp(a->text, space, 3);
	size_t length;

	a->i = 0;
	a->n = a->size = 1;
	if (a->text == a->end)
		return 0;
	if (a->v->plain && (escaped || *a->text == ' ')) {
		a->size = escaped ? 3 : 1;
		a->n = first == ' ' ? 1 : 3;
		memcpy(a->unit, first == ' ' ? (const unsigned char *)" " : space, a->n);
	} else if (a->repairs && *a->text >= 0x80) {
		a->n = utf8_put((char *)a->unit, (int32_t)unicode_next(a->text, a->end, &length));
		a->size = length;
	} else {
		*a->unit = *a->text;
	}
	return 1;
}

/* Uses up the text as far as this byte of a token, which is part of text[from..to). 0: it is not there. */
static int take(struct align *a, unsigned char byte, const unsigned char **from, const unsigned char **to)
{
	int found = 0, same;

	while (!found && (a->i < a->n || read_unit(a, byte))) {
		/* A byte of a character that was not repaired has a range of its own. */
		same = a->n == a->size && !memcmp(a->unit, a->text, a->n);
		*from = same ? a->text + a->i : a->text;
		*to = same ? a->text + a->i + 1 : a->text + a->size;
		found = a->unit[a->i++] == byte;
		if (a->i == a->n)
			a->text += a->size;
	}
	return found;
}

void align_next(struct align *a, int32_t id, const unsigned char **from, const unsigned char **to)
{
	const unsigned char *first, *last;
	size_t n = 0, i = 0;
	const char *piece = vocab_piece(a->v, id, 1, &n);
	int special = vocab_is_special(a->v, id);

	*from = *to = a->text;
	if (a->prefixed && !special && n && *piece == ' ')
		i++;
	for (size_t start = i; i < n && take(a, (unsigned char)piece[i], &first, &last); i++) {
		if (i == start)
			*from = first;
		*to = last;
	}
	a->prefixed = special && a->v->rules.space_prefix;
}
