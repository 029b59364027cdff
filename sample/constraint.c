#include "constraint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "lib/base/grow.h"
#include "lib/base/slurp.h"
#include "lib/base/utf8.h"
#include "lib/grammar/grammar.h"
#include "lib/grammar/mask.h"

enum { FIRST = 64 };            /* ids there is room for at first */

struct accepted {
	uint32_t position;
	int32_t id;
};

struct constraint {
	struct grammar *grammar;        /* NULL in a copy, which borrows the masker and the ends, too */
	struct masker *masker;
	struct mask_text *text;
	int32_t n_vocab;
	int32_t *end;                   /* [n_end]: ids that end a text */
	int32_t n_end;
	int ended;                      /* one of them was accepted */
	struct accepted *accepted;      /* [n]: the text */
	size_t n, room;
};

static struct grammar *parse_grammar(const struct grammar_source *source, const struct token_pieces *p, int *usage,
	struct why *w)
{
	const char *given = source->value + utf8_mark(source->value, strlen(source->value));
	struct grammar_tokens tokens = { pieces_count(p), pieces_find, p };
	struct bytes text = { .limit = GRAMMAR_TEXT };
	struct grammar *g = NULL;
	char name[64];

	if (source->is_file && slurp_text(source->value, &text, w))
		goto out;
	g = source->is_file ? grammar_parse_tokens(text.p ? text.p : "", text.n, &tokens, w)
		: grammar_parse_tokens(given, strlen(given), &tokens, w);
	*usage = !g && errno != ENOMEM;
	snprintf(name, sizeof name, "--%s", source->option);
	if (!g)
		why_in(w, source->is_file ? source->value : name);
out:
	bytes_free(&text);
	return g;
}

struct constraint *constraint_open(const struct grammar_source *source, const struct token_pieces *p, int *usage,
	struct why *w)
{
	struct constraint *c = calloc(1, sizeof *c);

	*usage = 0;
	if (!c)
		why(w, "out of memory");
	else if ((c->grammar = parse_grammar(source, p, usage, w)))
		return c;
	constraint_close(c);
	return NULL;
}

void constraint_close(struct constraint *c)
{
	if (!c)
		return;
	if (c->grammar) {
		masker_close(c->masker);
		grammar_free(c->grammar);
		free(c->end);
	} else {
		mask_drop(c->text);
	}
	free(c->accepted);
	free(c);
}

struct constraint *constraint_fork(const struct constraint *from, struct why *w)
{
	struct constraint *c = malloc(sizeof *c);

	if (!c) {
		why(w, "out of memory");
		return NULL;
	}
	*c = *from;
	c->grammar = NULL;
	c->accepted = NULL;
	c->room = 0;
	c->text = mask_fork(from->text, w);
	while (c->text && c->room < c->n)
		if (grow(&c->accepted, &c->room, sizeof *c->accepted, FIRST)) {
			why(w, "out of memory");
			mask_drop(c->text);
			c->text = NULL;
		}
	if (!c->text) {
		constraint_close(c);
		return NULL;
	}
	if (c->n)
		memcpy(c->accepted, from->accepted, c->n * sizeof *c->accepted);
	return c;
}

int constraint_start(struct constraint *c, const struct token_pieces *p, const struct card *card, const int32_t *stop,
	size_t n, struct why *w)
{
	struct mask_vocab vocab = { .n = card->n_vocab, .bytes = pieces_printed, .context = p };
	size_t len = 0;

	c->end = calloc((size_t)card->n_eog + n + 1, sizeof *c->end);
	if (!c->end)
		return why(w, "out of memory");
	memcpy(c->end, card->eog, (size_t)card->n_eog * sizeof *c->end);
	c->n_end = card->n_eog;
	for (size_t i = 0; i < n; i++)
		if (!pieces_printed(p, stop[i], &len) || !len)
			c->end[c->n_end++] = stop[i];
	c->n_vocab = card->n_vocab;
	vocab.eog = c->end;
	vocab.n_eog = c->n_end;
	c->masker = masker_open(c->grammar, &vocab, w);
	return c->masker && !constraint_restart(c, w) && mask_find(c->text, w) ? 0 : -1;
}

static int start_text(struct constraint *c, struct why *w)
{
	mask_drop(c->text);
	return (c->text = mask_start(c->masker, w)) ? 0 : -1;
}

int constraint_restart(struct constraint *c, struct why *w)
{
	c->n = 0;
	c->ended = 0;
	return start_text(c, w);
}

/* Drops what was accepted at this position and after it. */
static int rewind_to(struct constraint *c, uint32_t position, struct why *w)
{
	size_t n = c->n;

	while (n && c->accepted[n - 1].position >= position)
		n--;
	if (n == c->n)
		return 0;
	c->n = n;
	c->ended = 0;
	if (start_text(c, w))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (mask_accept(c->text, c->accepted[i].id, w))
			return -1;
	return 0;
}

int constraint_apply(struct constraint *c, uint32_t position, float *row, struct why *w)
{
	const uint32_t *mask;

	if (rewind_to(c, position, w) || !(mask = mask_find(c->text, w)))
		return -1;
	mask_apply(mask, row, c->n_vocab);
	return 0;
}

int constraint_accept(struct constraint *c, uint32_t position, int32_t id, struct why *w)
{
	if (c->n == c->room && grow(&c->accepted, &c->room, sizeof *c->accepted, FIRST))
		return why(w, "out of memory");
	c->accepted[c->n++] = (struct accepted){ position, id };
	for (int32_t i = 0; i < c->n_end; i++)
		c->ended |= id == c->end[i];
	return mask_accept(c->text, id, w);
}

int constraint_may_end(const struct constraint *c)
{
	return c->ended || mask_may_end(c->text);
}

int constraint_must_end(const struct constraint *c)
{
	return mask_must_end(c->text);
}

int constraint_has_end(const struct constraint *c)
{
	return c->n_end > 0;
}
