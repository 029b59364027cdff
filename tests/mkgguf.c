/* mkgguf: the writer of mkgguf.h. The layout is the GGUF specification's: header, metadata, tensor table, padding to
 * the alignment (32, the default), tensor data. Versions 2 and 3 differ in the number alone for little-endian
 * files. */
#include "mkgguf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/gguf/formats.h"

enum { ALIGN = 32 };
/* size of a write: the page cache keeps a file in chunks of this size, and small chunks take long to map */
enum { WRITE = 8 << 20 };

struct growing {
	unsigned char *p;
	size_t n, room;
};

struct tensor {
	char name[64];
	uint32_t type, n_dims;
	uint64_t dim[4], elements, bytes;
	mkgguf_fill *fill;
	void *context;
};

struct mkgguf {
	struct growing values;
	uint64_t n_values;
	const char *without;    /* a key, or NULL */
	size_t keep;            /* bytes of values before its pair, while that is the last one; else SIZE_MAX */
	struct tensor *tensors;
	size_t n_tensors;
};

static _Noreturn void die(const char *what, const char *cause)
{
	fprintf(stderr, "mkgguf: %s: %s\n", what, cause);
	exit(1);
}

static void *grown(void *p, size_t n)
{
	if (!(p = realloc(p, n)))
		die("memory", strerror(errno));
	return p;
}

static void put(struct growing *b, const void *data, size_t n)
{
	if (b->room - b->n < n)
		b->p = grown(b->p, b->room = (b->n + n) * 2);
	memcpy(b->p + b->n, data, n);
	b->n += n;
}

static void put_number(struct growing *b, uint64_t value, size_t n)
{
	unsigned char little[8];

	for (size_t i = 0; i < n; i++)
		little[i] = (unsigned char)(value >> 8 * i);
	put(b, little, n);
}

static void put_string(struct growing *b, const char *s, size_t n)
{
	put_number(b, n, 8);
	put(b, s, n);
}

static uint32_t float_bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof u);
	return u;
}

struct mkgguf *mkgguf_open(void)
{
	struct mkgguf *m = grown(NULL, sizeof *m);

	*m = (struct mkgguf){ .keep = SIZE_MAX };
	return m;
}

void mkgguf_close(struct mkgguf *m)
{
	for (size_t i = 0; i < m->n_tensors; i++)
		free(m->tensors[i].context);
	free(m->tensors);
	free(m->values.p);
	free(m);
}

static void end_pair(struct mkgguf *m)
{
	if (m->keep < SIZE_MAX) {
		m->values.n = m->keep;
		m->n_values--;
	}
	m->keep = SIZE_MAX;
}

void mkgguf_without(struct mkgguf *m, const char *key)
{
	end_pair(m);
	m->without = key;
}

static void pair(struct mkgguf *m, const char *key, enum gguf_type type)
{
	end_pair(m);
	if (m->without && !strcmp(key, m->without))
		m->keep = m->values.n;
	put_string(&m->values, key, strlen(key));
	put_number(&m->values, type, 4);
	m->n_values++;
}

void mkgguf_u32(struct mkgguf *m, const char *key, uint32_t value)
{
	pair(m, key, GGUF_U32);
	put_number(&m->values, value, 4);
}

void mkgguf_f32(struct mkgguf *m, const char *key, float value)
{
	pair(m, key, GGUF_F32);
	put_number(&m->values, float_bits(value), 4);
}

void mkgguf_bool(struct mkgguf *m, const char *key, int value)
{
	pair(m, key, GGUF_BOOL);
	put_number(&m->values, value != 0, 1);
}

void mkgguf_text(struct mkgguf *m, const char *key, const char *value)
{
	pair(m, key, GGUF_STRING);
	put_string(&m->values, value, strlen(value));
}

void mkgguf_array(struct mkgguf *m, const char *key, enum gguf_type of, uint64_t n)
{
	pair(m, key, GGUF_ARRAY);
	put_number(&m->values, of, 4);
	put_number(&m->values, n, 8);
}

void mkgguf_add_text(struct mkgguf *m, const char *s, size_t n)
{
	put_string(&m->values, s, n);
}

void mkgguf_add_i32(struct mkgguf *m, int32_t value)
{
	put_number(&m->values, (uint32_t)value, 4);
}

void mkgguf_add_u64(struct mkgguf *m, uint64_t value)
{
	put_number(&m->values, value, 8);
}

void mkgguf_add_bytes(struct mkgguf *m, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_number(&m->values, ((const unsigned char *)bytes)[i], 1);
}

void mkgguf_add_f32(struct mkgguf *m, float value)
{
	put_number(&m->values, float_bits(value), 4);
}

void mkgguf_tensor(struct mkgguf *m, const char *name, uint32_t type, const uint64_t dim[3], mkgguf_fill *fill,
	const void *context, size_t size)
{
	const struct format *f = format_of(type == MKGGUF_I32 ? FORMAT_F32 : type);
	struct tensor *t;

	if (!f || dim[0] % f->block)
		die(name, f ? "rows are not whole blocks" : "unknown type");
	m->tensors = grown(m->tensors, (m->n_tensors + 1) * sizeof *m->tensors);
	t = &m->tensors[m->n_tensors++];
	*t = (struct tensor){ .type = type, .n_dims = !dim[1] ? 1 : dim[2] ? 3 : 2, .elements = 1, .fill = fill,
		.context = grown(NULL, size) };
	snprintf(t->name, sizeof t->name, "%s", name);
	memcpy(t->context, context, size);
	for (uint32_t i = 0; i < t->n_dims; i++)
		t->elements *= t->dim[i] = dim[i];
	t->bytes = t->elements / f->block * f->bytes;
}

