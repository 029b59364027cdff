/* pretok: the expressions and the pre-tokenizers that use them, written from the definitions in the models' own
 * tokenizers. Where llama.cpp matches something else, this follows llama.cpp, and a comment says so. */
#include "pretok.h"

#include <string.h>

#include "unicode.h"

enum {
	NEWLINE = 1 << UNICODE_NEWLINE,
	BLANK = 1 << UNICODE_BLANK,
	WHITE = BLANK | NEWLINE | 1 << UNICODE_SPACE,
	LETTER = 1 << UNICODE_LU | 1 << UNICODE_LL | 1 << UNICODE_LT | 1 << UNICODE_LM | 1 << UNICODE_LO,
	MARK = 1 << UNICODE_MARK,
	NUMBER = 1 << UNICODE_NUMBER,
	PUNCTUATION = 1 << UNICODE_PUNCTUATION,
	SYMBOL = 1 << UNICODE_SYMBOL,
	ALL = (1 << (UNICODE_SPACE + 1)) - 1,
	MANY = PRETOK_MANY
};

typedef const struct pretok_step steps[];
typedef const pretok_alternative expression[];

/* ---- sets of ranges: first, last, ... ---- */

static const uint32_t digits[] = { '0', '9', 0 };
static const uint32_t ascii_letters[] = { 'A', 'Z', 'a', 'z', 0 };
static const uint32_t ascii_marks[] = { '!', '/', ':', '@', '[', '`', '{', '~', 0 };
static const uint32_t slash[] = { '/', '/', 0 };
static const uint32_t tilde[] = { '~', '~', 0 };
static const uint32_t falcon_marks[] = { '$', '$', '+', '+', '<', '>', '^', '^', '`', '`', '|', '|', '~', '~', 0 };
static const uint32_t default_marks[] = { '$', '$', '+', '+', '<', '>', '^', '^', '|', '|', '~', '~', 0 };
static const uint32_t bloom_stops[] = {
	'!', '!', '(', ')', ',', ',', '.', '.', '?', '?', '|', '|', 0x60c, 0x60c, 0x6d4, 0x6d4, 0x964, 0x964, 0x2026,
		0x2026, 0x3001, 0x3002,
	0xff0c, 0xff0c, 0
};
static const uint32_t han_kana[] = { 0x3040, 0x30ff, 0x4e00, 0x9fa5, 0 };
static const uint32_t han_hangul[] = { 0x800, 0x9fa5, 0xac00, 0xd7ff, 0 };
static const uint32_t deepseek_marks[] = { '!', '/', ':', '~', 0x2018, 0x201f, 0x3000, 0x3002, 0xff01, 0xff0f, 0xff1a,
	0xff5e, 0 };
