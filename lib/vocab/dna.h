/* dna: sequences of bases in a text. */
#ifndef DNA_H
#define DNA_H

#include "lib/gguf/gguf.h"

enum { DNA_BASES = 6 };         /* of a token */

/* Whether a sequence begins with this token. */
int dna_is_open(struct gguf_string token);

/* The end of the sequence that begins at text. */
const char *dna_end(const char *text, const char *end);

#endif
