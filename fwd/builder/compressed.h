/* compressed: the hyperparameters of compressed attention. */
#ifndef COMPRESSED_H
#define COMPRESSED_H

#include "fwd/model/model.h"

/* Compressed attention (DeepSeek-AI 2026): besides its window, a row sees compressed rows, each computed from a group
 * of layer->ratio positions. In layers with ratio INDEXED_RATIO, groups overlap and an indexer chooses among them. */
struct compressed {
	size_t rank_q;                  /* elements of low-rank queries; 0: no compressed attention */
	size_t groups, rank_out;        /* groups of heads: each has an output matrix of rank_out rows */
};

enum { INDEXED_RATIO = 4 };

struct compressed *compressed_of(struct model *m);

#endif
