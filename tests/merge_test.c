/* merge_test: compares merging with two slow implementations: one looks at all pairs and all merges again and again,
 * the other applies each merge in turn to the whole text. Also checks that bytes survive encoding and decoding. */
#include "vocab_made.h"

#include "mkrandom.h"
#include "mkvocab.h"

static struct gguf_string string_of(const struct gguf_value *array, uint64_t i)
{
	const unsigned char *at = array->data;
	struct gguf_string s = { NULL, 0 };

	for (uint64_t k = 0; k <= i; k++)
		s = gguf_next_string(array, &at);
	return s;
}

struct symbol {
	char s[64];
	size_t n;
};

/* The line of the array that is `left`, then a space if `spaced`, then `right`; -1: none. */
static int64_t line_of(const struct gguf_value *array, const struct symbol *left, const struct symbol *right,
	int spaced)
{
	char line[160];
	size_t n = left->n;
	const unsigned char *at = array->data;

	memcpy(line, left->s, n);
	if (spaced)
		line[n++] = ' ';
	memcpy(line + n, right->s, right->n);
	n += right->n;
	for (uint64_t i = 0; i < array->n; i++) {
		struct gguf_string s = gguf_next_string(array, &at);

		if (s.n == n && !memcmp(s.s, line, n))
			return (int64_t)i;
	}
	return -1;
}

/* Joins the best pair again and again; looks at all pairs and all lines each time. */
static void merge_slowly(const struct gguf_value *tokens, const struct gguf_value *merges, const char *word,
	struct ids *out)
{
	static const struct symbol nothing;
	static struct symbol symbol[200];
	size_t n = 0, best, i;
	int64_t rank, least;

	for (i = 0; word[i]; i++) {
		symbol[n].s[0] = word[i];
		symbol[n++].n = 1;
	}
	for (;;) {
		least = -1;
		best = 0;
		for (i = 0; i + 1 < n; i++) {
			rank = line_of(merges, &symbol[i], &symbol[i + 1], 1);
			if (rank >= 0 && (least < 0 || rank < least)) {
				least = rank;
				best = i;
			}
		}
		if (least < 0)
			break;
		memcpy(symbol[best].s + symbol[best].n, symbol[best + 1].s, symbol[best + 1].n);
		symbol[best].n += symbol[best + 1].n;
		memmove(&symbol[best + 1], &symbol[best + 2], (n - best - 2) * sizeof *symbol);
		n--;
	}
	for (i = 0; i < n; i++)
		ids_add(out, (int32_t)line_of(tokens, &symbol[i], &nothing, 0));
}

static void against_slow(void)
{
	struct mkgguf *m = begin_of("llama");
	const struct gguf_value *tokens, *merges;
	struct ids fast = { 0 }, slow = { 0 };
	struct vocab *v;
	char word[200];
	int equal = 1;

	mkvocab_bpe(m, "gpt-2", 1000, 5, 0);
	v = open_made(m);
	tokens = gguf_find(file, "tokenizer.ggml.tokens");
	merges = gguf_find(file, "tokenizer.ggml.merges");
	for (uint64_t i = 0; v && i < 90; i++) {
		size_t n = 0, most = i < 60 ? 24 : 150;

		/* Words out of tokens' own letters, so that there is much to join; long ones repeat one token or
		 * two. */
		for (uint64_t turn = 0; turn < 200 && n < most; turn++) {
			struct gguf_string s = string_of(tokens,
				256 + mkrandom(i, i < 60 ? turn : mkrandom(i, turn) % (1 + i % 2)) % 700);

			for (size_t k = 0; k < s.n && n < sizeof word - 1; k++)
				if (s.s[k] >= 'a' && s.s[k] <= 'z')
					word[n++] = s.s[k];
		}
		word[n] = 0;
		fast.n = slow.n = 0;
		equal &= !vocab_encode(v, word, n, 0, &fast, &w);
		merge_slowly(tokens, merges, word, &slow);
		equal &= fast.n == slow.n && !memcmp(fast.id, slow.id, fast.n * sizeof *fast.id);
	}
	holds(v && equal, "merging by the queue and by looking at everything");
	vocab_close(v);
	free(fast.id);
	free(slow.id);
}

/* A long word, which is merged in parts, compared with applying each merge in turn to all of it. That gives the same
 * result only because in a made-up vocabulary no merge creates a pair that comes before it. */
