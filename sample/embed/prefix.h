/* prefix: the text that an adapter was trained to see before each input, as its file names it. */
#ifndef PREFIX_H
#define PREFIX_H

#include "lib/base/why.h"

/* That of the adapter in FILE[=SCALE], which the caller frees, in *prefix; NULL: it names none. -1 with a reason if the
 * file cannot be read. */
int prefix_read(const char *adapter, char **prefix, struct why *w);

#endif
