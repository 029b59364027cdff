/* The texts that open and close reasoning are looked for as those of a grammar that waits. */
#include "budget.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/quote.h"
#include "lib/base/size.h"
#include "lib/base/space.h"

struct budget {
	int32_t most;
	struct vocab *vocab;
	struct after open, close;       /* close: without the white space around it */
	struct ids closing;             /* the message and the closing text */
};

/* Appends the ids of text[n]. */
static int encode(struct budget *b, const char *text, size_t n, int flags, struct why *w)
{
	return vocab_encode(b->vocab, text, n, VOCAB_CONTINUE | flags, &b->closing, w);
}

/* Takes the message and the closing text: in buf, of the size that they have quoted. */
static int set_closing(struct budget *b, const char *message, const char *close, char *buf, struct why *w)
{
	size_t n = quote_undo(message, strlen(message), buf), skip;

	if (encode(b, buf, n, 0, w))
		return -1;
	n = quote_undo(close, strlen(close), buf);
	skip = space_leading(buf, n);
	if (after_add(&b->close, buf + skip, skip < n ? space_trimmed(buf, n) - skip : 0, w))
		return why_in(w, "--think-close");
	if (encode(b, buf, n, VOCAB_SPECIAL, w))
		return -1;
	return b->closing.n ? 0 : why(w, "--think-close: the vocabulary has no tokens for it");
}

struct budget *budget_open(const struct budget_options *o, struct vocab *v, struct why *w)
{
	const char *message = o->message ? o->message : "", *close = o->close ? o->close : "\\n</think>\\n\\n";
	struct budget *b = calloc(1, sizeof *b);
	char *buf = malloc(size_max(strlen(message), strlen(close)) + 1);
	int failed = -1;

	if (b && buf) {
		*b = (struct budget){ .most = o->most, .vocab = v };
		failed = after_add_all(&b->open, &o->open, w) || (!b->open.n && after_add(&b->open, "<think>", 7, w))
			|| set_closing(b, message, close, buf, w);
	} else
		why(w, "out of memory");
	free(buf);
	if (!failed)
		return b;
	budget_close(b);
	return NULL;
}

void budget_close(struct budget *b)
{
	if (!b)
		return;
	after_free(&b->open);
	after_free(&b->close);
	free(b->closing.id);
	free(b);
}

/* ---- a text ---- */

static int tail_open(const struct budget *b, struct thought *t, struct why *w)
{
	if (!t->tail.at && !(t->tail.at = malloc(size_max(b->open.longest, b->close.longest))))
		return why(w, "out of memory");
	return 0;
}

static void set_open(struct thought *t, int open)
{
	t->open = open;
	t->forced = t->tail.n = 0;
}

/* The text in [*s, *n) up to the next change is passed. Returns 1 if there was one. */
static int change(const struct budget *b, struct thought *t, const char **s, size_t *n)
{
	const struct after *next = t->open ? &b->close : &b->open;
	size_t length, end = after_find(next, &t->tail, *s, *n, &length);

	if (!end) {
		after_pass(next, &t->tail, *s, *n);
		return 0;
	}
	*s += end;
	*n -= end;
	set_open(t, !t->open);
	return 1;
}

void thought_start(struct thought *t)
{
	set_open(t, 0);
	t->begun = 0;
	t->spent = 0;
	t->drawn.n = 0;
}

int thought_prompt(const struct budget *b, struct thought *t, int32_t id, struct why *w)
{
	size_t n = 0;
	const char *s = vocab_piece(b->vocab, id, 1, &n);

	if (tail_open(b, t, w))
		return -1;
	/* only what ends the prompt counts */
	do {
		if (t->open && space_leading(s, n) < n)
			set_open(t, 0);
	} while (s && !t->open && change(b, t, &s, &n));
	t->begun = t->open;
	return 0;
}

int32_t thought_due(const struct budget *b, const struct thought *t)
{
	return t->open && t->spent >= b->most ? b->closing.id[t->forced] : -1;
}

static void follow(const struct budget *b, struct thought *t, int32_t id)
{
	int32_t due = thought_due(b, t);
	size_t n = 0;
	const char *s = vocab_piece(b->vocab, id, 1, &n);

	t->spent += t->open;
	if (due >= 0) {
		/* a grammar may have forbidden it */
		if (id != due || ++t->forced == b->closing.n)
			set_open(t, 0);
		return;
	}
	while (s && change(b, t, &s, &n))
		;
}

int thought_accept(const struct budget *b, struct thought *t, int32_t id, struct why *w)
{
	if (tail_open(b, t, w) || ids_append(&t->drawn, &id, 1, w))
		return -1;
	follow(b, t, id);
	return 0;
}

int thought_fork(const struct budget *b, struct thought *t, const struct thought *from, size_t n, struct why *w)
{
	size_t keep = from->drawn.n - size_min(n, from->drawn.n);

	if (tail_open(b, t, w) || ids_append(&t->drawn, from->drawn.id, keep, w))
		return -1;
	t->begun = t->open = from->begun;
	for (size_t i = 0; i < keep; i++)
		follow(b, t, t->drawn.id[i]);
	return 0;
}

void thought_free(struct thought *t)
{
	free(t->tail.at);
	free(t->drawn.id);
}
