/* special_test: compares finding special tokens in a text with a slow implementation: each in turn, the longest first,
 * takes the text that is still free. Also tests many, nested and long tokens. */
#include "vocab_made.h"

#include "lib/vocab/special.h"
#include "mkrandom.h"

static void cut_slowly(const struct token_row *t, size_t n_tokens, const char *text, size_t n, struct ids *out)
{
	int owner[64];

	for (size_t i = 0; i < n; i++)
		owner[i] = -1;
	for (size_t length = 8; length > 1; length--)
		for (size_t id = 0; id < n_tokens; id++)
			for (size_t at = 0, k; strlen(t[id].text) == length && at + length <= n; at++) {
				for (k = 0; k < length && owner[at + k] < 0 && text[at + k] == t[id].text[k]; k++)
					;
				if (k == length)
					for (k = 0; k < length; k++)
						owner[at + k] = (int)(at << 8 | id);
			}
	for (size_t i = 0; i < n; i++)
		if (owner[i] < 0)
			ids_add(out, text[i] - 'a');
		else if (owner[i] >> 8 == (int)i)
			ids_add(out, owner[i] & 255);
}

static void specials_against_slow(void)
{
	enum { LETTERS = 3, TOKENS = 14 };
	static char text[TOKENS][9];
	struct token_row t[TOKENS];
	struct ids fast = { 0 }, slow = { 0 };
	char s[40];
	int equal = 1;

	for (uint64_t round = 0; round < 24; round++) {
		struct mkgguf *m = begin("gpt2", "gpt-2");
		uint64_t letters = 1 + round % LETTERS;
		struct vocab *v;

		for (int i = 0; i < TOKENS; i++) {
			size_t n = i < LETTERS ? 1 : 2 + mkrandom(round, (uint64_t)i) % 6;

			for (size_t k = 0; k < n; k++)
				text[i][k] = (char)('a' + (i < LETTERS ? (uint64_t)i : mkrandom(round,
					100 * (uint64_t)i + k) % letters));
			text[i][n] = 0;
			/* no token twice: the later one gets a letter that no text has */
			for (int k = 0; k < i; k++)
				if (!strcmp(text[i], text[k]))
					text[i][0] = (char)('A' + i);
			t[i] = (struct token_row){ text[i], i < LETTERS ? 1 : 4, 0 };
		}
		put_tokens(m, t, TOKENS);
		put_merges(m, NULL, 0);
		v = open_made(m);
		for (uint64_t i = 0; i < 200 && v; i++) {
			for (size_t k = 0; k < sizeof s; k++)
				s[k] = (char)('a' + mkrandom(round * 1000 + i, k) % letters);
			fast.n = slow.n = 0;
			equal &= !vocab_encode(v, s, sizeof s, 0, &fast, &w);
			cut_slowly(t, TOKENS, s, sizeof s, &slow);
			equal &= fast.n == slow.n && !memcmp(fast.id, slow.id, fast.n * sizeof *fast.id);
		}
		holds(v && equal, "special tokens by clusters and one after another");
		vocab_close(v);
	}
	free(fast.id);
	free(slow.id);
}

/* Thousands of special tokens, each a prefix of the next: the work per byte must not grow with their number. */
static void nested_specials(void)
{
	enum { NESTED = 3000, LENGTH = 300000 };
	static char text[LENGTH];
	struct mkgguf *m = begin("gpt2", "gpt-2");
	struct ids ids = { 0 };
	struct vocab *v;

	memset(text, 'a', sizeof text);
	mkgguf_array(m, "tokenizer.ggml.tokens", GGUF_STRING, NESTED);
	for (size_t i = 1; i <= NESTED; i++)
		mkgguf_add_text(m, text, i);
	mkgguf_array(m, "tokenizer.ggml.token_type", GGUF_I32, NESTED);
	for (size_t i = 1; i <= NESTED; i++)
		mkgguf_add_i32(m, 4);
	put_merges(m, NULL, 0);
	v = open_made(m);
	holds(v && !vocab_encode(v, text, LENGTH - 1, 0, &ids, &w) && ids.n == LENGTH / NESTED
		&& ids.id[0] == NESTED - 1
		&& ids.id[ids.n - 1] == NESTED - 2, "nested special tokens");
	vocab_close(v);
	free(ids.id);
}

/* The longest special token that is supported, and a longer one. */
static void long_specials(void)
{
	static char text[SPECIAL_LONGEST + 2];
	struct vocab *v;

	memset(text, 'a', SPECIAL_LONGEST + 1);
	for (size_t more = 0; more < 2; more++) {
		const struct token_row tokens[] = { { "b", 1, 0 }, { text + 1 - more, 4, 0 } };
		struct mkgguf *m = begin("gpt2", "gpt-2");

		put_tokens(m, tokens, 2);
		put_merges(m, NULL, 0);
		v = open_made(m);
		if (more)
			holds(!v && strstr(w.text, "tokenizer.ggml.tokens: number 1: 4097 bytes"),
				"a long special token");
		else
			ids_are(v, text + 1, 0, "1", "the longest special token");
		vocab_close(v);
	}
}

int main(void)
{
	specials_against_slow();
	nested_specials();
	long_specials();
	gguf_close(file);
	return check_end("special_test");
}
