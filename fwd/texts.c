/* Starting and ending sequences, each with its own state. */
#include "texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/state/ids.h"
#include "adapt.h"

struct text *texts_find(const struct texts *all, uint32_t number)
{
	return (struct text *)sequences_find(&all->table, number);
}

int texts_open(struct texts *all, struct segment *first, uint64_t choices, const struct model *model,
	const struct weights *weights, struct why *w)
{
	struct text *t = calloc(1, sizeof *t);

	*all = (struct texts){ .first = first, .weights = weights, .model = model,
		.choices = choices };
	if (!t || sequences_add(&all->table, &t->sequence, 0, w) < 0) {
		free(t);
		return why(w, "out of memory");
	}
	t->state = first;
	t->end = t->ready = first->length;
	t->changed = SIZE_MAX;
	return 0;
}

/* ---- states ---- */

/* Sets the name of its state: `own` or, if sequence 0 has one, what follows from that. */
static int set_name(const struct texts *all, struct text *t, uint32_t number, const char *own, struct why *w)
{
	const char *name = own ? own : all->first->name;
	size_t room = name ? strlen(name) + 16 : 0;

	if (!name)
		return 0;
	if (!(t->name = malloc(room)))
		return why(w, "out of memory");
	if (own)
		snprintf(t->name, room, "%s", own);
	else
		snprintf(t->name, room, "%s.%" PRIu32, name, number);
	return 0;
}

/* Another sequence must not have the segment: its lock is of the process. */
static int check_unused(const struct texts *all, const char *name, struct why *w)
{
	struct sequence **others = sequences_all(&all->table, w);
	int status = others ? 0 : -1;

	for (size_t i = 0; i < all->table.n && status == 0; i++)
		if (segment_is_named(((struct text *)others[i])->state, name)) {
			why(w, "in use by sequence %" PRIu32, others[i]->number);
			status = object_why(name, w);
		}
	free(others);
	return status;
}

/* Lets segments of sequences' own have the digest of the weights once it is known. */
static void find_digest(struct texts *all, const struct segment *s)
{
	all->known = all->known ? all->known : segment_mark(s, SEGMENT_DIGEST);
	if (!all->known && !all->digest)
		all->digest = digest_start(NULL, all->weights);
}

static uint64_t known_digest(const struct texts *all)
{
	if (all->first->name)
		return segment_mark(all->first, SEGMENT_DIGEST);
	return all->known ? all->known : digest_value(all->digest);
}

static int open_state(struct texts *all, struct text *t, uint32_t number, const struct lora_use use[LORA_MAX],
	const char *own, struct why *w)
{
	const struct segment *first = all->first;
	struct segment_shape shape = first->shape;

	if ((own && check_unused(all, own, w) < 0) || set_name(all, t, number, own, w) < 0)
		return -1;
	shape.choices = adapt_choices(all->model, use, all->choices);
	if (segment_open(&t->own, t->name, &shape, first->n_ctx, w) < 0)
		return -1;
	if (digest_check(&t->own, all->weights, w) < 0) {
		segment_close(&t->own);
		return -1;
	}
	if (own)
		find_digest(all, &t->own);
	memcpy(t->own.lora, use, sizeof t->own.lora);
	adapt_find(all->model, &t->own, t->own.length);
	t->state = &t->own;
	t->end = t->ready = t->own.length;
	t->changed = SIZE_MAX;
	t->kept = own != NULL;
	return 0;
}

/* Frees a sequence. */
static int drop(const struct texts *all, struct text *t, struct why *w)
{
	int status = 0;

	if (t->state == &t->own) {
		if (t->name && known_digest(all))
			segment_set_mark(t->state, SEGMENT_DIGEST, known_digest(all));
		status = segment_sync(t->state, w);
		segment_close(t->state);
	}
	free(t->name);
	free(t);
	return status;
}

/* ---- sequences ---- */

static struct text *add(struct texts *all, uint32_t number, const struct lora_use use[LORA_MAX], const char *own,
	struct why *w)
{
	struct text *t = calloc(1, sizeof *t);
	struct lora_use usual[LORA_MAX];
	struct why ignored;

	adapt_default(all->model, usual);

	if (!t) {
		why(w, "out of memory");
		return NULL;
	}
	if (open_state(all, t, number, use ? use : usual, own, w) == 0
	    && sequences_add(&all->table, &t->sequence, number, w) == 0)
		return t;
	drop(all, t, &ignored);
	return NULL;
}

struct text *texts_add(struct texts *all, uint32_t number, const struct lora_use use[LORA_MAX], struct why *w)
{
	return add(all, number, use, NULL, w);
}

struct text *texts_add_named(struct texts *all, uint32_t number, const struct lora_use use[LORA_MAX],
	const char *name, struct why *w)
{
	return object_check_name(name, w) < 0 ? NULL : add(all, number, use, name, w);
}

int texts_continues(const struct text *t, const int32_t *ids, size_t n, size_t pos, struct why *w)
{
	const struct segment *s = t->state;
	size_t i = 0;

	while (i < n && pos + i < s->length && ids[i] == segment_id(s, pos + i))
		i++;
	if (pos + i >= s->length)
		return 1;
	why(w, "holds a text of %zu tokens with which this one does not begin", s->length);
	object_why(t->name, w);
	why_in(w, "--kv");
	return 0;
}

/* Places are the same until ids come. */
static int same_scales(const struct lora_use *a, const struct lora_use *b)
{
	size_t i = 0;

	while (i < LORA_MAX && !memcmp(&a[i].scale, &b[i].scale, sizeof a->scale))
		i++;
	return i == LORA_MAX;
}

int texts_adapt(struct text *t, const struct lora_use use[LORA_MAX], struct why *w)
{
	struct segment *s = t->state;

	if (same_scales(s->lora, use))
		return 0;
	if (t->asked)
		return why(w, "--lora: after the first tokens");
	if (s->name)
		return why(w, "--lora: the named state of this sequence has other adapters");
	for (size_t i = 0; i < LORA_MAX; i++)
		s->lora[i].scale = use[i].scale;
	t->changed = s->length ? 0 : SIZE_MAX;
	return 0;
}

void texts_begin(struct texts *all, struct text *t)
{
	all->n_live += !t->live;
	t->live = 1;
}

void texts_await(struct texts *all, struct text *t)
{
	all->n_awaited += !t->awaited;
	t->awaited = 1;
}

void texts_heard(struct texts *all, struct text *t)
{
	all->n_awaited -= (size_t)t->awaited;
	t->awaited = 0;
}

int texts_end(struct texts *all, struct text *t, struct why *w)
{
	int status;

	all->n_live -= (size_t)t->live;
	t->live = t->failed = 0;
	t->end = t->ready = t->state->length;
	if (!t->sequence.number)
		return 0;
	status = sequences_end(&all->table, t->sequence.number, w);
	return drop(all, t, w) < 0 ? -1 : status;
}

int texts_close(struct texts *all, struct why *w)
{
	struct sequence *s;
	uint64_t value = digest_close(all->digest);
	int status = 0;

	all->known = all->known ? all->known : value;
	all->digest = NULL;
	while ((s = sequences_take(&all->table)))
		status = drop(all, (struct text *)s, w) < 0 ? -1 : status;
	return status;
}
