#include "reference_keys.h"

#include <stdio.h>

static struct why w;

const char *key_name(const struct reference *m, const char *key)
{
	static char name[128];

	snprintf(name, sizeof name, "%s.%s", m->arch, key);
	return name;
}

size_t key_size(const struct reference *m, const char *key, size_t otherwise)
{
	int64_t v = (int64_t)otherwise;

	if (gguf_integer(m->g, key_name(m, key), 0, 1 << 30, &v, &w) < 0)
		die("%s", w.text);
	return (size_t)v;
}

int key_flag(const struct reference *m, const char *key, int otherwise)
{
	if (gguf_bool(m->g, key_name(m, key), &otherwise, &w) < 0)
		die("%s", w.text);
	return otherwise;
}

double key_real(const struct reference *m, const char *key, double otherwise)
{
	if (gguf_real(m->g, key_name(m, key), &otherwise, &w) < 0)
		die("%s", w.text);
	return otherwise;
}

size_t key_size_at(const struct reference *m, const char *key, size_t il, size_t otherwise)
{
	const struct gguf_value *v = gguf_find(m->g, key_name(m, key));

	if (!v || v->type != GGUF_ARRAY)
		return key_size(m, key, otherwise);
	return il < v->n ? (size_t)gguf_element_integer(v, il) : 0;
}

const struct gguf_value *reference_array(const struct reference *m, const char *key)
{
	const struct gguf_value *v = gguf_find(m->g, key_name(m, key));

	if (!v || v->type != GGUF_ARRAY)
		die("%s: not an array", key_name(m, key));
	return v;
}

double key_real_at(const struct reference *m, const char *key, size_t il)
{
	const struct gguf_value *v = gguf_find(m->g, key);
	double x;

	if (v && v->type == GGUF_ARRAY && il < v->n)
		return gguf_element_real(v, il);
	if (gguf_real(m->g, key, &x, &w) != 1)
		die("%s: missing", key);
	return x;
}

double or_one(double x)
{
	return x > 0 ? x : 1;
}
