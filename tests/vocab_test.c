/* lib/vocab and its pre-tokenizers on vocabularies made here: each rule by a case of its own, and merging against a
 * second, slow account of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/vocab/pretok.h"
#include "lib/vocab/special.h"
#include "check.h"
#include "mkrandom.h"
#include "mkvocab.h"
#include "vocab_made.h"

/* ---- SPM ---- */

static const struct token_row spm_tokens[] = {
	{ "<unk>", 2, 0 }, { "<s>", 3, 0 }, { "</s>", 3, 0 }, { "<0x41>", 6, 0 }, { "\t", 1, 0 },
	{ SPACE, 1, -9 }, { "a", 1, -9 }, { "b", 1, -9 }, { "c", 1, -9 },
	{ "ab", 1, -2 }, { "bc", 1, -1 }, { SPACE "a", 1, -3 }, { "aa", 1, -4 }, { "abc", 1, -5 }, { "<|x|>", 4, 0 },
	{ "<|x|>y", 4, 0 },
	{ "unused", 5, 0 }, { SPACE SPACE, 1, -8 }
};

static void spm(void)
{
	struct mkgguf *m = begin("llama", NULL);
	struct vocab *v;

	put_tokens(m, spm_tokens, sizeof spm_tokens / sizeof *spm_tokens);
	v = open_made(m);
	ids_are(v, "", ADD, "1", "empty text is BOS");
	ids_are(v, "", 0, "", "or nothing");
	ids_are(v, "abc", ADD, "1 11 10", "the best score first, and a space before");
	ids_are(v, "abc", VOCAB_CONTINUE, "13", "no space where text goes on");
	ids_are(v, "aaa", VOCAB_CONTINUE, "12 6", "of equals the leftmost");
	ids_are(v, "A", VOCAB_CONTINUE, "3", "a byte token");
	ids_are(v, "\t", VOCAB_CONTINUE, "4", "a token of one byte");
	ids_are(v, "Z", 0, "fails", "no token for a byte");
	holds(strstr(w.text, "v.gguf: ") && strstr(w.text, "0x5a"), "which is said");
	ids_are(v, "<s>a", 0, "fails", "control tokens are text");
	ids_are(v, "<s>a", VOCAB_SPECIAL, "1 11", "unless they are looked for; a space after them");
	ids_are(v, "a<|x|>ya", 0, "11 15 11", "user-defined ones always are, the longest first");
	ids_are(v, "  a", 0, "17 11", "runs of spaces");
	ids_are(v, SPACE "a", 0, "5 11", "U+2581 in the text is a space too");
	ids_are(v, "\xe2" "a", 0, "fails", "no token for a byte that is not UTF-8");
	piece_is(v, 11, 0, " a", "a space comes back");
	piece_is(v, 3, 0, "A", "a byte comes back");
	piece_is(v, 1, 0, "", "control tokens are silent");
	piece_is(v, 1, 1, "<s>", "unless asked for");
	piece_is(v, 14, 0, "<|x|>", "user-defined ones are not");
	piece_is(v, 16, 1, "", "unused ones always are");
	holds(v && !vocab_piece(v, 18, 0, &(size_t){ 0 }) && !vocab_piece(v, -1, 0, &(size_t){ 0 }),
		"ids outside the vocabulary");
	vocab_close(v);

	m = begin("llama", NULL);
	put_tokens(m, spm_tokens, sizeof spm_tokens / sizeof *spm_tokens);
	mkgguf_bool(m, "tokenizer.ggml.add_space_prefix", 0);
	mkgguf_bool(m, "tokenizer.ggml.add_bos_token", 0);
	mkgguf_bool(m, "tokenizer.ggml.add_eos_token", 1);
	mkgguf_text(m, "general.name", "My Phi-3 thing");
	v = open_made(m);
	ids_are(v, "a", ADD, "6 2", "keys in the file win");
	ids_are(v, "a</s> \n\ta<s>\ta", VOCAB_SPECIAL, "6 2 6 1 4 6",
		"phi-3 drops white space after most special tokens");
	vocab_close(v);

	m = begin("llama", NULL);
	put_tokens(m, spm_tokens, sizeof spm_tokens / sizeof *spm_tokens);
	mkgguf_text(m, "general.architecture", "nomic-bert-moe");
	mkgguf_text(m, "general.name", "phi3");
	v = open_made(m);
	ids_are(v, "a</s> a", VOCAB_CONTINUE | VOCAB_SPECIAL, "6 2 5 11", "but not in a model whose mask takes it");
	vocab_close(v);
}

