/* dna: sequences of bases in a text. */
#ifndef DNA_H
#define DNA_H

#include "lib/gguf/gguf.h"

enum { DNA_BASES = 6 };         /* of a token */

/* Whether a sequence begins with this token. */
int dna_is_open(struct gguf_string token);

/* Where the sequence that begins at text ends: at its closing tag, or at `end` if there is none. */
const char *dna_end(const char *text, const char *end);

#endif
