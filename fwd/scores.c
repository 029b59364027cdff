/* Computes scores on the pool. A work item is a block of one row; the results of the blocks are joined in order. */
#include "scores.h"

#include <stdlib.h>

int scores_open(struct scores *s, struct pool *pool, const struct kernels *k, size_t rows, size_t n_vocab,
	struct why *w)
{
	*s = (struct scores){ .pool = pool, .kernels = k, .n_vocab = n_vocab,
		.part = malloc(rows * score_parts(n_vocab) * sizeof *s->part),
		.score = malloc(rows * sizeof *s->score) };
	if (s->part && s->score)
		return 0;
	scores_close(s);
	return why(w, "out of memory");
}

void scores_close(struct scores *s)
{
	free(s->part);
	free(s->score);
	*s = (struct scores){ .pool = NULL };
}

static void item(void *context, size_t item, size_t thread)
{
	const struct scores *s = context;
	size_t parts = score_parts(s->n_vocab), row = item / parts;

	s->kernels->score(s->logits + row * s->n_vocab, s->n_vocab, s->ids[row], item % parts, &s->part[item]);
}

void scores_rows(struct scores *s, const float *logits, const int32_t *ids, size_t n)
{
	size_t parts = score_parts(s->n_vocab);

	s->logits = logits;
	s->ids = ids;
	pool_run(s->pool, n * parts, item, s);
	for (size_t i = 0; i < n; i++)
		score_join(s->part + i * parts, logits + i * s->n_vocab, s->n_vocab, ids[i], s->score[i]);
}
