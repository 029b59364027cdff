#include "jobs.h"

#include <string.h>

void jobs_add(struct jobs *all, struct job *j)
{
	for (const struct job *before = all->first; j->kv && before; before = before->next)
		if (!before->done && before->kv && !strcmp(before->kv, j->kv))
			j->after = before;
	*(all->last ? &all->last->next : &all->first) = j;
	all->last = j;
	all->bytes += j->arena.used;
	j->waits_since = ++all->ticks;
}

void jobs_done(const struct job *j)
{
	for (struct job *next = j->kv ? j->next : NULL; next; next = next->next)
		if (next->after == j)
			next->after = j->after;
}

void jobs_remove(struct jobs *all, struct job *j)
{
	struct job **at = &all->first, *before = NULL;

	for (; *at != j; at = &(*at)->next)
		before = *at;
	*at = j->next;
	if (all->last == j)
		all->last = before;
	all->bytes -= j->arena.used;
	job_free(j);
}

struct job *jobs_find(const struct jobs *all, const struct bytes *key)
{
	struct job *j = all->first;

	while (j && (j->done || !key->n || j->key.n != key->n || memcmp(j->key.p, key->p, key->n)))
		j = j->next;
	return j;
}

void jobs_choice_over(struct jobs *all, struct job *j)
{
	j->waits_since = ++all->ticks;
}

static int has_choices_left(const struct job *j)
{
	return !j->done && !j->failed && !(j->choice && j->n_started == j->n_choices);
}

/* Whether a job is next rather than another (NULL: none). */
static int comes_before(const struct job *j, const struct job *other)
{
	size_t running = j->n_started - j->n_over, others = other ? other->n_started - other->n_over : SIZE_MAX;

	return running < others || (running == others && j->waits_since < other->waits_since);
}

struct job *jobs_next(const struct jobs *all)
{
	struct job *found = NULL;

	for (struct job *j = all->first; j; j = j->next) {
		if (!has_choices_left(j) || j->after)
			continue;
		if (comes_before(j, found))
			found = j;
		/* later jobs have not waited longer than one that has not started */
		if (!j->n_started)
			break;
	}
	return found;
}