/* Tokens of one score: always the leftmost pair, also where a join further left makes it when others have long been
 * waiting. */
static void equal_scores(void)
{
	static const struct token_row tokens[] = {
		{ "<unk>", 2, 0 }, { "a", 1, 0 }, { "b", 1, 0 }, { "ab", 1, -1 }, { "aba", 1, -1 }
	};
	struct mkgguf *m = begin("llama", NULL);
	struct vocab *v;

	put_tokens(m, tokens, sizeof tokens / sizeof *tokens);
	v = open_made(m);
	ids_are(v, "abab", VOCAB_CONTINUE, "4 2", "what a join makes comes before what waits further right");
	ids_are(v, "bababbabaab", VOCAB_CONTINUE, "2 4 2 2 4 3", "along a text");
	vocab_close(v);
}

/* ---- BPE ---- */

/* The ids of text are those wanted, and many times those if it is repeated. */
static void repeats(struct vocab *v, const char *text, const char *want, const char *what)
{
	enum { TIMES = 500 };
	char *many = malloc(TIMES * strlen(text));
	struct ids one = { 0 }, all = { 0 };
	int same;

	ids_are(v, text, 0, want, what);
	for (size_t i = 0; i < TIMES; i++)
		memcpy(many + i * strlen(text), text, strlen(text));
	same = v && !encode(v, text, strlen(text), 0, &one) && !encode(v, many, TIMES * strlen(text), 0, &all) &&
		all.n == TIMES * one.n;
	for (size_t i = 0; same && i < all.n; i++)
		same = all.id[i] == one.id[i % one.n];
	holds(same, what);
	free(one.id);
	free(all.id);
	free(many);
}

/* Tokens spelled as in SPM, joined by merges. */
static void gemma4(void)
{
	static const struct token_row tokens[] = {
		{ "<pad>", 3, 0 }, { "<eos>", 3, 0 }, { "<bos>", 3, 0 }, { "<0x0A>", 6, 0 }, { "<0xC3>", 6, 0 },
		{ "a", 1, 0 }, { "b", 1, 0 }, { SPACE, 1, 0 }, { SPACE "a", 1, 0 }, { "ab", 1, 0 }, { "\n\n", 1, 0 },
		{ "b" SPACE, 1, 0 }
	};
	static const char *const merges[] = { (SPACE " a"), ("b " SPACE), "a b" };
	struct mkgguf *m = begin("gemma4", NULL);
	struct vocab *v;

	put_tokens(m, tokens, sizeof tokens / sizeof *tokens);
	put_merges(m, merges, sizeof merges / sizeof *merges);
	mkgguf_u32(m, "tokenizer.ggml.bos_token_id", 2);
	mkgguf_bool(m, "tokenizer.ggml.add_bos_token", 0);
	v = open_made(m);
	ids_are(v, "ab a", ADD, "2 9 8", "BOS whatever the file says, and no space before");
	ids_are(v, "ab  a", 0, "5 11 8", "merges across spaces");
	ids_are(v, "a\n\nb", 0, "5 10 6", "a token of line feeds");
	ids_are(v, "\n\n\nb", 0, "3 3 3 6", "a run of line feeds is a word");
	ids_are(v, "\xc3\xa9" "a", 0, "4 5", "a byte without a token is left out");
	piece_is(v, 8, 0, " a", "a space comes back");
	piece_is(v, 3, 0, "\n", "a byte comes back");
	repeats(v, "ab a", "9 8", "a long text");
	repeats(v, "ba a", "6 5 8", "a long text, divided where nothing joins");
	vocab_close(v);
}

