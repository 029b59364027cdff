/* Which candidates a threshold selects. Only some of the arrays are moved, and as late as possible: reading and writing
 * a vocabulary takes longer than most arithmetic. */
#include "candidates.h"

#include "lib/base/size.h"

enum { BLOCK = 64 };

/* What a threshold selects of key[n], a block at a time: after next() the elements at + k, k < m, with keep[k] = 1. */
struct walk {
	const float *key;
	size_t n, at, m, selected;
	struct threshold t;
	uint32_t keep[BLOCK];
};

static void start(struct walk *w, const float *key, size_t n, struct threshold t)
{
	w->key = key;
	w->n = n;
	w->at = w->m = w->selected = 0;
	/* values alone, if that is possible */
	w->t = t.ties == SIZE_MAX ? (struct threshold){ topk_below(t.value), 0 } : t;
}

/* In the rest of the row, or where some of the keys are equal to the value, of which not all are selected. */
static void select_one_by_one(struct walk *w, const float *key)
{
	w->selected = 0;
	for (size_t k = 0; k < w->m; k++) {
		w->keep[k] = key[k] == w->t.value && w->t.ties;
		w->t.ties -= w->keep[k];
		w->selected += w->keep[k] += key[k] > w->t.value;
	}
}

static void select_block(struct walk *w, const float *key)
{
	uint32_t n = 0, ties = 0;
	float value = w->t.value;
	size_t k;

	for (k = 0; k < BLOCK; k++)
		n += w->keep[k] = key[k] > value;
	for (k = 0; w->t.ties && k < BLOCK; k++)
		ties += key[k] == value;
	w->selected = n;
	if (ties)
		select_one_by_one(w, key);
}

/* The next block of which something is selected; 0: there is none. */
static int next(struct walk *w)
{
	do {
		w->at += w->m;
		w->m = size_min(w->n - w->at, BLOCK);
		if (w->m == BLOCK)
			select_block(w, w->key + w->at);
		else
			select_one_by_one(w, w->key + w->at);
	} while (!w->selected && w->m);
	return w->m > 0;
}

/* Elements only move towards the front, so key may be one of the arrays written. */
void candidates_keep(struct candidates *c, const float *key, struct threshold t)
{
	size_t n = 0, k, from, at[BLOCK + 1];
	struct walk w;

	for (start(&w, key, c->n, t); next(&w); n += w.selected) {
		for (k = from = 0; k < w.m; k++) {
			at[from] = w.at + k;
			from += w.keep[k];
		}
		for (k = 0; k < w.selected; k++) {
			c->logit[n + k] = c->logit[at[k]];
			c->id[n + k] = c->dense ? (int32_t)at[k] : c->id[at[k]];
		}
		for (k = 0; c->has_p && k < w.selected; k++)
			c->p[n + k] = c->p[at[k]];
	}
	c->n = n;
	c->dense = c->has_sum = 0;
}

/* Moves what is selected of the block at x to y. */
static void move(const struct walk *w, const float *x, float *y)
{
	for (size_t k = 0; k < w->m; k++) {
		*y = x[k];
		y += w->keep[k];
	}
}

size_t candidates_gather(const struct candidates *c, const float *x, struct threshold t, float *y)
{
	struct walk w;
	size_t n = 0;

	for (start(&w, c->logit, c->n, t); next(&w); n += w.selected)
		move(&w, x + w.at, y + n);
	return n;
}

void candidates_limit(struct candidates *c, struct threshold t)
{
	if (!c->limited || t.value > c->limit.value)
		c->limit = t;
	else if (t.value == c->limit.value)
		c->limit.ties = size_min(t.ties, c->limit.ties);
	c->limited = 1;
	c->has_sum = 0;
}

void candidates_settle(struct candidates *c)
{
	int weighed = c->has_sum;

	if (!c->limited)
		return;
	c->limited = 0;
	c->has_p &= !weighed;
	candidates_keep(c, c->logit, c->limit);
	if (weighed)
		c->has_p = c->has_sum = 1;
}

int32_t candidates_id(const struct candidates *c, size_t i)
{
	struct walk w;
	size_t k;

	if (c->limited) {
		start(&w, c->logit, c->n, c->limit);
		while (next(&w) && w.selected <= i)
			i -= w.selected;
		for (k = 0; i || !w.keep[k]; k++)
			i -= w.keep[k];
		i = w.at + k;
	}
	return c->dense ? (int32_t)i : c->id[i];
}
