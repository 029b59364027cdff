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
	ALL = (1 << (UNICODE_CONTROL + 1)) - 1,
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
static const uint32_t line_feed[] = { '\n', '\n', 0 };
static const uint32_t a_to_i[] = { 'A', 'I', 0 };
static const uint32_t falcon_marks[] = { '$', '$', '+', '+', '<', '>', '^', '^', '`', '`', '|', '|', '~', '~', 0 };
static const uint32_t default_marks[] = { '$', '$', '+', '+', '<', '>', '^', '^', '|', '|', '~', '~', 0 };
static const uint32_t bloom_stops[] = { '!', '!', '(', ')', ',', ',', '.', '.', '?', '?', '|', '|', 0x60c, 0x60c, 0x6d4,
	0x6d4, 0x964, 0x964, 0x2026, 0x2026, 0x3001, 0x3002, 0xff0c, 0xff0c, 0 };
static const uint32_t han_kana[] = { 0x3040, 0x30ff, 0x4e00, 0x9fa5, 0 };
static const uint32_t kimi_han[] = { 0x3400, 0x4dbf, 0x4e00, 0x9fff, 0xf900, 0xfaff, 0x20000, 0x2a6df, 0x2a700, 0x2ebef,
	0x2f800, 0x2fa1f, 0 };
static const uint32_t youtu_hangul[] = { 0x3131, 0x318e, 0xac00, 0xd7a3, 0 };
static const uint32_t youtu_marks[] = { 0x2014, 0x2014, 0x2018, 0x2019, 0x201c, 0x201d, 0x2026, 0x2026, 0x3001, 0x303f,
	0xfe30, 0xfe4f, 0xff01, 0xff01, 0xff0c, 0xff0c, 0xff1a, 0xff1b, 0 };
static const uint32_t youtu_bopomofo[] = { 0x3105, 0x312f, 0 };
/* 4E00-FAFF: llama.cpp has 8C48-FAFF where its look-alike F900-FAFF was meant. */
static const uint32_t afmoe_unspaced[] = { 0xe40, 0xe7f, 0xe80, 0xeff, 0x1000, 0x109f, 0x1100, 0x11ff, 0x1780, 0x17ff,
	0x2f00, 0x2fdf, 0x3040, 0x30ff, 0x3400, 0x4dbf, 0x4e00, 0xfaff, 0xff65, 0xff9f, 0 };
static const uint32_t han_hangul[] = { 0x800, 0x9fa5, 0xac00, 0xd7ff, 0 };
static const uint32_t deepseek_marks[] = { '!', '/', ':', '~', 0x2018, 0x201f, 0x3000, 0x3002, 0xff01, 0xff0f, 0xff1a,
	0xff5e, 0 };
/* The letters with case of Unicode 15.1 that deepseek-llm's list of letters does not have. */
static const uint32_t deepseek_lacks[] = { 0x560, 0x588, 0x10c7, 0x10ff, 0x1c80, 0x1c88, 0x2d00, 0x2d2d, 0xa790, 0xa7fa,
	0xab30, 0xab68, 0x10570, 0x105bc, 0x16e40, 0x16e7f, 0x1d400, 0x1df2a, 0 };

/* ---- alternatives ---- */

#define RUN_IN(least, most, classes, also, but) { PRETOK_RUN, least, most, classes, also, but }
#define RUN(least, most, classes) \
	{ (least) > 1 || (most) > 1 ? PRETOK_RUN : (most) == 1 ? PRETOK_CLASS : PRETOK_CLASSES, least, most, classes, \
	NULL, NULL }
#define ONE(op) { op, 1, 1, 0, NULL, NULL }
#define OPTIONAL(op) { op, 0, 1, 0, NULL, NULL }
#define TEXT(characters) { PRETOK_TEXT, 1, 1, 0, characters, NULL }
#define OF(op, classes) { op, 1, 1, classes, NULL, NULL }
#define STEPS(...) { __VA_ARGS__, { PRETOK_END, 0, 0, 0, NULL, NULL } }

