/* Learns how the model marks the parts of an answer, and writes that as a grammar. */
#include "chat_grammar.h"

#include "lib/base/out.h"
#include "lib/chat/answer/learn.h"
#include "lib/grammar/grammar.h"

enum { MEMORY = 512 << 20 };

int chat_grammar(struct chat *c, const char *template, size_t n, const struct jinja_options *o, const struct vocab *v,
	const struct rules_wish *wish, struct why *w)
{
	struct bytes prompt = { .limit = MEMORY }, grammar = { .limit = GRAMMAR_TEXT };
	struct arena arena = { .limit = MEMORY };
	struct format format;
	int failed = learn_format(c, template, n, o, &format, &arena, &prompt, w)
		|| rules_write(&format, c->variables, &prompt, v, wish, &grammar, w);

	if (!failed)
		out_bytes(grammar.p, grammar.n);
	bytes_free(&grammar);
	bytes_free(&prompt);
	arena_free(&arena);
	return failed ? -1 : 0;
}
