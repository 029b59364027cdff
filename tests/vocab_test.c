/* vocab_test: lib/vocab and its pre-tokenizers on vocabularies made here, with a case for each rule. merge_test and
 * special_test compare with slow implementations. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/vocab/pretok.h"
#include "check.h"
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

	m = begin_of("nomic-bert-moe");
	put_kind(m, "llama", NULL);
	put_tokens(m, spm_tokens, sizeof spm_tokens / sizeof *spm_tokens);
	mkgguf_text(m, "general.name", "phi3");
	v = open_made(m);
	ids_are(v, "a</s> a", VOCAB_CONTINUE | VOCAB_SPECIAL, "6 2 5 11", "but not in a model whose mask takes it");
	vocab_close(v);
}

/* Tokens with equal scores: the leftmost pair is always joined first, even if a join further left creates it when
 * others have waited long. */
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

/* The ids of text are as expected, and repeated if the text is repeated. */
static void repeats(struct vocab *v, const char *text, const char *want, const char *what)
{
	enum { TIMES = 500 };
	char *many = malloc(TIMES * strlen(text));
	struct ids one = { 0 }, all = { 0 };
	int same;

	ids_are(v, text, 0, want, what);
	for (size_t i = 0; i < TIMES; i++)
		memcpy(many + i * strlen(text), text, strlen(text));
	same = v && !encode(v, text, strlen(text), 0, &one) && !encode(v, many, TIMES * strlen(text), 0, &all)
		&& all.n == TIMES * one.n;
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

/* All bpe_tokens, and the first n of bpe_merges. */
static void put_bpe(struct mkgguf *m, size_t n)
{
	put_tokens(m, bpe_tokens, sizeof bpe_tokens / sizeof *bpe_tokens);
	put_merges(m, bpe_merges, n);
}

static void bpe(void)
{
	struct mkgguf *m = begin("gpt2", "gpt-2");
	struct card card = { 0 };
	struct vocab *v;

	put_bpe(m, sizeof bpe_merges / sizeof *bpe_merges);
	mkgguf_u32(m, "tokenizer.ggml.eos_token_id", 11);
	v = open_made(m);
	ids_are(v, "ab abcc", ADD, "4 5 2 2", "in the order of the merges; cc is joined, is no token, and comes apart");
	ids_are(v, "abcc", 0, "6", "through a pair that is no token");
	ids_are(v, "bc", 0, "1 2", "and where that is the end of it");
	ids_are(v, "zab", 0, "4", "a byte without a token vanishes");
	ids_are(v, "z", 0, "", "also one by itself");
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
	holds(card.n_vocab == 16 && card.bos == 11 && card.n_eog == 2 && card.eog[0] == 7 && card.eog[1] == 11
		&& card.vocab, "the card");
	holds(v && vocab_rules(v)->eos == 11 && !vocab_rules(v)->add_bos, "its ids");
	vocab_close(v);

	m = begin("gpt2", "llama-bpe");
	put_bpe(m, 1);
	mkgguf_u32(m, "tokenizer.ggml.bos_token_id", 11);
	v = open_made(m);
	ids_are(v, "abcc", ADD, "11 6", "llama-bpe adds BOS and takes whole words");
	vocab_close(v);

	m = begin("gpt2", "gpt-2");
	put_bpe(m, 1);
	mkgguf_bool(m, "tokenizer.ggml.add_bos_token", 1);
	v = open_made(m);
	ids_are(v, "a", ADD, "11 0", "BOS without an id is token 11, as in llama.cpp");
	holds(v && !vocab_warning(v), "nothing to say");
	vocab_close(v);
	for (int i = 0; i < 2; i++) {
		m = i ? begin("gemma4", NULL) : begin("gpt2", "chatglm-bpe");
		put_bpe(m, 1);
		mkgguf_bool(m, "tokenizer.ggml.add_bos_token", 1);
		v = open_made(m);
		holds(!v && strstr(w.text, "add_bos_token: set, but there is no BOS"), "but not of these vocabularies");
		vocab_close(v);
	}
	m = begin("gpt2", NULL);
	put_bpe(m, 1);
	v = open_made(m);
	holds(v && vocab_warning(v) && strstr(vocab_warning(v), "pre: missing; the default is used"),
		"without a pre-tokenizer");
	vocab_close(v);
}

/* Of tokens with the same text the last is used, of equal merges the first; merges may come in any order. */
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

	put_bpe(m, 1);
	v = open_made(m);
	ids_are_n(v, "\xc1\xa3\xe0\x81\xa1\xc1\xa2", 7, 0, "2 4", "overlong forms alone");
	vocab_close(v);
}

/* A vocabulary of the tokens above, with this value for a key. */
static struct vocab *open_with(const char *key, uint32_t value)
{
	struct mkgguf *m = begin("gpt2", "gpt-2");

	put_bpe(m, 1);
	mkgguf_u32(m, key, value);
	return open_made(m);
}

static void wrong_ids(void)
{
	static const char *const keys[] = { "bos", "eos", "eot", "eom", "unknown", "seperator", "padding", "cls",
		"mask", "fim_pre", "fim_suf", "fim_mid", "fim_pad", "fim_rep", "fim_sep", "prefix", "suffix",
		"middle" };
	char key[64];
	struct card card = { 0 };
	struct vocab *v;

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		snprintf(key, sizeof key, "tokenizer.ggml.%s_token_id", keys[i]);
		v = open_with(key, UINT32_MAX);
		if (v)
			vocab_card(v, &card);
		holds(v && card.bos == 11 && card.n_eog == 2 && card.eog[0] == 7 && card.eog[1] == 11
			&& vocab_rules(v)->eos == 11, "4294967295 is no id");
		vocab_close(v);
		v = open_with(key, 16);
		holds(!v && strstr(w.text, "16 is not an id of the vocabulary, 0 to 15"), key);
		vocab_close(v);
	}
}

