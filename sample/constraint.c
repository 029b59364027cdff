#include "constraint.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "lib/base/grow.h"
#include "lib/base/size.h"
#include "lib/base/slurp.h"
#include "lib/base/utf8.h"
#include "lib/grammar/grammar.h"

enum { FIRST = 64 };            /* ids there is room for at first */

struct accepted {
	uint32_t position;
	int32_t id;
};

struct constraint {
	struct grammar *grammar;        /* NULL in a copy, which borrows the masker, the ends and the cuts, too */
	struct masker *masker;
	const struct token_pieces *pieces;
	const struct after *after;      /* what the grammar waits for, */
	int waiting;                    /* if it still does, */
	struct tail tail;               /* and what the text ended with */
	int32_t *cut;                   /* [n_cut]: ids inside which a text that is waited for may end */
	size_t n_cut;
	struct mask_text *text;
	int32_t n_vocab;
	int32_t *end;                   /* [n_end]: ids that end a text */
	int32_t n_end;
	int ended;                      /* one of them was accepted */
	struct accepted *accepted;      /* [n]: the text */
	size_t n, room;
};

static struct grammar *parse_grammar(struct grammar_source *source, const struct token_pieces *p, int *usage,
	struct why *w)
{
	const char *given = source->value + utf8_mark(source->value, strlen(source->value));
	struct grammar_tokens tokens = { pieces_count(p), pieces_find, p };
	struct bytes text = { .limit = GRAMMAR_TEXT };
	struct grammar *g = NULL;
	char name[64];

	if (source->is_file && slurp_text(source->value, &text, w))
		goto out;
	if (!source->is_file && bytes_puts(&text, given)) {
		why(w, "out of memory");
		goto out;
	}
	errno = 0;
	if (!after_read(&source->after, bytes_text(&text), text.n, w))
		g = grammar_parse_tokens(bytes_text(&text), text.n, &tokens, w);
	*usage = !g && errno != ENOMEM;
	snprintf(name, sizeof name, "--%s", source->option);
	if (!g)
		why_in(w, source->is_file ? source->value : name);
out:
	bytes_free(&text);
	return g;
}

struct constraint *constraint_open(struct grammar_source *source, const struct token_pieces *p, int *usage,
	struct why *w)
{
	struct constraint *c = calloc(1, sizeof *c);

	*usage = 0;
	if (!c)
		why(w, "out of memory");
	else if ((c->grammar = parse_grammar(source, p, usage, w))) {
		c->after = &source->after;
		return c;
	}
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
		free(c->cut);
	} else {
		mask_drop(c->text);
	}
	free(c->tail.at);
	free(c->accepted);
	free(c);
}

