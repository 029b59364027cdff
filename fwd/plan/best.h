/* best: which of many scores are the largest. */
#ifndef BEST_H
#define BEST_H

#include <stddef.h>
#include <stdint.h>

/* Item i of n has score[i / each]; `best` < n of them are taken, those with the largest scores. Of equal scores those
 * are taken that std::partial_sort of GNU's C++ library leaves in front, since llama.cpp's logits depend on them. */
struct best {
	const float *score;
	size_t each, n, best;
};

/* to[best] = the items, ascending. scratch: best_scratch() bytes, aligned like a float. */
void best_of(const struct best *b, int32_t *to, void *scratch);
size_t best_scratch(size_t best);

#endif
