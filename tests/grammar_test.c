/* Grammars: errors and their places, the texts that grammars allow, masks compared with trying every id in an
 * independent recogniser, random generations, and grammars made to exhaust time and memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grammar/grammar.h"
#include "lib/grammar/mask.h"
#include "lib/grammar/match.h"
#include "check.h"
#include "mkrandom.h"
#include "oracle.h"

static struct grammar *parse(const char *text, struct why *w)
{
	return grammar_parse(text, strlen(text), w);
}

/* ---- what does not parse ---- */

static void refuses(const char *text, const char *reason)
{
	struct why w = { "" };
	struct grammar *g = parse(text, &w);

	check(!g && !strcmp(w.text, reason), "%s\n  says: %s\n  not:  %s", text, g ? "nothing" : w.text, reason);
	grammar_free(g);
}

static void test_errors(void)
{
	refuses("", "line 1, column 1: there is no rule root");
	refuses("# nothing\n\n", "line 1, column 1: there is no rule root");
	refuses("a ::= \"x\"\n", "line 1, column 1: there is no rule root");
	refuses("root ::= \"x\"\nroot ::= \"y\"\n", "line 2, column 1: rule root is defined twice");
	refuses("root ::= \"x\" foo\n", "line 1, column 14: rule foo is not defined");
	refuses("root ::= a\na ::= \"\xc3\xa9\" (b | c-d)\nb ::= \"x\"\n",
		"line 2, column 16: rule c-d is not defined");
	refuses("root = \"x\"\n", "line 1, column 6: expected '::=' after the rule's name");
	refuses("root ::= \"x\"\n \"y\"\n", "line 2, column 2: expected a rule's name");
	refuses("root ::= \"x\n\"\n", "line 1, column 10: the literal does not end on its line");
	refuses("root ::= \"\\q\"\n", "line 1, column 11: unknown escape");
	refuses("root ::= \"\\", "line 1, column 11: the text ends in an escape");
	refuses("root ::= \"\\x4\"\n", "line 1, column 11: \\x must be followed by 2 hexadecimal digits");
	refuses("root ::= [\\uD800]\n", "line 1, column 11: U+D800 is not a character");
	refuses("root ::= \"\\U00110000\"\n", "line 1, column 11: U+110000 is not a character");
	refuses("root ::= \"\xff\"\n", "line 1, column 11: invalid UTF-8");
	refuses("root ::= [a-\n", "line 1, column 10: the class does not end on its line");
	refuses("root ::= [z-a]\n", "line 1, column 11: the range ends before it begins");
	refuses("root ::= []\n", "line 1, column 10: the class is empty");
	refuses("root ::= [^]\n", "line 1, column 10: the class is empty");
	refuses("root ::= [^\\x00-\\U0010FFFF]\n", "line 1, column 10: the class contains no character");
	refuses("root ::= (\"x\"\n", "line 1, column 10: the parenthesis is not closed");
	refuses("root ::= \"x\")\n", "line 1, column 13: ')' without '('");
	refuses("root ::= (\"x\" ::= \"y\")\n", "line 1, column 15: unexpected character");
	refuses("root ::= !\"\"\n", "line 1, column 11: an empty literal occurs in every text");
	refuses("root ::= !\"a\n", "line 1, column 11: the literal does not end on its line");
	refuses("root ::= *\n", "line 1, column 10: nothing to repeat before this");
	refuses("root ::= \"x\" | + \"y\"\n", "line 1, column 16: nothing to repeat before this");
	refuses("root ::= \"x\"{}\n", "line 1, column 13: a repetition is {n}, {n,}, {,m} or {n,m}");
	refuses("root ::= \"x\"{1,2\n", "line 1, column 13: a repetition is {n}, {n,}, {,m} or {n,m}");
	refuses("root ::= \"x\"{3,2}\n", "line 1, column 13: the repetition's lower bound exceeds its upper one");
	refuses("root ::= \"x\"{1000000001}\n", "line 1, column 14: a repetition count above 1000000000");
	refuses("root ::= \"x\"{99999999999999999999999}\n", "line 1, column 14: a repetition count above 1000000000");
	refuses("root ::= <think>\n", "line 1, column 10: tokens (<...>) need a vocabulary");
	refuses("root ::= \"x\" = \"y\"\n", "line 1, column 14: unexpected character");
	refuses("root ::= root \"x\" | \"y\"\n", "line 1, column 1: rule root begins with itself (left recursion)");
	refuses("root ::= a\na ::= \"x\"? b\nb ::= a \"y\" | \"z\"\n",
		"line 3, column 1: rule b begins with itself (left recursion)");
	refuses("root ::= (\"a\"* root)* \"x\"\n", "line 1, column 1: rule root begins with itself (left recursion)");
	refuses("root ::= \"x\" root\n",
		"line 1, column 1: rule root has no finite text: each of its alternatives leads back to it");
	refuses("root ::= \"x\" | a\na ::= \"y\" b\nb ::= \"z\" a\n",
		"line 2, column 1: rule a has no finite text: each of its alternatives leads back to it");
}

/* ---- which texts ---- */

struct judgement {
	const char *text;
	int allowed;
};

