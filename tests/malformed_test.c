/* malformed_test: a model of each family with one fault at a time: keys and tensors with other names, types, sizes and
 * values. Either opening it fails with a line that names the file, or it runs; nothing else may happen, which the
 * sanitizers check. A tensor with an unknown name is always refused. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fwd/builder/builder.h"
#include "fwd/plan/plan.h"
#include "fwd/state/named.h"
#include "check.h"
#include "mkfamilies.h"
#include "mkgguf.h"
#include "mkopen.h"

#define PATH "malformed.gguf"

enum { BATCH = 4, CTX = 16, VOCAB = 300 };
enum { HEADER = 24 };           /* bytes before the first key's length */

static struct pool *pool;

/* The result of opening the file: 1: it runs, 0: it is refused. */
static int runs(const char *what, struct gguf_string name)
{
	static const int32_t ids[BATCH] = { 17, 255, VOCAB - 1, 90 };   /* VOCAB - 1 ends an encoder's text */
	struct plan_setup setup = { .kernels = kernels_select("auto"), .pool = pool, .batch = BATCH };
	struct run run = { .n = BATCH, .wanted = 1 };
	struct why w = { "" };
	struct model *m = model_open(PATH, NULL, &w);
	struct segment_shape shape;
	struct segment s;
	struct plan *p;
	int ok;

	setup.last = m ? m->n_layer : 0;
	p = m ? build_plan(m, &setup, &w) : NULL;
	ok = p && plan_bind(p, CTX, &w) == 0;
	if (ok) {
		shape = plan_shape(p, CTX, KV_F32);
		ok = segment_open(&s, NULL, &shape, CTX, &w) == 0;
		run.state = &s;
		if (ok && segment_reserve(&s, BATCH, &w) == 0)
			check(plan_step(p, ids, &run, 1) == 0, "%s of %.*s: no step", what, GGUF_SHOWN(name));
		if (ok)
			segment_close(&s);
	}
	if (!ok)
		check(!strncmp(w.text, PATH ": ", 16) && !strchr(w.text, '\n'), "%s of %.*s: %s", what,
			GGUF_SHOWN(name), w.text);
	plan_close(p);
	model_close(m);
	return ok;
}

/* The same with these bytes in place of the file's own, which are restored afterwards. */
static int runs_with(int fd, off_t at, const void *bytes, size_t n, const char *what, struct gguf_string name)
{
	unsigned char before[8];
	int ok = n <= sizeof before && pread(fd, before, n, at) == (ssize_t)n
		&& pwrite(fd, bytes, n, at) == (ssize_t)n;
	int result = ok && runs(what, name);

	check(ok && pwrite(fd, before, n, at) == (ssize_t)n, "the file cannot be written");
	return result;
}

static void damage_key(int fd, off_t at, const struct gguf_value *v)
{
	static const unsigned char values[][8] = { { 0 }, { 1 }, { 3 }, { 0xff, 0xff, 0xff, 0x7f },
		{ 0xff, 0xff, 0xff, 0xff }, { 0, 0, 0xc0, 0x7f }, { 0, 0, 0x80, 0x7f } };
	static const unsigned char types[] = { GGUF_U32, GGUF_I32, GGUF_F32 };
	size_t size = v->of == GGUF_BOOL || v->type == GGUF_BOOL ? 1 : 4;
	off_t type = at + (off_t)v->key.n, value = type + 4;

	if (v->type == GGUF_STRING)
		return;
	if (v->type == GGUF_ARRAY) {
		type = value;
		value += 12;
	}
	runs_with(fd, at + (off_t)v->key.n - 1, "?", 1, "another name", v->key);
	for (size_t i = 0; i < sizeof types && size == 4; i++)
		runs_with(fd, type, &types[i], 1, "another type", v->key);
	for (size_t i = 0; i < sizeof values / sizeof *values && v->n; i++)
		runs_with(fd, value, values[i], size, "another value", v->key);
}

static void damage_tensor(int fd, off_t at, off_t data, const struct gguf_tensor *t)
{
	static const int32_t negative = -1;
	unsigned char type = 1;
	off_t dims = at + (off_t)t->name.n + 4;

	check(!runs_with(fd, dims - 5, "?", 1, "another name", t->name), "%.*s: runs with another name",
		GGUF_SHOWN(t->name));
	for (uint32_t i = 0; i < t->n_dims; i++) {
		unsigned char low = (unsigned char)(t->dim[i] - 1);

		runs_with(fd, dims + 8 * (off_t)i, &low, 1, "another size", t->name);
	}
	runs_with(fd, dims + 8 * (off_t)t->n_dims, &type, 1, "another type", t->name);
	if (t->type == MKGGUF_I32)
		check(!runs_with(fd, data, &negative, sizeof negative, "another number", t->name),
			"%.*s: runs with a negative number", GGUF_SHOWN(t->name));
}

/* Keys that are neither general.* nor part of the vocabulary. */
static int is_engines(const struct gguf_value *v)
{
	return strncmp(v->key.s, "general.", 8) && strncmp(v->key.s, "tokenizer.", 10);
}

static void family(const char *name)
{
	struct why w;
	struct gguf *g;
	const char *base;
	int fd;

	mkopen_file(PATH, name, "F32", 0, VOCAB, 64);
	g = gguf_open(PATH, 1, &w);
	fd = open(PATH, O_RDWR);
	if (check(g && fd >= 0 && runs("nothing", (struct gguf_string){ name, strlen(name) }), "%s: fails", name)) {
		base = g->values[0].key.s - HEADER - 8;
		for (size_t i = 0; i < g->n_values; i++)
			if (is_engines(&g->values[i]))
				damage_key(fd, g->values[i].key.s - base, &g->values[i]);
		for (size_t i = 0; i < g->n_tensors; i++)
			damage_tensor(fd, g->tensors[i].name.s - base, (const char *)g->tensors[i].data - base,
				&g->tensors[i]);
	}
	if (g)
		gguf_close(g);
	close(fd);
	unlink(PATH);
}

int main(void)
{
	const struct mkfamily *f;
	struct why w;

	pool = pool_open(1, &w);
	for (size_t i = 0; pool && (f = mkfamilies_each(i)); i++)
		if (check_takes())
			family(f->name);
	pool_close(pool);
	return check_end("malformed_test");
}
