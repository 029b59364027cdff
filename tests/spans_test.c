/* spans_test: gen's spans of a conversation: how much of them a text begins with, and which ids are evaluated again,
 * for answers, their white space, templates that change earlier turns, and a state of which only a part is there. Ids
 * here are the codes of letters, so that their texts are known; answers have ids that no letter has. */
#include <stdlib.h>
#include <string.h>

#include "gen/conversation/spans.h"
#include "check.h"

static struct why w;

/* Lays out text: compares it, and adds the rest with a letter for each id. Returns the ids that are the same. */
static size_t lay_out(struct spans *s, const char *text, size_t *keep)
{
	struct same same = spans_compare(s, text, strlen(text));
	struct ids rest = { 0 };
	const char *from = text + same.bytes;

	for (size_t i = 0; from[i]; i++)
		ids_add(&rest, from[i]);
	check(!spans_prompt(s, same, from, strlen(from), &rest, keep, &w), "%s: %s", text, w.text);
	free(rest.id);
	return same.ids;
}

/* The text is laid out: the spans have so many of its ids, and those from `again` on are evaluated. */
static void expect(struct spans *s, const char *text, size_t had, size_t again, size_t all)
{
	size_t keep, same = lay_out(s, text, &keep);

	check(same == had && keep == again && s->ids.n == all,
		"%s: %zu ids the same, evaluated from %zu of %zu on", text, same, keep, s->ids.n);
}

/* The model answers with the text, in two ids. */
static void answer(struct spans *s, const char *text)
{
	const int32_t ids[2] = { 1000, 1001 };

	check(!spans_add(s, SPAN_MODEL, ids, 2, text, strlen(text), &w), "%s: %s", text, w.text);
}

static void turns(void)
{
	struct spans s = { 0 };
	size_t keep;

	expect(&s, "<one>", 0, 0, 5);
	answer(&s, " Yes, so. ");
	expect(&s, "<one> Yes, so. <two>", 7, 7, 12);
	check(s.ids.id[5] == 1000 && s.ids.id[6] == 1001, "the answer's ids");
	answer(&s, "No.\n");
	/* trimmed, both */
	expect(&s, "<one>Yes, so.<two>No.<three>", 14, 14, 21);
	answer(&s, "   ");
	expect(&s, "<one>Yes, so.<two>No.<three><four>", 21, 21, 27);
	spans_back(&s, 21);
	check(s.ids.n == 21, "%zu ids after going back", s.ids.n);
	/* the first answer is left out: its ids and all after it go */
	expect(&s, "<one><two>No.<three>", 5, 5, 20);
	/* the same again: at least one id is evaluated */
	expect(&s, "<one><two>No.<three>", 20, 19, 20);
	/* another beginning, which shares letters */
	expect(&s, "<one!><two>", 0, 4, 11);
	expect(&s, "<on>", 0, 3, 4);
	lay_out(&s, "", &keep);
	check(!s.ids.n && !keep, "nothing is laid out: %zu ids", s.ids.n);
	spans_free(&s);
}

/* A state whose ids end after 3, 3, 6 and 9 bytes. */
static void state(const char *text, size_t had, size_t all)
{
	static const int32_t ids[4] = { 1, 2, 3, 4 };
	static const size_t ends[4] = { 3, 3, 6, 9 };
	struct spans s = { .ends = malloc(sizeof ends) };

	memcpy(s.ends, ends, sizeof ends);
	check(!spans_add(&s, SPAN_STATE, ids, 4, "abcdefghi", 9, &w), "%s", w.text);
	expect(&s, text, had, had < all ? had : all - 1, all);
	check(!s.ends, "%s: the state is still one", text);
	/* now a whole */
	expect(&s, text, all, all - 1, all);
	spans_free(&s);
}

int main(void)
{
	turns();
	state("abcdefghi", 4, 4);
	state("abcdefghijk", 4, 6);
	state("abcdefgh", 3, 5);
	state("abcdex", 2, 5);
	state("abx", 0, 3);
	return check_end("spans");
}
