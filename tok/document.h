/* document: one text, in as many files as are named. */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include "encode.h"

/* Writes the ids of the next file; first, last: of the document. The card comes before the first ids; chunks come with
 * the last file. */
int document_add(struct tok *t, const char *name, int first, int last, struct why *w);

#endif
