/* Live sequences are in a hash table by number; numbers of ended ones are in sorted ranges, found by bisection. */
#include "sequences.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"

enum { FIRST = 16 };    /* buckets; always a power of two */

/* The start of the list in the sequence's bucket. Numbers are dense, so they are their own hash. */
static struct sequence **bucket(const struct sequences *t, uint32_t number)
{
	return &t->bucket[number & (t->room - 1)];
}

struct sequence *sequences_find(const struct sequences *t, uint32_t number)
{
	struct sequence *s = t->room ? *bucket(t, number) : NULL;

	while (s && s->number != number)
		s = s->next;
	return s;
}

static void link_in(struct sequences *t, struct sequence *s)
{
	struct sequence **head = bucket(t, s->number);

	s->next = *head;
	*head = s;
}

static int double_buckets(struct sequences *t, struct why *w)
{
	struct sequences wider = { .room = t->room ? 2 * t->room : FIRST };
	struct sequence *s, *next;

	if (!(wider.bucket = calloc(wider.room, sizeof *wider.bucket)))
		return why(w, "out of memory for %zu sequences", t->n + 1);
	for (size_t i = 0; i < t->room; i++)
		for (s = t->bucket[i]; s; s = next) {
			next = s->next;
			link_in(&wider, s);
		}
	free(t->bucket);
	t->bucket = wider.bucket;
	t->room = wider.room;
	return 0;
}

int sequences_add(struct sequences *t, struct sequence *s, uint32_t number, struct why *w)
{
	if (t->n == t->room && double_buckets(t, w))
		return -1;
	s->number = number;
	link_in(t, s);
	t->n++;
	return 0;
}

/* ---- ended sequences ---- */

/* The first range that does not end before the number. */
static size_t range_at(const struct sequences *t, uint32_t number)
{
	size_t low = 0, high = t->n_over, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (t->over[middle].last < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int sequences_is_over(const struct sequences *t, uint32_t number)
{
	size_t i = range_at(t, number);

	return i < t->n_over && t->over[i].first <= number;
}

static int set_over(struct sequences *t, uint32_t number, struct why *w)
{
	size_t i = range_at(t, number);
	int after = i > 0 && t->over[i - 1].last + 1 == number;
	int before = i < t->n_over && t->over[i].first - 1 == number;
	if (i < t->n_over && t->over[i].first <= number)
		return 0;
	if (!after && !before && t->n_over == t->over_room && grow(&t->over, &t->over_room, sizeof *t->over, FIRST))
		return why(w, "out of memory for the numbers of sequences");
	if (after && before) {
		t->over[i - 1].last = t->over[i].last;
		memmove(t->over + i, t->over + i + 1, (--t->n_over - i) * sizeof *t->over);
	} else if (after) {
		t->over[i - 1].last = number;
	} else if (before) {
		t->over[i].first = number;
	} else {
		memmove(t->over + i + 1, t->over + i, (t->n_over++ - i) * sizeof *t->over);
		t->over[i] = (struct sequence_range){ number, number };
	}
	return 0;
}

int sequences_end(struct sequences *t, uint32_t number, struct why *w)
{
	struct sequence **s = t->room ? bucket(t, number) : NULL;

	if (set_over(t, number, w))
		return -1;
	while (s && *s && (*s)->number != number)
		s = &(*s)->next;
	if (s && *s) {
		*s = (*s)->next;
		t->n--;
	}
	return 0;
}

/* ---- all live sequences ---- */

static int compare(const void *a, const void *b)
{
	uint32_t x = (*(struct sequence *const *)a)->number, y = (*(struct sequence *const *)b)->number;

	return (x > y) - (x < y);
}

struct sequence **sequences_all(const struct sequences *t, struct why *w)
{
	struct sequence **all = malloc((t->n + 1) * sizeof *all);       /* 1 more: malloc(0) may return NULL */
	size_t n = 0;

	if (!all) {
		why(w, "out of memory for %zu sequences", t->n);
		return NULL;
	}
	for (size_t i = 0; i < t->room; i++)
		for (struct sequence *s = t->bucket[i]; s; s = s->next)
			all[n++] = s;
	qsort(all, n, sizeof *all, compare);
	return all;
}

struct sequence *sequences_take(struct sequences *t)
{
	struct sequence *s;

	for (; t->room; t->room--)
		if ((s = t->bucket[t->room - 1])) {
			t->bucket[t->room - 1] = s->next;
			return s;
		}
	free(t->bucket);
	free(t->over);
	*t = (struct sequences){ 0 };
	return NULL;
}