static const struct token_row bpe_tokens[] = {
	{ "a", 1, 0 }, { "b", 1, 0 }, { "c", 1, 0 }, { "\xc4\xa0", 1, 0 }, { "ab", 1, 0 }, { "\xc4\xa0" "ab", 1, 0 },
	{ "abcc", 1, 0 },
	{ "<|endoftext|>", 1, 0 }, { "abcd", 4, 0 }, { "cde", 4, 0 }, { "<|fim_suffix|>", 1, 0 }, { "<s>", 3, 0 },
	{ "\xc3\xaf", 1, 0 }, { "\xc2\xbf", 1, 0 }, { "\xc2\xbd", 1, 0 }, { "\xc3\xbf", 1, 0 }
};
static const char *const bpe_merges[] = { "a b", "c c", "\xc4\xa0 ab", "ab cc", "b c" };

static void bpe(void)
{
	struct mkgguf *m = begin("gpt2", "gpt-2");
	struct card card = { 0 };
	struct vocab *v;

	put_tokens(m, bpe_tokens, sizeof bpe_tokens / sizeof *bpe_tokens);
	put_merges(m, bpe_merges, sizeof bpe_merges / sizeof *bpe_merges);
	mkgguf_u32(m, "tokenizer.ggml.eos_token_id", 11);
	v = open_made(m);
	ids_are(v, "ab abcc", ADD, "4 5 2 2", "in the order of the merges; cc is joined, is no token, and comes apart");
	ids_are(v, "abcc", 0, "6", "through a pair that is no token");
	ids_are(v, "bc", 0, "1 2", "and where that is the end of it");
	ids_are(v, "zab", 0, "4", "a byte without a token vanishes");
	ids_are(v, "<|endoftext|>a", 0, "0", "control by its text, whatever the type");
	ids_are(v, "<|endoftext|>a", VOCAB_SPECIAL, "7 0", "and found where it is looked for");
	ids_are(v, "<|fim_suffix|>", VOCAB_SPECIAL, "10", "so are the fill-in-the-middle ones");
	ids_are(v, "abcde", 0, "8", "the longest of overlapping tokens takes the text");
	ids_are(v, "abcdecde", 0, "8 9", "and the others what is left");
	ids_are_n(v, "a\xff", 2, 0, "0 12 13 14", "a byte that is no UTF-8 becomes U+FFFD");
	ids_are_n(v, "a\xff", 2, VOCAB_RAW, "0 15", "or stays");
	ids_are_n(v, "a\xc1\xa2", 3, 0, "4", "an overlong b is a b");
	if (v)
		vocab_card(v, &card);
	holds(card.n_vocab == 16 && card.bos == 11 && card.n_eog == 2 && card.eog[0] == 7 && card.eog[1] == 11 &&
		card.vocab, "the card");
	holds(v && vocab_rules(v)->eos == 11 && !vocab_rules(v)->add_bos, "its ids");
	vocab_close(v);

	m = begin("gpt2", "llama-bpe");
	put_tokens(m, bpe_tokens, sizeof bpe_tokens / sizeof *bpe_tokens);
	put_merges(m, bpe_merges, 1);
	mkgguf_u32(m, "tokenizer.ggml.bos_token_id", 11);
	v = open_made(m);
	ids_are(v, "abcc", ADD, "11 6", "llama-bpe adds BOS and takes whole words");
	vocab_close(v);
}

/* Of tokens of the same text the last counts, of equal merges the first; merges may come in any order. */
static void repeated(void)
{
	static const struct token_row tokens[] = {
		{ "a", 1, 0 }, { "ab", 1, 0 }, { "b", 1, 0 }, { "ab", 1, 0 }, { "c", 1, 0 }, { "abc", 1, 0 },
		{ "bc", 1, 0 }
	};
	static const char *const merges[] = { "a bc", "ab c", "a b", "b c", "a b" };
	struct mkgguf *m = begin("gpt2", "gpt-2");
	struct vocab *v;

	put_tokens(m, tokens, sizeof tokens / sizeof *tokens);
	put_merges(m, merges, sizeof merges / sizeof *merges);
	v = open_made(m);
	ids_are(v, "ab", 0, "3", "the last of equal tokens");
	ids_are(v, "abc", 0, "5", "made by another merge than the first");
	ids_are(v, "cbc", 0, "4 6", "by a merge out of order");
	vocab_close(v);

	m = begin("gpt2", "gpt-2");
	put_tokens(m, tokens, sizeof tokens / sizeof *tokens);
	put_merges(m, merges + 2, 3);
	v = open_made(m);
	ids_are(v, "abc", 0, "3 4", "the first of equal merges");
	vocab_close(v);
}

