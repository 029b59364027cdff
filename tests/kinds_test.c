/* The kinds of vocabulary that do not merge pairs: RWKV, UGM, WPM, PLaMo 2; and those of BPE that divide the text in a
 * way of their own. Each rule by a case, the search for the best way against a second, slow account of it, and the
 * bytes that each token stands for. */
#include "vocab_made.h"

#include <float.h>

#include "lib/vocab/align.h"
#include "lib/vocab/prefixes.h"
#include "lib/vocab/unicode.h"
#include "mkrandom.h"
#include "mkvocab.h"

/* ID:FROM-TO of each token of the text. */
static void ranges_are(struct vocab *v, const char *text, int flags, const char *want, const char *what)
{
	struct ids ids = { 0 };
	char got[512] = "", *end = got;
	const char *from, *to;
	struct align a;

	if (!v || vocab_encode(v, text, strlen(text), flags, &ids, &w))
		strcpy(got, "fails");
	align_start(&a, v, text, strlen(text), flags);
	for (size_t i = 0; i < ids.n && end < got + sizeof got - 32; i++) {
		align_next(&a, ids.id + i, ids.n - i, &from, &to);
		end += sprintf(end, i ? " %d:%d-%d" : "%d:%d-%d", ids.id[i], (int)(from - text), (int)(to - text));
	}
	if (strcmp(got, want))
		printf("%s: got %s, not %s\n", what, got, want);
	holds(!strcmp(got, want), what);
	free(ids.id);
}

#define COUNT(array) (sizeof (array) / sizeof *(array))

/* ---- RWKV ---- */

static void rwkv(void)
{
	static const struct token_row tokens[] = {
		{ "<s>", 3, 0 }, { "a", 1, 0 }, { "ab", 1, 0 }, { "abcd", 1, 0 }, { "\\n\\t", 1, 0 }, { "\\xe4", 1, 0 },
		{ "\\\\x", 1, 0 }, { "c", 1, 0 }, { "\\", 1, 0 }, { "\\x4", 1, 0 }, { "", 1, 0 }
	};
	struct mkgguf *m = begin("rwkv", NULL);
	struct vocab *v;

	put_tokens(m, tokens, COUNT(tokens));
	mkgguf_u32(m, "tokenizer.ggml.bos_token_id", 0);
	mkgguf_bool(m, "tokenizer.ggml.add_bos_token", 1);
	v = open_made(m);
	ids_are(v, "abcabcdaa", ADD, "2 7 3 1 1", "the longest token; no BOS");
	ids_are(v, "\n\ta\xe4\\xa<s>", 0, "4 1 5 6 1 0", "escapes");
	ids_are(v, "x4", 0, "9", "a backslash before too few digits");
	ids_are(v, "ab\n", 0, "fails", "no token");
	holds(strstr(w.text, "0x0a") != NULL, "which is said");
	ranges_are(v, "abcab", 0, "2:0-2 7:2-3 2:3-5", "ranges");
	piece_is(v, 4, 0, "\n\t", "escapes come back as bytes");
	piece_is(v, 8, 0, "", "a lone backslash is nothing");
	vocab_close(v);
}

/* Tokens that branch off each other at the start, in the middle and at the end, the longer one first or last. */
static void branches(void)
{
	static const struct token_row tokens[] = {
		{ "abcdef", 1, 0 }, { "abc", 1, 0 }, { "abcxyz", 1, 0 }, { "abcdef", 1, 0 }, { "c", 1, 0 },
		{ "cc", 1, 0 }, { "abcxyzz", 1, 0 }, { "z", 1, 0 }, { "ab", 1, 0 }, { "zyx", 1, 0 },
		{ "x", 1, 0 }, { "y", 1, 0 }
	};
	struct mkgguf *m = begin("rwkv", NULL);
	struct vocab *v;

	put_tokens(m, tokens, COUNT(tokens));
	v = open_made(m);
	ids_are(v, "abcdefabcxyzzabcxyzabcxabccabccc", 0, "3 6 2 1 10 1 4 1 5", "branches");
	ids_are(v, "zyzyxab", 0, "7 11 9 8", "others");
	vocab_close(v);
}