static void allows(const char *grammar, const struct judgement *t)
{
	struct why w = { "" };
	struct grammar *g = parse(grammar, &w);

	if (!check(g != NULL, "%s\n  does not parse: %s", grammar, w.text))
		return;
	for (; t->text; t++)
		check(grammar_matches(g, t->text, strlen(t->text), &w) == t->allowed, "%s\n  %s: %s", grammar,
			t->allowed ? "refuses" : "allows", t->text);
	grammar_free(g);
}

#define ALLOWS(grammar, ...) allows(grammar, (const struct judgement[]){ __VA_ARGS__, { NULL, 0 } })

static const char json[] =
	"# any JSON text\n"
	"root   ::= object\n"
	"value  ::= object | array | string | number | (\"true\" | \"false\" | \"null\") ws\n\n"
	"object ::=\n"
	"  \"{\" ws (\n"
	"            string \":\" ws value\n"
	"    (\",\" ws string \":\" ws value)*\n"
	"  )? \"}\" ws\n"
	"array  ::= \"[\" ws ( value (\",\" ws value)* )? \"]\" ws\n"
	"string ::= \"\\\"\" ([^\"\\\\\\x7F\\x00-\\x1F] |"
	" \"\\\\\" ([\"\\\\bfnrt] | \"u\" [0-9a-fA-F]{4}))* \"\\\"\" ws\n"
	"number ::= (\"-\"? ([0-9] | [1-9] [0-9]{0,15})) (\".\" [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws\n"
	"ws     ::= | \" \" | \"\\n\" [ \\t]{0,20}\n";

/* !"LITERAL" allows the texts of a and b in which it does not occur, and no others. */
static void allows_without(const char *literal)
{
	char grammar[64], text[8] = "";
	struct why w = { "" };
	struct grammar *g;

	snprintf(grammar, sizeof grammar, "root ::= \"<\" !\"%s\" \">\"", literal);
	g = parse(grammar, &w);
	check(g != NULL, "%s: %s", grammar, w.text);
	/* of the numbers from 1 on, the bits below the highest are a text */
	for (unsigned bits = 1; g && bits < 256; bits++) {
		char whole[16];
		size_t n = 0;

		for (; bits >> (n + 1); n++)
			text[n] = bits & 1U << n ? 'b' : 'a';
		text[n] = 0;
		snprintf(whole, sizeof whole, "<%s>", text);
		check(grammar_matches(g, whole, n + 2, &w) == !strstr(text, literal), "%s: %s", grammar, whole);
	}
	grammar_free(g);
}

static void test_without(void)
{
	static const char *const literals[] = { "a", "b", "ab", "aa", "aab", "aba", "abab", "abba", "aabaa", "bbbbbb" };

	for (size_t i = 0; i < sizeof literals / sizeof *literals; i++)
		allows_without(literals[i]);
	ALLOWS("root ::= !\"</b>\" \"</b>\"", { "</b>", 1 }, { "x<<</b>", 1 }, { "</</b></b>", 0 }, { "\n</b>", 1 },
		{ "<b>\xe6\x97\xa5</b>", 1 }, { "\xe6\x97</b>", 0 }, { "<b></b", 0 });
	ALLOWS("root ::= !\"\xe6\x97\xa5\\n\"", { "", 1 }, { "\xe6\x97\xa5", 1 }, { "\xe6\x97\xa6\n", 1 },
		{ "a\xe6\x97\xa5\nb", 0 });
	ALLOWS("root ::= (!\"a\" \"a\"){2}", { "aa", 1 }, { "bacda", 1 }, { "aba", 1 }, { "aaa", 0 });
}

