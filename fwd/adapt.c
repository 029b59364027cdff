/* The adapters of sequences, and the places where invocation tokens switch them on. */
#include "adapt.h"

#include <math.h>
#include <string.h>

#include "fwd/state/ids.h"
#include "lib/base/cli.h"
#include "lib/base/hash.h"
#include "lib/base/size.h"

void adapt_default(const struct model *m, struct lora_use use[LORA_MAX])
{
	memset(use, 0, LORA_MAX * sizeof *use);
	for (size_t i = 0; i < m->n_lora; i++)
		use[i] = (struct lora_use){ m->lora[i].file.scale, m->lora[i].invocation ? SIZE_MAX : 0 };
}

/* ---- options ---- */

enum { MOST = 1000000 };        /* scale */

int adapt_split(const char *text, size_t *n, float *scale, struct why *w)
{
	double x;

	*n = cli_scaled(text, &x);
	*scale = (float)x;
	return fabs(x) <= MOST ? 0 : why(w, "\"%s\" is not a scale from -%d to %d", text + *n + 1, MOST, MOST);
}

/* Whether name[n] is a path, or what follows its last slash. */
static int names(const char *name, size_t n, const char *path)
{
	const char *slash = strrchr(path, '/');

	return (strlen(path) == n && !memcmp(path, name, n))
		|| (slash && strlen(slash + 1) == n && !memcmp(slash + 1, name, n));
}

int adapt_scale(const struct model *m, const char *text, struct lora_use use[LORA_MAX], struct why *w)
{
	size_t n, found = 0;
	float scale;

	if (adapt_split(text, &n, &scale, w) < 0)
		return why_in(w, "--lora");
	for (size_t i = 0; i < m->n_lora; i++)
		if (names(text, n, m->lora[i].file.path)) {
			use[i].scale = scale;
			found++;
		}
	return found ? 0 : why(w, "--lora: fwd has no adapter %.*s", n < 80 ? (int)n : 80, text);
}

uint64_t adapt_choices(const struct model *m, const struct lora_use use[LORA_MAX], uint64_t choices)
{
	for (size_t i = 0; i < m->n_lora; i++)
		if (use[i].scale < 0 || use[i].scale > 0) {
			choices = hash_data(&m->lora[i].hash, sizeof m->lora[i].hash, choices);
			choices = hash_data(&use[i].scale, sizeof use[i].scale, choices);
		}
	return choices;
}

uint64_t adapt_fingerprint(const struct model *m)
{
	struct lora_use use[LORA_MAX];

	adapt_default(m, use);
	return m->fingerprint ^ adapt_choices(m, use, m->controlled);
}

/* ---- invocation tokens ---- */

/* Those of the state, then those of a question; q NULL: of the state alone. */
static int32_t id_at(const struct segment *s, const struct question *q, size_t pos)
{
	return q && pos >= q->pos ? q->ids[pos - q->pos] : segment_id(s, pos);
}

/* The last place before `end` where all tokens of l->invocation stand; SIZE_MAX: none. */
static size_t find_last(const struct lora *l, const struct segment *s, const struct question *q, size_t end)
{
	size_t n = l->invocation->n;

	for (size_t pos = end < n ? 0 : end - n + 1; pos--;) {
		size_t i = 0;

		while (i < n && id_at(s, q, pos + i) == gguf_element_integer(l->invocation, i))
			i++;
		if (i == n)
			return pos;
	}
	return SIZE_MAX;
}

void adapt_find(const struct model *m, struct segment *s, size_t end)
{
	for (size_t i = 0; i < m->n_lora; i++)
		if (m->lora[i].invocation)
			s->lora[i].from = find_last(&m->lora[i], s, NULL, end);
}

static int is_prompt(const struct frame *f)
{
	return f->rows && f->kind == FRAME_IDS && !(f->flags & (FRAME_SAMPLED | FRAME_GUESS));
}

/* Where the adapter applies from, after q. */
static size_t place(const struct lora *l, const struct segment *s, const struct question *q, size_t from)
{
	if (is_prompt(&q->frame))
		return find_last(l, s, q, q->pos + q->frame.rows);
	if (from == SIZE_MAX || from + l->invocation->n <= q->pos)
		return from;
	return find_last(l, s, q, q->pos);
}

size_t adapt_move(const struct model *m, const struct segment *s, const struct question *q,
	struct lora_use use[LORA_MAX])
{
	size_t changed = SIZE_MAX;

	for (size_t i = 0; i < m->n_lora; i++) {
		size_t from = use[i].from;

		if (!m->lora[i].invocation)
			continue;
		use[i].from = place(&m->lora[i], s, q, from);
		if (use[i].from != from && (use[i].scale < 0 || use[i].scale > 0))
			changed = size_min(changed, size_min(use[i].from, from));
	}
	return changed;
}
