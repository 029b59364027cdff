/* A template's text is encoded as it is, with control tokens found in it and no BOS or EOS added, as in llama-server.
 * Without a template, control tokens in the texts are plain text. */
#include "pair.h"

#include <stdint.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/base/quote.h"
#include "lib/base/span.h"

int pairing_open(struct pairing *p, const struct gguf *g, const struct vocab *v, struct why *w)
{
	p->template = (struct gguf_string){ "", 0 };
	if (gguf_text(g, "tokenizer.chat_template.rerank", &p->template, w) < 0)
		return why_in(w, g->path);
	return p->template.n ? 0 : vocab_pair(v, &p->around, w);
}

/* ---- from a line to two texts ---- */

static int split_json(const struct source *line, struct arena *a, struct span *query, struct span *document,
	struct why *w)
{
	const struct json *v = json_parse(a, line->s, line->n, w), *second;

	if (!v)
		return -1;
	if (v->type == JSON_NULL)
		return 1;
	if (v->type != JSON_ARRAY || v->n != 2 || v->child->type != JSON_STRING
		|| (second = v->child->next)->type != JSON_STRING)
		return why(w, "an array of two strings is expected");
	*query = (struct span){ v->child->s, v->child->n };
	*document = (struct span){ second->s, second->n };
	return 0;
}

static int split_tab(const struct tok *t, const struct source *line, struct span *query, struct span *document,
	struct why *w)
{
	char *tab = line->n ? memchr(line->s, '\t', line->n) : NULL, *after;

	if (!tab)
		return why(w, "no tab between a query and a document");
	after = tab + 1;
	*query = (struct span){ line->s, (size_t)(tab - line->s) };
	*document = (struct span){ after, line->n - query->n - 1 };
	if (t->escape) {
		query->n = quote_undo(query->s, query->n, line->s);
		document->n = quote_undo(document->s, document->n, after);
	}
	return 0;
}

/* ---- to ids ---- */

/* Appends the template with both texts in their places. */
static int fill(struct bytes *to, struct gguf_string template, const struct span *query, const struct span *document)
{
	static const char q[] = "{query}", d[] = "{document}";
	const char *at = template.s, *end = template.s + template.n, *brace;

	while ((brace = memchr(at, '{', (size_t)(end - at)))) {
		size_t left = (size_t)(end - brace);
		int is_q = left >= sizeof q - 1 && !memcmp(brace, q, sizeof q - 1);
		int is_d = left >= sizeof d - 1 && !memcmp(brace, d, sizeof d - 1);

		bytes_put(to, at, (size_t)(brace - at) + !(is_q || is_d));
		if (is_q)
			bytes_put(to, query->s, query->n);
		else if (is_d)
			bytes_put(to, document->s, document->n);
		at = brace + (is_q ? sizeof q - 1 : is_d ? sizeof d - 1 : 1);
	}
	return bytes_put(to, at, (size_t)(end - at));
}

static int encode_template(struct tok *t, const struct span *query, const struct span *document, struct ids *ids,
	struct why *w)
{
	struct bytes text = { .limit = PTRDIFF_MAX };
	struct source all = { .first = 1, .last = 1 };
	int failed = fill(&text, t->pairing->template, query, document) ? why(w, "out of memory") : 0;

	if (!failed)
		failed = vocab_encode(t->vocab, text.p, text.n, tok_flags(t, &all), ids, w);
	bytes_free(&text);
	return failed;
}

/* Appends an id, if there is one. */
static int add(struct ids *ids, int32_t id, struct why *w)
{
	return id >= 0 && ids_add(ids, id) ? why(w, "out of memory") : 0;
}

static int encode_two(struct tok *t, const struct span *query, const struct span *document, struct ids *ids,
	struct why *w)
{
	const struct vocab_pair *p = &t->pairing->around;
	int flags = t->raw ? VOCAB_RAW : 0;

	return add(ids, p->bos, w) || vocab_encode(t->vocab, query->s, query->n, flags, ids, w)
		|| add(ids, p->eos, w) || add(ids, p->sep, w)
		|| vocab_encode(t->vocab, document->s, document->n, flags, ids, w)
		|| add(ids, p->end, w) ? -1 : 0;
}

int pair_encode(struct tok *t, struct source *line, struct arena *a, struct ids *ids, struct why *w)
{
	struct span query = span_of(""), document = span_of("");
	int failed = t->json ? split_json(line, a, &query, &document, w) : split_tab(t, line, &query, &document, w);

	ids->n = 0;
	if (failed)
		return failed;
	return t->pairing->template.n ? encode_template(t, &query, &document, ids, w)
		: encode_two(t, &query, &document, ids, w);
}