static const uint32_t deepseek_letters[] = {
	0x41, 0x5a, 0x61, 0x7a, 0xb5, 0xb5, 0xc0, 0xd6, 0xd8, 0xf6, 0xf8, 0x1ba, 0x1bc, 0x1bf, 0x1c4, 0x293, 0x295,
		0x2af, 0x370, 0x373,
	0x376, 0x377, 0x37b, 0x37d, 0x37f, 0x37f, 0x386, 0x386, 0x388, 0x38a, 0x38c, 0x38c, 0x38e, 0x3a1, 0x3a3, 0x3f5,
	0x3f7, 0x481,
	0x48a, 0x52f, 0x531, 0x556, 0x10a0, 0x10c5, 0x13a0, 0x13f5, 0x13f8, 0x13fd, 0x1c90, 0x1cba, 0x1cbd, 0x1cbf,
	0x1d00, 0x1d2b,
	0x1d6b, 0x1d77, 0x1d79, 0x1d9a, 0x1e00, 0x1f15, 0x1f18, 0x1f1d, 0x1f20, 0x1f45, 0x1f48, 0x1f4d, 0x1f50, 0x1f57,
	0x1f59, 0x1f59,
	0x1f5b, 0x1f5b, 0x1f5d, 0x1f5d, 0x1f5f, 0x1f7d, 0x1f80, 0x1fb4, 0x1fb6, 0x1fbc, 0x1fbe, 0x1fbe, 0x1fc2, 0x1fc4,
	0x1fc6, 0x1fcc,
	0x1fd0, 0x1fd3, 0x1fd6, 0x1fdb, 0x1fe0, 0x1fec, 0x1ff2, 0x1ff4, 0x1ff6, 0x1ffc, 0x2102, 0x2102, 0x2107, 0x2107,
	0x210a, 0x2113,
	0x2115, 0x2115, 0x2119, 0x211d, 0x2124, 0x2124, 0x2126, 0x2126, 0x2128, 0x2128, 0x212a, 0x212d, 0x212f, 0x2134,
	0x2139, 0x2139,
	0x213c, 0x213f, 0x2145, 0x2149, 0x214e, 0x214e, 0x2183, 0x2184, 0x2c00, 0x2c7b, 0x2c7e, 0x2ce4, 0x2ceb, 0x2cee,
	0x2cf2, 0x2cf3,
	0xa640, 0xa66d, 0xa680, 0xa69b, 0xa722, 0xa76f, 0xa771, 0xa787, 0xa78b, 0xa78e, 0xab70, 0xabbf, 0xfb00, 0xfb06,
	0xfb13, 0xfb17,
	0xff21, 0xff3a, 0xff41, 0xff5a, 0x10400, 0x1044f, 0x104b0, 0x104d3, 0x104d8, 0x104fb, 0x10c80, 0x10cb2, 0x10cc0,
	0x10cf2,
	0x118a0, 0x118df, 0x1e900, 0x1e943, 0
};

/* ---- steps ---- */

#define RUN_IN(least, most, classes, also, but) { PRETOK_RUN, least, most, classes, also, but }
#define RUN(least, most, classes) RUN_IN(least, most, classes, NULL, NULL)
#define ONE(op) { op, 1, 1, 0, NULL, NULL }
#define OPTIONAL(op) { op, 0, 1, 0, NULL, NULL }
#define END { PRETOK_END, 0, 0, 0, NULL, NULL }

/* ---- alternatives ---- */

static steps contraction = { ONE(PRETOK_CONTRACTION), END };
static steps contraction_any = { ONE(PRETOK_CONTRACTION_ANY), END };
static steps lines = { ONE(PRETOK_LINES), END };
static steps spaces = { ONE(PRETOK_SPACES), END };
static steps last_spaces = { ONE(PRETOK_LAST_SPACES), END };
static steps newline = { RUN(1, 1, NEWLINE), END };
static steps number = { RUN(1, 1, NUMBER), END };
static steps numbers = { RUN(1, MANY, NUMBER), END };
static steps numbers_3 = { RUN(1, 3, NUMBER), END };
static steps digits_3 = { RUN_IN(3, 3, 0, digits, NULL), END };

/* ` ?\p{L}+`, ` ?\p{N}+`, ` ?[^\s\p{L}\p{N}]+` */
static steps blank_letters = { RUN(0, 1, BLANK), RUN(1, MANY, LETTER), END };
static steps blank_numbers = { RUN(0, 1, BLANK), RUN(1, MANY, NUMBER), END };
static steps blank_others = { RUN(0, 1, BLANK), RUN(1, MANY, ALL & ~(WHITE | LETTER | NUMBER)), END };

/* `[^\r\n\p{L}\p{N}]?\p{L}+` and ` ?[^\s\p{L}\p{N}]+[\r\n]*` */
static steps any_letters = { RUN(0, 1, ALL & ~(NEWLINE | LETTER | NUMBER)), RUN(1, MANY, LETTER), END };
static steps others_newlines = {
	RUN(0, 1, BLANK), RUN(1, MANY, ALL & ~(WHITE | LETTER | NUMBER)), RUN(0, MANY, NEWLINE), END
};

/* The same with marks counted as letters. In the optional step a mark would change nothing, so its set does not have
 * them. */
