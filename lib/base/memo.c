/* There are few values, so a list that is searched from the front is fast enough. */
#include "memo.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"

struct memo_item {
	struct memo_item *next;
	void *value;
	size_t users, size;             /* with the key's */
	uint64_t hash;
	size_t n;
	char key[];
};

/* Moves an item, to which *at points, to the front of the list. */
static struct memo_item *move_to_front(struct memo *m, struct memo_item **at)
{
	struct memo_item *i = *at;

	*at = i->next;
	i->next = m->first;
	m->first = i;
	return i;
}

void *memo_find(struct memo *m, const void *key, size_t n)
{
	uint64_t hash = hash_data(key, n, 0);

	for (struct memo_item **at = &m->first; *at; at = &(*at)->next)
		if ((*at)->hash == hash && (*at)->n == n && !memcmp((*at)->key, key, n)) {
			move_to_front(m, at)->users++;
			return m->first->value;
		}
	return NULL;
}

static void drop(struct memo *m, struct memo_item **at)
{
	struct memo_item *i = *at;

	*at = i->next;
	m->n--;
	m->used -= i->size;
	m->close(i->value);
	free(i);
}

/* Drops the least recently used values that are not in use, until the rest is within the limits. */
static void shrink(struct memo *m)
{
	struct memo_item **last;

	do {
		last = NULL;
		for (struct memo_item **at = &m->first; *at; at = &(*at)->next)
			last = (*at)->users ? last : at;
		if (last && (m->n > m->items || m->used > m->bytes))
			drop(m, last);
		else
			last = NULL;
	} while (last);
}

int memo_put(struct memo *m, const void *key, size_t n, void *value, size_t size)
{
	struct memo_item *i = malloc(sizeof *i + n);

	if (!i)
		return -1;
	*i = (struct memo_item){ .next = m->first, .value = value, .users = 1, .size = size + n,
		.hash = hash_data(key, n, 0), .n = n };
	memcpy(i->key, key, n);
	m->first = i;
	m->n++;
	m->used += i->size;
	shrink(m);
	return 0;
}

void memo_release(struct memo *m, void *value)
{
	struct memo_item *i = m->first;

	while (i->value != value)
		i = i->next;
	if (!--i->users)
		shrink(m);
}

void memo_clear(struct memo *m)
{
	while (m->first)
		drop(m, &m->first);
}