/* The first text of a vocabulary decides which tokens are indexed: an overlong form must be looked up as what it stands
 * for. */
static void overlong(void)
{
	struct mkgguf *m = begin("gpt2", "gpt-2");
	struct vocab *v;

	put_tokens(m, bpe_tokens, sizeof bpe_tokens / sizeof *bpe_tokens);
	put_merges(m, bpe_merges, 1);
	v = open_made(m);
	ids_are_n(v, "\xc1\xa3\xe0\x81\xa1\xc1\xa2", 7, 0, "2 4", "overlong forms alone");
	vocab_close(v);
}

static void wrong(void)
{
	static const struct {
		const char *key;
		uint32_t value;
	} ids[] = { { "tokenizer.ggml.bos_token_id", 16 }, { "tokenizer.ggml.eot_token_id", UINT32_MAX },
		{ "tokenizer.ggml.fim_pad_token_id", 99 } };
	struct mkgguf *m;
	struct vocab *v;

	for (size_t i = 0; i < 3; i++) {
		m = begin("gpt2", "gpt-2");
		put_tokens(m, bpe_tokens, sizeof bpe_tokens / sizeof *bpe_tokens);
		put_merges(m, bpe_merges, 1);
		mkgguf_u32(m, ids[i].key, ids[i].value);
		v = open_made(m);
		holds(!v && strstr(w.text, "v.gguf: ") && strstr(w.text, ids[i].key), "an id outside the vocabulary");
		vocab_close(v);
	}
	m = begin("gpt2", "surprise");
	put_tokens(m, bpe_tokens, 4);
	holds(!open_made(m) && strstr(w.text, "tokenizer.ggml.pre: \"surprise\""), "an unknown pre-tokenizer");
	m = begin("runes", NULL);
	put_tokens(m, bpe_tokens, 4);
	holds(!open_made(m) && strstr(w.text, "\"runes\""), "an unknown kind");
	m = begin("gpt2", NULL);
	put_tokens(m, bpe_tokens, 4);
	holds(!open_made(m) && strstr(w.text, "tokenizer.ggml.merges: missing"), "no merges");
	m = begin("gpt2", NULL);
	holds(!open_made(m) && strstr(w.text, "tokenizer.ggml.tokens: missing"), "no tokens");
	m = begin("llama", NULL);
	mkgguf_array(m, "tokenizer.ggml.tokens", GGUF_STRING, 2);
	mkgguf_add_text(m, "a", 1);
	mkgguf_add_text(m, "b", 1);
	mkgguf_array(m, "tokenizer.ggml.token_type", GGUF_I32, 1);
	mkgguf_add_i32(m, 1);
	holds(!open_made(m) && strstr(w.text, "tokenizer.ggml.token_type: 1 types for 2 tokens"),
		"types and tokens of different numbers");
}

static void fill_nothing(const void *context, uint64_t first, size_t n, void *to)
{
	memset(to, 0, 4 * n);
}

/* What is damaged in the file, before or after its tokens; pieces: also where nothing is to be encoded. */
static void refused(struct mkgguf *m, const char *reason)
{
	struct vocab *v = open_made(m);

	holds(!v && strstr(w.text, reason), reason);
	vocab_close(v);
	v = file ? vocab_open(file, VOCAB_PIECES, &w) : NULL;
	holds(!v && strstr(w.text, reason), "the same where nothing is encoded");
	vocab_close(v);
}

static struct mkgguf *begin_damaged(const char *model)
{
	static const struct token_row tokens[] = { { "a", 1, 0 }, { "b", 1, 0 }, { "ab", 1, 0 } };
	struct mkgguf *m = begin(model, NULL);

	mkgguf_array(m, "tokenizer.ggml.tokens", GGUF_STRING, 3);
	for (size_t i = 0; i < 3; i++)
		mkgguf_add_text(m, tokens[i].text, strlen(tokens[i].text));
	return m;
}

