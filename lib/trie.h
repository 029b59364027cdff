/* trie: the pieces of a vocabulary as a tree of bytes, in one array in depth-first order, to be tried from a state of an automaton: where a byte is
 * refused, all that begins so is skipped at once. */
#ifndef TRIE_H
#define TRIE_H

#include <stddef.h>
#include <stdint.h>

struct trie_node {
	uint32_t skip;          /* index of the first node that is not below this one */
	int32_t id;             /* of the piece that ends here, or -1; of several equal pieces each has a node, all but the last without children */
	uint16_t depth;         /* bytes before this one */
	uint8_t byte;
};

struct trie {
	struct trie_node *node;
	uint32_t n, longest;    /* longest: bytes of the longest piece */
};

struct trie_piece {
	uint64_t key;           /* the first eight bytes, big-endian, zeroes where there are fewer */
	const char *s;          /* borrowed until the trie is built */
	uint32_t n;
	int32_t id;
};

enum { TRIE_PIECE_MAX = 65535 };        /* bytes */

/* piece[n] in the order of their bytes; keys are filled in. Near linear in n. -1: no memory. */
int trie_sort(struct trie_piece *piece, size_t n);

/* Of sorted pieces those of shortest to longest bytes, 1 to TRIE_PIECE_MAX. -1: no memory. */
int trie_build(struct trie *t, const struct trie_piece *piece, size_t n, uint32_t shortest, uint32_t longest);
void trie_free(struct trie *t);

#endif
