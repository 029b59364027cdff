/* found: lists the model files on this machine (lib/gguf/models.h) and whether they run. */
#ifndef FOUND_H
#define FOUND_H

#include "lib/base/why.h"

/* Prints a line for each model that the name stands for, or for all (NULL): name, size, architecture, the type of most
 * of its weights, and `runs` or the first fault; or an object of JSON with the path, too. Returns -1 if there is none,
 * or with the reason of a failure. */
int found_list(const char *name, int json, struct why *w);

#endif
