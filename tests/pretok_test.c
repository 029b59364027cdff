/* Each pre-tokenizer against the pieces in pretok_cases.h. */
#include <string.h>

#include "lib/base/utf8.h"
#include "lib/vocab/pretok.h"
#include "check.h"

static const struct {
	const char *pre, *pieces;
} cases[] = {
#define P(pre, pieces) { pre, pieces },
#include "pretok_cases.h"
};

static const char mark[] = "¶";

/* The text without its marks into to, which has room for it; returns its length. */
static size_t unmarked(const char *pieces, char *to)
{
	size_t n = 0, len = sizeof mark - 1;

	while (*pieces)
		if (!strncmp(pieces, mark, len))
			pieces += len;
		else
			to[n++] = *pieces++;
	return n;
}

static void check_pieces(const char *pre, const char *wanted)
{
	const struct pretok *p = pretok_find(pre, strlen(pre));
	char text[1024], got[2048] = "";
	size_t n = unmarked(wanted, text), length, at = 0;
	struct pretok_walk walk = { 0 };
	const char *piece;

	if (!check(p != NULL, "%s: no such pre-tokenizer", pre))
		return;
	pretok_start(&walk, p, text, n);
	while (pretok_next(&walk, &piece, &length))
		at += (size_t)snprintf(got + at, sizeof got - at, "%s%.*s", at ? mark : "", (int)length, piece);
	check(!strcmp(got, wanted), "%s: \"%s\", not \"%s\"", pre, got, wanted);
}

/* deepseek-llm's list of letters, which Unicode does not define: how many of them continue a word, and the sum of their
 * codes. Others on the list are among the marks and the Han characters, too, which then divide the word. */
static void check_letters(void)
{
	const struct pretok *p = pretok_find("deepseek-llm", 12);
	size_t count = 0, sum = 0, length;
	struct pretok_walk walk = { 0 };
	const char *piece;
	char text[8] = "\xc3\xa9";

	for (int32_t c = 0x80; c < 0x110000; c++) {
		size_t n = 2 + utf8_put(text + 2, c);

		pretok_start(&walk, p, text, n);
		if (pretok_next(&walk, &piece, &length) && length == n) {
			count++;
			sum += (size_t)c;
		}
	}
	check(count == 1607 && sum == 42938915, "deepseek-llm: %zu letters, the sum of their codes is %zu", count, sum);
}

int main(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check_pieces(cases[i].pre, cases[i].pieces);
	check_letters();
	return check_end("pretok_test");
}
