/* random: the bench's own models, written to a temporary file that goes away however the program ends. What fails ends the program (mkgguf.h). */
#ifndef RANDOM_H
#define RANDOM_H

#include "lib/base/why.h"

/* The file will be made in this directory. */
int random_place(const char *dir, struct why *w);

/* Makes a model of this shape with matrices of this type (mkweights.h), and returns its path, which is good until random_remove(). NULL and the
 * reason if no file can be made there. */
const char *random_model(const char *shape, const char *type, struct why *w);
void random_remove(void);

#endif
