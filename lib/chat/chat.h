/* chat: a conversation as a chat template sees it, and the built-in templates.
 *
 *	struct chat c;
 *	chat_start(&c, 64 << 20);
 *	chat_add_json(&c, "{\"role\": \"system\", \"content\": \"Be terse.\"}", n, &w);
 *	chat_add_text(&c, "user", text, n, &w);
 *	chat_set_text(&c, "bos_token", "<s>", 3, &w);
 *	chat_set(&c, "enable_thinking=false", &w);
 *	chat_render(&c, template, template_n, NULL, &out, &w);
 *	chat_end(&c);
 *
 * The functions return 0, or -1 with a reason. They copy all text. */
#ifndef CHAT_H
#define CHAT_H

#include "lib/chat/jinja/jinja.h"
#include "lib/base/json.h"

struct chat {
	struct arena arena;
	struct json *variables;     /* an object; its first member is messages */
	struct json *messages;      /* an array */
	int open;                   /* see chat_continue() */
	unsigned shape;             /* private */
};

/* An empty conversation, with add_generation_prompt true. `memory` bounds what it may hold. */
int chat_start(struct chat *c, size_t memory, struct why *w);

/* Adds JSON values, one per line; or a single one on all lines, if the first line alone is not a value. A value is a
 * message (an object with a role), an array of messages, or an object with a member messages, whose other members
 * (tools, add_generation_prompt, ...) become variables. Blank lines add nothing. The reason of a failure names the line
 * of invalid JSON, or of the value if it is on one line. */
int chat_add_json(struct chat *c, const char *text, size_t n, struct why *w);

/* Adds a message of plain text, which must be valid UTF-8. */
int chat_add_text(struct chat *c, const char *role, const char *text, size_t n, struct why *w);

/* Sets a variable of the template, replacing an earlier one of the name. In NAME=VALUE, VALUE is JSON or, if it does
 * not parse, text. */
int chat_set(struct chat *c, const char *assignment, struct why *w);
int chat_set_text(struct chat *c, const char *name, const char *text, size_t n, struct why *w);
int chat_set_flag(struct chat *c, const char *name, int on, struct why *w);
int chat_set_json(struct chat *c, const char *name, const char *text, size_t n, struct why *w);

/* The last message, which must be an assistant's, is not complete: the rendered text ends with its content, for the
 * model to continue. */
int chat_continue(struct chat *c, struct why *w);

/* Appends the template's text for the conversation to *out. A conversation without a message is an error.
 *
 * Templates differ in what they read, so messages may be as OpenAI's API has them, and the template gets what it can
 * show: arguments of tool calls as objects or as JSON texts, null or "" as content beside them, content as a string or
 * in parts, a system message by itself or at the start of the first user message, types with or without null in the
 * schemas of tools, reasoning under its names. */
int chat_render(struct chat *c, const char *template, size_t n, const struct jinja_options *o, struct bytes *out,
	struct why *w);

/* The same with a parsed template. After a failure of it, or of jinja_parse(), chat_explain() changes the reason if the
 * template is in another language; it returns -1. */
int chat_render_parsed(struct chat *c, const struct jinja *t, const struct jinja_options *o, struct bytes *out,
	struct why *w);
int chat_explain(const char *template, size_t n, struct why *w);

/* After chat_render(): the next remark on what was changed because the template refuses it or leaves it out. *i
 * starts as 0; NULL after the last. */
const char *chat_remark(const struct chat *c, unsigned *i);

void chat_end(struct chat *c);

/* A built-in template by name, or NULL; and name number i, NULL after the last. */
const char *chat_template(const char *name);
const char *chat_template_name(size_t i);

#endif
