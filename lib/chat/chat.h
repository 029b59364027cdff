/* chat: a conversation as a chat template sees it, and templates for models that carry none.
 *
 *	struct chat c;
 *	chat_start(&c, 64 << 20);
 *	chat_add_line(&c, "{\"role\": \"system\", \"content\": \"Be terse.\"}", n, &w);
 *	chat_add_text(&c, "user", text, n, &w);
 *	chat_set_text(&c, "bos_token", "<s>", 3, &w);
 *	chat_set(&c, "enable_thinking=false", &w);
 *	chat_render(&c, template, template_n, NULL, &out, &w);
 *	chat_end(&c);
 *
 * The functions return 0, or -1 with a reason. Text is copied, so the caller's buffers may go. */
#ifndef CHAT_H
#define CHAT_H

#include "lib/chat/jinja/jinja.h"
#include "lib/base/json.h"

struct chat {
	struct arena arena;
	struct json *variables;     /* an object: what the template is given; messages is its first member */
	struct json *messages;      /* an array */
};

/* An empty conversation that ends with the prompt for an answer (add_generation_prompt true); `memory` bounds what it may hold. */
int chat_start(struct chat *c, size_t memory, struct why *w);

/* One JSON text: a message (an object with a role), an array of messages, or an object with a member messages, whose other members (tools,
 * add_generation_prompt, ...) become variables. Blank text is nothing. */
int chat_add_line(struct chat *c, const char *text, size_t n, struct why *w);

/* A message of plain text. Bytes that are not UTF-8 are refused. */
int chat_add_text(struct chat *c, const char *role, const char *text, size_t n, struct why *w);

/* Takes the last message out again. */
void chat_back(struct chat *c);

/* A variable for the template; a later one of the same name replaces an earlier one. In NAME=VALUE, VALUE is JSON or, if it is none, text. */
int chat_set(struct chat *c, const char *assignment, struct why *w);
int chat_set_text(struct chat *c, const char *name, const char *text, size_t n, struct why *w);
int chat_set_flag(struct chat *c, const char *name, int on, struct why *w);
int chat_set_json(struct chat *c, const char *name, const char *text, size_t n, struct why *w);

/* Appends what the template gives to *out. A conversation without a message is refused. */
int chat_render(const struct chat *c, const char *template, size_t n, const struct jinja_options *o, struct bytes *out, struct why *w);

void chat_end(struct chat *c);

/* A built-in template by name, or NULL; and the names, NULL after the last. */
const char *chat_template(const char *name);
const char *chat_template_name(size_t i);

#endif