/* ---- UGM ---- */

static const struct token_row unigrams[] = {
	{ "<pad>", 3, 0 }, { "</s>", 3, 0 }, { "<unk>", 2, 0 }, { SPACE, 1, -2 }, { "a", 1, -3 }, { "b", 1, -3 },
	{ SPACE "a", 1, -4 }, { "ab", 1, -5 }, { "aba", 1, -9 }, { "<x>", 4, -50 }, { "f", 1, -3 }, { "i", 1, -3 },
	{ "c" "d", 1, -1 }, { "rare", 5, -20 }, { "e" "b", 4, -100 }, { "\xe2\x82\xac", 1, -3 }, { "bb", 1, -6 }
};

static struct vocab *open_unigrams(int add_space, int merge_spaces)
{
	static const struct mkvocab_rule rules[] = {
		{ "\xef\xac\x81", "fi" }, { "\t", " " }, { "A", "a" }, { "AB", "b" }, { "ABB", "a b" }, { "X", "" }
	};
	struct mkgguf *m = begin("t5", NULL);

	put_tokens(m, unigrams, COUNT(unigrams));
	mkgguf_bool(m, "tokenizer.ggml.add_space_prefix", add_space);
	mkgguf_bool(m, "tokenizer.ggml.remove_extra_whitespaces", merge_spaces);
	mkvocab_charsmap(m, rules, COUNT(rules));
	return open_made(m);
}

static void ugm(void)
{
	static char long_text[1000];
	struct mkgguf *m = begin("t5", NULL);
	struct vocab *v;

	put_tokens(m, unigrams, COUNT(unigrams));
	v = open_made(m);
	ids_are(v, "", ADD, "1", "empty text is EOS");
	ids_are(v, "aba", ADD, "7 4 1", "the highest sum of scores, then EOS");
	ids_are(v, " a  b", 0, "6 3 3 5", "spaces stay");
	ids_are(v, "bb", 0, "16", "of equal sums the longer last token");
	ids_are(v, "acb", 0, "4 2 5", "a character without a token");
	ids_are(v, "cda\xc3\xa9" "zc", 0, "12 4 2", "a run of them is one");
	ids_are(v, "a\xff", 0, "4 2", "a byte that is not UTF-8");
	ids_are(v, "rare", 0, "13", "an unused token");
	ids_are(v, "a<x>b", 0, "4 9 5", "a user-defined token");
	ids_are(v, "<unk>a", VOCAB_SPECIAL, "2 4", "a control token");
	piece_is(v, 6, 0, " a", "a space comes back");
	piece_is(v, 2, 0, "", "the unknown token is silent");
	piece_is(v, 13, 0, "", "an unused one, too");
	ranges_are(v, "acb", 0, "4:0-1 2:1-2 5:2-3", "ranges");
	ranges_are(v, "\xc3\xa9zb", 0, "2:0-3 5:3-4", "of a run");
	ranges_are(v, "<unk>az", VOCAB_SPECIAL, "2:0-5 4:5-6 2:6-7", "of the unknown token by its name");
	vocab_close(v);

	v = open_unigrams(1, 1);
	ids_are(v, "  a  b  ", 0, "6 3 5", "spaces are merged, one is before the text");
	ids_are(v, " ", 0, "", "spaces alone are nothing");
	ids_are(v, "ab<x>a", 0, "3 7 9 6", "a space after a special token");
	ids_are(v, "ab<x>a", VOCAB_CONTINUE, "7 9 6", "none where text goes on");
	ids_are(v, "\xef\xac\x81" "A", VOCAB_CONTINUE, "10 11 4", "replacements");
	ids_are(v, "ABABBABC", VOCAB_CONTINUE, "5 4 3 16 2", "of the longest sequence");
	ids_are(v, "aXb", VOCAB_CONTINUE, "7", "by nothing");
	memset(long_text, 'X', sizeof long_text - 1);
	ids_are(v, long_text, VOCAB_CONTINUE, "", "a long text by nothing");
	ids_are(v, "\ta\t", 0, "6", "by a space");
	ids_are(v, "\xe2\x82\xac", 0, "3 15", "a character of three bytes");
	ranges_are(v, "  a  b  ", 0, "6:2-3 3:3-4 5:5-6", "ranges among spaces");
	ranges_are(v, "a \xef\xac\x81\t z  q a", 0, "6:0-1 3:1-2 10:2-5 11:2-5 3:5-6 2:7-8 3:8-9 2:10-11 6:11-13",
		"of replacements");
	vocab_close(v);

	v = open_unigrams(1, 0);
	ids_are(v, "a  b", 0, "6 3 3 5", "spaces stay, one is before the text");
	ids_are(v, "  a", 0, "3 3 6", "in front of its first letter");
	ids_are(v, "  ", 0, "3 3", "not of spaces alone");
	vocab_close(v);

	v = open_unigrams(0, 1);
	ids_are(v, "a  b", 0, "6 3 5", "merging puts a space before the text, too");
	vocab_close(v);
}

