/* architecture: the values of general.architecture. A program that uses only a file's vocabulary knows a damaged name
 * by them; what fwd can run is for fwd to say. */
#ifndef ARCHITECTURE_H
#define ARCHITECTURE_H

#include "gguf.h"

int architecture_known(struct gguf_string name);

#endif
