/* best: which of many scores are the largest. */
#ifndef BEST_H
#define BEST_H

#include <stddef.h>
#include <stdint.h>

/* Chooses the `best` < n items with the largest scores; item i has score[i / each]. Ties are resolved as
 * std::partial_sort of GNU's C++ library does, because llama.cpp's logits depend on it;
 * topk.h of lib/sampler, where the lowest index wins, cannot take its place. */
struct best {
	const float *score;
	size_t each, n, best;
};

/* to[best] = the chosen items, ascending. scratch: best_scratch() bytes, aligned like a float. */
void best_of(const struct best *b, int32_t *to, void *scratch);
size_t best_scratch(size_t best);

#endif
