/* special: finds tokens such as <|im_end|> in raw text, before it is encoded. Of overlapping ones, a longer token wins
 * over a shorter one, then the lower id, then the earlier position. Time is near linear in the text for any set of
 * tokens. */
#ifndef SPECIAL_H
#define SPECIAL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/gguf/gguf.h"

#define SPECIAL_NONE UINT32_MAX

enum { SPECIAL_LONGEST = 4096 };        /* bytes of a token, so that the time spent at a position is bounded */

struct special {
	struct gguf_string text;        /* in the model file; not empty */
	int32_t id;
	uint32_t prefix;                /* the longest other token that this one begins with, or SPECIAL_NONE */
	uint32_t jump, depth;           /* of its prefixes, theirs and so on: one far down, and how many */
};

struct special_set {
	struct special *token;          /* [n], ascending by text, each text once */
	uint32_t n;
	uint32_t from[257];             /* those that begin with byte b: token[from[b]..from[b + 1]) */
	int only;                       /* the byte that all begin with, or -1 */
	uint32_t pairs[65536 / 32];     /* a bit for each two bytes b, c that a token can begin with: 256 · b + c */
};

struct special_match {
	size_t at;
	uint32_t token;
};

struct special_series {                 /* consecutive positions where the same token matches */
	size_t at;
	uint32_t count, token;
};

struct special_search {                 /* the last result, and working memory; starts as zeroes */
	struct special_match *match;    /* [n], in order of position, without overlaps */
	size_t n, match_room;
	struct special_series *queue;   /* a heap */
	size_t n_queue, queue_room;
	unsigned char *taken;           /* a bit for each byte of text */
	size_t taken_room;
};

/* Sorts token[0..n) and fills in the rest; equal texts are reduced to the lowest id. set->token and set->n were set by
 * the caller. */
void special_index(struct special_set *set);

/* How many bytes text[n] has in common with the start of the token that agrees with it most; n is not 0. */
size_t special_agrees(const struct special_set *set, const char *text, size_t n);

/* Finds the first token at or after text[from] and all others that touch it, directly or through each other. *end is
 * where to search on. Returns 1, 0 when there is none, -1 when memory runs out. */
int special_next(const struct special_set *set, struct special_search *s, const char *text, size_t n, size_t from,
	size_t *end);

void special_free(struct special_search *s);

#endif
