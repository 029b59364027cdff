/* A grammar is found by its text, the texts that it waits for, and the stop ids. */
#include "grammars.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"

enum { ITEMS = 8, BYTES = 16 << 20 };   /* of grammars, without those that sequences use; bytes of their texts */

int grammars_start(struct grammars *g, struct constraint *c, const int32_t *stop, size_t n, struct why *w)
{
	if (!g->tree && !(g->tree = constraint_tree(g->pieces, &g->card, w)))
		return -1;
	return constraint_start(c, g->pieces, &g->card, g->tree, stop, n, w);
}

static void close_started(void *value)
{
	struct started *s = value;

	constraint_close(s->constraint);
	after_free(&s->source.after);
	free(s);
}

void grammars_open(struct grammars *g, const struct token_pieces *pieces, struct card card)
{
	*g = (struct grammars){ .pieces = pieces, .card = card,
		.memo = { .items = ITEMS, .bytes = BYTES, .close = close_started } };
}

/* NULL with a reason. */
static struct started *start(struct grammars *g, const struct grammar_source *source, const int32_t *stop, size_t n,
	struct why *w)
{
	struct started *s = calloc(1, sizeof *s);
	int usage;

	if (!s) {
		why(w, "out of memory");
		return NULL;
	}
	s->source = *source;
	s->source.after = (struct after){ .n = 0 };
	if (!after_add_all(&s->source.after, &source->after, w)
	    && (s->constraint = constraint_open(&s->source, g->pieces, &usage, w))
	    && !grammars_start(g, s->constraint, stop, n, w))
		return s;
	close_started(s);
	return NULL;
}

/* What the grammar is made of. -1: out of memory. */
static int make_key(struct bytes *key, const struct grammar_source *source, const int32_t *stop, size_t n)
{
	bytes_put(key, source->value, strlen(source->value) + 1);
	for (size_t i = 0; i < source->after.n; i++) {
		bytes_print(key, "%zu ", source->after.bytes[i]);
		bytes_put(key, source->after.text[i], source->after.bytes[i]);
	}
	for (size_t i = 0; i < n; i++)
		bytes_print(key, ",%" PRId32, stop[i]);
	return key->failed ? -1 : 0;
}

struct started *grammars_find(struct grammars *g, const struct grammar_source *source, const int32_t *stop, size_t n,
	struct why *w)
{
	struct bytes key = { .limit = SIZE_MAX };
	struct started *s = NULL;

	if (make_key(&key, source, stop, n)) {
		why(w, "out of memory");
	} else if (!(s = memo_find(&g->memo, key.p, key.n)) && (s = start(g, source, stop, n, w))) {
		if (memo_put(&g->memo, key.p, key.n, s, 0)) {
			why(w, "out of memory");
			close_started(s);
			s = NULL;
		}
	}
	bytes_free(&key);
	return s;
}

void grammars_release(struct grammars *g, struct started *s)
{
	if (s)
		memo_release(&g->memo, s);
}

void grammars_close(struct grammars *g)
{
	memo_clear(&g->memo);
	mask_tree_close(g->tree);
}
