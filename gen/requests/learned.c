/* The key of a format is the variables as JSON, then the template; that of a grammar names its format by number. */
#include "learned.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/members.h"
#include "lib/chat/chat_setup.h"

/* ITEMS, BYTES: limits of each memo. TREE: a parsed template takes about this many times the bytes of its text. */
enum { ITEMS = 32, BYTES = 32 << 20, TREE = 20, KEY_MAX = 1 << 30, FORMAT_MAX = 1 << 30 };

static void free_learned(void *value)
{
	struct learned *k = value;

	jinja_free(k->template);
	arena_free(&k->memory);
	free(k);
}

static void free_grammar(void *value)
{
	bytes_free(value);
	free(value);
}

void lessons_open(struct lessons *l)
{
	*l = (struct lessons){ .learned = { .items = ITEMS, .bytes = BYTES, .close = free_learned },
		.grammars = { .items = ITEMS, .bytes = BYTES, .close = free_grammar } };
}

void lessons_close(struct lessons *l)
{
	memo_clear(&l->grammars);
	memo_clear(&l->learned);
}

/* ---- the template and the format ---- */

/* Messages are not part of the key: the samples that are rendered to derive the format have their own. */
static int put_key(struct bytes *key, const struct chat *c, const char *text, size_t n)
{
	struct json_writer to = json_to_bytes(key);

	json_open(&to, '{');
	for (const struct json *v = c->variables->child; v; v = v->next)
		if (strcmp(v->key, "messages") && strcmp(v->key, "add_generation_prompt"))
			member_copy(&to, v);
	json_close(&to, '}');
	return bytes_put(key, text, n) || to.failed ? -1 : 0;
}

static struct learned *learn(struct lessons *l, const struct chat *c, const char *text, size_t n, struct why *w)
{
	struct learned *k = calloc(1, sizeof *k);

	if (!k) {
		why(w, "out of memory");
		return NULL;
	}
	k->memory.limit = FORMAT_MAX;
	k->number = ++l->last;
	if (!(k->template = jinja_parse(text, n, w)))
		chat_explain(text, n, w);
	else if (!format_derive(&k->format, c, text, n, k->template, NULL, &k->memory, w))
		return k;
	free_learned(k);
	return NULL;
}

struct learned *learned_find(struct lessons *l, const struct chat *c, const char *text, size_t n, struct why *w)
{
	struct bytes key = { .limit = KEY_MAX };
	struct learned *k = NULL;

	if (put_key(&key, c, text, n))
		why(w, "out of memory");
	else if (!(k = memo_find(&l->learned, key.p, key.n)) && (k = learn(l, c, text, n, w))
	    && memo_put(&l->learned, key.p, key.n, k, k->memory.used + TREE * n)) {
		free_learned(k);
		k = NULL;
		why(w, "out of memory");
	}
	bytes_free(&key);
	return k;
}

void learned_release(struct lessons *l, struct learned *k)
{
	if (k)
		memo_release(&l->learned, k);
}

/* ---- grammars ---- */

static int put_wish(struct bytes *key, const struct learned *k, const struct bytes *prompt,
	const struct rules_wish *wish)
{
	bytes_print(key, "%" PRIu64 " %d %d %s %zu ", k->number, (int)wish->choice, wish->one_call,
		wish->choice == RULES_NAMED ? wish->name : "", prompt->n);
	if (prompt->n)
		bytes_put(key, prompt->p, prompt->n);
	if (wish->schema)
		bytes_put(key, wish->schema->p, wish->schema->n);
	return key->failed ? -1 : 0;
}

/* Keeps a copy of a grammar. If memory is short, it is derived again the next time. */
static void keep(struct lessons *l, const struct bytes *key, const char *text, size_t n)
{
	struct bytes *kept = malloc(sizeof *kept);

	if (!kept)
		return;
	*kept = (struct bytes){ .limit = n };
	if (bytes_put(kept, text, n) || memo_put(&l->grammars, key->p, key->n, kept, n))
		free_grammar(kept);
	else
		memo_release(&l->grammars, kept);
}

int learned_grammar(struct lessons *l, const struct learned *k, const struct json *variables,
	const struct bytes *prompt, const struct vocab *v, const struct rules_wish *wish, struct bytes *out,
	struct why *w)
{
	struct bytes key = { .limit = KEY_MAX }, *kept;
	size_t from = out->n;
	int failed = put_wish(&key, k, prompt, wish) ? why(w, "out of memory") : 0;

	if (!failed && (kept = memo_find(&l->grammars, key.p, key.n))) {
		failed = bytes_put(out, kept->p, kept->n) ? why(w, "out of memory") : 0;
		memo_release(&l->grammars, kept);
	} else if (!failed && !(failed = rules_write(&k->format, variables, prompt, v, wish, out, w))) {
		keep(l, &key, out->p + from, out->n - from);
	}
	bytes_free(&key);
	return failed;
}
