/* kinds: whether a state takes any characters of some kinds (trie.h), in any order, as nearly all inside a string. Each
 * state has a usual successor; if characters of these kinds lead from each to the next, only a few states need to be
 * visited. */
#ifndef GRAMMAR_KINDS_H
#define GRAMMAR_KINDS_H

#include "match.h"

/* Whether every text of up to n characters of these kinds can follow a state. May return 0 for a text that takes other
 * states than the usual ones. -1: the matcher's fault. */
int kinds_take(struct matcher *m, uint32_t state, uint64_t kinds, unsigned n);

#endif
