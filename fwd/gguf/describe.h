/* describe: a model file as text for people, with long strings and arrays shortened, or in full as lines of JSON. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include "lib/base/why.h"
#include "lib/gguf/gguf.h"

/* A line about the file, then one for each key and each tensor, in the order of the file. */
void describe_file(const struct gguf *g, int json);

/* A line for each token: id, type, text. -1 if there is no such array, or its types are wrong. */
int describe_vocab(const struct gguf *g, int json, struct why *w);

/* The chat template, byte by byte; -1 if there is none. */
int describe_template(const struct gguf *g, struct why *w);

#endif
