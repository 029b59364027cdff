/* ngrams: the embeddings of n-grams of a model (struct ngrams). */
#ifndef NGRAMS_H
#define NGRAMS_H

#include "model.h"

/* Into m->ngrams, where the file has key ple.layers; else there are none. */
int ngrams_read(struct model *m, struct why *w);

#endif