/* User-defined tokens of the file that are known to be control tokens, and text that begins like one. */
static void user_defined_unigrams(void)
{
	static const struct token_row tokens[] = {
		{ "<pad>", 3, 0 }, { "</s>", 4, -50 }, { "<unk>", 2, 0 }, { SPACE, 1, -1 }, { "<", 1, -1 },
		{ "/", 1, -1 }, { "s", 1, -1 }, { ">", 1, -1 }, { "A/s", 4, -1 }, { "a", 1, -1 },
		{ "<|tool_response>", 3, 0 }
	};
	static const struct mkvocab_rule rules[] = { { "A", "a" }, { "A/", "s" } };

	for (size_t i = 0; i < 2; i++) {
		struct mkgguf *m = begin("t5", NULL);
		struct vocab *v;

		put_tokens(m, tokens, COUNT(tokens) - i);
		mkvocab_charsmap(m, rules, COUNT(rules));
		v = open_made(m);
		ids_are(v, "</s>", 0, i ? "1" : "4 5 6 7", "</s> is as likely as before, unless it is a normal token");
		ids_are(v, "</s>", VOCAB_SPECIAL, i ? "1" : "4 5 6 7", "found in the text or not");
		ids_are(v, "A</A/a", 0, "2 4 5 2 5 9", "text is not replaced where it begins like such a token");
		ids_are(v, "sA/s", 0, "6 8", "the token itself");
		ranges_are(v, "sA/a", 0, "6:0-1 2:1-2 5:2-3 9:3-4", "ranges");
		vocab_close(v);
	}
}

/* What the file says of the map. */
static void damaged_maps(void)
{
	static const unsigned char maps[][9] = { { 4 }, { 5, 0, 0, 0, 1, 2, 3, 4, 0 }, { 4, 0, 0, 0, 1, 2, 3, 4, 5 },
		{ 3, 0, 0, 0, 0, 0, 0, 0, 0 }, { 0 } };
	static const size_t lengths[] = { 1, 9, 9, 9, 0 };
	struct mkgguf *m;

	for (size_t i = 0; i < COUNT(maps); i++) {
		m = begin("t5", NULL);
		put_tokens(m, unigrams, COUNT(unigrams));
		mkgguf_array(m, "tokenizer.ggml.precompiled_charsmap", GGUF_U8, lengths[i]);
		mkgguf_add_bytes(m, maps[i], lengths[i]);
		holds(!open_made(m) && strstr(w.text, "tokenizer.ggml.precompiled_charsmap: damaged"), "a damaged map");
	}
	m = begin("t5", NULL);
	put_tokens(m, unigrams, COUNT(unigrams));
	mkgguf_array(m, "tokenizer.ggml.precompiled_charsmap", GGUF_I32, 1);
	mkgguf_add_i32(m, 4);
	holds(!open_made(m) && strstr(w.text, "not an array of bytes"), "a map of numbers");
}

/* Writes a map of random nodes, which point anywhere in the map, but for the node `outside`: each is a value, or has
 * the label that leads to it from a base of 0. */