static void wrong(void)
{
	struct mkgguf *m;

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
	holds(!open_made(m) && strstr(w.text, "tokenizer.ggml.token_type: 1 elements for 2 tokens"),
		"types and tokens of different numbers");
}

static void fill_nothing(const void *context, uint64_t first, size_t n, void *to)
{
	memset(to, 0, 4 * n);
}

/* Damage in the file, before or after its tokens; pieces: also if nothing is to be encoded. */
static void refused(struct mkgguf *m, const char *reason)
{
	struct vocab *v = open_made(m);

	holds(!v && strstr(w.text, reason), reason);
	vocab_close(v);
	v = file ? vocab_open(file, VOCAB_PIECES, &w) : NULL;
	holds(!v && strstr(w.text, reason), "the same where nothing is encoded");
	vocab_close(v);
}

/* A vocabulary of three tokens without scores or merges. */
static void put_few(struct mkgguf *m, const char *model)
{
	put_kind(m, model, NULL);
	mkgguf_array(m, "tokenizer.ggml.tokens", GGUF_STRING, 3);
	mkgguf_add_text(m, "a", 1);
	mkgguf_add_text(m, "b", 1);
	mkgguf_add_text(m, "ab", 2);
}

static struct mkgguf *begin_damaged(const char *model)
{
	struct mkgguf *m = begin_of("llama");

	put_few(m, model);
	return m;
}

/* Scores and types that are no scores and types, in vocabularies that use them and in one that does not. */
static void wrong_columns(void)
{
	static const float scores[] = { NAN, INFINITY, -INFINITY };
	static const int32_t types[] = { 7, 99, -1 };
	char reason[80];
	struct mkgguf *m;

	for (int i = 0; i < 3; i++) {
		m = begin_damaged(i == 2 ? "rwkv" : "t5");
		mkgguf_array(m, "tokenizer.ggml.scores", GGUF_F32, 3);
		for (int k = 0; k < 3; k++)
			mkgguf_add_f32(m, k == i ? scores[i] : -1);
		snprintf(reason, sizeof reason, "tokenizer.ggml.scores: number %d: not finite", i);
		refused(m, reason);
		m = begin_damaged("rwkv");
		mkgguf_array(m, "tokenizer.ggml.token_type", GGUF_I32, 3);
		for (int k = 0; k < 3; k++)
			mkgguf_add_i32(m, k == i ? types[i] : k);
		snprintf(reason, sizeof reason, "tokenizer.ggml.token_type: number %d: %d is not a type", i, types[i]);
		refused(m, reason);
	}
}

/* Halves that are not characters, tokens, or made by another merge, whether that comes before or after. */
static void unknown_halves(void)
{
	static const char *const merges[] = { "b ab", "bab a", "c d", "ab \xc3\xa9", "e \xe2\x82\xac", "cd b" };
	static const char *const bad[] = { "a ba", "aba b", "ab cd", "\xc3\xa9\xc3\xa9 a", "a b c" };
	const char *list[7];
	struct mkgguf *m;
	struct vocab *v;

	memcpy(list, merges, sizeof merges);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		m = begin_damaged("gpt2");
		list[2] = bad[i];
		put_merges(m, list, 6);
		refused(m, i == 2 ? "merges: number 2: \"cd\" is not a token" : "merges: number 2: \"");
	}
	m = begin_damaged("gpt2");
	put_merges(m, merges, 6);
	v = open_made(m);
	holds(v != NULL, "halves that are known");
	vocab_close(v);
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
		m = begin_of("llama");
		put_kind(m, "gpt2", NULL);
		mkgguf_array(m, "tokenizer.ggml.tokens", GGUF_STRING, 2);
		mkgguf_add_text(m, sound[i], strcspn(sound[i], " "));
		mkgguf_add_text(m, strchr(sound[i], ' ') + 1, strlen(strchr(sound[i], ' ') + 1));
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
	refused(m, "tokenizer.ggml.scores: 2 elements for 3 tokens");
	wrong_columns();
	unknown_halves();
	refused(begin_damaged("llama"), "tokenizer.ggml.scores: missing");
	refused(begin_damaged("t5"), "tokenizer.ggml.scores: missing");
	refused(begin_damaged("plamo2"), "tokenizer.ggml.scores: missing");
	m = mkgguf_open();
	mkgguf_u32(m, "general.architecture", 1);
	put_few(m, "llama");
	refused(m, "general.architecture: not a string");
	m = mkgguf_open();
	put_few(m, "llama");
	refused(m, "general.architecture: missing");
	m = begin_of("llamas");
	put_few(m, "llama");
	refused(m, "general.architecture: \"llamas\" is not supported");
	m = begin_damaged("llama");
	mkgguf_u32(m, "general.name", 1);
	refused(m, "general.name: not a string");
	m = begin_damaged("llama");
	mkgguf_text(m, "llama.vocab_size", "3");
	refused(m, "llama.vocab_size: not an integer");
	m = begin_damaged("gpt2");
	put_merges(m, &sound[0], 1);
	mkgguf_u32(m, "llama.vocab_size", 2);
	v = open_made(m);
	holds(v != NULL, "a vocabulary with another size in vocab_size");
	vocab_close(v);
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

int main(void)
{
	spm();
	equal_scores();
	bpe();
	gemma4();
	repeated();
	overlong();
	wrong_ids();
	wrong();
	damaged();
	pretokenizers();
	gguf_close(file);
	return check_end("vocab_test");
}
