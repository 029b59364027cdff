/* merges: BPE's list of merges. Each is two halves with a space between them: texts that words can consist of, which
 * are characters, tokens, and what other merges make. Looking up the halves of a quarter of a million merges would take
 * several times as long as all else that opens a vocabulary. So each is looked for in a filter that fits a core's
 * cache: a known half always passes, an unknown one in one of some hundred cases. */
#include "encoder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "unicode.h"

struct filter {
	uint64_t *words;        /* [mask + 1]; a text sets two bits of one */
	uint64_t mask;
};

/* s[n], n > 0, is in the file, or 8 bytes into other memory. Most tokens and halves have at most 8 bytes. */
static inline uint64_t hash_of(const char *s, size_t n)
{
	static const uint64_t last[] = { 0, UINT64_MAX << 56, UINT64_MAX << 48, UINT64_MAX << 40, UINT64_MAX << 32,
		UINT64_MAX << 24, UINT64_MAX << 16, UINT64_MAX << 8, UINT64_MAX };
	uint64_t text;

	if (n > 8)
		return hash_text_inside(s, n);
	text = le64(s + n - 8) & last[n];
	return hash_add(n, text << 32 | text >> 32);    /* low bits reach more of a product than high ones */
}

static inline uint64_t *word_of(const struct filter *f, uint64_t h)
{
	return &f->words[h >> 12 & f->mask];
}

static inline void add(struct filter *f, const char *s, size_t n)
{
	uint64_t h = hash_of(s, n);

	*word_of(f, h) |= (uint64_t)1 << (h & 63) | (uint64_t)1 << (h >> 6 & 63);
}

static inline int knows(const struct filter *f, struct gguf_string half)
{
	uint64_t h = hash_of(half.s, half.n), word = *word_of(f, h);

	return (word >> (h & 63) & word >> (h >> 6 & 63) & 1) || unicode_length((unsigned char)*half.s) >= half.n;
}

/* The high bit of the first byte of w that is a space, perhaps with bits of bytes after it; 0 if there is none. */
static inline uint64_t spaces(uint64_t w)
{
	const uint64_t ones = UINT64_MAX / 255;

	w ^= ' ' * ones;
	return (w - ones) & ~w & ones << 7;
}

/* Divides a merge at its first space after the first byte. -1 if there is none before the last byte. Most first halves
 * have at most 8 bytes. end: of the file. */
static inline int halve(struct gguf_string merge, const unsigned char *end, struct gguf_string half[2])
{
	const unsigned char *s = (const unsigned char *)merge.s, *space;
	uint64_t near = end - s > 8 ? spaces(le64(s + 1)) : 0;

	if (near)
		space = s + 1 + (size_t)__builtin_ctzll(near) / 8;
	else
		space = merge.n < 3 ? NULL : memchr(s + 1, ' ', merge.n - 2);
	if (!space || (size_t)(space - s) + 1 >= merge.n)
		return -1;
	half[0] = (struct gguf_string){ merge.s, (size_t)(space - s) };
	half[1] = (struct gguf_string){ (const char *)space + 1, merge.n - half[0].n - 1 };
	return 0;
}

static int add_tokens(struct filter *f, const struct names *tokens, struct why *w)
{
	uint64_t words = 1024;

	while (words < tokens->n / 3)
		words *= 2;
	f->mask = words - 1;
	f->words = calloc(words, sizeof *f->words);
	if (!f->words)
		return why(w, "out of memory");
	for (uint32_t i = 0; i < tokens->n; i++) {
		struct gguf_string s = names_get(tokens, i);

		if (s.n)
			add(f, s.s, s.n);
	}
	return 0;
}

/* Adds what the merges make, which need not be tokens. */
static int add_made(struct filter *f, const struct gguf_value *merges, struct why *w)
{
	char *memory = malloc((size_t)(merges->end - merges->data)), *made = memory + 8;
	const unsigned char *at = merges->data;
	struct gguf_string half[2];

	if (!memory)
		return why(w, "out of memory");
	for (uint64_t i = 0; i < merges->n; i++) {
		if (halve(gguf_next_string(merges, &at), merges->end, half))
			continue;
		memcpy(made, half[0].s, half[0].n);
		memcpy(made + half[0].n, half[1].s, half[1].n);
		add(f, made, half[0].n + half[1].n);
	}
	free(memory);
	return 0;
}

static int check(struct filter *f, const struct gguf_value *merges, struct why *w)
{
	const unsigned char *at = merges->data;
	int knows_made = 0;

	for (uint64_t i = 0; i < merges->n; i++) {
		struct gguf_string s = gguf_next_string(merges, &at), half[2];

		if (halve(s, merges->end, half))
			return why(w, "tokenizer.ggml.merges: number %" PRIu64 ": \"%.*s\" is not a pair separated "
				"by a space", i, GGUF_SHOWN(s));
		for (int k = 0; k < 2; k++) {
			if (knows(f, half[k]))
				continue;
			if (!knows_made++ && add_made(f, merges, w))
				return -1;
			if (!knows(f, half[k]))
				return why(w, "tokenizer.ggml.merges: number %" PRIu64 ": \"%.*s\" is not a token, and "
					"no merge makes it", i, GGUF_SHOWN(half[k]));
		}
	}
	return 0;
}

int merges_read(struct vocab *v, struct why *w)
{
	int found = gguf_array(v->g, "tokenizer.ggml.merges", GGUF_STRING, &v->merges, w), status;
	struct filter f = { 0 };

	if (found < 0 || !v->pretok)
		return found < 0 ? -1 : 0;
	if (!found && v->pretok->flags & PRETOK_MAY_NOT_MERGE)
		return 0;
	if (!found)
		return why(w, "tokenizer.ggml.merges: missing");
	status = add_tokens(&f, &v->tokens, w) || check(&f, v->merges, w) ? -1 : 0;
	free(f.words);
	return status;
}