static void test_texts(void)
{
	ALLOWS("root ::= \"a\" | \"bc\"", { "a", 1 }, { "bc", 1 }, { "", 0 }, { "b", 0 }, { "abc", 0 });
	ALLOWS("root ::= |\"a\"", { "", 1 }, { "a", 1 }, { "aa", 0 });
	ALLOWS("root ::= \"\"", { "", 1 }, { "a", 0 });
	ALLOWS("root ::= ()", { "", 1 }, { "a", 0 });
	ALLOWS("root ::= \"ab\"* [c-e]+ .?", { "c", 1 }, { "ababdd", 1 }, { "abab", 0 }, { "cx", 1 }, { "cxy", 0 },
		{ "c\xe6\x97\xa5", 1 }, { "c\xe6\x97", 0 });
	ALLOWS("root ::= (\"a\" \"b\"){2} \"c\"{,2} [x]{1,} \"y\"{0}", { "ababx", 1 }, { "ababccxxx", 1 },
		{ "abx", 0 }, { "abababx", 0 }, { "ababcccx", 0 }, { "ababxy", 0 });
	ALLOWS("root ::= [^a-c\\]\\n-]", { "d", 1 }, { "a", 0 }, { "-", 0 }, { "]", 0 }, { "\n", 0 },
		{ "\xf0\x9f\x98\x80", 1 }, { "\xed\xa0\x80", 0 }, { "\xc1\xa0", 0 });
	ALLOWS("root ::= [a-] [-b] [\\x41-\\x43] [\\u00e9-\\u00EB] \"\\U0001F600\" \"\\x7e\"",
		{ "a-A\xc3\xa9\xf0\x9f\x98\x80~", 1 }, { "-bC\xc3\xab\xf0\x9f\x98\x80~", 1 },
		{ "a-A\xc3\xac\xf0\x9f\x98\x80~", 0 });
	ALLOWS("root ::= [\xe3\x81\x81-\xe3\x82\x9f]+", { "\xe3\x81\xbb\xe3\x82\x80", 1 }, { "\xe3\x82\xa0", 0 });
	ALLOWS("root ::= [\\uD7FF-\\uE000]", { "\xed\x9f\xbf", 1 }, { "\xee\x80\x80", 1 }, { "\xed\xa0\x80", 0 },
		{ "\xee\x80\x81", 0 });
	ALLOWS("root ::= \"a\" # a comment with \"quotes\n\n# and another\n", { "a", 1 });
	ALLOWS("root ::= \"a\" |\n  # between\n  \"b\"\n\t| \"c\"\r\nother ::= root\r\n", { "a", 1 }, { "b", 1 },
		{ "c", 1 });
	ALLOWS("root ::=\n  (\n\"a\"\n|\n\"b\"\n)\n", { "a", 1 }, { "b", 1 }, { "ab", 0 });
	ALLOWS("root::=a-b_2 \"x\"\na-b_2::=\"y\"", { "yx", 1 });
	ALLOWS("root ::= \"\\n\\t\\r\\\\\\\"[]#|\"", { "\n\t\r\\\"[]#|", 1 });
	ALLOWS("root ::= (\"a\"*)* (\"b\"?)+ ((\"c\"*)+){2,3}", { "", 1 }, { "aaabbcc", 1 }, { "ba", 0 });
	ALLOWS("root ::= a?{3} \"x\"\na ::= \"y\" | \"\"", { "x", 1 }, { "yyyx", 1 }, { "yyyyx", 0 });
	ALLOWS("root ::= \"(\" root \")\" root | \"\"", { "", 1 }, { "(())()", 1 }, { "(()", 0 }, { "())", 0 });
	ALLOWS("root ::= s \"!\"\ns ::= \"x\" s \"y\" | \"x\" s \"z\" | \"w\"", { "xxxwyzy!", 1 }, { "xxxwyz!", 0 },
		{ "xxwyzy!", 0 });
	ALLOWS("root ::= e\ne ::= t ([-+*/] t)*\nt ::= [0-9]+ | \"(\" e \")\"", { "1+(2*30)", 1 }, { "1+", 0 },
		{ "((1))", 1 }, { "((1)", 0 });
	ALLOWS(json, { "{}", 1 }, { "{\"a\": [1, -2.5e+7, {\"b\":null}], \"c\":\"\\u00e9\\n\"}\n", 1 },
		{ "{\"a\":}", 0 }, { "{\"a\":1,}", 0 }, { "[1]", 0 }, { "{\"a\":\"\n\"}", 0 },
		{ "{\"a\":\"\xe6\x97\xa5\xe6\x9c\xac\"}", 1 }, { "{\"a\":01}", 0 });
}

/* ---- vocabularies for the masks ---- */

enum { IDS = 1500, PIECE = 40, EOG = 3 };

struct vocabulary {
	char bytes[IDS][PIECE];
	size_t n[IDS];
};

static const int32_t eog[] = { EOG, 700 };

static const char *piece(const void *context, int32_t id, size_t *n)
{
	const struct vocabulary *v = context;

	*n = v->n[id];
	return v->bytes[id];
}

/* All single bytes, pieces of the oracle's texts, and some of JSON; some are equal and some are empty. */
static void fill(struct vocabulary *v, uint64_t seed)
{
	static const char *const known[] = { "{\"", "\":", "\": \"", "\",", "\"}", "\"]}", "true", "null", " 1", "00",
		"[[", "]]", ", \"", "\\u", "\\\"" };

	for (int32_t id = 0; id < IDS; id++) {
		if (id >= 300 && id < 300 + (int32_t)(sizeof known / sizeof *known)) {
			v->n[id] = strlen(known[id - 300]);
			memcpy(v->bytes[id], known[id - 300], v->n[id]);
		} else if (id < 16) {
			v->n[id] = 0;
		} else if (id < 272) {
			v->n[id] = 1;
			v->bytes[id][0] = (char)(id - 16);
		} else {
			v->n[id] = oracle_piece(mkrandom(seed, (uint64_t)id), v->bytes[id], PIECE);
		}
	}
}

static int is_eog(int32_t id)
{
	return id == eog[0] || id == eog[1];
}

static int allowed(const uint32_t *mask, int32_t id)
{
	return (int)(mask[id / 32] >> id % 32 & 1);
}

/* An allowed id; where the text may end, an end one time in `ends`. */
static int32_t choose(const uint32_t *mask, uint64_t seed, unsigned ends)
{
	int32_t from = (int32_t)(mkrandom(seed, 1) % IDS);

	if (allowed(mask, EOG) && mkrandom(seed, 2) % ends == 0)
		return EOG;
	for (int32_t i = 0; i < IDS; i++) {
		int32_t id = (from + i * 7) % IDS;

		if (allowed(mask, id) && !is_eog(id))
			return id;
	}
	return EOG;
}

/* Compares every id's bit with the oracle; returns how many differ. */
static int judge_mask(struct oracle *o, const struct vocabulary *v, const uint32_t *mask, const char *text, size_t n)
{
	int wrong = 0, whole, prefix;
	char longer[ORACLE_TEXT + 1];

	memcpy(longer, text, n);
	for (int32_t id = 0; id < IDS; id++) {
		memcpy(longer + n, v->bytes[id], v->n[id]);
		oracle_judge(o, longer, is_eog(id) ? n : n + v->n[id], &whole, &prefix);
		wrong += allowed(mask, id) != (is_eog(id) ? whole : v->n[id] ? prefix : 0);
	}
	return wrong;
}

