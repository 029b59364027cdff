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
	uint64_t *words;        /* [mask + 1]; a text sets three bits of one */
	uint64_t mask;
};

/* s[n], n > 0, is in the file, or 8 bytes into other memory. */
static uint64_t *word_of(const struct filter *f, const char *s, size_t n, uint64_t *bits)
{
	uint64_t h = hash_text_inside(s, n);

	*bits = (uint64_t)1 << (h >> 58) | (uint64_t)1 << (h >> 52 & 63) | (uint64_t)1 << (h >> 46 & 63);
	return &f->words[h >> 22 & f->mask];
}

static void add(struct filter *f, const char *s, size_t n)
{
	uint64_t bits, *word = word_of(f, s, n, &bits);

	*word |= bits;
}

static int knows(const struct filter *f, struct gguf_string half)
{
	uint64_t bits, *word = word_of(f, half.s, half.n, &bits);

	return (*word & bits) == bits || unicode_length((unsigned char)*half.s) >= half.n;
}

/* Divides a merge at its first space after the first byte. The list is known to have such merges only, but the file may
 * change. */
static int halve(struct gguf_string merge, struct gguf_string half[2])
{
	const char *space = merge.n < 3 ? NULL : memchr(merge.s + 1, ' ', merge.n - 2);

	if (!space)
		return -1;
	half[0] = (struct gguf_string){ merge.s, (size_t)(space - merge.s) };
	half[1] = (struct gguf_string){ space + 1, merge.n - half[0].n - 1 };
	return 0;
}

static int add_tokens(struct filter *f, const struct names *tokens, struct why *w)
{
	uint64_t words = 1;

	while (words < tokens->n / 4)
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
		if (halve(gguf_next_string(merges, &at), half))
			continue;
		memcpy(made, half[0].s, half[0].n);
		memcpy(made + half[0].n, half[1].s, half[1].n);
		add(f, made, half[0].n + half[1].n);
	}
	free(memory);
	return 0;
}

static int check_halves(struct filter *f, const struct gguf_value *merges, struct why *w)
{
	const unsigned char *at = merges->data;
	struct gguf_string half[2];
	int knows_made = 0;

	for (uint64_t i = 0; i < merges->n; i++) {
		if (halve(gguf_next_string(merges, &at), half))
			continue;
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

static int check_spaces(const struct gguf_value *merges, struct why *w)
{
	const unsigned char *at = merges->data;
	struct gguf_string half[2];

	for (uint64_t i = 0; !merges->spaced && i < merges->n; i++) {
		struct gguf_string s = gguf_next_string(merges, &at);

		if (halve(s, half))
			return why(w, "tokenizer.ggml.merges: number %" PRIu64 ": \"%.*s\" is not a pair separated "
				"by a space", i, GGUF_SHOWN(s));
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
	status = check_spaces(v->merges, w) || add_tokens(&f, &v->tokens, w) || check_halves(&f, v->merges, w) ? -1 : 0;
	free(f.words);
	return status;
}