static steps contraction = STEPS(OF(PRETOK_CONTRACTION, PUNCTUATION));
static steps contraction_any = STEPS(OF(PRETOK_CONTRACTION_ANY, PUNCTUATION));
static steps lines = STEPS(OF(PRETOK_LINES, WHITE));
static steps spaces = STEPS(OF(PRETOK_SPACES, WHITE));
static steps last_spaces = STEPS(ONE(PRETOK_LAST_SPACES));
static steps newline = STEPS(RUN(1, 1, NEWLINE));
static steps within_line = STEPS(RUN_IN(1, MANY, ALL, NULL, line_feed));
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

static steps any_letters_marks_contraction =
	STEPS(RUN(0, 1, LEAD & ~MARK), RUN(1, MANY, LETTER | MARK), OPTIONAL(PRETOK_CONTRACTION_ANY));

/* gpt-4o: a word ends where a capital follows small letters. tekken: the same without contractions. */
static steps small = STEPS(RUN(0, 1, LEAD), OF(PRETOK_SMALL, LETTER));
static steps small_contraction =
	STEPS(RUN(0, 1, LEAD), OF(PRETOK_SMALL, LETTER), OPTIONAL(PRETOK_CONTRACTION_ANY));
static steps capital = STEPS(RUN(0, 1, LEAD), OF(PRETOK_CAPITAL, LETTER));
static steps capital_contraction =
	STEPS(RUN(0, 1, LEAD), OF(PRETOK_CAPITAL, LETTER), OPTIONAL(PRETOK_CONTRACTION_ANY));
static steps small_marks_contraction =
	STEPS(RUN(0, 1, LEAD & ~MARK), OF(PRETOK_SMALL, LETTER | MARK), OPTIONAL(PRETOK_CONTRACTION_ANY));
static steps capital_marks_contraction =
	STEPS(RUN(0, 1, LEAD & ~MARK), OF(PRETOK_CAPITAL, LETTER | MARK), OPTIONAL(PRETOK_CONTRACTION_ANY));
static steps others_slashes =
	STEPS(RUN(0, 1, BLANK), RUN(1, MANY, OTHER), RUN_IN(0, MANY, NEWLINE, slash, NULL));

/* exaone-moe */
static steps any_phrase = STEPS(RUN(0, 1, LEAD), OF(PRETOK_PHRASE, LETTER));
static steps others_slash = STEPS(RUN(0, 1, BLANK), RUN(1, MANY, OTHER), RUN_IN(0, 1, NEWLINE, slash, NULL));

/* deepseek-v3 and spark2_5 */
static steps mark_ascii_letters = STEPS(RUN_IN(1, 1, 0, ascii_marks, NULL), RUN_IN(1, MANY, 0, ascii_letters, NULL));
static steps unpointed_letters =
	STEPS(RUN(0, 1, (LEAD | NUMBER) & ~(PUNCTUATION | SYMBOL | MARK)), RUN(1, MANY, LETTER | MARK));
static steps points = STEPS(RUN(0, 1, BLANK), RUN(1, MANY, PUNCTUATION | SYMBOL));
static steps points_newlines =
	STEPS(RUN(0, 1, BLANK), RUN(1, MANY, PUNCTUATION | SYMBOL), RUN(0, MANY, NEWLINE));
static steps all_han_kana = STEPS(RUN_IN(1, MANY, 0, han_kana, NULL));

static steps all_afmoe_unspaced = STEPS(RUN_IN(1, MANY, 0, afmoe_unspaced, NULL));

static steps all_youtu_hangul = STEPS(RUN_IN(1, MANY, 0, youtu_hangul, NULL));
static steps all_youtu_marks = STEPS(RUN_IN(1, MANY, 0, youtu_marks, NULL));
static steps all_youtu_bopomofo = STEPS(RUN_IN(1, MANY, 0, youtu_bopomofo, NULL));

static steps all_kimi_han = STEPS(RUN_IN(1, MANY, 0, kimi_han, NULL));
static steps any_kimi_letters = STEPS(RUN(0, 1, LEAD), RUN_IN(1, MANY, LETTER, NULL, kimi_han),
	OPTIONAL(PRETOK_CONTRACTION_ANY));