/* ---- random grammars ---- */

struct tally {
	int grammars, masks, finished;
};

/* Generates one text, up to the length that the oracle can judge, and checks its first `judged` masks. */
static int write_text(struct oracle *o, struct masker *u, const struct vocabulary *v, uint64_t seed, int judged,
	struct tally *t)
{
	struct why w = { "" };
	struct mask_text *p = mask_start(u, &w), *fork;
	char text[ORACLE_TEXT + 1];
	size_t n = 0;
	int ok = p != NULL, whole = 0, prefix;

	for (int step = 0; ok && n + PIECE <= ORACLE_TEXT; step++) {
		const uint32_t *mask = mask_find(p, &w);
		int32_t id;

		ok = mask != NULL;
		if (!ok)
			break;
		t->masks++;
		if (step < judged)
			ok = !judge_mask(o, v, mask, text, n);
		id = choose(mask, mkrandom(seed, (uint64_t)step), 3);
		ok = ok && (fork = mask_fork(p, &w)) && !mask_accept(fork, id, &w);
		if (!ok)
			break;
		mask_drop(p);
		p = fork;
		if (id == EOG) {
			oracle_judge(o, text, n, &whole, &prefix);
			ok = whole && !mask_find(p, &w);
			t->finished++;
			break;
		}
		memcpy(text + n, v->bytes[id], v->n[id]);
		n += v->n[id];
	}
	mask_drop(p);
	return check(ok, "grammar:\n%s  text '%.*s': %s", oracle_grammar(o), (int)n, text, w.text);
}

/* Accepting an id that is not allowed fails and changes nothing. */
static int refuses_others(struct masker *u)
{
	struct why w;
	struct mask_text *p = mask_start(u, &w);
	const uint32_t *mask = p ? mask_find(p, &w) : NULL;
	uint32_t copy[IDS / 32 + 1];
	int ok = mask != NULL;

	if (ok)
		memcpy(copy, mask, IDS / 32 * sizeof *copy);
	for (int32_t id = -1; ok && id <= IDS; id++) {
		struct mask_text *f = mask_fork(p, &w);
		int want = id >= 0 && id < IDS / 32 * 32 && allowed(copy, id);

		if (id < 0 || id == IDS || id < IDS / 32 * 32)
			ok = f && (mask_accept(f, id, &w) == 0) == want;
		mask_drop(f);
	}
	mask_drop(p);
	return ok;
}

static void judge_texts(struct oracle *o, const struct grammar *g, uint64_t seed)
{
	int wrong = 0, whole, prefix;
	char text[ORACLE_TEXT];
	struct why w;

	for (uint64_t i = 0; i < 60; i++) {
		size_t n = oracle_piece(mkrandom(seed, i), text, i % 8);

		oracle_judge(o, text, n, &whole, &prefix);
		wrong += grammar_matches(g, text, n, &w) != whole;
	}
	check(!wrong, "grammar:\n%s  %d of 60 texts are judged wrongly", oracle_grammar(o), wrong);
}

static void test_random(void)
{
	static struct vocabulary v;
	struct tally t = { 0 };

	for (uint64_t seed = 1; t.grammars < 250 && seed < 2000; seed++) {
		struct oracle *o = oracle_open(seed);
		struct why w = { "" };
		struct grammar *g = parse(oracle_grammar(o), &w);
		struct mask_vocab pieces = { IDS, piece, &v, eog, 2, NULL };
		struct masker *u;

		if (!g) {
			check(strstr(w.text, "begins with itself") || strstr(w.text, "no finite text"), "%s\n  %s",
				oracle_grammar(o), w.text);
			oracle_close(o);
			continue;
		}
		fill(&v, seed / 8);
		u = masker_open(g, &pieces, &w);
		judge_texts(o, g, seed);
		check(refuses_others(u), "grammar:\n%s  an id is accepted that the mask does not allow,"
			" or the other way round", oracle_grammar(o));
		for (uint64_t i = 0; u && i < 6; i++)
			if (!write_text(o, u, &v, mkrandom(seed, i), i ? 0 : 3, &t))
				break;
		t.grammars++;
		masker_close(u);
		grammar_free(g);
		oracle_close(o);
	}
	check(t.grammars == 250 && t.finished >= 1000, "%d grammars, %d masks, %d finished texts: too few", t.grammars,
		t.masks, t.finished);
}

/* ---- tokens ---- */

static int32_t find(const void *context, const char *text, size_t n)
{
	const struct vocabulary *v = context;

	for (int32_t id = 0; id < IDS; id++)
		if (v->n[id] == n && !memcmp(v->bytes[id], text, n))
			return id;
	return -1;
}

static struct grammar *parse_tokens(const char *text, const struct vocabulary *v, struct why *w)
{
	return grammar_parse_tokens(text, strlen(text), &(struct grammar_tokens){ IDS, find, v }, w);
}

static void refuses_token(const struct vocabulary *v, const char *text, const char *reason)
{
	struct why w = { "" };
	struct grammar *g = parse_tokens(text, v, &w);

	check(!g && !strcmp(w.text, reason), "%s\n  says: %s\n  not:  %s", text, g ? "nothing" : w.text, reason);
	grammar_free(g);
}

