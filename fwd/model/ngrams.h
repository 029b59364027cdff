/* ngrams: reads the keys of n-gram embeddings. */
#ifndef NGRAMS_H
#define NGRAMS_H

#include "model.h"

/* Fills m->ngrams if the file has key ple.layers. Otherwise the model has no n-gram embeddings. */
int ngrams_read(struct model *m, struct why *w);

#endif