static steps any_letters_marks = {
	RUN(0, 1, ALL & ~(NEWLINE | LETTER | NUMBER | MARK)), RUN(1, MANY, LETTER | MARK), END
};
static steps unmarked_newlines = {
	RUN(0, 1, BLANK), RUN(1, MANY, ALL & ~(WHITE | LETTER | NUMBER | MARK)), RUN(0, MANY, NEWLINE), END
};

/* gpt-4o: a word ends where a capital follows small letters. tekken: the same without contractions. */
static steps small_contraction = {
	RUN(0, 1, ALL & ~(NEWLINE | LETTER | NUMBER | MARK)), ONE(PRETOK_SMALL), OPTIONAL(PRETOK_CONTRACTION_ANY), END
};
static steps capital_contraction = {
	RUN(0, 1, ALL & ~(NEWLINE | LETTER | NUMBER | MARK)), ONE(PRETOK_CAPITAL), OPTIONAL(PRETOK_CONTRACTION_ANY), END
};
static steps small = { RUN(0, 1, ALL & ~(NEWLINE | LETTER | NUMBER | MARK)), ONE(PRETOK_SMALL), END };
static steps capital = { RUN(0, 1, ALL & ~(NEWLINE | LETTER | NUMBER | MARK)), ONE(PRETOK_CAPITAL), END };
static steps others_slashes = {
	RUN(0, 1, BLANK), RUN(1, MANY, ALL & ~(WHITE | LETTER | NUMBER)), RUN_IN(0, MANY, NEWLINE, slash, NULL), END
};

/* deepseek-v3; in llama.cpp ~ is not a symbol here */
static steps mark_ascii_letters = { RUN_IN(1, 1, 0, ascii_marks, NULL), RUN_IN(1, MANY, 0, ascii_letters, NULL), END };
static steps unpointed_letters = {
	RUN_IN(0, 1, ALL & ~(NEWLINE | LETTER | PUNCTUATION | SYMBOL | MARK), tilde, NULL), RUN(1, MANY, LETTER | MARK),
		END
};
static steps points_newlines = {
	RUN(0, 1, BLANK), RUN_IN(1, MANY, PUNCTUATION | SYMBOL, NULL, tilde), RUN(0, MANY, NEWLINE), END
};
static steps run_han_kana = { RUN_IN(1, MANY, 0, han_kana, NULL), END };

/* deepseek-llm and deepseek-coder */
static steps run_han_hangul = { RUN_IN(1, MANY, 0, han_hangul, NULL), END };
static steps white_letters = { RUN(0, 1, WHITE), RUN(1, MANY, LETTER), END };
static steps white_points = { RUN(0, 1, WHITE), RUN(1, MANY, PUNCTUATION), END };
static steps white_deepseek_letters = { RUN(0, 1, WHITE), RUN_IN(1, MANY, 0, deepseek_letters, NULL), END };
static steps white_deepseek_marks = { RUN(0, 1, WHITE), RUN_IN(1, MANY, 0, deepseek_marks, NULL), END };

static steps falcon_points = { RUN_IN(1, MANY, PUNCTUATION, falcon_marks, NULL), END };
static steps default_points = { RUN_IN(1, MANY, PUNCTUATION, default_marks, NULL), END };

/* ` ?[^(\s|.,!?…。，、।۔،)]+` */
static steps bloom_words = { RUN(0, 1, BLANK), RUN_IN(1, MANY, ALL & ~WHITE, NULL, bloom_stops), END };

/* ---- expressions ---- */