/* chameleon: its markers of images, then blanks */
static const uint32_t sentinel[] = { '<', 's', 'e', 'n', 't', 'i', 'n', 'e', 'l', ':', 0 };
static const uint32_t sentinel_end[] = { '>', 0 };
static const uint32_t image[] = { 'I', 'M', 'G', 'I', 'M', 'G', 0 }, image_end[] = { 'Z', 0 };
static const uint32_t tab_text[] = { '\t', 0 }, line_feed_text[] = { '\n', 0 };
static steps image_sentinel = STEPS(TEXT(sentinel), RUN_IN(1, MANY, 0, digits, NULL), TEXT(sentinel_end));
static steps image_code = STEPS(TEXT(image), RUN_IN(1, 4, 0, a_to_i, NULL), TEXT(image_end));
static steps one_tab = STEPS(TEXT(tab_text));
static steps one_line_feed = STEPS(TEXT(line_feed_text));
static steps blanks_4 = STEPS(RUN(4, 4, BLANK));
static steps blanks_2 = STEPS(RUN(2, 2, BLANK));
static steps chameleon_point = STEPS(RUN_IN(1, 1, PUNCTUATION, ascii_marks, NULL));

static steps powers = STEPS(ONE(PRETOK_POWERS));
static steps thirds = STEPS(ONE(PRETOK_NUMBERS));
static steps thirds_of_digits = STEPS(ONE(PRETOK_DIGITS));

/* deepseek-llm and deepseek-coder */
static steps all_han_hangul = STEPS(RUN_IN(1, MANY, 0, han_hangul, NULL));
static steps white_letters = STEPS(RUN(0, 1, WHITE), RUN(1, MANY, LETTER));
static steps white_points = STEPS(RUN(0, 1, WHITE), RUN(1, MANY, PUNCTUATION));
static steps white_deepseek_letters = STEPS(RUN(0, 1, WHITE), RUN_IN(1, MANY, CASED, NULL, deepseek_lacks));
static steps white_deepseek_marks = STEPS(RUN(0, 1, WHITE), RUN_IN(1, MANY, 0, deepseek_marks, NULL));

static steps falcon_points = STEPS(RUN_IN(1, MANY, PUNCTUATION, falcon_marks, NULL));
static steps default_points = STEPS(RUN_IN(1, MANY, PUNCTUATION, default_marks, NULL));

static steps dark = STEPS(RUN(1, MANY, ALL & ~WHITE));

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
static expression spark = { mark_ascii_letters, unpointed_letters, points, newline, spaces, NULL };
static expression seed = { contraction_any, any_letters, number, blank_others, lines, spaces, NULL };
static expression ufakzeka = { any_letters, number, others_newlines, lines, spaces, NULL };
static expression exaone_moe = { contraction_any, any_phrase, number, others_slash, lines, spaces, NULL };
static expression granite_embed =
	{ small_marks_contraction, capital_marks_contraction, numbers_3, others_slashes, lines, spaces, NULL };
static expression aya = { any_letters_marks_contraction, numbers_3, others_slashes, lines, spaces, NULL };
static expression kimi =
	{ all_kimi_han, any_kimi_letters, numbers_3, others_newlines, lines, spaces, NULL };
static expression youtu_scripts = { all_youtu_hangul, all_youtu_marks, all_youtu_bopomofo, all_han_kana, NULL };
static expression youtu = { any_letters_marks_contraction, number, others_slashes, lines, spaces, NULL };
static expression chameleon_white = { one_tab, one_line_feed, blanks_4, blanks_2, NULL };

/* ---- names ---- */

#define ONLY(alternative) (expression){ alternative, NULL }

