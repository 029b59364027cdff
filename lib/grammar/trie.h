/* trie: the pieces of a vocabulary as a tree of bytes, in one array in depth-first order. Walking it from a state
 * of an automaton skips all pieces below a byte that is not allowed, and takes all pieces below a node at once
 * where any text of the characters below it is allowed. For the latter each node has the set of the kinds of
 * characters below it. */
#ifndef TRIE_H
#define TRIE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/sort.h"

struct trie_node {
	uint32_t skip;          /* index of the next node that is not below this one */
	uint32_t first;         /* index in trie.id of the first piece that ends here or below */
	uint16_t depth;         /* bytes before this one */
	uint8_t byte;
	uint8_t height;         /* bytes of the longest path below, at most TRIE_HIGH */
	uint8_t ends;           /* a piece ends here: trie.id[first]. Of equal pieces only the last has any below */
};

struct trie {
	struct trie_node *node;         /* [n] */
	uint64_t *below;                /* [n]: the kinds of characters below each node, trie_kind() */
	int32_t *id;                    /* [n_ids], in the order of the pieces */
	uint32_t n, n_ids, longest;     /* longest: bytes of the longest piece */
};

enum { TRIE_PIECE_MAX = 65535, TRIE_HIGH = 255 };       /* bytes */

/* Kinds of characters: white space and punctuation of ASCII have one each, letters and digits share a few, all
 * characters past ASCII have one, and so have bytes that are not a whole character. */
#define TRIE_BEYOND_ASCII ((uint64_t)1 << 62)
#define TRIE_BROKEN ((uint64_t)1 << 63)
uint64_t trie_kind(unsigned char ascii);        /* a single bit, for a byte below 0x80 */

/* Builds the tree of those sorted pieces (lib/base/sort.h) that have shortest to longest bytes, 1 to TRIE_PIECE_MAX;
 * their texts are borrowed until it is built. Returns -1 if memory is short. */
int trie_build(struct trie *t, const struct sort_string *piece, size_t n, uint32_t shortest, uint32_t longest);
void trie_free(struct trie *t);

#endif
