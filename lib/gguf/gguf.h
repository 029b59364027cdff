/* gguf: a model file, mapped read-only; every length and offset is checked before it is used. Supports versions 2 and
 * 3, little-endian; docs/gguf.md of ggml describes the format. The shards of a model (NAME-00001-of-0000N.gguf) open as
 * one if the first is named. Strings and arrays are borrowed from the mapping: not NUL-terminated, valid until
 * gguf_close(). The mapping is known to lib/base/guard, which handles files that are truncated while in use. */
#ifndef GGUF_H
#define GGUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/le.h"
#include "lib/base/why.h"

enum gguf_type {        /* of metadata values, as in the file */
	GGUF_U8, GGUF_I8, GGUF_U16, GGUF_I16, GGUF_U32, GGUF_I32, GGUF_F32, GGUF_BOOL, GGUF_STRING, GGUF_ARRAY,
		GGUF_U64, GGUF_I64, GGUF_F64
};

struct gguf_string {
	const char *s;
	size_t n;
};

/* Whether the string is this text. */
static inline int gguf_is(struct gguf_string s, const char *text)
{
	return strlen(text) == s.n && !memcmp(s.s, text, s.n);
}

/* For "%.*s" in messages: strings of a file may be long. */
#define GGUF_SHOWN(string) (int)((string).n < 80 ? (string).n : 80), (string).s

struct gguf_value {
	struct gguf_string key;
	uint32_t type;          /* enum gguf_type */
	uint32_t of;            /* element type of an array */
	uint64_t n;             /* elements of an array, 1 otherwise */
	const unsigned char *data;      /* the value, or the first element of an array, as in the file; unaligned */
	const unsigned char *end;       /* first byte after it */
	int *asked;             /* private */
};

struct gguf_tensor {
	struct gguf_string name;
	uint32_t n_dims;        /* 1 to 4 */
	uint64_t dim[4];        /* dim[0] is contiguous, the length of a row; unused ones are 1 */
	uint32_t type;          /* GGUF's tensor type id; see formats.h */
	uint64_t bytes;
	const void *data;       /* in the mapping, entirely inside the file */
};

struct gguf {
	const char *path;       /* as given; borrowed */
	uint32_t version;
	uint64_t n_values, n_tensors;
	struct gguf_value *values;
	struct gguf_tensor *tensors;
	struct gguf_files *files;       /* private: the mappings and the indices by name */
};

/* Opens a regular file. tensors: 0 for programs that need only the metadata: the tensors are listed, but their types
 * are not checked and their data may be missing (`data` is NULL, `bytes` 0). NULL and a reason on any fault; a path
 * that is NULL is that of models_path() (models.h), which has given the reason. Free with gguf_close(). */
struct gguf *gguf_open(const char *path, int tensors, struct why *w);

/* The same with tensors, but faults of single tensors are reported: these have no data. */
struct gguf *gguf_survey(const char *path, const struct faults *faults, struct why *w);

void gguf_close(struct gguf *g);       /* NULL is allowed */

/* Releases the pages of part `part` of `parts` equal parts of each file, so that threads can share what gguf_close()
 * would do alone. Reading the part afterwards still works, at the cost of page faults. */
void gguf_let_go(const struct gguf *g, size_t part, size_t parts);

/* "u32", "string", ... as --override and gguf spell an enum gguf_type; or NULL. */
const char *gguf_type_name(uint32_t type);

/* Sets a value that replaces the file's or is added to it: "KEY=VALUE", where KEY may lack its "ARCH.". The value gets
 * the type that the key, or its array's elements, have in the file; the type of a new key follows from the text. Keys
 * of general, tokenizer and split are refused. Pointers to values and keys become invalid. Returns -1 with a reason
 * that names the key. */
int gguf_set(struct gguf *g, const char *text, struct why *w);

/* A key that was set but never looked up since, or NULL. */
const char *gguf_unasked(const struct gguf *g);

const struct gguf_value *gguf_find(const struct gguf *g, const char *key);      /* or NULL */
const struct gguf_tensor *gguf_tensor(const struct gguf *g, const char *name);  /* or NULL */

/* Typed getters: 1 if found, 0 if absent (out is unchanged), -1 if of the wrong type or outside [low, high]; the reason
 * names the key. Integers may be of any integer type, reals also integers. Strings with a NUL are refused. */
int gguf_integer(const struct gguf *g, const char *key, int64_t low, int64_t high, int64_t *out, struct why *w);
int gguf_real(const struct gguf *g, const char *key, double *out, struct why *w);       /* finite, or an error */
int gguf_bool(const struct gguf *g, const char *key, int *out, struct why *w);
int gguf_text(const struct gguf *g, const char *key, struct gguf_string *out, struct why *w);
/* of: element type */
int gguf_array(const struct gguf *g, const char *key, uint32_t of, const struct gguf_value **out, struct why *w);

/* The name to show for the model: general.name or, without one, the file name. It may hold any bytes; valid while g is
 * open. */
struct gguf_string gguf_name(const struct gguf *g);

/* The string whose length stands at *at; advances *at to the next one. To walk an array of strings, start with *at =
 * v->data and count to v->n. Lengths were checked when the file was opened and are checked again, because other
 * processes may write to a mapped file: a string that no longer fits reads as empty. */
static inline struct gguf_string gguf_next_string(const struct gguf_value *v, const unsigned char **at)
{
	struct gguf_string s = { (const char *)*at, 0 };
	size_t left = (size_t)(v->end - *at);
	uint64_t n;

	if (left < 8)
		return s;
	n = le64(*at);
	if (n > left - 8)
		n = 0;
	s.s = (const char *)*at + 8;
	s.n = (size_t)n;
	*at += 8 + n;
	return s;
}

/* Element i of an array of numbers as a double or an integer; the caller checks i. */
double gguf_element_real(const struct gguf_value *v, uint64_t i);
int64_t gguf_element_integer(const struct gguf_value *v, uint64_t i);

/* Whether an enum gguf_type is of integers. */
int gguf_is_integer(uint32_t type);

/* A number for the file (all shards) that changes when it is replaced or written to: a hash of device, inode, size and
 * modification time when it was opened. Never 0. */
uint64_t gguf_identity(const struct gguf *g);

/* Fingerprints of the vocabulary (tokenizer.ggml.model, pre, tokens, types, scores, merges, bos/eos ids) and of the
 * whole model: metadata except general.* and tokenizer.*, the tensor table, and samples of every tensor's data, so that
 * another file of the same shape differs. */
uint64_t gguf_vocab_fingerprint(const struct gguf *g);
uint64_t gguf_model_fingerprint(const struct gguf *g);

#endif
