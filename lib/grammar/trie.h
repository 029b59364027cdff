/* trie: the pieces of a vocabulary as a tree of bytes, in one array in depth-first order, to be tried from a state of an automaton: where a byte is
 * refused, all that begins so is skipped at once; and where every text of the characters below a node is allowed, all pieces below it are taken at
 * once. For the second, each node has a set of the kinds of characters below it. */
#ifndef TRIE_H
#define TRIE_H

#include <stddef.h>
#include <stdint.h>

struct trie_node {
	uint32_t skip;          /* index of the first node that is not below this one */
	uint32_t first;         /* where in trie.id the pieces begin that end here or below */
	uint16_t depth;         /* bytes before this one */
	uint8_t byte;
	uint8_t height;         /* bytes of the longest rest of a piece below; TRIE_HIGH for that and more */
	uint8_t ends;           /* a piece ends here: trie.id[first]. Of equal pieces each has a node; the last one's may have others below it */
};

struct trie {
	struct trie_node *node;         /* [n] */
	uint64_t *below;                /* [n]: kinds of characters, trie_kind(), in the rests of the pieces below each node */
	int32_t *id;                    /* [n_ids], in the order of the pieces */
	uint32_t n, n_ids, longest;     /* longest: bytes of the longest piece */
};

struct trie_piece {
	uint64_t key;           /* the first eight bytes, big-endian, zeroes where there are fewer */
	const char *s;          /* borrowed until the trie is built */
	uint32_t n;
	int32_t id;
};

enum { TRIE_PIECE_MAX = 65535, TRIE_HIGH = 255 };       /* bytes */

/* Kinds of characters: each an own one for most of ASCII, one for all the others; and one for bytes that are no whole character. */
#define TRIE_BEYOND_ASCII ((uint64_t)1 << 62)
#define TRIE_BROKEN ((uint64_t)1 << 63)
uint64_t trie_kind(unsigned char ascii);        /* a single bit, for a byte below 0x80 */

/* piece[n] in the order of their bytes; keys are filled in. Near linear in n. -1: no memory. */
int trie_sort(struct trie_piece *piece, size_t n);

/* Of sorted pieces those of shortest to longest bytes, 1 to TRIE_PIECE_MAX. -1: no memory. */
int trie_build(struct trie *t, const struct trie_piece *piece, size_t n, uint32_t shortest, uint32_t longest);
void trie_free(struct trie *t);

#endif
