/* variant: a copy of a conversation, to be given a shape, and the places in it where needles go. */
#ifndef VARIANT_H
#define VARIANT_H

#include "chat.h"

struct variant {
	struct arena *arena;            /* borrowed */
	struct json *variables, *messages;
	struct json **part;             /* [n_parts]: texts of parts */
	struct json **call;             /* [n_calls]: the objects that have the arguments of tool calls */
	struct json **reason;           /* [n_reasons]: the texts of reasoning */
	struct json *system;            /* the text of a system or developer message that comes first */
	struct json *user;              /* the text of the last user message */
	size_t n_parts, n_calls, n_reasons;
	unsigned choices;               /* the SHAPE_... that make a difference */
};

/* Copies the conversation, which has a message. -1: memory is short. */
int variant_open(struct variant *x, const struct chat *c, struct arena *a);

/* Whether a variable other than tools has a list of tools: SHAPE_TEXT_TOOLS makes a difference. */
int variant_has_text_tools(const struct variant *x);

/* Gives it the shape, a sum of SHAPE_... Returns -1 if it cannot have it, or memory is short. */
int variant_shape(struct variant *x, unsigned shape);

#endif
