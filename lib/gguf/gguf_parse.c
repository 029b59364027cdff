/* The header, the metadata and the tensor table of a file. A bounded input runs over them; nothing is allocated or
 * pointed to before it is known to lie inside the file. */
#include "files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "lib/base/le.h"
#include "lib/base/size.h"

enum {
	NAME_MOST = 65535,              /* bytes, as the format says of keys */
	VALUES_MAX = 1 << 16,           /* real files have dozens of pairs and up to a few thousand tensors */
	VALUE_LEAST = 8 + 1 + 4 + 1,    /* bytes of the shortest pair and the shortest tensor entry */
	TENSOR_LEAST = 8 + 1 + 4 + 8 + 4 + 8,
	ALIGNMENT = 32
};

#define TRUNCATED "past the end of the file: truncated or damaged, download it again"

struct input {
	const unsigned char *p, *end;
	int ended;                      /* something would extend past the end; from then on, everything read is 0 */
};

static size_t left(const struct input *c)
{
	return (size_t)(c->end - c->p);
}

/* The next n bytes, or NULL. */
static inline const unsigned char *take(struct input *c, uint64_t n)
{
	const unsigned char *p = c->p;

	if (n > left(c)) {
		c->p = c->end;
		c->ended = 1;
		return NULL;
	}
	c->p += n;
	return p;
}

static uint32_t take32(struct input *c)
{
	const unsigned char *p = take(c, 4);

	return p ? le32(p) : 0;
}

static inline uint64_t take64(struct input *c)
{
	const unsigned char *p = take(c, 8);

	return p ? le64(p) : 0;
}

static inline struct gguf_string take_string(struct input *c)
{
	uint64_t n = take64(c);
	const void *p = take(c, n);

	return (struct gguf_string){ p, p ? (size_t)n : 0 };
}

/* The name of a pair or a tensor. */
static int take_name(struct input *c, struct gguf_string *name, const char *what, struct why *w)
{
	*name = take_string(c);
	if (c->ended)
		return why(w, "%s goes " TRUNCATED, what);
	if (!name->n || name->n > NAME_MOST)
		return why(w, "%s of %zu bytes (1 to %d are allowed)", what, name->n, NAME_MOST);
	return 0;
}

/* Puts the kind and the name before a reason: "tensor NAME: ...". -1. */
static int why_of(const char *kind, struct gguf_string name, struct why *w)
{
	char object[128];

	snprintf(object, sizeof object, "%s%.*s", kind, GGUF_SHOWN(name));
	return why_in(w, object);
}

/* ---- indices by name ---- */

int gguf_compare(const void *a, const void *b)
{
	struct gguf_string s = **(const struct gguf_string *const *)a, t = **(const struct gguf_string *const *)b;
	int order = memcmp(s.s, t.s, size_min(s.n, t.n));

	return order ? order : (s.n > t.n) - (s.n < t.n);
}

/* Sorts pointers to values or tensors; kind: as in why_of(). */
static int sort_by_name(const struct gguf_string **name, uint64_t n, const char *kind, struct why *w)
{
	qsort(name, n, sizeof *name, gguf_compare);
	for (uint64_t i = 1; i < n; i++)
		if (!gguf_compare(&name[i - 1], &name[i])) {
			why(w, "given twice");
			return why_of(kind, *name[i], w);
		}
	return 0;
}

/* ---- metadata ---- */

static const unsigned char value_size[] = {     /* by enum gguf_type; 0: of no fixed size */
	[GGUF_U8] = 1, [GGUF_I8] = 1, [GGUF_U16] = 2, [GGUF_I16] = 2, [GGUF_U32] = 4, [GGUF_I32] = 4, [GGUF_F32] = 4,
	[GGUF_BOOL] = 1, [GGUF_STRING] = 0, [GGUF_ARRAY] = 0, [GGUF_U64] = 8, [GGUF_I64] = 8, [GGUF_F64] = 8
};

/* Reads what follows the key. */
static int take_value(struct input *c, struct gguf_value *v, struct why *w)
{
	const uint32_t last = GGUF_F64;

	v->of = v->type = take32(c);
	if (v->type > last)
		return why(w, "unknown value type %u", v->type);
	v->n = 1;
	if (v->type == GGUF_ARRAY) {
		v->of = take32(c);
		v->n = take64(c);
		if (v->of > last || v->of == GGUF_ARRAY)
			return why(w, "an array of unknown type %u", v->of);
	}
	v->data = c->p;
	if (v->type == GGUF_STRING)
		take_string(c);
	else if (v->of != GGUF_STRING)
		take(c, v->n > left(c) ? UINT64_MAX : v->n * value_size[v->of]);
	else
		for (uint64_t i = 0; i < v->n && !c->ended; i++)
			take_string(c);
	v->end = c->p;
	return c->ended ? why(w, "goes " TRUNCATED) : 0;
}