enum { LIST_END = INT32_MIN };

/* Appends the ids of `text`, then judges each of `next`: NOT(id) is one that is not allowed. The masks and what is
 * accepted have to agree. */
static void follows(const struct vocabulary *v, const char *grammar, const int32_t *text, const int32_t *next)
{
	struct why w = { "" };
	struct grammar *g = parse_tokens(grammar, v, &w);
	struct mask_vocab pieces = { IDS, piece, v, eog, 2, NULL };
	struct masker *u = g ? masker_open(g, &pieces, &w) : NULL;
	struct mask_text *p = u ? mask_start(u, &w) : NULL, *fork;
	const uint32_t *mask;
	int ok = p != NULL;

	for (; ok && text && *text != LIST_END; text++)
		ok = (mask = mask_find(p, &w)) && allowed(mask, *text) && !mask_accept(p, *text, &w);
	check(ok, "%s\n  refuses the text: %s", grammar, w.text);
	for (; ok && *next != LIST_END; next++) {
		int32_t id = *next < 0 ? -*next - 1 : *next;
		int want = *next >= 0;

		mask = mask_find(p, &w);
		fork = mask_fork(p, &w);
		check(mask && allowed(mask, id) == want && (mask_accept(fork, id, &w) == 0) == want, "%s\n  %s %d: %s",
			grammar, want ? "refuses" : "allows", (int)id, w.text);
		mask_drop(fork);
	}
	masker_close(u);
	grammar_free(g);
}

#define LIST(...) (const int32_t[]){ __VA_ARGS__, LIST_END }
#define NOT(id) (-(id) - 1)

/* Ids 5 and 6 print nothing, 16 + c is the byte c, 300 is <think>, and 301 the same as the byte x. */
static void test_tokens(void)
{
	static struct vocabulary v;

	fill(&v, 6);
	v.n[300] = strlen(strcpy(v.bytes[300], "<think>"));
	v.n[301] = strlen(strcpy(v.bytes[301], "x"));
	refuses_token(&v, "root ::= <[1500]>", "line 1, column 10: token 1500 is outside the vocabulary of 1500");
	refuses_token(&v, "root ::= !<[99999999999999999999]>",
		"line 1, column 11: token 99999999999999999999 is outside the vocabulary of 1500");
	refuses_token(&v, "root ::= \"a\" <thought>", "line 1, column 14: the vocabulary has no token <thought>");
	refuses_token(&v, "root ::= <think\n>", "line 1, column 10: the token does not end on its line");
	refuses_token(&v, "root ::= <[5>", "line 1, column 10: a token is <[id]> or <text>");
	refuses_token(&v, "root ::= <[]>", "line 1, column 10: a token is <[id]> or <text>");
	refuses_token(&v, "root ::= <[-5]>", "line 1, column 10: a token is <[id]> or <text>");
	refuses_token(&v, "root ::= !a",
		"line 1, column 11: expected a token after '!': <[id]>, <text> or \"literal\"");

	follows(&v, "root ::= <[5]> \"x\"", NULL, LIST(5, NOT(6), NOT(16 + 'x'), NOT(EOG)));
	follows(&v, "root ::= <[5]> \"x\"", LIST(5), LIST(16 + 'x', 301, NOT(5), NOT(EOG)));
	follows(&v, "root ::= <think> .", NULL, LIST(300, NOT(16 + '<'), NOT(301)));
	follows(&v, "root ::= \"<\" .* <think>", LIST(16 + '<'), LIST(300, 301, NOT(EOG)));
	follows(&v, "root ::= \"<\" .* <think>", LIST(16 + '<', 300), LIST(300, 301, EOG, 700));
	follows(&v, "root ::= !<[5]> | <[6]> \"a\"", NULL, LIST(6, 7, 300, NOT(5), NOT(EOG), NOT(700)));
	follows(&v, "root ::= !<[5]> | <[6]> \"a\"", LIST(6), LIST(16 + 'a', EOG, NOT(7)));
	follows(&v, "root ::= (!<[5]> !<[6]> !<[7]>){2,} <[5]>", LIST(6, 7, 8, 300, 301, 302), LIST(5, 6, NOT(EOG)));
	follows(&v, "root ::= (!<[5]> !<[6]> !<[7]>){2,} <[5]>", LIST(6, 7, 8, 300, 301), LIST(5, 6, NOT(7), NOT(EOG)));
	follows(&v, "root ::= <[301]> \"a\" | \"x\" \"b\"", LIST(301), LIST(16 + 'a', 16 + 'b'));
	follows(&v, "root ::= <[301]> \"a\" | \"x\" \"b\"", LIST(16 + 'x'), LIST(NOT(16 + 'a'), 16 + 'b'));
	follows(&v, "root ::= \"a\" <[700]>", LIST(16 + 'a'), LIST(700, NOT(EOG), NOT(5)));
	follows(&v, "root ::= \"a\" (<[700]> \"b\" | !<[700]>)", LIST(16 + 'a'), LIST(5, NOT(700), NOT(EOG)));
	follows(&v, "root ::= <[5]>{20,1000000}", LIST(5, 5, 5), LIST(5, NOT(6), NOT(EOG)));
}

/* ---- long texts, many states ---- */