static void put_random_map(struct mkgguf *m, uint64_t seed, uint32_t outside)
{
	enum { NODES = 300, TEXTS = 40 };
	static uint32_t map[1 + NODES];
	static unsigned char texts[TEXTS];

	for (uint32_t i = 0; i < NODES; i++) {
		uint32_t r = (uint32_t)mkrandom(seed, i), to = i == outside ? NODES : (r >> 8) % NODES,
			text = i == outside ? TEXTS : (r >> 8) % TEXTS;

		map[1 + i] = r % 4 == 0 ? 1u << 31 | text : (to ^ i) << 10 | (r & 1) << 8 | (i & 0xff);
	}
	map[0] = 4 * NODES;
	for (size_t i = 0; i < TEXTS - 1; i++)
		texts[i] = (unsigned char)mkrandom(seed, NODES + i);
	mkgguf_array(m, "tokenizer.ggml.precompiled_charsmap", GGUF_U8, sizeof map + TEXTS);
	le_convert(map, 4, 1 + NODES);
	mkgguf_add_bytes(m, map, sizeof map);
	mkgguf_add_bytes(m, texts, TEXTS);
}

/* No crash, and all of the text is read; a node that points outside is an error. */
static void random_maps(void)
{
	char text[200];
	struct ids ids = { 0 };
	int ok = 1, refused = 1;

	for (uint64_t round = 0; round < 50; round++) {
		struct mkgguf *m = begin("t5", NULL);
		struct vocab *v;

		put_tokens(m, unigrams, COUNT(unigrams));
		put_random_map(m, round, UINT32_MAX);
		v = open_made(m);
		for (uint64_t k = 0; k < 20; k++) {
			for (size_t i = 0; i < sizeof text; i++)
				text[i] = (char)mkrandom(round * 100 + k, i);
			ids.n = 0;
			ok &= v && !vocab_encode(v, text, sizeof text, 0, &ids, &w);
		}
		vocab_close(v);
		m = begin("t5", NULL);
		put_tokens(m, unigrams, COUNT(unigrams));
		put_random_map(m, round, (uint32_t)round * 5);
		v = open_made(m);
		refused &= !v && strstr(w.text, "tokenizer.ggml.precompiled_charsmap: damaged");
		vocab_close(v);
	}
	holds(refused, "maps that point outside themselves");
	holds(ok, "random maps");
	free(ids.id);
}

/* ---- the best way, told a second way: each pair of positions, each token ---- */

struct way {
	double sum;
	size_t from;
	int32_t id;
};

static void search_slowly(const struct token_row *t, int32_t n_tokens, const char *text, size_t n, struct ids *out)
{
	struct way way[64];
	double least = 0;

	for (int32_t id = 3; id < n_tokens; id++)
		least = t[id].score < least ? t[id].score : least;
	way[0].sum = 0;
	for (size_t to = 1; to <= n; to++) {
		way[to] = (struct way){ -DBL_MAX, 0, 2 };
		for (size_t from = 0; from < to; from++) {
			int32_t found = 2;

			for (int32_t id = 3; id < n_tokens; id++)
				if (strlen(t[id].text) == to - from && !memcmp(text + from, t[id].text, to - from))
					found = id;
			if (found == 2 && to - from > 1)
				continue;
			if (way[from].sum + (found == 2 ? least - 10 : t[found].score) > way[to].sum)
				way[to] = (struct way){ way[from].sum + (found == 2 ? least - 10 : t[found].score),
					from, found };
		}
	}
	for (size_t to = n; to; to = way[to].from)
		if (way[to].id != 2 || !out->n || out->id[out->n - 1] != 2)
			ids_add(out, way[to].id);
	for (size_t i = 0; i < out->n / 2; i++) {
		int32_t id = out->id[i];

		out->id[i] = out->id[out->n - 1 - i];
		out->id[out->n - 1 - i] = id;
	}
}

