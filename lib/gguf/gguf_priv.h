/* What the files of gguf share. */
#ifndef GGUF_PRIV_H
#define GGUF_PRIV_H

#include "gguf.h"

struct gguf_map {
	const unsigned char *p;
	size_t size;
	uint64_t identity;                      /* of the file: gguf_identity() */
};

/* A value that was set. */
struct gguf_set {
	struct gguf_set *next;
	int asked;                              /* gguf_find() has found it */
	unsigned char bytes[];                  /* the key, the value */
};

struct gguf_files {
	size_t n;                               /* 1, or the number of shards */
	struct gguf_map *maps;
	/* sorted pointers to the names, with which a value or a tensor begins */
	const struct gguf_string **by_key;      /* [n_values] */
	const struct gguf_string **by_name;     /* [n_tensors]; NULL without data */
	struct gguf_set *set;                   /* a list */
};

/* Compares what two pointers to such pointers point to: byte order, then length. */
int gguf_compare(const void *a, const void *b);

#endif