static int take_values(struct input *c, struct gguf *g, struct why *w)
{
	const struct gguf_string **by_key;

	if (g->n_values > VALUES_MAX || g->n_values > left(c) / VALUE_LEAST)
		return why(w, "%" PRIu64 " metadata pairs: more than a file of this size can hold", g->n_values);
	g->values = calloc(g->n_values + 1, sizeof *g->values);
	by_key = g->files->by_key = calloc(g->n_values + 1, sizeof *by_key);
	if (!g->values || !by_key)
		return why(w, "out of memory");
	for (uint64_t i = 0; i < g->n_values; i++) {
		struct gguf_value *v = &g->values[i];

		if (take_name(c, &v->key, "metadata: a key", w))
			return -1;
		if (take_value(c, v, w))
			return why_of("", v->key, w);
		by_key[i] = &v->key;
	}
	return sort_by_name(by_key, g->n_values, "", w);
}

/* ---- tensors ---- */

/* Reads what follows the name. *offset, in the data section, is checked when the start of that section is known. */
static int take_tensor(struct input *c, struct gguf_tensor *t, uint64_t *offset, struct why *w)
{
	t->n_dims = take32(c);
	if (!c->ended && (!t->n_dims || t->n_dims > 4))
		return why(w, "%u dimensions (1 to 4 are allowed)", t->n_dims);
	for (uint32_t i = 0; i < 4; i++)
		t->dim[i] = i < t->n_dims ? take64(c) : 1;
	t->type = take32(c);
	*offset = take64(c);
	return c->ended ? why(w, "goes " TRUNCATED) : 0;
}

/* Types without a known layout: llama.cpp has retired 31 to 33, and ik_llama.cpp has its own from 97 on. */
static int unknown_type(uint32_t type, struct why *w)
{
	if (type >= 31 && type <= 33)
		return why(w, "type %u, a rearranged Q4_0 of 2024, is not supported", type);
	if (type >= 97 && type < 400)
		return why(w, "type %u, which only ik_llama.cpp writes, is not supported", type);
	return why(w, "unknown type %u (fwd --list names those that are supported)", type);
}

/* Computes the size from the dimensions, checking every product. */
static int measure(struct gguf_tensor *t, struct why *w)
{
	uint64_t elements = 1;
	size_t block, bytes;
	const char *name = format_layout(t->type, &block, &bytes);

	if (!name)
		return unknown_type(t->type, w);
	for (uint32_t i = 0; i < t->n_dims; i++) {
		if (!t->dim[i])
			return why(w, "a dimension of 0");
		if (t->dim[i] > INT64_MAX / elements)
			return why(w, "too many elements");
		elements *= t->dim[i];
	}
	if (t->dim[0] % block)
		return why(w, "row length %" PRIu64 " is not a multiple of the block size of %s", t->dim[0], name);
	if (elements / block > INT64_MAX / bytes)
		return why(w, "too many bytes");
	t->bytes = elements / block * bytes;
	return 0;
}

static int locate(struct gguf_tensor *t, uint64_t offset, const struct input *data, uint64_t alignment, struct why *w)
{
	if (offset % alignment)
		return why(w, "offset %" PRIu64 " is not a multiple of the alignment %" PRIu64, offset, alignment);
	if (offset > left(data) || t->bytes > left(data) - offset)
		return why(w, "%" PRIu64 " bytes at offset %" PRIu64 " go " TRUNCATED, t->bytes, offset);
	t->data = data->p + offset;
	return 0;
}

/* Whether the table continues at c, because the header's count is too small: there is another complete and valid entry
 * whose data directly follow those of the n tensors. */
static int goes_on(struct input c, const struct gguf_tensor *tensors, uint64_t n, const struct input *data,
	uint64_t alignment)
{
	struct gguf_tensor next = { 0 };
	uint64_t offset, end = 0;
	const unsigned char *at;
	struct why ignored;

	for (uint64_t i = 0; i < n; i++) {
		at = tensors[i].data;
		if (at)
			end = size_max(end, (size_t)(at - data->p + tensors[i].bytes));
	}
	return !take_name(&c, &next.name, "", &ignored) && !take_tensor(&c, &next, &offset, &ignored)
		&& !measure(&next, &ignored) && offset == ((end + alignment - 1) & -alignment)
		&& !locate(&next, offset, data, alignment, &ignored);
}

static int compare_data(const void *a, const void *b)
{
	const unsigned char *p = (*(const struct gguf_tensor *const *)a)->data,
		*q = (*(const struct gguf_tensor *const *)b)->data;

	return (p > q) - (p < q);
}

int gguf_index_tensors(struct gguf *g, struct why *w)
{
	const struct gguf_tensor **t = calloc(g->n_tensors + 1, sizeof *t), *before;

	free(g->files->by_name);
	g->files->by_name = (void *)t;
	if (!t)
		return why(w, "out of memory");
	for (uint64_t i = 0; i < g->n_tensors; i++)
		t[i] = &g->tensors[i];
	qsort(t, g->n_tensors, sizeof *t, compare_data);
	for (uint64_t i = 1; i < g->n_tensors; i++) {
		before = t[i - 1];
		if (before->data
		    && (const unsigned char *)before->data + before->bytes > (const unsigned char *)t[i]->data)
			return why(w, "tensor %.*s: overlaps %.*s", GGUF_SHOWN(t[i]->name), GGUF_SHOWN(before->name));
	}
	return sort_by_name(g->files->by_name, g->n_tensors, "tensor ", w);
}

