/* shape: what a template expects of a conversation, where templates differ: null or "" as content beside tool calls,
 * their arguments as objects or as JSON texts, content as a string or in parts, a system message, schemas with null
 * among the types, tools without a description, the name of reasoning. It is found by trying. */
#ifndef SHAPE_H
#define SHAPE_H

#include "chat.h"

/* A shape is a sum of these, which change a conversation as OpenAI's API has it. */
enum {
	SHAPE_NULL = 1,         /* empty content beside tool calls is null */
	SHAPE_TEXTS = 2,        /* arguments of tool calls are JSON texts, not objects */
	SHAPE_JOINED = 4,       /* content that is parts is one string */
	SHAPE_SYSTEM = 8,       /* developer messages are system messages */
	SHAPE_USER = 16,        /* the system message is the start of the first user message */
	SHAPE_TYPES = 32,       /* null is not among the types in the schemas of tools */
	SHAPE_PARTS = 64,       /* content that is a string is a list of one part */
	SHAPE_TOOLS = 128,      /* every tool has parameters, and it and they have a description */
	SHAPES = 256,           /* of the above; once they are chosen, one of these may be added: */

	SHAPE_NAMES = 256,      /* reasoning has all the names that templates have for it */
	SHAPE_THOUGHTS = 512,   /* reasoning is a part of the content, of type thinking */

	SHAPE_TEXT_TOOLS = 1024,        /* lists of tools in other variables than tools are JSON texts */
	SHAPE_LOST = 2048,      /* added to a shape: the template does not show all that was tried; */
	SHAPE_EMPTY = 4096      /* arguments that are no JSON object are empty, because it fails on them */
};

/* Finds the shape that the template reads: it renders the conversation with needles in place of the system message, of
 * the last user message, of texts of parts and of arguments, and the first shape that shows the most of them is chosen;
 * then, in the same way, one that shows the most of reasoning. Of a long conversation of texts alone only the last turn
 * is tried, if the template shows its texts as they are. Returns -1 with a reason if a part that is not text would be
 * lost, or memory is short. */
int shape_choose(const struct chat *c, const struct jinja *t, const struct jinja_options *o, unsigned *shape,
	struct why *w);

/* The variables of the conversation in that shape, as a copy in the arena; NULL with a reason if memory is short. */
struct json *shape_copy(const struct chat *c, unsigned shape, struct arena *a, struct why *w);

#endif
