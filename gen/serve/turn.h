/* turn: an assistant's turn as items: reasoning, text and calls of tools, for the APIs that have them apart. Built from
 * OpenAI's messages or, piece by piece, from the deltas of a stream. */
#ifndef TURN_H
#define TURN_H

#include "lib/base/bytes.h"
#include "lib/base/json.h"

enum turn_kind { TURN_REASONING, TURN_TEXT, TURN_CALL };

struct turn_item {
	enum turn_kind kind;
	size_t number;                  /* in the turn, from 0 */
	int64_t call;                   /* TURN_CALL: its index among the calls, */
	char id[64], name[256];         /* its id and the tool's name */
	struct bytes text;              /* or the arguments, a JSON text */
	struct bytes logprobs;          /* of its tokens: JSON objects, separated by commas; empty: not asked for */
};

struct turn {                   /* starts as zeros but for what is told and to whom */
	struct turn_item *item;         /* [n]; the last one is open until another begins, or turn_end() */
	size_t n, room;
	int open, failed;               /* failed: memory is short */
	/* What happens, as it does: an item begins, has more text s[n], and is complete. Each may be NULL. */
	void (*opened)(void *context, const struct turn_item *item);
	void (*added)(void *context, const struct turn_item *item, const char *s, size_t n, const char *logprobs);
	void (*closed)(void *context, const struct turn_item *item);
	void *context;
};

/* Takes a choice with a message or a delta. */
void turn_take(struct turn *t, const struct json *choice);

/* The turn is complete. */
void turn_end(struct turn *t);

void turn_free(struct turn *t);

#endif
