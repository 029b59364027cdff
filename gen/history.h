/* history: which ids fwd holds, and what they stand for, so that of a longer conversation only what is new is evaluated.
 * It is a row of parts by turns: text that was given and the ids that it was cut into; an answer's ids, which may be cut otherwise than a
 * tokenizer would. A part is good as long as the conversation, rendered anew, has the same text there; the white space around an answer may
 * differ, since many templates trim it. From the first part on that has another text (some templates leave out what was thought) the text is
 * cut into ids again, and those that agree stay. */
#ifndef HISTORY_H
#define HISTORY_H

#include <stddef.h>

#include "lib/vocab/vocab.h"
#include "lib/base/why.h"

struct history_part {
	size_t first;           /* of its ids */
	char *text;             /* [n] */
	size_t n;
	int answer;
};

struct history {                /* starts as zeroes */
	struct ids ids;         /* at their positions */
	struct history_part *parts;
	size_t n_parts, room;
};

/* Makes the history that of text[n], a whole conversation up to where the next answer begins. ids[*keep] and those after it are left to
 * evaluate, from that position on; there is at least one, unless there are none at all. */
int history_prompt(struct history *h, struct vocab *v, const char *text, size_t n, size_t *keep, struct why *w);

/* Undoes history_prompt(), as far as is known what fwd holds: the ids before `keep`. */
void history_back(struct history *h, size_t keep);

/* Adds an answer: ids that were evaluated, and the text that stands for them in a conversation. */
int history_answer(struct history *h, const int32_t *ids, size_t n_ids, const char *text, size_t n, struct why *w);

void history_free(struct history *h);

#endif