static int fault_of(struct gguf_tensor *t, struct gguf_wish wish, struct why *w)
{
	t->bytes = 0;
	why_of("tensor ", t->name, w);
	return why_tell(wish.faults, w);
}

/* Reads the table and locates the data of each tensor. */
static int take_tensors(struct input *c, struct gguf *g, uint64_t n, const unsigned char *file, struct gguf_wish wish,
	struct why *w)
{
	struct input section = *c;
	int64_t alignment = ALIGNMENT;
	uint64_t *offsets, used;
	int bad = 0;

	if (gguf_integer(g, "general.alignment", 8, 1 << 24, &alignment, w) < 0)
		return -1;
	if (alignment & (alignment - 1))
		return why(w, "general.alignment: %" PRId64 " is not a power of two", alignment);
	if (n > GGUF_TENSORS_MAX || n > left(c) / TENSOR_LEAST)
		return why(w, "%" PRIu64 " tensors: more than a file of this size can hold", n);
	g->tensors = calloc(n + 1, sizeof *g->tensors);
	offsets = calloc(n + 1, sizeof *offsets);
	if (!g->tensors || !offsets)
		bad = why(w, "out of memory");
	for (uint64_t i = 0; i < n && !bad; i++) {
		struct gguf_tensor *t = &g->tensors[i];

		bad = take_name(c, &t->name, "tensor table: a name", w);
		if (!bad && take_tensor(c, t, &offsets[i], w))
			bad = why_of("tensor ", t->name, w);
		if (!bad && wish.data && measure(t, w))
			bad = fault_of(t, wish, w);
	}
	used = ((uint64_t)(c->p - file) + (uint64_t)alignment - 1) & -(uint64_t)alignment;
	section.p = used < (uint64_t)(c->end - file) ? file + used : c->end;
	if (!bad && wish.data && n && used > (uint64_t)(c->end - file))
		bad = why(w, "tensor data: " TRUNCATED);
	if (!bad && !n && left(&section))
		bad = why(w, "no tensors, but %zu bytes after the metadata: a wrong count of keys or tensors",
			left(&section));
	for (uint64_t i = 0; i < n && !bad && wish.data; i++)
		if (g->tensors[i].bytes && locate(&g->tensors[i], offsets[i], &section, (uint64_t)alignment, w))
			bad = fault_of(&g->tensors[i], wish, w);
	if (!bad && n && wish.data && goes_on(*c, g->tensors, n, &section, (uint64_t)alignment))
		bad = why(w, "%" PRIu64 " tensors, but the table goes on after them: a wrong count", n);
	free(offsets);
	g->n_tensors = n;
	if (bad)
		return -1;
	return wish.data ? gguf_index_tensors(g, w) : 0;
}

/* ---- the whole ---- */

/* Refuses a file without the magic number, and names the kinds that are often mistaken for models. p: its first
 * GGUF_HEADER bytes. */
static int not_gguf(const unsigned char *p, struct why *w)
{
	static const struct {
		size_t at;
		const char *text, *kind;
	} kinds[] = {
		{ 0, "version https://git-lfs", "a pointer of Git LFS: the file itself has not been fetched" },
		{ 0, "<", "a web page" },
		{ 0, "PK\3\4", "a ZIP archive, as PyTorch writes" },
		{ 8, "{\"", "a safetensors file" },
		{ 0, "tjgg", "a model of llama.cpp from before August 2023" },
		{ 0, "fmgg", "a model of llama.cpp from before August 2023" },
		{ 0, "lmgg", "a model of llama.cpp from before August 2023" },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!memcmp(p + kinds[i].at, kinds[i].text, strlen(kinds[i].text)))
			return why(w, "not a GGUF file but %s", kinds[i].kind);
	return why(w, "not a GGUF file: wrong magic number");
}

int gguf_parse(struct gguf *g, struct gguf_wish wish, struct why *w)
{
	const struct gguf_map *m = g->files->maps;
	struct input c = { m->p + 4, m->p + m->size, 0 };
	uint64_t n_tensors;

	if (memcmp(m->p, "GGUF", 4))
		return not_gguf(m->p, w);
	g->version = take32(&c);
	if (g->version && !(g->version & 0xffff))
		return why(w, "a big-endian GGUF file, which is not supported");
	if (g->version < 2 || g->version > 3)
		return why(w, "GGUF version %u is not supported (2 and 3 are)", g->version);
	n_tensors = take64(&c);
	g->n_values = take64(&c);
	if (take_values(&c, g, w))
		return -1;
	return take_tensors(&c, g, n_tensors, m->p, wish, w);
}
