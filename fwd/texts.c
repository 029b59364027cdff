/* Starting and ending sequences, each with its own state. */
#include "texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int open_state(const struct texts *all, struct text *t, uint32_t number, const struct lora_use use[LORA_MAX],
	struct why *w)
{
	const struct segment *first = all->first;
	struct segment_shape shape = first->shape;
	size_t room = first->name ? strlen(first->name) + 16 : 0;

	t->name = room ? malloc(room) : NULL;
	if (room && !t->name)
		return why(w, "out of memory");
	if (t->name)
		snprintf(t->name, room, "%s.%" PRIu32, first->name, number);
	shape.choices = adapt_choices(all->model, use, all->choices);
	if (segment_open(&t->own, t->name, &shape, first->n_ctx, w) < 0)
		return -1;
	memcpy(t->own.lora, use, sizeof t->own.lora);
	adapt_resume(all->model, &t->own);
	t->state = &t->own;
	t->end = t->ready = t->own.length;
	t->changed = SIZE_MAX;
	return digest_check(&t->own, all->weights, w);
}

/* Frees a sequence. Only for sequence 0 is the digest computed. */
static int drop(const struct texts *all, struct text *t, struct why *w)
{
	int status = 0;

	if (t->state == &t->own) {
		if (t->name && segment_mark(all->first, SEGMENT_DIGEST))
			segment_set_mark(t->state, SEGMENT_DIGEST, segment_mark(all->first, SEGMENT_DIGEST));
		status = segment_sync(t->state, w);
		segment_close(t->state);
	}
	free(t->name);
	free(t);
	return status;
}

/* ---- sequences ---- */

struct text *texts_add(struct texts *all, uint32_t number, const struct lora_use use[LORA_MAX], struct why *w)
{
	struct text *t = calloc(1, sizeof *t);
	struct lora_use usual[LORA_MAX];
	struct why ignored;

	adapt_default(all->model, usual);

	if (!t) {
		why(w, "out of memory");
		return NULL;
	}
	if (open_state(all, t, number, use ? use : usual, w) == 0
	    && sequences_add(&all->table, &t->sequence, number, w) == 0)
		return t;
	drop(all, t, &ignored);
	return NULL;
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
	int status = 0;

	while ((s = sequences_take(&all->table)))
		status = drop(all, (struct text *)s, w) < 0 ? -1 : status;
	return status;
}