static expression each_newline = { newline, NULL };
static expression each_number = { number, NULL };
static expression all_numbers = { numbers, NULL };
static expression threes = { numbers_3, NULL };
static expression three_digits = { digits_3, NULL };
static expression gpt2 = { contraction, blank_letters, blank_numbers, blank_others, spaces, NULL };
static expression llama3 = { contraction_any, any_letters, numbers_3, others_newlines, lines, spaces, NULL };
static expression qwen2 = { contraction_any, any_letters, number, others_newlines, lines, spaces, NULL };
static expression minicpm5 = { contraction_any, any_letters, numbers, others_newlines, lines, spaces, NULL };
static expression qwen35 = { contraction_any, any_letters_marks, number, unmarked_newlines, lines, spaces, NULL };
static expression gpt4o = { small_contraction, capital_contraction, numbers_3, others_slashes, lines, spaces, NULL };
static expression tekken = { small, capital, number, others_slashes, lines, spaces, NULL };
static expression deepseek_v3 = { mark_ascii_letters, unpointed_letters, points_newlines, lines, spaces, NULL };
static expression only_han_kana = { run_han_kana, NULL };
static expression only_han_hangul = { run_han_hangul, NULL };
static expression only_letters = { white_letters, NULL };
static expression only_points = { white_points, NULL };
static expression only_deepseek_letters = { white_deepseek_letters, NULL };
static expression only_deepseek_marks = { white_deepseek_marks, NULL };
static expression only_last_spaces = { last_spaces, NULL };
static expression only_falcon_points = { falcon_points, NULL };
static expression only_default_points = { default_points, NULL };
static expression only_bloom_words = { bloom_words, NULL };

/* ---- names ---- */

#define LLAMA3(name) { name, PRETOK_WHOLE | PRETOK_ADD_BOS, { llama3 } }
#define GPT2(name) { name, 0, { gpt2 } }
#define STARCODER(name) { name, 0, { each_number, gpt2 } }
#define BLOOM(name) { name, 0, { only_bloom_words } }
#define DEEPSEEK_V3(name) { name, 0, { threes, only_han_kana, deepseek_v3 } }

static const struct pretok table[] = {
	{ "default", 0, { only_default_points, gpt2, all_numbers, three_digits } },
	LLAMA3("llama-bpe"), LLAMA3("llama3"), LLAMA3("llama-v3"), LLAMA3("falcon3"), LLAMA3("pixtral"), LLAMA3("lfm2"),
	{ "dbrx", 0, { llama3 } }, { "smaug-bpe", 0, { llama3 } },
	{ "chatglm-bpe", PRETOK_NO_BOS, { llama3 } }, { "glm4", PRETOK_NO_BOS, { llama3 } },
	{ "qwen2", 0, { qwen2 } }, { "deepseek-r1-qwen", 0, { qwen2 } }, { "megrez", 0, { qwen2 } },
	{ "stablelm2", 0, { qwen2 } },
	{ "qwen35", 0, { qwen35 } },
	GPT2("gpt-2"), GPT2("phi-2"), GPT2("olmo"), GPT2("mpt"), GPT2("jais"), GPT2("exaone4"), GPT2("mellum"),
	GPT2("modern-bert"), GPT2("gigachat"),
	GPT2("roberta-bpe"), GPT2("jina-es"), GPT2("jina-de"), GPT2("jina-v1-en"),
	{ "gpt-4o", 0, { gpt4o } }, { "llama4", 0, { gpt4o } }, { "kanana2", 0, { gpt4o } },
	{ "tekken", PRETOK_WHOLE | PRETOK_ADD_BOS, { tekken } },
	STARCODER("starcoder"), STARCODER("smollm"), STARCODER("refact"), STARCODER("command-r"), STARCODER("exaone"),
	STARCODER("codeshell"),
	STARCODER("minerva-7b"),
	{ "falcon", 0, { only_falcon_points, gpt2, three_digits } },
	DEEPSEEK_V3("deepseek-v3"), DEEPSEEK_V3("hunyuan-dense"),
	{ "deepseek-coder", 0, { each_newline, only_letters, only_points, only_han_hangul, each_number } },
	{ "deepseek-llm", 0, { each_newline, only_deepseek_letters, only_deepseek_marks, only_last_spaces,
	only_han_hangul, all_numbers } },
	{ "minicpm5", PRETOK_WHOLE, { threes, minicpm5 } },
	BLOOM("bloom"), BLOOM("poro-chat"), BLOOM("gpt3-finnish"),
	{ "viking", 0, { only_bloom_words, each_number } },
};

const struct pretok *pretok_find(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (strlen(table[i].name) == n && !memcmp(table[i].name, name, n))
			return &table[i];
	return NULL;
}
