/* items: questions with several answers, or texts with one completion (question.h), and the tokens of each.
 *
 * The text of a choice is context, choice and after joined, encoded as a whole, with BOS where the model adds it. Its
 * score counts the tokens after those that all choices begin with, at least the last one; or, if there is an `after`
 * and more than three such tokens in every choice, those of `after` except the last. These are the rules of
 * llama-perplexity for HellaSwag and WinoGrande.
 *
 * With a chat template, the context is a message of the user, and the template places all special tokens. A choice
 * begins the answer, without the space that it may begin with. */
#ifndef ITEMS_H
#define ITEMS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/chat/chat_setup.h"
#include "lib/stream/card.h"
#include "lib/stream/ids.h"

struct choice {
	struct ids ids;                 /* the whole text */
	size_t from, to;                /* ids that count */
	size_t bytes;                   /* of the choice without a space before it, at least 1 */
	size_t got, first;              /* tokens scored so far; those that were the most likely */
	double sum;                     /* of their log-probabilities */
};

struct item {
	size_t line;
	struct choice *choice;          /* [n] */
	size_t n, common;               /* ids that all choices begin with */
	int64_t answer;                 /* -1: not given */
	uint32_t seq;                   /* of the first choice; the others follow */
};

struct items {
	struct item *item;              /* [n] */
	size_t n, room;
	struct card card;
};

/* Reads the file, "-": standard input, and encodes it with the model's vocabulary. setup: how contexts are rendered;
 * NULL: they are not. The reason of a failure names the line. */
int items_open(struct items *t, const char *file, const char *model, const struct chat_setup *setup, struct why *w);
void items_close(struct items *t);

/* -1 with a reason that names file and line if a choice has more tokens than the context. */
int items_fit(const struct items *t, const char *file, int32_t n_ctx, struct why *w);

/* Writes the tokens of all items to the descriptor, for fwd --score. The common beginning of an item's choices is
 * written once, in the sequence of the first choice; those of the other choices are forks of it. */
int items_write(const struct items *t, int fd, struct why *w);

#endif
