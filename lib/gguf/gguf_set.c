/* gguf: values that the user sets in place of the file's. */
#include "files.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEY_MOST = 256 };

static int is_integer(const char *text)
{
	text += *text == '-';
	return *text && !text[strspn(text, "0123456789")];
}

/* Also refuses what only strtod() takes for a number: hexadecimal, nan, white space. */
static int is_real(const char *text, double *x)
{
	char *end;

	*x = strtod(text, &end);
	return *text && !*end && !text[strspn(text, "+-.0123456789eE")] && isfinite(*x);
}

/* The type that the text looks like. */
static uint32_t type_of(const char *text)
{
	double x;

	if (!strcmp(text, "true") || !strcmp(text, "false"))
		return GGUF_BOOL;
	if (is_integer(text))
		return *text == '-' ? GGUF_I64 : GGUF_U64;
	return is_real(text, &x) ? GGUF_F32 : GGUF_STRING;
}

/* The text as the bytes of an integer type, with their number; -1: it is none. */
static int encode_integer(const char *text, uint32_t type, unsigned char *out)
{
	int is_signed = type == GGUF_I8 || type == GGUF_I16 || type == GGUF_I32 || type == GGUF_I64;
	int n = type <= GGUF_I8 ? 1 : type <= GGUF_I16 ? 2 : type <= GGUF_I32 ? 4 : 8;
	uint64_t most = UINT64_MAX >> (64 - 8 * n + is_signed), bits;

	errno = 0;
	bits = strtoull(text + (*text == '-'), NULL, 10);
	if (!is_integer(text) || errno || bits > most + (is_signed && *text == '-')
	    || (!is_signed && *text == '-' && bits))
		return -1;
	if (*text == '-')
		bits = -bits;
	for (int i = 0; i < n; i++)
		out[i] = (unsigned char)(bits >> 8 * i);
	return n;
}

/* The same for any type but arrays; out has room for 8 bytes and the text. */
static int encode(const char *text, uint32_t type, unsigned char *out)
{
	uint64_t length = strlen(text);
	double x;
	float f;

	switch (type) {
	case GGUF_STRING:
		memcpy(out, &length, 8);
		le_convert(out, 8, 1);
		memcpy(out + 8, text, length);
		return (int)(8 + length);
	case GGUF_BOOL:
		*out = !strcmp(text, "true");
		return *out || !strcmp(text, "false") ? 1 : -1;
	case GGUF_F32:
	case GGUF_F64:
		if (!is_real(text, &x) || (type == GGUF_F32 && !isfinite((float)x)))
			return -1;
		f = (float)x;
		memcpy(out, type == GGUF_F32 ? (void *)&f : (void *)&x, type == GGUF_F32 ? 4 : 8);
		le_convert(out, type == GGUF_F32 ? 4 : 8, 1);
		return type == GGUF_F32 ? 4 : 8;
	}
	return encode_integer(text, type, out);
}

/* The name[n] as a key of the file: as it is, or after the architecture. */
static int find_key(const struct gguf *g, const char *name, size_t n, char *key, struct why *w)
{
	static const char *const shared[] = { "general.", "tokenizer.", "split." };
	struct gguf_string arch = { "", 0 };

	if (gguf_text(g, "general.architecture", &arch, w) < 0)
		return -1;
	if (!n || n + arch.n + 2 > KEY_MOST)
		return why(w, "a key of %zu bytes", n);
	snprintf(key, KEY_MOST, "%.*s", (int)n, name);
	for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
		if (!strncmp(key, shared[i], strlen(shared[i])))
			return why(w, "%s: other programs read it, too: it cannot be set", key);
	if (!gguf_find(g, key) && !(n > arch.n && !memcmp(key, arch.s, arch.n) && key[arch.n] == '.'))
		snprintf(key, KEY_MOST, "%.*s.%.*s", (int)arch.n, arch.s, (int)n, name);
	return 0;
}

/* One more value, of this key; NULL: no memory. */
static struct gguf_value *append(struct gguf *g, struct gguf_string key)
{
	const struct gguf_string **by_key = realloc(g->files->by_key, (g->n_values + 2) * sizeof *by_key);
	struct gguf_value *values;

	if (!by_key)
		return NULL;
	g->files->by_key = by_key;
	values = malloc((g->n_values + 2) * sizeof *values);
	if (!values)
		return NULL;
	memcpy(values, g->values, g->n_values * sizeof *values);
	free(g->values);
	g->values = values;
	values[g->n_values++] = (struct gguf_value){ .key = key };
	for (uint64_t i = 0; i < g->n_values; i++)
		by_key[i] = &values[i].key;
	qsort(by_key, g->n_values, sizeof *by_key, gguf_compare);
	return &values[g->n_values - 1];
}

int gguf_set(struct gguf *g, const char *text, struct why *w)
{
	const char *equals = strchr(text, '=');
	const struct gguf_value *old;
	struct gguf_value *v;
	struct gguf_set *s;
	char key[KEY_MOST];
	uint32_t type;
	int n;

	if (!equals)
		return why(w, "\"%.80s\": no =", text);
	if (find_key(g, text, (size_t)(equals - text), key, w) < 0)
		return -1;
	old = gguf_find(g, key);
	type = old ? old->of : type_of(equals + 1);
	s = malloc(sizeof *s + sizeof key + 8 + strlen(equals));
	if (!s)
		return why(w, "out of memory");
	memcpy(s->bytes, key, sizeof key);
	n = encode(equals + 1, type, s->bytes + sizeof key);
	v = n < 0 ? NULL : old ? &g->values[old - g->values]
		: append(g, (struct gguf_string){ (char *)s->bytes, strlen(key) });
	if (!v) {
		free(s);
		return n < 0 ? why(w, "%s: \"%.80s\" is not a value of type %s", key, equals + 1,
			gguf_type_name(type)) : why(w, "out of memory");
	}
	s->asked = 0;
	s->next = g->files->set;
	g->files->set = s;
	*v = (struct gguf_value){ .key = v->key, .type = type, .of = type, .n = 1, .data = s->bytes + sizeof key,
		.end = s->bytes + sizeof key + n, .asked = &s->asked };
	return 0;
}

const char *gguf_unasked(const struct gguf *g)
{
	for (const struct gguf_set *s = g->files->set; s; s = s->next)
		if (!s->asked)
			return (const char *)s->bytes;
	return NULL;
}