static void unigrams_against_slow(void)
{
	enum { TOKENS = 20, LENGTH = 40 };
	static char texts[TOKENS][8];
	struct token_row t[TOKENS] = { { "<pad>", 3, 0 }, { "</s>", 3, 0 }, { "<unk>", 2, 0 } };
	struct ids fast = { 0 }, slow = { 0 };
	char text[LENGTH], long_text[1000];
	int equal = 1;

	memset(long_text, 'a', sizeof long_text);

	for (uint64_t round = 0; round < 20; round++) {
		struct mkgguf *m = begin("t5", NULL);
		struct vocab *v;

		for (int i = 3; i < TOKENS; i++) {
			size_t n = 1 + mkrandom(round, (uint64_t)i) % 4;

			for (size_t k = 0; k < n; k++)
				texts[i][k] = (char)('a' + mkrandom(round, 100 * (uint64_t)i + k) % 3);
			texts[i][n] = 0;
			t[i] = (struct token_row){ texts[i], 1, -(float)(mkrandom(round, 5000 + (uint64_t)i) % 8) };
		}
		/* A score that makes sums inexact: what follows it on a way counts for nothing. */
		if (round % 2)
			t[3].score = -1e30f;
		put_tokens(m, t, TOKENS);
		v = open_made(m);
		/* After a long text, a short one is divided into words, too. */
		equal &= v && !vocab_encode(v, long_text, sizeof long_text, 0, &fast, &w);
		for (uint64_t k = 0; k < 50; k++) {
			for (size_t i = 0; i < LENGTH; i++)
				text[i] = (char)('a' + mkrandom(round * 1000 + k, i) % 4);
			fast.n = slow.n = 0;
			equal &= v && !vocab_encode(v, text, LENGTH, 0, &fast, &w);
			search_slowly(t, TOKENS, text, LENGTH, &slow);
			equal &= fast.n == slow.n && !memcmp(fast.id, slow.id, fast.n * sizeof *fast.id);
		}
		vocab_close(v);
	}
	holds(equal, "the best way in one pass and by looking at everything");
	free(fast.id);
	free(slow.id);
}

static void put_scores(struct mkgguf *m, size_t n)
{
	mkgguf_array(m, "tokenizer.ggml.scores", GGUF_F32, n);
	for (size_t i = 0; i < n; i++)
		mkgguf_add_f32(m, 0);
}

/* Tokens as long as are allowed, each the beginning of the next, on a text of one letter. */
static void nested_tokens(const char *model)
{
	enum { LENGTH = 100000, NESTED = 1000 };
	static char text[LENGTH];
	struct mkgguf *m = begin(model, NULL);
	struct ids ids = { 0 };
	struct vocab *v;

	memset(text, 'a', sizeof text);
	mkgguf_array(m, "tokenizer.ggml.tokens", GGUF_STRING, NESTED);
	for (size_t i = 1; i <= NESTED; i++)
		mkgguf_add_text(m, text, i);
	put_scores(m, NESTED);
	mkgguf_u32(m, "tokenizer.ggml.eos_token_id", 0);
	mkgguf_u32(m, "tokenizer.ggml.bos_token_id", 0);
	mkgguf_u32(m, "tokenizer.ggml.seperator_token_id", 0);
	v = open_made(m);
	holds(v && !vocab_encode(v, text, LENGTH, 0, &ids, &w), model);
	vocab_close(v);
	m = begin(model, NULL);
	mkgguf_array(m, "tokenizer.ggml.tokens", GGUF_STRING, 2);
	mkgguf_add_text(m, text, PREFIXES_LONGEST);
	mkgguf_add_text(m, text, PREFIXES_LONGEST + 1);
	put_scores(m, 2);
	mkgguf_u32(m, "tokenizer.ggml.eos_token_id", 0);
	mkgguf_u32(m, "tokenizer.ggml.bos_token_id", 0);
	mkgguf_u32(m, "tokenizer.ggml.seperator_token_id", 0);
	v = open_made(m);
	holds(v && vocab_encode(v, text, 8, 0, &ids, &w) && strstr(w.text, "number 1: 1025 bytes"), "a longer one");
	vocab_close(v);
	free(ids.id);
}

