/* vocab, byte-level BPE: the pre-tokenizer cuts the text, each byte of a piece is written as a printable character, and neighbours are joined in the
 * order of the merges. Everything is looked up by its text in the file, so that nothing has to be true of the merges. */
#include "priv.h"

#include <string.h>

#include "unicode.h"
#include "lib/base/utf8.h"

/* GPT-2's alphabet: bytes that print stand for themselves, the others for U+0100 on, in their order. */
static int prints(unsigned b)
{
	return (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
}

/* The bytes that do not print, in order. */
static unsigned hidden(unsigned i)
{
	return i < 33 ? i : i < 67 ? i - 33 + 0x7f : 0xad;
}

enum { HIDDEN = 68 };

static uint32_t letter_of(unsigned b)
{
	if (prints(b))
		return b;
	return 0x100 + (b < 33 ? b : b < 0xad ? b - 0x7f + 33 : HIDDEN - 1);
}

static size_t put_letter(char *out, unsigned char b)
{
	return utf8_put(out, (int32_t)letter_of(b));
}

size_t bpe_spell(const char *text, size_t n, char *out)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + n;
	size_t at = 0, length;

	for (; p < end; p += length) {
		uint32_t c = unicode_next(p, end, &length);

		if (c < 0x100 ? prints(c) : c < 0x100 + HIDDEN) {
			out[at++] = (char)(c < 0x100 ? c : hidden(c - 0x100));
		} else {
			memcpy(out + at, p, length);
			at += length;
		}
	}
	return at;
}

void bpe_mark(const char *text, size_t n, unsigned char bytes[256])
{
	char letter[4];

	for (size_t i = 0; i < n; i++)
		for (size_t k = put_letter(letter, (unsigned char)text[i]); k > 0; k--)
			bytes[(unsigned char)letter[k - 1]] = 1;
	for (size_t i = 0; i < 3; i++)          /* U+FFFD, which a bad byte becomes */
		for (size_t k = put_letter(letter, (unsigned char)"\xef\xbf\xbd"[i]); k > 0; k--)
			bytes[(unsigned char)letter[k - 1]] = 1;
}

/* What costs the rank of the merge "left right". */
static int join(const struct vocab *v, const unsigned char *s, size_t left, size_t n, struct merge_pair *pair)
{
	struct vocab_work *work = v->work;
	int32_t rank;

	if (n + 1 > work->merges.longest)
		return -1;
	memcpy(work->line, s, left);
	work->line[left] = ' ';
	memcpy(work->line + left + 1, s + left, n - left);
	rank = names_find(&work->merges, work->line, n + 1);
	if (rank < 0)
		return -1;
	pair->cost = (uint32_t)rank;
	pair->id = names_find(&v->tokens, s, n);
	return 0;
}

static int open_merges(const struct vocab *v, struct why *w)
{
	struct vocab_work *work = v->work;
	size_t room = 0;

	if (work->merges.slots)
		return 0;
	if (!work->line) {
		names_close(&work->merges);     /* of an attempt that failed */
		if (names_open(&work->merges, v->merges, w))
			return -1;
		if (vocab_room(&work->line, &room, work->merges.longest + 1))
			return why(w, "out of memory");
	}
	return names_index(&work->merges, NAMES_FIRST, work->covers_all ? NULL : work->covers, w);
}

/* A symbol that is no token: as llama.cpp, by those of its letters that are one byte long and a token; others vanish. */
static int add_letters(const struct vocab *v, const char *s, size_t n, struct ids *out)
{
	int32_t id;

	for (size_t i = 0; i < n; i++) {
		id = names_find(&v->tokens, s + i, 1);
		if (id >= 0 && ids_add(out, id))
			return -1;
	}
	return 0;
}

static int add_piece(const struct vocab *v, const char *s, size_t n, struct ids *out, struct why *w)
{
	struct vocab_work *work = v->work;
	struct merge *m = &work->merge;
	size_t spelt = 0, start = out->n, i;
	int known = words_recall(v, s, n, out);
	int32_t id;

	if (known)
		return known < 0 ? why(w, "out of memory") : 0;
	if (vocab_room(&work->spelt, &work->spelt_room, 2 * n))
		return why(w, "out of memory");
	for (i = 0; i < n; i++)
		spelt += put_letter(work->spelt + spelt, (unsigned char)s[i]);
	id = v->pretok->flags & PRETOK_WHOLE ? names_find(&v->tokens, work->spelt, spelt) : -1;
	if (id >= 0) {
		if (ids_add(out, id))
			return why(w, "out of memory");
	} else {
		if (open_merges(v, w) || merge_run(m, v, join, (unsigned char *)work->spelt, spelt, w))
			return -1;
		for (i = 0; i < spelt; i = m->end[i])
			if (m->id[i] >= 0 ? ids_add(out, m->id[i]) : add_letters(v, work->spelt + i, m->end[i] - i, out))
				return why(w, "out of memory");
	}
	words_keep(v, s, n, out, start);
	return 0;
}

int bpe_encode(struct vocab *v, const char *text, size_t n, int raw, struct ids *out, struct why *w)
{
	struct vocab_work *work = v->work;
	struct pretok_cursor cursor;
	const char *piece;
	size_t length;

	if (!raw && unicode_good(text, n) < n) {
		if (n > SIZE_MAX / 3 || vocab_room(&work->text, &work->text_room, 3 * n))
			return why(w, "out of memory");
		n = unicode_repair(text, n, work->text);
		text = work->text;
	}
	pretok_start(&cursor, v->pretok, text, n);
	while (pretok_next(&cursor, &piece, &length))
		if (add_piece(v, piece, length, out, w))
			return -1;
	return 0;
}
