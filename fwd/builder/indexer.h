/* indexer: the hyperparameters of sparse attention. */
#ifndef INDEXER_H
#define INDEXER_H

#include "fwd/model/model.h"

/* The indexer of sparse attention (DeepSeek-AI 2025): if a row can see more than `top` positions (or groups of
 * positions, or compressed rows), the indexer's heads choose which of them it attends to. */
struct indexer {
	size_t heads, dim, top;         /* top 0: no indexer */
	size_t rope_at;                 /* the first element of a head that rotates */
	enum rope_pairs pairs;
	float eps;                      /* of the layer norm of the indexer's keys */
	int groups;                     /* chooses groups of layer->ratio positions; */
	int split;                      /* or only part of the last group, so that `top` positions are chosen */
	size_t local;                   /* each head chooses `top` groups for one KV head, always including the last
					 * `local` groups; 0: the heads choose together */
};

enum { INDEXED_CTX_MAX = 1 << 20 };     /* positions: each thread has scratch memory for the scores of all */

struct indexer *indexer_of(struct model *m);

/* Reads the indexer's keys. Its keys and queries get attention's RoPE, from their first element on. Every layer
 * chooses, until the family says otherwise. */
int indexer_read(struct model *m, struct why *w);

#endif
