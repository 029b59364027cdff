/* The ids of a text: encoded, or read as decimal numbers. */
#include "encode.h"

#include <ctype.h>
#include <stdio.h>

#include "lib/base/quote.h"
#include "lib/base/size.h"
#include "lib/base/space.h"

int tok_adds_bos(const struct tok *t)
{
	return t->bos == ADD_ALWAYS
		|| (t->bos == ADD_AS_MODEL_SAYS && !t->append && !t->from_ids && vocab_rules(t->vocab)->add_bos);
}

int tok_adds_eos(const struct tok *t)
{
	return t->eos == ADD_ALWAYS
		|| (t->eos == ADD_AS_MODEL_SAYS && t->bos != ADD_NEVER && !t->append && !t->from_ids
			&& vocab_rules(t->vocab)->add_eos);
}

int tok_writes_frames(const struct tok *t)
{
	return !t->decimal && !t->offsets && !t->count;
}

int tok_flags(const struct tok *t, const struct source *x)
{
	return (t->plain ? 0 : VOCAB_SPECIAL) | (t->raw ? VOCAB_RAW : 0)
		| (!x->first || t->append ? VOCAB_CONTINUE : 0);
}

/* The word that begins at this offset is not an id. */
static int no_id(const struct tok *t, const struct source *x, size_t at, size_t line, struct why *w)
{
	enum { SHOWN_MOST = 24 };
	char shown[SHOWN_MOST * QUOTE_ROOM + 1];
	size_t n = 0, end = size_min(x->n, at + SHOWN_MOST);
	unsigned used;

	for (; at < end && !space_ascii(x->s[at]); at += used)
		n += quote_next(x->s + at, x->n - at, '\\', shown + n, &used);
	shown[n] = 0;
	why(w, "line %zu: \"%s\" is not a token id from 0 to %d", line, shown, (int)t->card.n_vocab - 1);
	return why_in(w, x->name);
}

/* Appends the decimal ids in the text. */
static int read_ids(const struct tok *t, const struct source *x, struct ids *ids, struct why *w)
{
	const int32_t n_vocab = t->card.n_vocab;
	size_t line = x->line, at = 0, start;
	int64_t id;

	while (at < x->n) {
		if (space_ascii(x->s[at])) {
			line += x->s[at++] == '\n';
			continue;
		}
		id = 0;
		for (start = at; at < x->n && isdigit((unsigned char)x->s[at]) && id < n_vocab; at++)
			id = 10 * id + (x->s[at] - '0');
		if (at == start || id >= n_vocab || (at < x->n && !space_ascii(x->s[at])))
			return no_id(t, x, start, line, w);
		if (ids_add(ids, (int32_t)id))
			return why(w, "out of memory");
	}
	return 0;
}

static void warn_of_bos(struct tok *t)
{
	char text[96];

	if (t->warned++)
		return;
	snprintf(text, sizeof text, "warning: the text begins with BOS (id %d); --no-bos avoids a second one",
		(int)t->card.bos);
	t->warn(text);
}

int tok_encode(struct tok *t, struct source *x, struct ids *ids, struct why *w)
{
	int bos = x->first && tok_adds_bos(t);

	ids->n = 0;
	if (t->escape)
		x->n = quote_undo(x->s, x->n, x->s);
	if (bos && ids_add(ids, t->card.bos))
		return why(w, "out of memory");
	if (t->from_ids ? read_ids(t, x, ids, w) : vocab_encode(t->vocab, x->s, x->n, tok_flags(t, x), ids, w))
		return -1;
	if (bos && ids->n > 1 && ids->id[1] == t->card.bos)
		warn_of_bos(t);
	if (x->last && tok_adds_eos(t) && ids_add(ids, vocab_rules(t->vocab)->eos))
		return why(w, "out of memory");
	return 0;
}