/* Random JSON texts of many tokens. */
static void test_json(void)
{
	static struct vocabulary v;
	struct why w = { "" };
	struct grammar *g = parse(json, &w);
	struct mask_vocab pieces = { IDS, piece, &v, eog, 2, NULL };
	struct masker *u;
	int finished = 0;

	fill(&v, 77);
	u = g ? masker_open(g, &pieces, &w) : NULL;
	for (uint64_t text = 0; u && text < 40; text++) {
		static char bytes[1 << 20];
		struct mask_text *p = mask_start(u, &w);
		size_t n = 0, limit = text % 4 ? 300 : 6000;
		int32_t id = -1;

		while (p && id != EOG) {
			const uint32_t *mask = mask_find(p, &w);
			static const char closing[] = "\"}]0";
			int quick = n > limit;

			if (!mask)
				break;
			id = choose(mask, mkrandom(text, n), 2);
			for (int k = 0; quick && k < 4; k++)    /* ends as soon as it can */
				if (allowed(mask, 16 + closing[k])) {
					id = 16 + closing[k];
					break;
				}
			if (quick && allowed(mask, EOG))
				id = EOG;
			if (mask_accept(p, id, &w) || n + PIECE > sizeof bytes || id == EOG)
				break;
			memcpy(bytes + n, v.bytes[id], v.n[id]);
			n += v.n[id];
		}
		finished += id == EOG && grammar_matches(g, bytes, n, &w) == 1;
		mask_drop(p);
	}
	check(finished == 40, "JSON: %d of 40 texts end as they should: %s", finished, w.text);
	masker_close(u);
	grammar_free(g);
}

/* Runs of one character against bounded repetitions, with pieces shorter and longer than those that masks share:
 * which are allowed is plain arithmetic. */
static void count_runs(const char *class, const char *character, int low, int high)
{
	static struct vocabulary v;
	struct why w = { "" };
	struct mask_vocab pieces = { IDS, piece, &v, eog, 2, NULL };
	char text[100];
	struct grammar *g;
	struct masker *u;
	struct mask_text *p;
	size_t len = strlen(character);
	int most = (PIECE - 1) / (int)len, wrong = 0;

	snprintf(text, sizeof text, "root ::= %s{%d,%d} \"!\"", class, low, high);
	memset(&v, 0, sizeof v);
	for (int k = 1; k <= most; k++) {       /* id 10 + 2·k: k times; 11 + 2·k: and the mark */
		for (int i = 0; i < k; i++)
			memcpy(v.bytes[10 + 2 * k] + (size_t)i * len, character, len);
		v.n[10 + 2 * k] = (size_t)k * len;
		memcpy(v.bytes[11 + 2 * k], v.bytes[10 + 2 * k], v.n[10 + 2 * k]);
		v.bytes[11 + 2 * k][v.n[10 + 2 * k]] = '!';
		v.n[11 + 2 * k] = v.n[10 + 2 * k] + 1;
	}
	g = parse(text, &w);
	u = g ? masker_open(g, &pieces, &w) : NULL;
	p = u ? mask_start(u, &w) : NULL;
	for (int there = 0; p && there < high; there += 3) {
		const uint32_t *mask = mask_find(p, &w);

		for (int k = 1; k <= most; k++) {
			wrong += !mask || allowed(mask, 10 + 2 * k) != (there + k <= high);
			wrong += !mask || allowed(mask, 11 + 2 * k) != (there + k >= low && there + k <= high);
		}
		if (there + 3 <= high && mask_accept(p, 16, &w))
			wrong++;
	}
	check(p && !wrong, "%s: %d ids are judged wrongly: %s", text, wrong, w.text);
	masker_close(u);
	grammar_free(g);
}

static void test_counts(void)
{
	static const int bounds[] = { 0, 1, 2, 5, 8, 15, 16, 17, 18, 30, 39, 40, 41, 64 };
	size_t n = sizeof bounds / sizeof *bounds;

	for (size_t i = 0; i < n; i++)
		for (size_t k = i; k < n; k++) {
			count_runs("[a-z]", "a", bounds[i], bounds[k]);
			count_runs("[^!]", "\xc3\xa9", bounds[i], bounds[k]);
		}
}

/* A text so long that the tables fill up, while another text waits at the beginning. */
static void test_flush(void)
{
	static struct vocabulary v;
	struct why w = { "" };
	struct grammar *g = parse("root ::= \"[\" \"a\"{1200000} \"]\"", &w);
	struct mask_vocab pieces = { IDS, piece, &v, eog, 2, NULL };
	struct masker *u;
	struct mask_text *p, *other;
	const uint32_t *mask;
	int ok = 1;

	fill(&v, 3);
	v.n[1] = 30;
	memset(v.bytes[1], 'a', 30);
	u = g ? masker_open(g, &pieces, &w) : NULL;
	p = u ? mask_start(u, &w) : NULL;
	other = p ? mask_fork(p, &w) : NULL;
	if (!check(p && other && !mask_accept(p, 16 + '[', &w), "1200000 times: %s", w.text))
		return;
	for (int i = 0; i < 40000 && ok; i++) {
		if (i % 5000 == 4999) {
			mask = mask_find(p, &w);
			ok = mask && allowed(mask, 1) && !allowed(mask, 16 + ']');
		}
		ok = ok && !mask_may_end(p) && !mask_accept(p, 1, &w);
	}
	check(ok, "1200000 times: %s", w.text);
	mask = mask_find(p, &w);
	check(mask && !allowed(mask, 1) && allowed(mask, 16 + ']'), "1200000 times: the mask at the end: %s", w.text);
	check(!mask_accept(p, 16 + ']', &w) && mask_must_end(p), "1200000 times: the end: %s", w.text);
	mask = mask_find(other, &w);
	check(mask && allowed(mask, 16 + '[') && !allowed(mask, 1) && !allowed(mask, EOG),
		"the text that waited has changed: %s", w.text);
	masker_close(u);
	grammar_free(g);
}