/* Gives the constraint a tail of its own, if it can wait. */
static int tail_open(struct constraint *c, struct why *w)
{
	c->tail.at = c->after->n ? malloc(c->after->longest) : NULL;
	return c->after->n && !c->tail.at ? why(w, "out of memory") : 0;
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
	c->text = NULL;
	if (tail_open(c, w)) {
		constraint_close(c);
		return NULL;
	}
	if (from->tail.n)
		memcpy(c->tail.at, from->tail.at, from->tail.n);
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

/* Finds the ids inside which a text that is waited for may end. */
static int find_cuts(struct constraint *c, struct why *w)
{
	size_t room = 0, n = 0;

	for (int32_t id = 0; c->after->n && id < c->n_vocab; id++) {
		const char *s = pieces_shown(c->pieces, id, &n);

		if (!s || !after_may_cut(c->after, s, n))
			continue;
		if (c->n_cut == room && grow(&c->cut, &room, sizeof *c->cut, FIRST))
			return why(w, "out of memory");
		c->cut[c->n_cut++] = id;
	}
	return 0;
}

/* Whether the grammar can begin with each of the texts that it waits for, as a token or by its bytes. */
static int check_after(struct constraint *c, struct why *w)
{
	for (size_t i = 0; i < c->after->n; i++) {
		const char *text = c->after->text[i];
		int32_t id = pieces_find(c->pieces, text, c->after->bytes[i]);
		struct mask_text *t = mask_start(c->masker, w);
		int begins;

		if (!t)
			return -1;
		begins = (id >= 0 && !mask_accept(t, id, w)) || !mask_accept_bytes(t, text, c->after->bytes[i], w);
		mask_drop(t);
		if (!begins)
			return why(w, "--grammar-after \"%.*s\": the grammar cannot begin with it",
				(int)c->after->bytes[i], text);
	}
	return 0;
}

static struct mask_vocab vocab_of(const struct token_pieces *p, const struct card *card)
{
	return (struct mask_vocab){ .n = card->n_vocab, .bytes = pieces_printed, .context = p, .eog = card->eog,
		.n_eog = card->n_eog };
}

struct mask_tree *constraint_tree(const struct token_pieces *p, const struct card *card, struct why *w)
{
	struct mask_vocab vocab = vocab_of(p, card);

	return mask_tree_open(&vocab, w);
}

int constraint_start(struct constraint *c, const struct token_pieces *p, const struct card *card,
	const struct mask_tree *tree, const int32_t *stop, size_t n, struct why *w)
{
	struct mask_vocab vocab = vocab_of(p, card);
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
	c->pieces = p;
	vocab.tree = tree;
	vocab.eog = c->end;
	vocab.n_eog = c->n_end;
	c->masker = masker_open(c->grammar, &vocab, w);
	if (!c->masker || find_cuts(c, w) || check_after(c, w) || tail_open(c, w))
		return -1;
	return !constraint_restart(c, w) && mask_find(c->text, w) ? 0 : -1;
}

static int start_text(struct constraint *c, struct why *w)
{
	c->waiting = c->after->n > 0;
	c->tail.n = 0;
	mask_drop(c->text);
	return (c->text = mask_start(c->masker, w)) ? 0 : -1;
}

int constraint_restart(struct constraint *c, struct why *w)
{
	c->n = 0;
	c->ended = 0;
	return start_text(c, w);
}

/* ---- the wait ---- */

/* Appends to t the last `back` bytes of what was accepted, and the id; if back is 0, only its bytes from `from` on. */
static int replay(const struct constraint *c, struct mask_text *t, size_t back, int32_t id, size_t from, struct why *w)
{
	size_t i = c->n, bytes = 0;
	const char *s = pieces_shown(c->pieces, id, &bytes);

	/* the id before which it begins, and how many bytes of that come before it */
	for (; back; back -= size_min(back, bytes)) {
		bytes = 0;
		s = pieces_shown(c->pieces, c->accepted[--i].id, &bytes);
		from = bytes > back ? bytes - back : 0;
	}
	if (from && mask_accept_bytes(t, s + from, bytes - from, w))
		return -1;
	for (i += from > 0; i < c->n; i++)
		if (mask_accept(t, c->accepted[i].id, w))
			return -1;
	return i > c->n ? 0 : mask_accept(t, id, w);
}

/* If the id completes a text that the grammar waits for, appends it to t from its beginning on. Returns 1; 0: the
 * grammar still waits; -1. */
static int end_wait(const struct constraint *c, struct mask_text *t, int32_t id, struct why *w)
{
	size_t n = 0, length = 0, taken;
	const char *s = pieces_shown(c->pieces, id, &n);

	if (!s || !(taken = after_find(c->after, &c->tail, s, n, &length)))
		return 0;
	return replay(c, t, length > taken ? length - taken : 0, id, taken > length ? taken - length : 0, w) ? -1 : 1;
}

/* Forbids the ids that would end the wait with something that the grammar does not allow. */
static int forbid_cuts(const struct constraint *c, float *row, struct why *w)
{
	for (size_t i = 0; i < c->n_cut; i++) {
		struct mask_text *t;
		size_t n = 0, length;
		const char *s = pieces_shown(c->pieces, c->cut[i], &n);
		struct why ignored;

		if (!after_find(c->after, &c->tail, s, n, &length))
			continue;
		if (!(t = mask_start(c->masker, w)))
			return -1;
		if (end_wait(c, t, c->cut[i], &ignored) < 0)
			row[c->cut[i]] = -INFINITY;
		mask_drop(t);
	}
	return 0;
}

/* Appends the id to a text for which the grammar waits. */
static int pass(struct constraint *c, int32_t id, struct why *w)
{
	int over = end_wait(c, c->text, id, w);
	size_t n = 0;
	const char *s = pieces_shown(c->pieces, id, &n);

	c->waiting = !over;
	if (!over && s)
		after_pass(c->after, &c->tail, s, n);
	return over < 0 ? -1 : 0;
}

static int append(struct constraint *c, int32_t id, struct why *w)
{
	return c->waiting ? pass(c, id, w) : mask_accept(c->text, id, w);
}

/* Drops what was accepted at this position and after it. */
static int rewind_to(struct constraint *c, uint32_t position, struct why *w)
{
	size_t n = c->n;

	while (n && c->accepted[n - 1].position >= position)
		n--;
	if (n == c->n)
		return 0;
	c->ended = 0;
	if (start_text(c, w))
		return -1;
	for (c->n = 0; c->n < n; c->n++)
		if (append(c, c->accepted[c->n].id, w))
			return -1;
	return 0;
}

int constraint_apply(struct constraint *c, uint32_t position, float *row, struct why *w)
{
	const uint32_t *mask;

	if (rewind_to(c, position, w))
		return -1;
	if (c->waiting)
		return forbid_cuts(c, row, w);
	if (!(mask = mask_find(c->text, w)))
		return -1;
	mask_apply(mask, row, c->n_vocab);
	return 0;
}

int constraint_accept(struct constraint *c, uint32_t position, int32_t id, struct why *w)
{
	if (c->n == c->room && grow(&c->accepted, &c->room, sizeof *c->accepted, FIRST))
		return why(w, "out of memory");
	if (append(c, id, w))
		return -1;
	c->accepted[c->n++] = (struct accepted){ position, id };
	for (int32_t i = 0; i < c->n_end; i++)
		c->ended |= id == c->end[i];
	return 0;
}

int constraint_may_end(const struct constraint *c)
{
	return c->ended || c->waiting || mask_may_end(c->text);
}

int constraint_must_end(const struct constraint *c)
{
	return !c->waiting && mask_must_end(c->text);
}

int constraint_has_end(const struct constraint *c)
{
	return c->n_end > 0;
}
