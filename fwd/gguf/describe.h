/* describe: prints a model file as text, with long strings and arrays shortened, or completely as lines of JSON. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include "lib/base/why.h"
#include "lib/gguf/gguf.h"

/* Prints a line about the file, then one for each key and each tensor, in the order of the file. */
void describe_file(const struct gguf *g, int json);

/* Prints a line for each token: id, type, text. Returns -1 if there is no vocabulary or its types are wrong. */
int describe_vocab(const struct gguf *g, int json, struct why *w);

/* Prints the chat template, byte for byte. Returns -1 if there is none. */
int describe_template(const struct gguf *g, struct why *w);

#endif