/* ---- WPM ---- */

static const struct token_row word_pieces[] = {
	{ "[PAD]", 3, 0 }, { "[UNK]", 3, 0 }, { "[CLS]", 3, 0 }, { "[SEP]", 3, 0 }, { SPACE "a", 1, 0 },
	{ SPACE "ab", 1, 0 }, { "a", 1, 0 }, { "bc", 1, 0 }, { SPACE ",", 1, 0 }, { SPACE "e", 1, 0 },
	{ SPACE "\xc3\xa9", 1, 0 }, { SPACE "A", 1, 0 }, { SPACE "\xe6\xbc\xa2", 1, 0 },
	{ SPACE "\xe1\x84\x80", 1, 0 }, { SPACE "\xcd\xb8", 1, 0 }, { "\xcc\x81", 1, 0 }, { SPACE "<", 1, 0 },
	{ SPACE "\xe2\x82\xac", 1, 0 }
};

static struct vocab *open_word_pieces(int lowercase, int strip_accents)
{
	struct mkgguf *m = begin("bert", NULL);

	put_tokens(m, word_pieces, COUNT(word_pieces));
	mkgguf_u32(m, "tokenizer.ggml.unknown_token_id", 1);
	mkgguf_u32(m, "tokenizer.ggml.bos_token_id", 2);
	mkgguf_u32(m, "tokenizer.ggml.seperator_token_id", 3);
	mkgguf_bool(m, "tokenizer.ggml.add_bos_token", 0);
	if (lowercase >= 0)
		mkgguf_bool(m, "tokenizer.ggml.normalizer.lowercase", lowercase);
	if (strip_accents >= 0)
		mkgguf_bool(m, "tokenizer.ggml.normalizer.strip_accents", strip_accents);
	return open_made(m);
}

static void wpm(void)
{
	struct vocab *v = open_word_pieces(-1, -1);

	ids_are(v, "", ADD, "2 3", "empty text is BOS and the separator, whatever the file says");
	ids_are(v, " abA  abbc", 0, "5 6 5 7", "the longest pieces of words");
	ids_are(v, "abca a", 0, "1 4", "a word that they do not make up is unknown, though others would");
	ids_are(v, "a,a<", 0, "4 8 4 16", "punctuation and ASCII's symbols are words");
	ids_are(v, "a\xe2\x82\xac", 0, "1", "other symbols are not");
	ids_are(v, "a\xe6\xbc\xa2" "a", 0, "4 12 4", "Chinese characters are");
	ids_are(v, "\xc3\x89 e\xcc\x81 \xea\xb0\x81", 0, "9 9 13", "lower case without accents");
	ids_are(v, "a\xe2\x80\x8d" "a\x01" "a\xff\xef\xbf\xbd", 0, "4 6 6", "controls and bad bytes are dropped");
	ids_are(v, "\xcd\xb8", 0, "14", "unassigned characters are not");
	ids_are(v, "\xff\x01 ", 0, "", "nothing is left");
	ids_are(v, "[SEP]a", VOCAB_SPECIAL, "3 4", "control tokens");
	ranges_are(v, " abA,\xc3\x89 abcbx\xe2\x80\x8d a", 0, "5:1-3 6:3-4 8:4-5 9:5-7 1:8-13 4:17-18", "ranges");
	piece_is(v, 5, 0, " ab", "a word comes back with its space");
	vocab_close(v);
	v = open_word_pieces(0, -1);
	ids_are(v, "A \xc3\xa9 e\xcc\x81", 0, "11 10 9 15", "as they are");
	vocab_close(v);
	v = open_word_pieces(1, 0);
	ids_are(v, "A \xc3\x89", 0, "4 10", "lower case with accents");
	vocab_close(v);
	v = open_word_pieces(0, 1);
	ids_are(v, "A \xc3\xa9", 0, "11 9", "without accents, but not lower case");
	vocab_close(v);
}

/* ---- PLaMo 2 ---- */

