/* What the files of gguf share. */
#ifndef GGUF_PRIV_H
#define GGUF_PRIV_H

#include "gguf.h"

struct gguf_map {
	const unsigned char *p;
	size_t size;
	uint64_t identity;                      /* of the file: gguf_identity() */
};

struct gguf_files {
	size_t n;                               /* 1, or the number of shards */
	struct gguf_map *maps;
	const struct gguf_value **by_key;       /* [n_values], ascending */
	const struct gguf_tensor **by_name;     /* [n_tensors], ascending; NULL without data */
};

/* Byte order, then length. */
int gguf_compare(struct gguf_string a, struct gguf_string b);

/* For "%.*s" in messages: names may be long. */
#define GGUF_SHOWN(string) (int)((string).n < 80 ? (string).n : 80), (string).s

#endif
