/* random: the bench's own models, written to a temporary file that is removed however the program ends. A failure to
 * write ends the program (mkgguf.h). */
#ifndef RANDOM_H
#define RANDOM_H

#include "lib/base/why.h"

/* Sets the directory of the file. */
int random_directory(const char *dir, struct why *w);

/* Makes a model of this shape with matrices of this type (mkweights.h). Returns its path, valid until random_remove(),
 * or NULL and a reason if no file can be made. */
const char *random_model(const char *shape, const char *type, struct why *w);
void random_remove(void);

#endif