static struct tensor *tensor(struct mkgguf *m, const char *name)
{
	struct tensor *t = m->tensors;

	while (t < m->tensors + m->n_tensors && strcmp(t->name, name))
		t++;
	if (t == m->tensors + m->n_tensors)
		die(name, "no such tensor");
	return t;
}

void mkgguf_remove(struct mkgguf *m, const char *name)
{
	struct tensor *t = tensor(m, name);

	free(t->context);
	m->n_tensors--;
	memmove(t, t + 1, (size_t)(m->tensors + m->n_tensors - t) * sizeof *t);
}

void mkgguf_reshape(struct mkgguf *m, const char *name, uint32_t n, const uint64_t dim[])
{
	struct tensor *t = tensor(m, name);
	uint64_t elements = 1;

	for (uint32_t i = 0; i < n; i++)
		elements *= t->dim[i] = dim[i];
	if (elements != t->elements)
		die(name, "another number of elements");
	t->n_dims = n;
}

static void out(FILE *file, const char *path, const void *data, size_t n)
{
	if (fwrite(data, 1, n, file) != n)
		die(path, strerror(errno));
}

static void pad(FILE *file, const char *path, uint64_t written)
{
	static const unsigned char zero[ALIGN];

	out(file, path, zero, (ALIGN - written % ALIGN) % ALIGN);
}

static void write_data(FILE *file, const char *path, const struct tensor *t)
{
	const struct format *f = format_of(t->type == MKGGUF_I32 ? FORMAT_F32 : t->type);     /* as large */
	unsigned char *chunk = grown(NULL, MKGGUF_CHUNK / f->block * f->bytes);

	for (uint64_t first = 0; first < t->elements; first += MKGGUF_CHUNK) {
		size_t n = t->elements - first < MKGGUF_CHUNK ? (size_t)(t->elements - first) : MKGGUF_CHUNK;

		t->fill(t->context, first, n, chunk);
		out(file, path, chunk, n / f->block * f->bytes);
	}
	pad(file, path, t->bytes);
	free(chunk);
}

/* One file: header, metadata, the table and data of tensors [from, to). */
static void write_file(const struct mkgguf *m, const char *path, uint32_t version, size_t from, size_t to)
{
	struct growing b = { 0 };
	uint64_t offset = 0;
	FILE *file = fopen(path, "wb");

	if (!file)
		die(path, strerror(errno));
	setvbuf(file, NULL, _IOFBF, WRITE);
	put(&b, "GGUF", 4);
	put_number(&b, version, 4);
	put_number(&b, to - from, 8);
	put_number(&b, m->n_values, 8);
	put(&b, m->values.p, m->values.n);
	for (size_t i = from; i < to; i++) {
		const struct tensor *t = &m->tensors[i];

		put_string(&b, t->name, strlen(t->name));
		put_number(&b, t->n_dims, 4);
		for (uint32_t d = 0; d < t->n_dims; d++)
			put_number(&b, t->dim[d], 8);
		put_number(&b, t->type, 4);
		put_number(&b, offset, 8);
		offset += (t->bytes + ALIGN - 1) / ALIGN * ALIGN;
	}
	out(file, path, b.p, b.n);
	pad(file, path, b.n);
	free(b.p);
	for (size_t i = from; i < to; i++)
		write_data(file, path, &m->tensors[i]);
	if (fclose(file))
		die(path, strerror(errno));
}

/* The three keys that tie shards together, put after the metadata that is there already. */
static void split_keys(struct mkgguf *m, unsigned number, unsigned shards)
{
	static const char *const key[] = { "split.no", "split.count", "split.tensors.count" };
	static const enum gguf_type type[] = { GGUF_U16, GGUF_U16, GGUF_I32 };
	const uint64_t value[] = { number, shards, m->n_tensors };

	for (size_t i = 0; i < 3; i++) {
		pair(m, key[i], type[i]);
		put_number(&m->values, value[i], type[i] == GGUF_I32 ? 4 : 2);
	}
}

void mkgguf_write(struct mkgguf *m, const char *path, uint32_t version, unsigned shards)
{
	size_t stem = strlen(path);
	char *name = grown(NULL, stem + 32);

	end_pair(m);
	if (shards < 2) {
		write_file(m, path, version, 0, m->n_tensors);
	} else {
		if (stem > 5 && !strcmp(path + stem - 5, ".gguf"))
			stem -= 5;
		for (unsigned i = 0; i < shards; i++) {
			split_keys(m, i, shards);
			snprintf(name, stem + 32, "%.*s-%05u-of-%05u.gguf", (int)stem, path, i + 1, shards);
			write_file(m, name, version, m->n_tensors * i / shards, m->n_tensors * (i + 1) / shards);
			m->values.n = 0;
			m->n_values = 0;
		}
	}
	free(name);
}
