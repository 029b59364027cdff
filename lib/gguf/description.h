/* description: what a program that answers requests says of its model. */
#ifndef DESCRIPTION_H
#define DESCRIPTION_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/json.h"
#include "gguf.h"

/* The name of a model's file without its folder and .gguf, cut to fit. */
void description_name(char *name, size_t room, const char *path);

/* Writes an object: the name, and what the file and these numbers say. vocab: the vocabulary's fingerprint. */
void description_write(struct json_writer *to, const char *name, const struct gguf *g, int64_t n_vocab, int64_t n_ctx,
	uint64_t vocab);

#endif
