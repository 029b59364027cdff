/* wpm: WordPiece, BERT's kind of vocabulary. The text is divided into words, without white space; a punctuation mark or
 * a Chinese character is a separate word. A word, with U+2581 before it, is a sequence of tokens, each the longest
 * that the rest of the word begins with; if that does not work out, the whole word is one unknown token. */
#include "encoder.h"

#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/utf8.h"
#include "unicode.h"
#include "wpm.h"

enum part { DROPPED, WHITE, LETTER, ALONE };

/* The Chinese characters that are words; 2B820 to 2B91F are not, as in the original. */
static int is_chinese(uint32_t c)
{
	static const uint32_t ranges[][2] = { { 0x3400, 0x4dbf }, { 0x4e00, 0x9fff }, { 0xf900, 0xfaff },
		{ 0x20000, 0x2a6df }, { 0x2a700, 0x2b81f }, { 0x2b920, 0x2ceaf }, { 0x2f800, 0x2fa1f } };

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return 1;
	return 0;
}

/* What the character at p is to words, how it is spelled, and its length. */
static enum part read_character(const struct vocab *v, const char *p, const char *end, uint32_t *spelled, size_t *n)
{
	uint32_t c = unicode_next((const unsigned char *)p, (const unsigned char *)end, n);
	enum unicode_class class;

	c = v->strip_accents ? unicode_base(c) : c;
	*spelled = v->lowercase ? unicode_lower(c) : c;
	class = unicode_class(c);
	if (unicode_is_white(c))
		return WHITE;
	if (c == 0 || c == UNICODE_BAD || class == UNICODE_CONTROL || (v->strip_accents && class == UNICODE_MARK))
		return DROPPED;
	return class == UNICODE_PUNCTUATION || (class == UNICODE_SYMBOL && c < 0x7f) || is_chinese(c) ? ALONE : LETTER;
}

/* A struct kind's unit(). */
static size_t read_unit(const struct vocab *v, const char *text, const char *end, char own[4], const char **unit,
	size_t *n)
{
	uint32_t c;
	size_t length;

	*unit = own;
	*n = read_character(v, text, end, &c, &length) >= LETTER ? utf8_put(own, (int32_t)c) : 0;
	return length;
}

const char *wpm_word(const struct vocab *v, const char *text, const char *end, const char **from, char *word,
	size_t *n)
{
	const char *last = text;
	enum part part = DROPPED;
	size_t length;
	uint32_t c;

	*n = 0;
	for (; text < end && part != ALONE; text += length) {
		part = read_character(v, text, end, &c, &length);
		if (*n && (part == WHITE || part == ALONE))
			break;
		if (part < LETTER)
			continue;
		if (!*n)
			*from = text;
		*n += utf8_put(word ? word + *n : (char[4]){ 0 }, (int32_t)c);
		last = text + length;
	}
	return last;
}

static int encode_word(const struct vocab *v, const char *s, size_t n, struct ids *out, struct why *w)
{
	size_t first = out->n, length = 0;
	int32_t id;

	for (; n; s += length, n -= length) {
		id = prefixes_longest(&v->encoder->prefixes, s, n, &length);
		if (id < 0) {
			out->n = first;
			return words_add_unknown(v, out, w);
		}
		if (ids_add(out, id))
			return why(w, "out of memory");
	}
	return 0;
}

static int encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w)
{
	struct encoder *e = v->encoder;
	const char *end = text + n, *from;
	size_t length;

	(void)flags;
	/* a lower-case letter has at most a byte more */
	if (n > SIZE_MAX / 2 - 3 || grow_scratch(&e->text, &e->text_room, 2 * n + 3))
		return why(w, "out of memory");
	memcpy(e->text, "\xe2\x96\x81", 3);
	for (;;) {
		text = wpm_word(v, text, end, &from, e->text + 3, &length);
		if (!length)
			return 0;
		if (encode_word(v, e->text, 3 + length, out, w))
			return -1;
	}
}

static void mark(struct vocab *v, const char *text, size_t n, unsigned char bytes[256])
{
	const char *end = text + n, *unit;
	size_t length;
	char own[4];

	spm_mark(v, text, n, bytes);
	while (text < end) {
		text += read_unit(v, text, end, own, &unit, &length);
		for (size_t i = 0; i < length; i++)
			bytes[(unsigned char)unit[i]] = 1;
	}
}

static int read_keys(struct vocab *v, struct why *w)
{
	v->rules.eos = wpm_kind.rules.eos;
	v->rules.add_bos = v->rules.add_eos = v->rules.space_prefix = v->lowercase = 1;
	if (vocab_read_id(v, "tokenizer.ggml.unknown_token_id", &v->rules.unknown, w)
	    || vocab_read_id(v, "tokenizer.ggml.seperator_token_id", &v->rules.eos, w)
	    || gguf_bool(v->g, "tokenizer.ggml.normalizer.lowercase", &v->lowercase, w) < 0)
		return -1;
	v->strip_accents = v->lowercase;
	return gguf_bool(v->g, "tokenizer.ggml.normalizer.strip_accents", &v->strip_accents, w) < 0 ? -1 : 0;
}

const struct kind wpm_kind = {
	.model = "bert", .flags = KIND_PLAIN, .rules = { .bos = 101, .eos = 102, .unknown = 100 },
	.read = read_keys, .mark = mark, .index = vocab_index_prefixes, .types = ~0u, .encode = encode,
	.unit = read_unit
};