static void damaged(void)
{
	static const char *const merges[] = { "ab", " b", "a ", " ", "", "a", "a\tb", "abcdefghijkl", "abcdefghijk ",
		" abcdefghijklmnop" };
	static const char *const sound[] = { "a b", "ab c", "a bc", "abcdefg h", "abcdefgh i", "abcdefghi j",
		"a bcdefghijklmnop", "abcdefghijklmnopq r" };
	const uint64_t dim[3] = { 4, 2 };
	struct mkgguf *m;
	struct vocab *v;

	for (size_t i = 0; i < sizeof merges / sizeof *merges; i++) {
		m = begin_damaged("gpt2");
		put_merges(m, &merges[i], 1);
		mkgguf_text(m, "more", i % 2 ? "more than eight bytes" : "");
		refused(m, "tokenizer.ggml.merges: number 0");
	}
	for (size_t i = 0; i < sizeof sound / sizeof *sound; i++) {
		m = begin_damaged("gpt2");
		put_merges(m, &sound[i], 1);
		v = open_made(m);
		holds(v != NULL, sound[i]);
		vocab_close(v);
	}
	refused(begin_damaged("gpt2"), "tokenizer.ggml.merges: missing");
	m = begin_damaged("gpt2");
	mkgguf_text(m, "tokenizer.ggml.merges", "a b");
	refused(m, "tokenizer.ggml.merges: not an array");
	m = begin_damaged("llama");
	mkgguf_u32(m, "tokenizer.ggml.scores", 3);
	refused(m, "tokenizer.ggml.scores: not an array");
	m = begin_damaged("llama");
	mkgguf_array(m, "tokenizer.ggml.scores", GGUF_I32, 3);
	for (int i = 0; i < 3; i++)
		mkgguf_add_i32(m, 0);
	refused(m, "tokenizer.ggml.scores: an array of the wrong type");
	m = begin_damaged("llama");
	mkgguf_array(m, "tokenizer.ggml.scores", GGUF_F32, 2);
	for (int i = 0; i < 2; i++)
		mkgguf_add_f32(m, 0);
	refused(m, "tokenizer.ggml.scores: 2 scores for 3 tokens");
	m = begin_damaged("llama");
	mkgguf_u32(m, "general.architecture", 1);
	refused(m, "general.architecture: not a string");
	m = begin_damaged("llama");
	mkgguf_u32(m, "general.name", 1);
	refused(m, "general.name: not a string");
	m = begin_damaged("llama");
	mkgguf_text(m, "general.architecture", "llama");
	mkgguf_text(m, "llama.vocab_size", "3");
	refused(m, "llama.vocab_size: not an integer");
	m = begin_damaged("llama");
	mkgguf_text(m, "general.architecture", "llama");
	mkgguf_u32(m, "llama.vocab_size", 2);
	refused(m, "llama.vocab_size: 2, but there are 3 tokens");
	m = begin_damaged("llama");
	mkgguf_tensor(m, "token_embd.weight", 0, dim, fill_nothing, dim, sizeof dim);
	refused(m, "3 tokens, but token_embd.weight has 2 rows");
}

/* ---- pre-tokenizers ---- */

/* Pieces with bars between them. */
static void cuts(const char *pre, const char *text, const char *want)
{
	const struct pretok *p = pretok_find(pre, strlen(pre));
	struct pretok_walk walk = { 0 };
	char got[512] = "";
	const char *piece;
	size_t n, at = 0;

	if (p) {
		pretok_start(&walk, p, text, strlen(text));
		while (pretok_next(&walk, &piece, &n)) {
			if (at)
				got[at++] = '|';
			memcpy(got + at, piece, n);
			at += n;
		}
	}
	got[at] = 0;
	if (strcmp(got, want))
		printf("%s: \"%s\" gives \"%s\", not \"%s\"\n", pre, text, got, want);
	holds(!strcmp(got, want), pre);
}