static const struct pretok table[] = {
	{ "default", 0, { ONLY(default_points), gpt2, ONLY(numbers), ONLY(digits_3) } },
	{ "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
		PRETOK_WHOLE | PRETOK_ADD_BOS, { llama3 } },
	{ "dbrx smaug-bpe", 0, { llama3 } },
	{ "chatglm-bpe glm4", PRETOK_NO_BOS, { llama3 } },
	{ "jais-2", 0, { llama3, ONLY(powers) } },
	{ "qwen2 deepseek-r1-qwen megrez stablelm2 kormo f2llmv2 hunyuan grok-2 solar-open bailingmoe bailingmoe2 "
		"llada-moe", 0, { qwen2 } },
	{ "qwen35", 0, { qwen35 } },
	{ "laguna", 0, { ONLY(within_line), qwen2 } },
	{ "gemma4 granite-embed-multi-311m",
		PRETOK_PLAIN | PRETOK_BYTES | PRETOK_WHOLE_LINES | PRETOK_ADD_BOS | PRETOK_MUST_BOS,
		{ ONLY(within_line) } },
	{ "sarvam-moe", PRETOK_PLAIN | PRETOK_BYTES, { ONLY(within_line) } },
	{ "seed-coder", 0, { seed } },
	{ "ufakzeka", 0, { ufakzeka } },
	{ "gpt-2 phi-2 olmo mpt jais exaone4 mellum modern-bert gigachat roberta-bpe jina-es jina-de jina-v1-en "
		"a.x-4.0 trillion granite-docling", 0, { gpt2 } },
	{ "jina-v2-es jina-v2-de jina-v2-code", PRETOK_MASK, { gpt2 } },
	{ "gpt-4o llama4 kanana2 talkie minimax-m2", 0, { gpt4o } },
	{ "granite-embed-multi-97m", PRETOK_WHOLE, { granite_embed } },
	{ "tekken", PRETOK_WHOLE | PRETOK_ADD_BOS, { tekken } },
	{ "tiny_aya cohere2moe", 0, { ONLY(thirds), aya } },
	{ "starcoder smollm refact command-r exaone codeshell minerva-7b mellum2", 0, { ONLY(number), gpt2 } },
	{ "exaone-moe", 0, { exaone_moe } },
	{ "falcon", 0, { ONLY(falcon_points), gpt2, ONLY(digits_3) } },
	{ "deepseek-v3 hunyuan-dense hy_v4 joyai-llm", 0, { ONLY(numbers_3), ONLY(all_han_kana), deepseek_v3 } },
	{ "spark2_5", 0, { ONLY(numbers_3), ONLY(all_han_kana), spark, ONLY(number) } },
	{ "afmoe", 0, { ONLY(thirds), ONLY(all_afmoe_unspaced), deepseek_v3 } },
	{ "deepseek-coder", 0,
		{ ONLY(newline), ONLY(white_letters), ONLY(white_points), ONLY(all_han_hangul), ONLY(number) } },
	{ "deepseek-llm", 0,
		{ ONLY(newline), ONLY(white_deepseek_letters), ONLY(white_deepseek_marks), ONLY(last_spaces),
		ONLY(all_han_hangul), ONLY(numbers) } },
	{ "kimi-k2", PRETOK_MAY_NOT_MERGE, { kimi } },
	{ "youtu", PRETOK_WHOLE, { youtu_scripts, youtu } },
	{ "minicpm5", PRETOK_WHOLE, { ONLY(numbers_3), minicpm5 } },
	{ "superbpe", 0, { ONLY(numbers), ONLY(thirds_of_digits) } },
	{ "bloom poro-chat gpt3-finnish", 0, { ONLY(bloom_words) } },
	{ "whitespace", PRETOK_BYTES, { ONLY(dark) } },
	{ "viking", 0, { ONLY(bloom_words), ONLY(number) } },
	{ "chameleon", PRETOK_ADD_BOS,
		{ ONLY(image_sentinel), ONLY(image_code), chameleon_white, ONLY(number),
		ONLY(chameleon_point), gpt2 } },
};

const struct pretok *pretok_each(size_t i)
{
	return i < sizeof table / sizeof *table ? &table[i] : NULL;
}

const struct pretok *pretok_find(const char *name, size_t n)
{
	const struct pretok *p;
	size_t length;

	for (size_t i = 0; (p = pretok_each(i)); i++)
		for (const char *at = p->names; *at; at += length + (at[length] == ' ')) {
			length = strcspn(at, " ");
			if (length == n && !memcmp(at, name, n))
				return p;
		}
	return NULL;
}
