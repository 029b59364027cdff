/* pretok: the expressions and the pre-tokenizers that use them, written from the definitions in the models' own
 * tokenizers. Where llama.cpp matches something else, this follows llama.cpp, and a comment says so. */
#include "pretok.h"

#include <string.h>

#include "unicode.h"

enum {
	NEWLINE = 1 << UNICODE_NEWLINE,
	BLANK = 1 << UNICODE_BLANK,
	WHITE = BLANK | NEWLINE | 1 << UNICODE_SPACE,
	CASED = 1 << UNICODE_LU | 1 << UNICODE_LL | 1 << UNICODE_LT,
	LETTER = CASED | 1 << UNICODE_LM | 1 << UNICODE_LO,
	MARK = 1 << UNICODE_MARK,
	NUMBER = 1 << UNICODE_NUMBER,
	PUNCTUATION = 1 << UNICODE_PUNCTUATION,
	SYMBOL = 1 << UNICODE_SYMBOL,
	ALL = (1 << (UNICODE_SPACE + 1)) - 1,
	OTHER = ALL & ~(WHITE | LETTER | NUMBER),
	LEAD = ALL & ~(NEWLINE | LETTER | NUMBER),      /* what may stand before the letters of a word */
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
static const uint32_t bloom_stops[] = { '!', '!', '(', ')', ',', ',', '.', '.', '?', '?', '|', '|', 0x60c, 0x60c, 0x6d4,
	0x6d4, 0x964, 0x964, 0x2026, 0x2026, 0x3001, 0x3002, 0xff0c, 0xff0c, 0 };
static const uint32_t han_kana[] = { 0x3040, 0x30ff, 0x4e00, 0x9fa5, 0 };
static const uint32_t han_hangul[] = { 0x800, 0x9fa5, 0xac00, 0xd7ff, 0 };
static const uint32_t deepseek_marks[] = { '!', '/', ':', '~', 0x2018, 0x201f, 0x3000, 0x3002, 0xff01, 0xff0f, 0xff1a,
	0xff5e, 0 };
/* The letters with case of Unicode 15.1 that deepseek-llm's list of letters does not have. */
static const uint32_t deepseek_lacks[] = { 0x560, 0x588, 0x10c7, 0x10ff, 0x1c80, 0x1c88, 0x2d00, 0x2d2d, 0xa790, 0xa7fa,
	0xab30, 0xab68, 0x10570, 0x105bc, 0x16e40, 0x16e7f, 0x1d400, 0x1df2a, 0 };

/* ---- alternatives ---- */

#define RUN_IN(least, most, classes, also, but) { PRETOK_RUN, least, most, classes, also, but }
#define RUN(least, most, classes) RUN_IN(least, most, classes, NULL, NULL)
#define ONE(op) { op, 1, 1, 0, NULL, NULL }
#define OPTIONAL(op) { op, 0, 1, 0, NULL, NULL }
#define STEPS(...) { __VA_ARGS__, { PRETOK_END, 0, 0, 0, NULL, NULL } }

static steps contraction = STEPS(ONE(PRETOK_CONTRACTION));
static steps contraction_any = STEPS(ONE(PRETOK_CONTRACTION_ANY));
static steps lines = STEPS(ONE(PRETOK_LINES));
static steps spaces = STEPS(ONE(PRETOK_SPACES));
static steps last_spaces = STEPS(ONE(PRETOK_LAST_SPACES));
static steps newline = STEPS(RUN(1, 1, NEWLINE));
static steps number = STEPS(RUN(1, 1, NUMBER));
static steps numbers = STEPS(RUN(1, MANY, NUMBER));
static steps numbers_3 = STEPS(RUN(1, 3, NUMBER));
static steps digits_3 = STEPS(RUN_IN(3, 3, 0, digits, NULL));

/* ` ?\p{L}+`, ` ?\p{N}+`, ` ?[^\s\p{L}\p{N}]+` */
static steps blank_letters = STEPS(RUN(0, 1, BLANK), RUN(1, MANY, LETTER));
static steps blank_numbers = STEPS(RUN(0, 1, BLANK), RUN(1, MANY, NUMBER));
static steps blank_others = STEPS(RUN(0, 1, BLANK), RUN(1, MANY, OTHER));

/* `[^\r\n\p{L}\p{N}]?\p{L}+` and ` ?[^\s\p{L}\p{N}]+[\r\n]*` */
static steps any_letters = STEPS(RUN(0, 1, LEAD), RUN(1, MANY, LETTER));
static steps others_newlines = STEPS(RUN(0, 1, BLANK), RUN(1, MANY, OTHER), RUN(0, MANY, NEWLINE));

/* The same with marks counted as letters. In the optional step a mark would change nothing, so its set does not have
 * them. */
static steps any_letters_marks = STEPS(RUN(0, 1, LEAD & ~MARK), RUN(1, MANY, LETTER | MARK));
static steps unmarked_newlines = STEPS(RUN(0, 1, BLANK), RUN(1, MANY, OTHER & ~MARK), RUN(0, MANY, NEWLINE));

/* gpt-4o: a word ends where a capital follows small letters. tekken: the same without contractions. */
static steps small = STEPS(RUN(0, 1, LEAD & ~MARK), ONE(PRETOK_SMALL));
static steps small_contraction = STEPS(RUN(0, 1, LEAD & ~MARK), ONE(PRETOK_SMALL), OPTIONAL(PRETOK_CONTRACTION_ANY));
static steps capital = STEPS(RUN(0, 1, LEAD & ~MARK), ONE(PRETOK_CAPITAL));
static steps capital_contraction =
	STEPS(RUN(0, 1, LEAD & ~MARK), ONE(PRETOK_CAPITAL), OPTIONAL(PRETOK_CONTRACTION_ANY));
static steps others_slashes =
	STEPS(RUN(0, 1, BLANK), RUN(1, MANY, OTHER), RUN_IN(0, MANY, NEWLINE, slash, NULL));

/* deepseek-v3; in llama.cpp ~ is not a symbol here */
static steps mark_ascii_letters = STEPS(RUN_IN(1, 1, 0, ascii_marks, NULL), RUN_IN(1, MANY, 0, ascii_letters, NULL));
static steps unpointed_letters =
	STEPS(RUN_IN(0, 1, (LEAD | NUMBER) & ~(PUNCTUATION | SYMBOL | MARK), tilde, NULL), RUN(1, MANY, LETTER | MARK));
static steps points_newlines =
	STEPS(RUN(0, 1, BLANK), RUN_IN(1, MANY, PUNCTUATION | SYMBOL, NULL, tilde), RUN(0, MANY, NEWLINE));
static steps all_han_kana = STEPS(RUN_IN(1, MANY, 0, han_kana, NULL));

/* deepseek-llm and deepseek-coder */
static steps all_han_hangul = STEPS(RUN_IN(1, MANY, 0, han_hangul, NULL));
static steps white_letters = STEPS(RUN(0, 1, WHITE), RUN(1, MANY, LETTER));
static steps white_points = STEPS(RUN(0, 1, WHITE), RUN(1, MANY, PUNCTUATION));
static steps white_deepseek_letters = STEPS(RUN(0, 1, WHITE), RUN_IN(1, MANY, CASED, NULL, deepseek_lacks));
static steps white_deepseek_marks = STEPS(RUN(0, 1, WHITE), RUN_IN(1, MANY, 0, deepseek_marks, NULL));

static steps falcon_points = STEPS(RUN_IN(1, MANY, PUNCTUATION, falcon_marks, NULL));
static steps default_points = STEPS(RUN_IN(1, MANY, PUNCTUATION, default_marks, NULL));

/* ` ?[^(\s|.,!?…。，、।۔،)]+` */
static steps bloom_words = STEPS(RUN(0, 1, BLANK), RUN_IN(1, MANY, ALL & ~WHITE, NULL, bloom_stops));

/* ---- expressions ---- */

static expression gpt2 = { contraction, blank_letters, blank_numbers, blank_others, spaces, NULL };
static expression llama3 = { contraction_any, any_letters, numbers_3, others_newlines, lines, spaces, NULL };
static expression qwen2 = { contraction_any, any_letters, number, others_newlines, lines, spaces, NULL };
static expression minicpm5 = { contraction_any, any_letters, numbers, others_newlines, lines, spaces, NULL };
static expression qwen35 = { contraction_any, any_letters_marks, number, unmarked_newlines, lines, spaces, NULL };
static expression gpt4o = { small_contraction, capital_contraction, numbers_3, others_slashes, lines, spaces, NULL };
static expression tekken = { small, capital, number, others_slashes, lines, spaces, NULL };
static expression deepseek_v3 = { mark_ascii_letters, unpointed_letters, points_newlines, lines, spaces, NULL };

/* ---- names ---- */

#define ONLY(alternative) (expression){ alternative, NULL }

static const struct pretok table[] = {
	{ "default", 0, { ONLY(default_points), gpt2, ONLY(numbers), ONLY(digits_3) } },
	{ "llama-bpe llama3 llama-v3 falcon3 pixtral lfm2", PRETOK_WHOLE | PRETOK_ADD_BOS, { llama3 } },
	{ "dbrx smaug-bpe", 0, { llama3 } },
	{ "chatglm-bpe glm4", PRETOK_NO_BOS, { llama3 } },
	{ "qwen2 deepseek-r1-qwen megrez stablelm2", 0, { qwen2 } },
	{ "qwen35", 0, { qwen35 } },
	{ "gpt-2 phi-2 olmo mpt jais exaone4 mellum modern-bert gigachat roberta-bpe jina-es jina-de jina-v1-en", 0,
		{ gpt2 } },
	{ "gpt-4o llama4 kanana2", 0, { gpt4o } },
	{ "tekken", PRETOK_WHOLE | PRETOK_ADD_BOS, { tekken } },
	{ "starcoder smollm refact command-r exaone codeshell minerva-7b", 0, { ONLY(number), gpt2 } },
	{ "falcon", 0, { ONLY(falcon_points), gpt2, ONLY(digits_3) } },
	{ "deepseek-v3 hunyuan-dense", 0, { ONLY(numbers_3), ONLY(all_han_kana), deepseek_v3 } },
	{ "deepseek-coder", 0,
		{ ONLY(newline), ONLY(white_letters), ONLY(white_points), ONLY(all_han_hangul), ONLY(number) } },
	{ "deepseek-llm", 0,
		{ ONLY(newline), ONLY(white_deepseek_letters), ONLY(white_deepseek_marks), ONLY(last_spaces),
		ONLY(all_han_hangul), ONLY(numbers) } },
	{ "minicpm5", PRETOK_WHOLE, { ONLY(numbers_3), minicpm5 } },
	{ "bloom poro-chat gpt3-finnish", 0, { ONLY(bloom_words) } },
	{ "viking", 0, { ONLY(bloom_words), ONLY(number) } },
};

const struct pretok *pretok_find(const char *name, size_t n)
{
	for (size_t i = 0, length; i < sizeof table / sizeof *table; i++)
		for (const char *at = table[i].names; *at; at += length + (at[length] == ' ')) {
			length = strcspn(at, " ");
			if (length == n && !memcmp(at, name, n))
				return &table[i];
		}
	return NULL;
}
