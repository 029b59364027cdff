/* ngrams: embeddings of n-grams (Qwen 2026), which one layer adds to the residual streams. */
#ifndef NGRAMS_H
#define NGRAMS_H

#include "fwd/model/model.h"

/* For each length from 2 to `longest`, several heads look up a row by a hash of the last ids, each in its own part of a
 * table. One layer adds the rows, through gates and a convolution. */
enum { NGRAM_MAX = 8, NGRAM_HEADS_MAX = 64 };

struct ngrams {
	size_t layer;
	size_t longest;                 /* 0: no n-gram embeddings */
	size_t heads, n;                /* heads for each length; elements of a row of the table */
	size_t rows;
	size_t taps;                    /* of the convolution; taps are `longest` positions apart */
	size_t end;                     /* an id that ends a text: n-grams do not reach back beyond it */
	uint64_t multiplier[NGRAM_MAX];
	uint64_t first[NGRAM_HEADS_MAX], count[NGRAM_HEADS_MAX];        /* the rows of each head in the table */
};

struct ngrams *ngrams_of(struct model *m);

/* Fills ngrams_of(m) if the file has key ple.layers. Otherwise the model has no n-gram embeddings. */
int ngrams_read(struct model *m, struct why *w);

#endif