/* ---- hostile ---- */

/* Whether it parses and allows the text; whatever the answer, the work is bounded. */
static void endures(const char *name, const char *grammar, size_t n, const char *text, size_t text_n, int want)
{
	static struct vocabulary v;
	struct mask_vocab pieces = { IDS, piece, &v, eog, 2, NULL };
	struct why w = { "" };
	struct grammar *g = grammar_parse(grammar, n, &w);
	struct masker *u = NULL;
	struct mask_text *p = NULL;
	int got = -2;

	if (g) {
		got = grammar_matches(g, text, text_n, &w);
		fill(&v, 5);
		u = masker_open(g, &pieces, &w);
		p = u ? mask_start(u, &w) : NULL;
		for (uint64_t step = 0; p && step < 30; step++) {
			const uint32_t *mask = mask_find(p, &w);

			if (!mask || mask_accept(p, choose(mask, step, 1000), &w))
				break;
		}
	}
	check(got == want, "%s: %d, not %d: %s", name, got, want, w.text);
	masker_close(u);
	grammar_free(g);
}

static char *repeat(const char *head, const char *s, size_t times, const char *tail)
{
	size_t n = strlen(s);
	char *out = malloc(strlen(head) + n * times + strlen(tail) + 1), *at = out;

	if (!out)
		abort();
	at += sprintf(at, "%s", head);
	for (size_t i = 0; i < times; i++, at += n)
		memcpy(at, s, n);
	strcpy(at, tail);
	return out;
}

static void endures_made(const char *name, char *grammar, char *text, int want)
{
	endures(name, grammar, strlen(grammar), text, strlen(text), want);
	free(grammar);
	free(text);
}

/* "a" in so many parentheses. */
static char *nested(size_t depth)
{
	char *open = repeat("root ::= ", "(", depth, "\"a\""), *closed = repeat(open, ")", depth, "");

	free(open);
	return closed;
}

/* root leads to a chain of rules, each defined on the line after its use. */
static char *chain(size_t n)
{
	char *out = malloc(n * 40 + 100), *at = out;

	if (!out)
		abort();
	at += sprintf(at, "root ::= r%zu\nr0 ::= \"x\"\n", n);
	for (size_t i = n; i; i--)
		at += sprintf(at, "r%zu ::= r%zu\n", i, i - 1);
	return out;
}

static void test_hostile(void)
{
	char *many_as = repeat("", "a", 3000, "");

	endures("{1000000}", "root ::= \"a\"{1000000}", 21, many_as, 3000, 0);
	endures_made("nested counts", repeat("root ::= ((((\"a\"{1000000}){1000000}){1000000}){1000000}){1000000}", "",
		0, ""), repeat("", "a", 3000, ""), 0);
	endures_made("nested stars", repeat("root ::= ((((\"a\"*)*)*)*)*", "", 0, ""), repeat("", "a", 3000, ""), 1);
	endures_made("empty loops", repeat("root ::= ((((\"a\"?)*){0,100})+ (\"\" | ()* | (\"\"){5}))* \"b\"", "", 0,
		""), repeat("", "a", 500, "b"), 1);
	endures_made("x? many times", repeat("root ::= ", "\"a\"? ", 2000, ""), repeat("", "a", 1500, ""), 1);
	endures_made("many postfixes", repeat("root ::= \"a\"", "*+?", 30000, ""), repeat("", "a", 30, ""), 1);
	endures_made("deep parentheses", repeat("root ::= ", "(", 100000, ""), repeat("", "", 0, ""), -2);
	endures_made("parentheses within bounds", nested(100), repeat("", "a", 1, ""), 1);
	endures_made("deep recursion", repeat("root ::= \"(\" root \")\" | \"x\"", "", 0, ""),
		repeat("", "(", 100000, "x"), 0);
	endures_made("deeper recursion", repeat("root ::= \"(\" root \")\" | \"x\"", "", 0, ""),
		repeat("", "(", 2000000, "x"), -1);
	endures_made("two ways each time", repeat("root ::= \"a\" root \"b\" | \"a\" root \"c\" | \"d\"", "", 0, ""),
		repeat("", "a", 2000, "d"), 0);
	endures_made("all splits", repeat("root ::= s\ns ::= \"a\" | \"a\" s s", "", 0, ""), repeat("", "a", 301, ""),
		1);
	endures_made("sums of sums", repeat("root ::= (\"a\"{0,1000}){0,1000}", "", 0, ""), repeat("", "a", 200, ""),
		1);
	endures_made("a chain of rules", chain(100000), repeat("", "x", 1, ""), 1);
	endures_made("too many rules", chain(550000), repeat("", "x", 1, ""), -2);
	endures_made("a long line of alternatives", repeat("root ::= \"x\"", " | \"abcdefgh\"", 300000, ""),
		repeat("", "x", 1, ""), 1);
	endures_made("a large class", repeat("root ::= [", "\\u4e00a-z\\U0001F600-\\U0001F64F", 20000, "]+"),
		repeat("", "ab\xe4\xb8\x80", 100, ""), 1);
	endures_made("long literal", repeat("root ::= \"", "abcdefghij", 100000, "\""),
		repeat("", "abcdefghij", 100000, ""), 1);
	endures("bytes", "root ::= \"\0\xff\"", 13, "", 0, -2);
	endures("a NUL", "root ::= \"\0\"", 12, "\0", 1, 1);
	free(many_as);
}

