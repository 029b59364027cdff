/* chat_setup: a conversation with a model. Sets the template's variables from the vocabulary, finds the model's chat
 * template in its file and applies the options that chat and gen share.
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

enum { CHAT_SETS = 64 };        /* how often --set may be given */
enum { CHAT_FILE_MAX = 64 << 20, CHAT_MEMORY = 512 << 20, CHAT_TEXT_MAX = 256 << 20 };  /* bytes */

struct chat_setup {             /* all borrowed, NULL where not given */
	const char *system;     /* the text of a system message before all others */
	const char *tools;      /* a file with a JSON array of tools */
	const char *template;   /* the name of a built-in template, or a file */
	const char *name;       /* one of the model's templates: tokenizer.chat_template.NAME */
	const char *set[CHAT_SETS];     /* NAME=VALUE */
	int n_set;
};

/* Starts the conversation: chat_start(), then the variables bos_token and eos_token (empty if the vocabulary has
 * none) and add_bos_token, the system message and the tools. Call chat_end() whether it succeeds or not. */
int chat_open(struct chat *c, const struct chat_setup *o, const struct vocab *v, struct why *w);

/* Appends the template to be rendered to *template. With tools, a model's template named tool_use is preferred.
 * Applies o->set last, so that it overrides variables that came with the messages. Returns 0; 1, with a line for the
 * user in w, if the model has no template and another is used (chatml, or t5 with an encoder); or -1 with a reason. */
int chat_choose(struct chat *c, const struct chat_setup *o, const struct gguf *g, struct bytes *template,
	struct why *w);

/* The built-in template of a model that has none of its own: t5 with an encoder, chatml. */
const char *chat_fallback(const struct gguf *g);

#endif
