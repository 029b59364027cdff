/* mkgguf: writes GGUF files. A tool of tests and of the bench, not of the product: a failure (memory, the disk) ends
 * the program with a line on stderr. Metadata is gathered in memory; tensors are declared with a function that makes
 * their bytes when the file is written, so that a model larger than memory can be made. */
#ifndef MKGGUF_H
#define MKGGUF_H

#include <stddef.h>
#include <stdint.h>

#include "lib/gguf/gguf.h"

struct mkgguf;

struct mkgguf *mkgguf_open(void);
void mkgguf_close(struct mkgguf *m);

/* One metadata pair each. */
void mkgguf_u32(struct mkgguf *m, const char *key, uint32_t value);
void mkgguf_f32(struct mkgguf *m, const char *key, float value);
void mkgguf_bool(struct mkgguf *m, const char *key, int value);
void mkgguf_text(struct mkgguf *m, const char *key, const char *value);

/* An array of n elements of a type, which must follow at once through the calls below. */
void mkgguf_array(struct mkgguf *m, const char *key, enum gguf_type of, uint64_t n);
void mkgguf_add_text(struct mkgguf *m, const char *s, size_t n);
void mkgguf_add_i32(struct mkgguf *m, int32_t value);
void mkgguf_add_u64(struct mkgguf *m, uint64_t value);
void mkgguf_add_f32(struct mkgguf *m, float value);
void mkgguf_add_bytes(struct mkgguf *m, const void *bytes, size_t n);  /* n elements of an array of bytes */

/* From now on, leaves out the pair with this key, until the next call; NULL: no key. key is borrowed. */
void mkgguf_without(struct mkgguf *m, const char *key);

/* Elements [first, first + n) of a tensor, in the file's layout; first is a multiple of MKGGUF_CHUNK, n is at most
 * that. */
typedef void mkgguf_fill(const void *context, uint64_t first, size_t n, void *to);
enum { MKGGUF_CHUNK = 1 << 18 };        /* elements: whole blocks of every format */

enum { MKGGUF_I32 = 26 };       /* the type of tensors of such integers */

/* dim[0] is contiguous; dim[1] is 0 for a vector, dim[2] for a matrix. type must be I32 or one that lib/gguf/formats
 * reads. context is `size` bytes, copied. */
void mkgguf_tensor(struct mkgguf *m, const char *name, uint32_t type, const uint64_t dim[3], mkgguf_fill *fill,
	const void *context, size_t size);

/* Removes a tensor; or gives it n dimensions, which do not change the number of its elements. Without such a tensor the
 * program ends. */
void mkgguf_remove(struct mkgguf *m, const char *name);
void mkgguf_reshape(struct mkgguf *m, const char *name, uint32_t n, const uint64_t dim[]);

/* Writes PATH; with n > 1 shards, PREFIX-00001-of-0000N.gguf and so on, where PATH is PREFIX.gguf: the first holds the
 * metadata, each its share of the tensors. */
void mkgguf_write(struct mkgguf *m, const char *path, uint32_t version, unsigned shards);

#endif