/* Counts inside counts: however many ways there are to count the text, the work for each byte is bounded, as it is
 * for one count. */
static void counts_quickly(const char *grammar, const char *pattern)
{
	enum { BYTES = 3000, WORK = 5000 };
	static const uint32_t reach[MATCHER_NEAR] = { 16, 40 };
	struct why w = { "" };
	struct grammar *g = parse(grammar, &w);
	struct matcher m;
	uint32_t state;

	if (!check(g && !matcher_open(&m, g, reach, &w), "%s: %s", grammar, w.text))
		return;
	state = matcher_start(&m);
	for (size_t i = 0; i < BYTES && state > STATE_END && state != STATE_NONE; i++)
		state = matcher_walk(&m, state, pattern + i % strlen(pattern), 1);
	check(state != STATE_DEAD && state != STATE_NONE && m.steps < BYTES * WORK, "%s: state %u, work %llu", grammar,
		(unsigned)state, (unsigned long long)m.steps);
	matcher_close(&m);
	grammar_free(g);
}

static void test_nested_counts(void)
{
	counts_quickly("root ::= (([a-z]{0,200} \"\\n\"?){0,50}){0,50}", "abc\n");
	counts_quickly("root ::= ((\"a\"{0,30}){0,30}){0,30}", "a");
	counts_quickly("root ::= (\"a\"{5,10}){1000,2000}", "a");
	counts_quickly("root ::= (\"a\"{500,1000} \"b\"?){1000,2000}", "a");
	counts_quickly("root ::= ((\"a\"{997} | \"a\"{1009}){0,1000} \"b\"?){0,1000}", "a");
	counts_quickly("root ::= (((\"a\"? \"b\"? \"c\"?){0,100} \"d\"?){2,100} \"e\"?){3,100}", "abcabbca");
	counts_quickly("root ::= ((((\"a\"{0,1000} \"b\"?){0,1000} \"c\"?){0,1000} \"d\"?){0,1000} \"e\"?){0,1000}",
		"aaabbaaacaaad");
	counts_quickly("root ::= s\ns ::= \"a\" s | \"a\" s \"b\" | \"c\"", "a");
}

/* Damaged grammars: one or two bytes changed, or the text truncated. */
static void test_damage(void)
{
	static const char bad[] = "\"[](){}|*+?\\^-,.#\n\xff\0ax:=";
	size_t n = sizeof json - 1;
	char text[sizeof json];
	struct why w;

	for (uint64_t i = 0; i < 4000; i++) {
		size_t cut = i % 3 ? n : (size_t)(mkrandom(9, i) % n);
		struct grammar *g;

		memcpy(text, json, n);
		for (uint64_t k = 0; k <= i % 2; k++)
			text[mkrandom(10 + k, i) % n] = bad[mkrandom(12 + k, i) % sizeof bad];
		g = grammar_parse(text, cut, &w);
		if (g)
			grammar_matches(g, "{\"a\": [1, 2]}", 13, &w);
		grammar_free(g);
	}
	check(1, "damage");
}

static void test_apply(void)
{
	float logits[70];
	uint32_t mask[3] = { UINT32_MAX, 0x80000001u, 0x2a };
	int wrong = 0;

	for (int i = 0; i < 70; i++)
		logits[i] = (float)i;
	mask_apply(mask, logits, 70);
	for (int i = 0; i < 70; i++)
		wrong += (mask[i / 32] >> i % 32 & 1) ? logits[i] != (float)i : !(isinf(logits[i]) && logits[i] < 0);
	check(!wrong, "mask_apply: %d logits are wrong", wrong);
}

/* A text that has ended stays so when the states of others are thrown away. */
static void test_ended(void)
{
	static const uint32_t reach[2];
	struct why w = { "" };
	struct grammar *g = parse("root ::= \"a\"*", &w);
	struct held_state begun, ended;
	struct matcher m;

	if (!check(g && !matcher_open(&m, g, reach, &w), "a matcher: %s", w.text))
		return;
	matcher_hold(&m, &begun, matcher_start(&m));
	matcher_hold(&m, &ended, STATE_DEAD);
	check(!matcher_flush(&m), "a flush");
	check(ended.state == STATE_DEAD && !matcher_ends(&m, ended.state) && matcher_ends(&m, begun.state),
		"an ended text may end again");
	matcher_close(&m);
	grammar_free(g);
}

int main(void)
{
	test_errors();
	test_texts();
	test_without();
	test_apply();
	test_random();
	test_tokens();
	test_json();
	test_counts();
	test_flush();
	test_ended();
	test_hostile();
	test_nested_counts();
	test_damage();
	return check_end("grammar");
}
