/* random: writes the bench's own models to a temporary file, which is removed however the program ends. If writing
 * fails, the program ends (mkgguf.h). */
#ifndef RANDOM_H
#define RANDOM_H

#include "lib/base/why.h"

/* Sets the directory of the file. Returns -1 with a reason if the path is too long or memory is short. */
int random_directory(const char *dir, struct why *w);

/* Makes a model of this shape, with matrices of this type (mkweights.h). Returns its path, valid until random_remove(),
 * or NULL with a reason if the file cannot be created. */
const char *random_model(const char *shape, const char *type, struct why *w);
void random_remove(void);

#endif
