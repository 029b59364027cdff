/* dna: BPE, but text between <dna> and </dna> is a sequence of bases. Six of them are a token, which the file spells
 * with U+E000 after them; the last token of a sequence is filled up with A. */
#include "dna.h"

#include <string.h>

#include "encoder.h"

static const char open_tag[] = "<dna>", close_tag[] = "</dna>", unknown_tag[] = "<oov>", marker[] = "\xee\x80\x80";

enum { OPEN = sizeof open_tag - 1, CLOSE = sizeof close_tag - 1, MARKER = sizeof marker - 1 };

/* Where the tag begins in the text, or its end. */
static const char *find(const char *text, const char *end, const char *tag, size_t n)
{
	while ((text = memchr(text, *tag, (size_t)(end - text))) && ((size_t)(end - text) < n || memcmp(text, tag, n)))
		text++;
	return text ? text : end;
}

const char *dna_end(const char *text, const char *end)
{
	return find(text, end, close_tag, CLOSE);
}

int dna_is_open(struct gguf_string token)
{
	return gguf_is(token, open_tag);
}

static char capital(char base)
{
	return (char)(base >= 'a' && base <= 'z' ? base - 'a' + 'A' : base);
}

static int encode_bases(const struct vocab *v, const char *text, const char *end, int32_t unknown, struct ids *out,
	struct why *w)
{
	char token[DNA_BASES + MARKER];
	int32_t id;

	memcpy(token + DNA_BASES, marker, MARKER);
	while (text < end) {
		for (size_t i = 0; i < DNA_BASES; i++)
			token[i] = (char)(text < end ? capital(*text++) : 'A');
		id = names_find(&v->tokens, token, sizeof token);
		if (ids_add(out, id >= 0 ? id : unknown))
			return why(w, "out of memory");
	}
	return 0;
}

static int encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w)
{
	int32_t first = names_find(&v->tokens, open_tag, OPEN), last = names_find(&v->tokens, close_tag, CLOSE),
		unknown = names_find(&v->tokens, unknown_tag, sizeof unknown_tag - 1);
	const char *end = text + n, *stop;

	if (first < 0 || last < 0 || unknown < 0)
		return bpe_encode(v, text, n, flags, out, w);
	while (text < end) {
		stop = find(text, end, open_tag, OPEN);
		if (stop > text && bpe_encode(v, text, (size_t)(stop - text), flags, out, w))
			return -1;
		if (stop == end)
			return 0;
		text = stop + OPEN;
		stop = dna_end(text, end);
		if (ids_add(out, first))
			return why(w, "out of memory");
		if (encode_bases(v, text, stop, unknown, out, w))
			return -1;
		if (stop < end && ids_add(out, last))
			return why(w, "out of memory");
		text = stop < end ? stop + CLOSE : end;
	}
	return 0;
}

static void mark(struct vocab *v, const char *text, size_t n, unsigned char bytes[256])
{
	bpe_mark(v, text, n, bytes);
	for (size_t i = 0; i < n; i++)
		bytes[(unsigned char)capital(text[i])] = 1;
	bytes[(unsigned char)marker[MARKER - 1]] = 1;
	for (const char *tag = "<>"; *tag; tag++)
		bytes[(unsigned char)*tag] = 1;
}

static size_t piece(struct gguf_string token, char *out)
{
	if (token.n >= MARKER && !memcmp(token.s + token.n - MARKER, marker, MARKER))
		token.n -= MARKER;
	return bpe_piece(token, out);
}

const struct kind dna_kind = {
	.model = "hybriddna", .flags = KIND_PRETOK | KIND_REPAIRS, .rules = { .bos = 11, .eos = 11, .unknown = -1 },
	.open = bpe_open, .mark = mark, .index = words_index, .encode = encode, .encode_word = bpe_word, .piece = piece
};