static void pretokenizers(void)
{
	cuts("gpt-2", "I'm  12 don'T\n\n x!? ", "I|'m| | 12| don|'|T|\n\n| x|!?| ");
	cuts("llama-bpe", "I'M  12345 x!?\n\n  \n y\t", "I|'M| | |123|45| x|!?\n\n|  \n| y|\t");
	cuts("qwen2", "(ab 123\xe3\x80\x80z", "(ab| |1|2|3|\xe3\x80\x80z");
	cuts("qwen35", "e\xcc\x81" "a\xcc\x81!\xcc\x81", "e\xcc\x81" "a\xcc\x81|!\xcc\x81");
	cuts("starcoder", "a12 b3", "a|1|2| b|3");
	cuts("falcon", "a$$b 12345", "a|$$|b| |123|45");
	cuts("default", "a,12345 b", "a|,|123|45| b");
	cuts("deepseek-coder", "a\n\nb, 12\xe6\xbc\xa2", "a|\n|\n|b|,| |1|2|\xe6\xbc\xa2");
	cuts("deepseek-llm", "ab  \xe6\xbc\xa2 12  ", "ab|  |\xe6\xbc\xa2| |12|  ");
	cuts("deepseek-v3", "a 1234 _b ~\n", "a| |123|4| _|b| ~\n");
	cuts("bloom", "a b, (c", "a| b|, (|c");
	cuts("viking", "a1 b2", "a|1| b|2");
	cuts("minicpm5", "a 12345", "a| |123|45");
	cuts("gpt-4o", "helloWorld HTMLPage's \xd0\x90\xd0\xb1\xd0\x92 12 a/\n",
		"hello|World| HTMLPage's| \xd0\x90\xd0\xb1\xd0\x92| |12| a|/\n");
	cuts("gpt-4o", "A\xca\xb0" "BC", "A\xca\xb0|BC");
	cuts("tekken", "HTMLPage's 12", "HTMLPage|'s| |1|2");
	holds(!pretok_find("gpt", 3) && !pretok_find("", 0), "no such pre-tokenizer");
}

/* ---- merging, told a second way ---- */

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

/* -1, or which line of the array is left, then a space where spaced is set, then right. */
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

/* Joins the best pair, again and again, each time looking at all pairs and all lines. */
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
	struct mkgguf *m = mkgguf_open();
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

/* A long word, which is merged in parts, as a whole: each merge in turn over all of it. That gives the same only
 * because in a made-up vocabulary a merge makes no pair that comes before it. */
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
	struct mkgguf *m = mkgguf_open();
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

/* ---- special tokens, told a second way: each in turn, the longest first, takes the text that is still free ---- */

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
		put_merges(m, bpe_merges, 0);
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

/* Thousands of special tokens, each the beginning of the next: what is visited at each byte must not grow with them. */
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
	put_merges(m, bpe_merges, 0);
	v = open_made(m);
	holds(v && !vocab_encode(v, text, LENGTH - 1, 0, &ids, &w) && ids.n == LENGTH / NESTED &&
		ids.id[0] == NESTED - 1 &&
		ids.id[ids.n - 1] == NESTED - 2, "nested special tokens");
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
		put_merges(m, bpe_merges, 0);
		v = open_made(m);
		if (more)
			holds(!v && strstr(w.text, "tokenizer.ggml.tokens: number 1: 4097 bytes"),
				"a long special token");
		else
			ids_are(v, text + 1, 0, "1", "the longest special token");
		vocab_close(v);
	}
}

/* Bytes come back, whether the tables were made for a short text, remade, or made in full, and over runs longer than
 * any cache. (Under SPM not all bytes: what looks like the first byte of a character takes a space after it along.) */
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
	struct mkgguf *m = mkgguf_open();
	struct vocab *v;

	mkvocab_bpe(m, "qwen2", 2000, 1, 0);
	v = open_made(m);
	bytes_come_back(v, VOCAB_RAW, 0xff, "any bytes through byte-level BPE");
	vocab_close(v);
	m = mkgguf_open();
	mkvocab_plain(m, "llama", 2000, 1, 1);
	v = open_made(m);
	bytes_come_back(v, VOCAB_CONTINUE, 0x7f, "any ASCII through SPM");
	vocab_close(v);
}

int main(void)
{
	spm();
	equal_scores();
	bpe();
	gemma4();
	repeated();
	overlong();
	wrong();
	damaged();
	pretokenizers();
	against_slow();
	specials_against_slow();
	nested_specials();
	long_specials();
	long_words();
	round_trips();
	gguf_close(file);
	return check_end("vocab_test");
}
