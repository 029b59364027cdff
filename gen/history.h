/* history: which ids fwd has evaluated, and what text they stand for, so that only what is new in a conversation is
 * evaluated. It is a sequence of parts: given texts with the ids that tok made of them, and answers, whose ids may
 * differ from those that tok would make of their text. A part is valid as long as the conversation, laid out again, has
 * the same text there; white space around an answer may differ, because many templates trim it. From the first invalid
 * part on (some templates drop reasoning), the text is tokenized again, and ids that agree are kept. */
#ifndef HISTORY_H
#define HISTORY_H

#include <stddef.h>

#include "lib/base/why.h"
#include "result.h"

struct history_part {
	size_t end;             /* index after its last id */
	char *text;             /* [n] */
	size_t n;
	int answer;
};

struct history {                /* starts as zeros */
	struct ids ids;      /* at their positions */
	struct history_part *parts;
	size_t n_parts, room;
};

/* text[n] is a whole conversation up to where the next answer begins. Drops parts that are no longer valid. Returns how
 * many bytes of the text the others stand for; *first: the number of their ids. */
size_t history_match(struct history *h, const char *text, size_t n, size_t *first);

/* Adds the rest of that text with its ids. h->ids[*keep] and those after it must be evaluated, from that position on;
 * there is at least one, unless there are no ids at all. */
int history_prompt(struct history *h, const char *rest, size_t n, const struct ids *ids, size_t *keep,
	struct why *w);

/* Undoes history_prompt(): fwd has the ids before `keep`. */
void history_back(struct history *h, size_t keep);

/* Adds ids that were evaluated, and the text that stands for them in a conversation. */
int history_add(struct history *h, const int32_t *ids, size_t n_ids, const char *text, size_t n, int answer,
	struct why *w);

void history_free(struct history *h);

#endif
