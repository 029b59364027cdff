/* draft: a copy of a conversation, to be given a shape, and the places in it where needles go. */
#ifndef DRAFT_H
#define DRAFT_H

#include "chat.h"

struct draft {
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
int draft_open(struct draft *d, const struct chat *c, struct arena *a);

/* Whether a variable other than tools has a list of tools: SHAPE_TEXT_TOOLS makes a difference. */
int draft_has_text_tools(const struct draft *d);

/* Gives it the shape, a sum of SHAPE_... Returns -1 if it cannot have it, or memory is short. */
int draft_shape(struct draft *d, unsigned shape);

/* The member of an object that json_get() finds, to be changed. */
struct json *draft_member(struct json *object, const char *key);

/* Gives v the type and value of another node, or a string, which is borrowed; its name stays. */
void draft_become(struct json *v, const struct json *of);
void draft_string(struct json *v, const char *s, size_t n);

#endif