static void plamo2(void)
{
	enum { WORDS = 9 };
	static const struct token_row words[WORDS] = {
		{ "<unk>", 2, 0 }, { "<s>", 3, 0 }, { "</s>", 3, 0 }, { "a", 1, -1 }, { "ab", 1, -2 }, { "b", 1, -1 },
		{ "ba", 1, -2 }, { " ", 1, -1 }, { "spare", 5, -1.00004f }
	};
	static char bytes[256][8];
	struct token_row t[WORDS + 256];
	struct mkgguf *m = begin("plamo2", NULL);
	struct vocab *v;

	memcpy(t, words, sizeof words);
	for (int i = 0; i < 256; i++) {
		sprintf(bytes[i], "<0x%02X>", i);
		t[WORDS + i] = (struct token_row){ bytes[i], 6, 0 };
	}
	put_tokens(m, t, COUNT(t));
	mkgguf_bool(m, "tokenizer.ggml.add_bos_token", 1);
	v = open_made(m);
	ids_are(v, "a b", ADD, "3 7 5", "no BOS, spaces as they are");
	ids_are(v, "aba", 0, "4 3", "of equal ways the one with the longest first token");
	ids_are(v, "spare", 0, "8", "unused tokens, too");
	ids_are(v, "\xc3\xa9" "a", 0, "204 178 3", "bytes of a character without a token");
	ids_are(v, "\xef\xbb\xbf" "a", 0, "3", "no byte order mark");
	ids_are(v, "\xff", 0, "248 200 198", "U+FFFD for what is not UTF-8");
	ids_are(v, "\xef" "a", 0, "248 200 198 3", "also for the first byte of U+FFFD itself");
	ids_are(v, "\xff", VOCAB_RAW, "264", "or the byte");
	ids_are(v, "\xf4\x90\x80\x80", 0, "253 153 137 137", "above U+10FFFF");
	ids_are(v, "\xc1\xa2", 0, "5", "an overlong b is a b");
	piece_is(v, 204, 0, "\xc3", "a byte comes back");
	piece_is(v, 8, 0, "spare", "unused tokens come back");
	piece_is(v, 1, 0, "", "control tokens do not");
	ranges_are(v, "\xef\xbb\xbf" "ab\xc3\xa9", 0, "4:3-5 204:5-6 178:6-7", "ranges");
	ranges_are(v, "\xff" "a\xf4\x90\x80\x80", 0, "248:0-1 200:0-1 198:0-1 3:1-2 253:2-3 153:3-4 137:4-5 137:5-6",
		"of what is not UTF-8");
	vocab_close(v);
}

/* ---- BPE that divides the text in other ways ---- */

static void whitespace(void)
{
	static const struct token_row tokens[] = {
		{ "<s>", 3, 0 }, { "a", 1, 0 }, { "b", 1, 0 }, { "ab", 1, 0 }, { "A", 1, 0 }, { SPACE, 1, 0 },
		{ "<0xC3>", 6, 0 }, { "\xc3\xb1", 1, 0 }, { "ba", 1, 0 }
	};
	static const char *const merges[] = { "a b", "b a" };
	struct mkgguf *m;
	struct vocab *v;

	for (int lower = 0; lower < 2; lower++) {
		m = begin("whitespace", "whitespace");
		put_tokens(m, tokens, COUNT(tokens));
		put_merges(m, merges, COUNT(merges));
		if (lower)
			mkgguf_bool(m, "tokenizer.ggml.normalizer.lowercase", 1);
		v = open_made(m);
		ids_are(v, " ab\n\nb\xe3\x80\x80" "a ", 0, "3 2 1", "white space divides and is dropped");
		ids_are(v, "A\xc3\x91", 0, lower ? "1 7" : "4 6", "letters");
		ids_are(v, SPACE "a", 0, "5 1", "U+2581 is no space");
		ids_are(v, " ", 0, "", "nothing is left");
		ids_are(v, "a\xc3", VOCAB_RAW, "1 6", "a byte that is not UTF-8 is kept");
		piece_is(v, 5, 0, SPACE, "U+2581 comes back");
		ranges_are(v, " ab  b" SPACE, 0, "3:1-3 2:5-6 5:6-9", "ranges");
		vocab_close(v);
	}
}

