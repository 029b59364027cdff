/* files: the mapped files of a model, and the values that were set in place of theirs. Private to lib/gguf. */
#ifndef FILES_H
#define FILES_H

#include "gguf.h"

enum { GGUF_HEADER = 24, GGUF_TENSORS_MAX = 1 << 17 };

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

/* What the caller of gguf_open() or gguf_survey() needs. */
struct gguf_wish {
	int data;                               /* the tensors' data */
	const struct faults *faults;            /* where faults of tensors are reported; or NULL */
};

/* Reads the only file of g->files, which has at least GGUF_HEADER bytes. gguf_close() frees what it allocates, even
 * after a failure. Returns 0, or -1 with a reason. */
int gguf_parse(struct gguf *g, struct gguf_wish wish, struct why *w);

/* Fills g->files->by_name; refuses duplicate names and overlapping data. */
int gguf_index_tensors(struct gguf *g, struct why *w);

/* Compares what two pointers to such pointers point to: byte order, then length. */
int gguf_compare(const void *a, const void *b);

#endif
