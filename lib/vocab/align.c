/* align: compares the pieces of the tokens, one after the other, with the text as the tokenizer reads it. They differ
 * where the tokenizer adds a space before the text or drops bytes. */
#include "align.h"

#include <string.h>

#include "lib/base/size.h"
#include "dna.h"
#include "encoder.h"
#include "unicode.h"
#include "wpm.h"

static const char space[] = "\xe2\x96\x81";

/* WPM begins each word with a space. */
static int prefixes_all(const struct vocab *v)
{
	return v->kind == &wpm_kind;
}

void align_start(struct align *a, const struct vocab *v, const char *text, size_t n, int flags)
{
	*a = (struct align){ .v = v, .text = text, .end = text + n, .flags = flags };
	a->prefixed = prefixes_all(v) || (v->rules.space_prefix && !(flags & VOCAB_CONTINUE));
}

/* Whether the character read stands for a space. */
static int is_blank(const struct align *a)
{
	return (a->n == 1 && *a->unit == ' ') || (a->n == 3 && !memcmp(a->unit, space, 3));
}

/* Reads the next character or byte. A space is read as U+2581 or as a blank, whichever the token begins with. Returns 0
 * at the end. */
static int read_unit(struct align *a, char first)
{
	const struct kind *kind = a->v->kind;

	a->i = a->n = 0;
	if (a->text == a->end)
		return 0;
	a->n = a->size = 1;
	a->unit = a->text;
	if (kind->unit) {
		a->size = kind->unit(a->v, a->text, a->end, a->own, &a->unit, &a->n);
	} else if (a->v->plain && a->end - a->text >= 3 && !memcmp(a->text, space, 3)) {
		a->n = a->size = 3;
	} else if (kind->flags & KIND_REPAIRS && !(a->flags & VOCAB_RAW) && *a->text & 0x80) {
		a->unit = a->own;
		a->n = unicode_shortest((const unsigned char *)a->text, (const unsigned char *)a->end,
			kind->flags & KIND_ABOVE, a->own, &a->size);
	}
	if (a->v->plain && is_blank(a)) {
		a->unit = first == ' ' ? " " : space;
		a->n = first == ' ' ? 1 : 3;
	}
	if (!a->n)
		a->text += a->size;
	return 1;
}

/* Consumes a byte of the character, which stands for part of text[from..to): the byte has a range of its own if the
 * character is spelled as in the text. */
static char use(struct align *a, const char **from, const char **to)
{
	char byte = a->unit[a->i];
	int same = a->n == a->size && !memcmp(a->unit, a->text, a->n);

	*from = same ? a->text + a->i : a->text;
	*to = same ? a->text + a->i + 1 : a->text + a->size;
	if (++a->i == a->n)
		a->text += a->size;
	return byte;
}

/* Consumes the text up to this byte of a token. Returns 0 if the byte does not occur. */
static int take(struct align *a, char byte, const char **from, const char **to)
{
	while (a->i < a->n || read_unit(a, byte))
		if (a->n && use(a, from, to) == byte)
			return 1;
	return 0;
}

/* Whether the text continues with these bytes; if spaces are merged, with more spaces among them. */
static int goes_on(const struct align *now, const char *piece, size_t n)
{
	struct align a = *now;
	const char *from, *to;

	while (n) {
		if (a.i == a.n && !read_unit(&a, *piece))
			return 0;
		if (a.n && use(&a, &from, &to) == *piece) {
			piece++;
			n--;
		} else if (a.n && !(a.v->merge_spaces && is_blank(&a))) {
			return 0;
		}
	}
	return 1;
}

/* Consumes a character of the unknown token. */
static void take_character(struct align *a, const char **from, const char **to)
{
	const size_t stop = a->i + size_min(unicode_length((unsigned char)a->unit[a->i]), a->n - a->i);
	const char *first, *last;

	while (a->i < stop) {
		use(a, &first, &last);
		if (!*from)
			*from = first;
		if (!is_blank(a))
			*to = last;
	}
}

/* The unknown token: for WPM it stands for a word, for UGM for a run of characters up to the next token. */
static void take_unknown(struct align *a, const int32_t *id, size_t n, const char **from, const char **to)
{
	const char *piece = NULL;
	size_t length = 0;

	if (prefixes_all(a->v)) {
		*to = a->text = wpm_word(a->v, a->text, a->end, from, NULL, &length);
		a->n = a->i = 0;
		return;
	}
	if (n > 1)
		piece = vocab_piece(a->v, id[1], 1, &length);
	*from = NULL;
	while (!(*from && piece && goes_on(a, piece, length)) && (a->i < a->n || read_unit(a, 0))) {
		if (!*from && a->v->merge_spaces && is_blank(a)) {
			a->text += a->size;
			a->n = a->i = 0;
		}
		take_character(a, from, to);
	}
	if (!*from)
		*from = *to;
}

/* A token of DNA. Returns 0 if the sequence ends here. */
static int take_bases(struct align *a, const char **from, const char **to)
{
	size_t n = size_min((size_t)(a->bases_end - a->text), DNA_BASES);

	*from = a->text;
	*to = a->text += n;
	return n > 0;
}

static int begins(const struct align *a, struct gguf_string s)
{
	return (size_t)(a->end - a->text) >= s.n && !memcmp(a->text, s.s, s.n);
}

void align_next(struct align *a, const int32_t *id, size_t n, const char **from, const char **to)
{
	const char *first, *last, *piece;
	size_t length = 0, i = 0;
	int special = vocab_is_special(a->v, *id);

	*from = *to = a->text;
	if (a->bases_end && take_bases(a, from, to))
		return;
	a->bases_end = NULL;
	if (*id == a->v->rules.unknown && !(a->flags & VOCAB_SPECIAL && begins(a, vocab_token(a->v, *id)))) {
		take_unknown(a, id, n, from, to);
		a->prefixed = prefixes_all(a->v);
		return;
	}
	piece = vocab_piece(a->v, *id, 1, &length);
	if (a->prefixed && !special && length && *piece == ' ')
		i++;
	for (size_t start = i; i < length && take(a, piece[i], &first, &last); i++) {
		if (i == start)
			*from = first;
		*to = last;
	}
	a->prefixed = prefixes_all(a->v) || (special && a->v->rules.space_prefix);
	if (a->v->kind == &dna_kind && dna_is_open(vocab_token(a->v, *id)))
		a->bases_end = dna_end(a->text, a->end);
}