static void dna(void)
{
	static const struct token_row tokens[] = {
		{ "a", 1, 0 }, { "c", 1, 0 }, { "<", 1, 0 }, { "<dna>", 1, 0 }, { "</dna>", 1, 0 }, { "<oov>", 1, 0 },
		{ "ACACAC\xee\x80\x80", 1, 0 }, { "CAAAAA\xee\x80\x80", 1, 0 }, { "ac", 1, 0 }
	};
	static const char *const merges[] = { "a c" };
	struct mkgguf *m = begin("hybriddna", "gpt-2");
	struct vocab *v;

	put_tokens(m, tokens, COUNT(tokens));
	put_merges(m, merges, COUNT(merges));
	v = open_made(m);
	ids_are(v, "ac<dna>acaCACc</dna>ac", 0, "8 3 6 7 4 8", "six bases a token; the last is filled up");
	ids_are(v, "<dna>acacacacgacac", 0, "3 6 5 7", "others, and a sequence without an end");
	ids_are(v, "<dna></dna>a</dna>", 0, "3 4 0 2 0", "none; an end without a sequence is text");
	ranges_are(v, "a<dna>acacacc</dna>c", 0, "0:0-1 3:1-6 6:6-12 7:12-13 4:13-19 1:19-20", "ranges");
	piece_is(v, 6, 0, "ACACAC", "bases come back");
	piece_is(v, 4, 0, "</dna>", "tags, too");
	vocab_close(v);
	m = begin("hybriddna", "gpt-2");
	put_tokens(m, tokens, 4);
	put_merges(m, merges, COUNT(merges));
	v = open_made(m);
	ids_are(v, "<dna>a", 0, "2 0 0", "without its tokens it is BPE");
	vocab_close(v);
}

static void without_merges(void)
{
	static const struct token_row tokens[] = { { "a", 1, 0 }, { "b", 1, 0 }, { "ab", 1, 0 } };
	struct mkgguf *m = begin("gpt2", "kimi-k2");
	struct vocab *v;

	put_tokens(m, tokens, COUNT(tokens));
	v = open_made(m);
	ids_are(v, "ab", 0, "0 1", "Kimi-K2 may have no merges");
	vocab_close(v);
}

/* ---- mappings of characters ---- */

static void characters(void)
{
	static const struct {
		uint32_t c, lower, base;
	} cases[] = {
		{ 'A', 'a', 'A' }, { 'z', 'z', 'z' }, { '[', '[', '[' }, { 0xc0, 0xe0, 'A' }, { 0xd7, 0xd7, 0xd7 },
		{ 0x100, 0x101, 'A' }, { 0x101, 0x101, 'a' }, { 0x130, 'i', 'I' }, { 0x178, 0xff, 'Y' },
		{ 0x1e9e, 0xdf, 0x1e9e }, { 0x3a9, 0x3c9, 0x3a9 }, { 0x1ee5, 0x1ee5, 'u' }, { 0x1fa7, 0x1fa7, 0x3c9 },
		{ 0xac00, 0xac00, 0x1100 }, { 0xd7a3, 0xd7a3, 0x1112 }, { 0x10400, 0x10428, 0x10400 },
		{ 0x2f81a, 0x2f81a, 0x51ac }, { 0x10ffff, 0x10ffff, 0x10ffff }
	};
	int ok = 1;

	for (size_t i = 0; i < COUNT(cases); i++)
		ok &= unicode_lower(cases[i].c) == cases[i].lower && unicode_base(cases[i].c) == cases[i].base;
	holds(ok, "lower-case letters and letters without accents");
}

int main(void)
{
	rwkv();
	branches();
	ugm();
	user_defined_unigrams();
	damaged_maps();
	random_maps();
	unigrams_against_slow();
	nested_tokens("rwkv");
	nested_tokens("t5");
	nested_tokens("bert");
	wpm();
	plamo2();
	whitespace();
	dna();
	without_merges();
	characters();
	gguf_close(file);
	return check_end("kinds_test");
}