static void merge_in_order(const struct gguf_value *tokens, const char *word, size_t n, int32_t *id)
{
	enum { FIRST = 256, LAST = 2000 - 3 };
	static struct gguf_string text[LAST];
	const unsigned char *at = tokens->data;
	size_t left, right, end;

	for (int32_t i = 0; i < LAST; i++)
		text[i] = gguf_next_string(tokens, &at);
	for (size_t i = 0; i < n; i++)
		for (int32_t k = 0; k < FIRST; k++)
			if (text[k].n == 1 && *text[k].s == word[i])
				id[i] = k;
	for (int32_t new = FIRST; new < LAST; new++)
		for (left = 0; left < n; left = right) {
			for (right = left + 1; right < n && id[right] < 0; right++)
				;
			for (end = right + 1; end < n && id[end] < 0; end++)
				;
			if (right == n || end - left != text[new].n || memcmp(word + left, text[new].s, end - left))
				continue;
			id[right] = -1;
			id[left] = new;
			right = end;
		}
}

static void long_words(void)
{
	enum { LENGTH = 140000 };
	static const char *const parts[] = { "the", "and", "ing", "a", "tion", "on", "he", "e" };
	static char word[LENGTH + 8];
	static int32_t slow[LENGTH];
	struct mkgguf *m = begin_of("llama");
	struct ids fast = { 0 };
	struct vocab *v;

	mkvocab_bpe(m, "gpt-2", 2000, 1, 0);
	v = open_made(m);
	for (uint64_t round = 0; round < 2 && v; round++) {
		size_t n = 0, k = 0;
		int equal = 1;

		while (n < LENGTH) {
			const char *part = parts[mkrandom(round, n) % (round ? 8 : 1)];

			strcpy(word + n, part);
			n += strlen(part);
		}
		fast.n = 0;
		equal &= !vocab_encode(v, word, LENGTH, 0, &fast, &w);
		merge_in_order(gguf_find(file, "tokenizer.ggml.tokens"), word, LENGTH, slow);
		for (size_t i = 0; i < LENGTH; i++)
			if (slow[i] >= 0) {
				equal &= k < fast.n && fast.id[k] == slow[i];
				k++;
			}
		holds(equal && k == fast.n, "a long word in parts and as a whole");
	}
	vocab_close(v);
	free(fast.id);
}

/* Bytes come back, whether the tables were made for a short text, rebuilt, or made in full, and over runs longer than
 * any cache. (Not all bytes with SPM: what looks like the first byte of a character takes a following space with
 * it.) */
static void bytes_come_back(struct vocab *v, int flags, unsigned mask, const char *what)
{
	static unsigned char text[300000];
	struct ids ids = { 0 };
	int ok = 1;

	for (uint64_t round = 0; v && round < 12; round++) {
		size_t n = round < 8 ? 1 + mkrandom(round, 1) % 400 : 20000 * (round - 7), at = 0;

		for (size_t i = 0; i < n; i++)
			text[i] = round == 9 ? 'a' : round == 10 ? ' ' : (unsigned char)(mkrandom(round, i) & mask);
		ids.n = 0;
		ok &= !vocab_encode(v, (char *)text, n, flags, &ids, &w);
		for (size_t i = 0; i < ids.n && ok; i++) {
			size_t length;
			const char *piece = vocab_piece(v, ids.id[i], 1, &length);

			ok = length <= n - at && !memcmp(text + at, piece, length);
			at += length;
		}
		ok &= at == n;
	}
	holds(v && ok, what);
	free(ids.id);
}

static void round_trips(void)
{
	struct mkgguf *m = begin_of("llama");
	struct vocab *v;

	mkvocab_bpe(m, "qwen2", 2000, 1, 0);
	v = open_made(m);
	bytes_come_back(v, VOCAB_RAW, 0xff, "any bytes through byte-level BPE");
	vocab_close(v);
	m = begin_of("llama");
	mkvocab_plain(m, "llama", 2000, 1, 1);
	v = open_made(m);
	bytes_come_back(v, VOCAB_CONTINUE, 0x7f, "any ASCII through SPM");
	vocab_close(v);
}

int main(void)
{
	against_slow();
	long_words();
	round_trips();
	gguf_close(file);
	return check_end("merge_test");
}
