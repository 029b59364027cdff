/* history: which ids fwd has evaluated and what text they stand for, so that only what is new in a conversation is
 * evaluated. It is a sequence of parts: text that was given and the ids that tok made of it; and
 * answers, whose ids may differ from those that tok would make of their text. A part still holds if the
 * conversation, laid out anew, has the same text there; white space around an answer may differ, since many
 * templates trim it. From the first part on that has another text (some templates drop what the model has thought)
 * the text is tokenized again, and ids that agree stay. */
#ifndef HISTORY_H
#define HISTORY_H

#include <stddef.h>

#include "lib/base/why.h"
#include "result.h"

struct history_part {
	size_t end;             /* of its ids */
	char *text;             /* [n] */
	size_t n;
	int answer;
};

struct history {                /* starts as zeroes */
	struct ids ids;      /* at their positions */
	struct history_part *parts;
	size_t n_parts, room;
};

/* How many bytes of text[n], a whole conversation up to where the next answer begins, the parts stand for; those that
 * do not hold any more are dropped. *first: how many ids that is. */
size_t history_match(struct history *h, const char *text, size_t n, size_t *first);

/* Adds the rest of that text, and its ids. h->ids[*keep] and those after it are left to evaluate, from that position
 * on; there is at least one, unless there are none at all. */
int history_prompt(struct history *h, const char *rest, size_t n, const struct ids *ids, size_t *keep,
	struct why *w);

/* Undoes history_prompt(): fwd holds the ids before `keep`. */
void history_back(struct history *h, size_t keep);

/* Adds ids that were evaluated, and the text that stands for them in a conversation. */
int history_add(struct history *h, const int32_t *ids, size_t n_ids, const char *text, size_t n, int answer,
	struct why *w);

void history_free(struct history *h);

#endif
