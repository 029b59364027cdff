/* The best of a row. */
#include "top.h"

#include "lib/base/grow.h"
#include "lib/sampler/topk.h"

int top_select(struct top *t, const float *row, size_t n_vocab, size_t most, struct why *w)
{
	if (grow_scratch(&t->scratch, &t->room, TOPK_SCRATCH(n_vocab) * sizeof *t->scratch))
		return why(w, "out of memory for rows of %zu", n_vocab);
	t->n = topk_sorted(row, n_vocab, most, t->order, t->scratch);
	for (size_t i = 0; i < t->n; i++)
		t->best[i] = (struct candidate){ .id = t->order[i], .score = row[t->order[i]] };
	return 0;
}
