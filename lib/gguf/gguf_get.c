/* gguf: reading the metadata of an open file. */
#include "files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/le.h"

/* What begins with the name, or NULL. */
static const void *find(const struct gguf_string **by_name, uint64_t n, const char *name)
{
	const struct gguf_string s = { name, strlen(name) }, *wanted = &s;
	const struct gguf_string **found = bsearch(&wanted, by_name, n, sizeof *by_name, gguf_compare);

	return found ? *found : NULL;
}

const struct gguf_value *gguf_find(const struct gguf *g, const char *key)
{
	const struct gguf_value *v = find(g->files->by_key, g->n_values, key);

	if (v && v->asked)
		*v->asked = 1;
	return v;
}

const struct gguf_tensor *gguf_tensor(const struct gguf *g, const char *name)
{
	if (g->files->by_name)
		return find(g->files->by_name, g->n_tensors, name);
	/* opened without the tensors' data */
	for (const struct gguf_tensor *t = g->tensors; t < g->tensors + g->n_tensors; t++)
		if (gguf_is(t->name, name))
			return t;
	return NULL;
}

const char *gguf_type_name(uint32_t type)
{
	static const char *const names[] = { "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array",
		"u64", "i64", "f64" };

	return type < sizeof names / sizeof *names ? names[type] : NULL;
}

/* ---- numbers ---- */

int gguf_is_integer(uint32_t type)
{
	return type <= GGUF_I32 || type == GGUF_U64 || type == GGUF_I64;
}

/* An integer of any type; for a U64 above INT64_MAX, -1 with *fits set to 0. */
static int64_t load_integer(const struct gguf_value *v, int *fits)
{
	size_t size = (size_t)(v->end - v->data);
	uint64_t u = le_bytes(v->data, size), sign = (uint64_t)1 << (8 * size - 1);

	*fits = 1;
	if (v->type == GGUF_I8 || v->type == GGUF_I16 || v->type == GGUF_I32 || v->type == GGUF_I64)
		return (int64_t)((u ^ sign) - sign);
	*fits = u <= INT64_MAX;
	return *fits ? (int64_t)u : -1;
}

static double load_real(const struct gguf_value *v)
{
	int fits;
	int64_t i;

	if (v->type == GGUF_F32)
		return (double)le_float(v->data);
	if (v->type == GGUF_F64)
		return le_double(v->data);
	i = load_integer(v, &fits);
	return fits ? (double)i : (double)le64(v->data);
}

static struct gguf_value element(const struct gguf_value *v, uint64_t i)
{
	size_t size = (size_t)(v->end - v->data) / v->n;

	return (struct gguf_value){ .type = v->of, .data = v->data + i * size, .end = v->data + (i + 1) * size };
}

double gguf_element_real(const struct gguf_value *v, uint64_t i)
{
	struct gguf_value e = element(v, i);

	return load_real(&e);
}

int64_t gguf_element_integer(const struct gguf_value *v, uint64_t i)
{
	struct gguf_value e = element(v, i);
	int fits;

	return load_integer(&e, &fits);
}

/* ---- typed getters ---- */

int gguf_integer(const struct gguf *g, const char *key, int64_t low, int64_t high, int64_t *out, struct why *w)
{
	const struct gguf_value *v = gguf_find(g, key);
	int fits;
	int64_t i;

	if (!v)
		return 0;
	if (!gguf_is_integer(v->type))
		return why(w, "%s: not an integer", key);
	i = load_integer(v, &fits);
	if (!fits || i < low || i > high)
		return why(w, "%s: %lld%s is not in %lld to %lld", key, (long long)i, fits ? "" : " (a larger number)",
			(long long)low, (long long)high);
	*out = i;
	return 1;
}

int gguf_real(const struct gguf *g, const char *key, double *out, struct why *w)
{
	const struct gguf_value *v = gguf_find(g, key);
	double x;

	if (!v)
		return 0;
	if (!gguf_is_integer(v->type) && v->type != GGUF_F32 && v->type != GGUF_F64)
		return why(w, "%s: not a number", key);
	x = load_real(v);
	if (!isfinite(x))
		return why(w, "%s: not a finite number", key);
	*out = x;
	return 1;
}

int gguf_bool(const struct gguf *g, const char *key, int *out, struct why *w)
{
	const struct gguf_value *v = gguf_find(g, key);

	if (!v)
		return 0;
	if (v->type != GGUF_BOOL || *v->data > 1)
		return why(w, "%s: neither true nor false", key);
	*out = *v->data;
	return 1;
}

int gguf_text(const struct gguf *g, const char *key, struct gguf_string *out, struct why *w)
{
	const struct gguf_value *v = gguf_find(g, key);
	const unsigned char *at;
	struct gguf_string s;

	if (!v)
		return 0;
	if (v->type != GGUF_STRING)
		return why(w, "%s: not a string", key);
	at = v->data;
	s = gguf_next_string(v, &at);
	if (memchr(s.s, 0, s.n))
		return why(w, "%s: a string with a NUL in it", key);
	*out = s;
	return 1;
}

struct gguf_string gguf_name(const struct gguf *g)
{
	struct gguf_string name = { .n = 0 };
	const char *slash = strrchr(g->path, '/'), *file = slash ? slash + 1 : g->path;
	struct why ignored;

	gguf_text(g, "general.name", &name, &ignored);
	return name.n ? name : (struct gguf_string){ file, strlen(file) };
}

int gguf_array(const struct gguf *g, const char *key, uint32_t of, const struct gguf_value **out, struct why *w)
{
	const struct gguf_value *v = gguf_find(g, key);

	if (!v)
		return 0;
	if (v->type != GGUF_ARRAY)
		return why(w, "%s: not an array", key);
	if (v->of != of)
		return why(w, "%s: an array of the wrong type", key);
	*out = v;
	return 1;
}
