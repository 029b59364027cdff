/* chat_setup: a conversation with a model: its special tokens as the template's variables, its own template out of the file, and the options
 * that chat and gen have alike.
 *
 *	struct chat_setup o = { .system = "Be terse." };
 *	struct chat c;
 *	struct bytes template = { .limit = CHAT_FILE_MAX };
 *	chat_open(&c, &o, vocab, &w);
 *	... messages ...
 *	chat_choose(&c, &o, gguf, &template, &w);
 *	chat_render(&c, template.p, template.n, NULL, &out, &w); */
#ifndef CHAT_SETUP_H
#define CHAT_SETUP_H

#include "chat.h"
#include "lib/gguf/gguf.h"
#include "lib/vocab/vocab.h"

enum { CHAT_SETS = 64, CHAT_FILE_MAX = 64 << 20, CHAT_MEMORY = 512 << 20, CHAT_TEXT_MAX = 256 << 20 };     /* the last three in bytes */

struct chat_setup {             /* all borrowed, NULL where not asked for */
	const char *system;     /* the text of a system message before all others */
	const char *tools;      /* a file with a JSON array of tools */
	const char *template;   /* the name of a built-in template, or a file */
	const char *name;       /* which of the model's templates: tokenizer.chat_template.NAME */
	const char *set[CHAT_SETS];     /* NAME=VALUE */
	int n_set;
};

/* chat_start(), then bos_token and eos_token (empty where there is none), add_bos_token, the system message and the tools. chat_end() in
 * either case. */
int chat_open(struct chat *c, const struct chat_setup *o, const struct vocab *v, struct why *w);

/* Appends to *template what is to be rendered. A model that has one named tool_use for conversations with tools has it used for them.
 * 1, with a line that says so in w, for a model without one: *template is chatml. The settings of o->set come last, so that they win over what the messages brought along. */
int chat_choose(struct chat *c, const struct chat_setup *o, const struct gguf *g, struct bytes *template, struct why *w);

#endif
