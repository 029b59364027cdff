/* bpe: byte-level BPE. The pre-tokenizer divides the text into words, each byte of a word is written as a printable
 * character, and neighbours are joined in the order of the merges. A merge need not result in a token. Gemma 4's words
 * are lines, spelled and divided as SPM's text is. */
#include "encoder.h"

#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/size.h"
#include "lib/base/utf8.h"
#include "unicode.h"

/* GPT-2's alphabet: printable bytes are written as themselves, the others, in order, as U+0100 and up. */
static int prints(unsigned b)
{
	return (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
}

/* The bytes that are not printable, in order. */
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

void bpe_find_bytes(struct vocab *v)
{
	struct encoder *e = v->encoder;

	for (unsigned b = 0; b < 256; b++) {
		struct letter *letter = &e->letter[b];

		letter->n = utf8_put(letter->s, (int32_t)letter_of(b));
		e->byte_id[b] = names_find(&v->tokens, letter->s, letter->n);
	}
}

/* Writes s[n] as tokens spell it. Returns the end of what it wrote. */
static char *spell(const struct vocab *v, char *to, const char *s, size_t n)
{
	const struct letter *letter;

	if (v->bytes) {
		memcpy(to, s, n);
		return to + n;
	}
	for (size_t i = 0; i < n; i++, to += letter->n) {
		letter = &v->encoder->letter[(unsigned char)s[i]];
		memcpy(to, letter->s, 2);
	}
	return to;
}

size_t bpe_piece(struct gguf_string s, char *out)
{
	const unsigned char *p = (const unsigned char *)s.s, *end = p + s.n;
	size_t at = 0, length;

	for (; p < end; p += length) {
		uint32_t c = unicode_next(p, end, &length);

		if (c < 0x80) {         /* itself, printable or not */
			out[at++] = (char)c;
		} else if (c < 0x100 ? prints(c) : c < 0x100 + HIDDEN) {
			out[at++] = (char)(c < 0x100 ? c : hidden(c - 0x100));
		} else {
			memcpy(out + at, p, length);
			at += length;
		}
	}
	return at;
}

static void mark_letter(unsigned char b, unsigned char bytes[256])
{
	char letter[4];

	for (size_t k = utf8_put(letter, (int32_t)letter_of(b)); k > 0; k--)
		bytes[(unsigned char)letter[k - 1]] = 1;
}

/* Marks both the bytes and their repaired forms. U+FFFD can appear where a special token divides a character. */
static void mark_bytes(const char *text, size_t n, void (*mark_byte)(unsigned char, unsigned char *),
	unsigned char bytes[256])
{
	const unsigned char *p = (const unsigned char *)text, *end = p + n;
	char repaired[4];
	size_t length;

	for (size_t i = 0; i < 3; i++)
		mark_byte((unsigned char)"\xef\xbf\xbd"[i], bytes);
	for (; p < end; p += length) {
		unsigned shortest = utf8_put(repaired, (int32_t)unicode_next(p, end, &length));

		for (size_t i = 0; i < shortest; i++)
			mark_byte((unsigned char)repaired[i], bytes);
		for (size_t i = 0; i < length; i++)
			mark_byte(p[i], bytes);
	}
}

static void mark_plain(unsigned char b, unsigned char bytes[256])
{
	bytes[b] = 1;
}

void bpe_mark(struct vocab *v, const char *text, size_t n, unsigned char bytes[256])
{
	if (v->plain)
		spm_mark(v, text, n, bytes);
	mark_bytes(text, n, v->bytes ? mark_plain : mark_letter, bytes);
}

/* merge_rules.join(): the cost is the rank of the merge. */
static int join(void *context, const char *s, size_t left, size_t n, struct merge_pair *pair)
{
	const struct vocab *v = context;
	struct encoder *e = v->encoder;
	char *middle, *end;
	int32_t rank;

	if (n > e->pair_longest)
		return -1;
	middle = spell(v, e->pair, s, left);
	end = spell(v, middle, s + left, n - left);
	pair->id = names_find(&v->tokens, e->pair, (size_t)(end - e->pair));
	rank = ranks_find(&e->ranks, pair->id, e->pair, (size_t)(middle - e->pair), (size_t)(end - e->pair));
	pair->cost = (uint32_t)rank;
	return rank < 0 ? -1 : 0;
}

static int open_merges(const struct vocab *v, struct why *w)
{
	struct encoder *e = v->encoder;

	if (e->ranks.first || !v->merges)
		return 0;
	if (ranks_index(&e->ranks, &v->tokens, v->merges, e->covers_all ? NULL : e->covers, w))
		return -1;
	e->pair_longest = size_max(v->tokens.longest, e->ranks.others.longest);
	if (grow_scratch(&e->pair, &e->pair_room, 2 * e->pair_longest + 2)) {
		ranks_free(&e->ranks);
		return why(w, "out of memory");
	}
	return 0;
}

/* merge_rules.add(): as in llama.cpp, a symbol without a token is spelled with the tokens of single bytes. */
static int add(void *context, int32_t id, const char *s, size_t n, struct ids *out, struct why *w)
{
	struct vocab *v = context;
	const struct letter *letter;

	if (id >= 0 || v->bytes)
		return words_add_symbol(v, id, s, n, out, w);
	for (size_t i = 0; i < n; i++) {
		letter = &v->encoder->letter[(unsigned char)s[i]];
		if (words_add_symbol(v, -1, letter->s, letter->n, out, w))
			return -1;
	}
	return 0;
}

int bpe_open(struct vocab *v, struct why *w)
{
	struct merge_rules rules = { v, &v->tokens, v->bytes ? NULL : v->encoder->byte_id, join, add };

	if (v->bytes)
		spm_find_bytes(v);
	return words_open_merged(v, &rules, w);
}

int bpe_word(struct vocab *v, const char *s, size_t n, struct ids *out, struct why *w)
{
	struct encoder *e = v->encoder;
	int32_t id = -1;

	if (!v->bytes && v->pretok->flags & PRETOK_WHOLE && n <= v->tokens.longest) {
		if (grow_scratch(&e->word, &e->word_room, 2 * v->tokens.longest))
			return why(w, "out of memory");
		id = names_find(&v->tokens, e->word, (size_t)(spell(v, e->word, s, n) - e->word));
	}
	if (id >= 0)
		return ids_add(out, id) ? why(w, "out of memory") : 0;
	return open_merges(v, w) ? -1 : merge_text(e->merge, s, n, out, w);
}

/* A word of a plain vocabulary, whose spaces are not escaped yet. */
static int plain_word(struct vocab *v, const char *s, size_t n, int raw, struct ids *out, struct why *w)
{
	int32_t id = v->pretok->flags & PRETOK_WHOLE_LINES && *s == '\n' ? names_find(&v->tokens, s, n) : -1;

	return id >= 0 ? words_add_symbol(v, id, s, n, out, w) : spm_encode(v, s, n, 0, raw, out, w);
}

int bpe_encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w)
{
	struct pretok_walk *walk = &v->encoder->walk;
	const char *word;
	size_t length;
	int raw = flags & VOCAB_RAW;

	if (!raw && words_repair(v, &text, &n, w))
		return -1;
	pretok_start(walk, v->pretok, text, n);
	while (pretok_next(walk, &word, &length))
		if (v->plain ? plain_word(v, word, length, raw, out, w) : words_add(v, word, length, out, w))
			return -1;
	return words_flush(v, out, w);
}

#define BPE(name, expression, end) { \
	.model = name, .pre = expression, .flags = KIND_PRETOK | KIND_REPAIRS, \
	.rules = { .bos = end, .eos = end, .unknown = -1 }, \
	.open = bpe_open, .mark = bpe_mark, .index = words_index, .encode = bpe_encode, \
	.encode_word = bpe_word }

const struct kind bpe_kind = BPE("gpt2", NULL, 11);
const struct kind gemma4_kind = BPE("gemma4", "gemma4", -1);
