/* Adapter files: each is checked by itself, then its factors are found by the names of the model's tensors. */
#include "lora.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/size.h"
#include "tensors.h"

static const char suffix_a[] = ".lora_a", suffix_b[] = ".lora_b";

enum { SUFFIX = sizeof suffix_a - 1, NAME_MAX_BYTES = 128 };

static int ends_in(struct gguf_string name, const char *suffix)
{
	size_t n = strlen(suffix);

	return name.n >= n && !memcmp(name.s + name.n - n, suffix, n);
}

/* ---- a file by itself ---- */

static int check_kind(const struct gguf *g, struct why *w)
{
	struct gguf_string s;
	int found = gguf_text(g, "general.type", &s, w);

	if (found < 0)
		return -1;
	if (!found || !gguf_is(s, "adapter"))
		return why(w, "not an adapter: general.type is %.*s", found ? (int)size_min(s.n, 80) : 7,
			found ? s.s : "missing");
	found = gguf_text(g, "adapter.type", &s, w);
	if (found < 0)
		return -1;
	if (!found || !gguf_is(s, "lora"))
		return why(w, "adapter.type: not lora");
	return 0;
}

static int read_keys(struct lora *l, struct why *w)
{
	double alpha = 0;

	if (gguf_real(l->gguf, "adapter.lora.alpha", &alpha, w) < 0
	    || gguf_array(l->gguf, "adapter.alora.invocation_tokens", GGUF_U32, &l->invocation, w) < 0)
		return -1;
	if (l->invocation && !l->invocation->n)
		return why(w, "adapter.alora.invocation_tokens: empty");
	l->alpha = (float)alpha;
	return isfinite(l->alpha) ? 0 : why(w, "adapter.lora.alpha: %g is out of range", alpha);
}

/* The other factor of a pair, whose name ends in `suffix`. */
static const struct gguf_tensor *partner(const struct gguf *g, struct gguf_string name, const char *suffix)
{
	char other[NAME_MAX_BYTES];

	if (name.n >= sizeof other)
		return NULL;
	snprintf(other, sizeof other, "%.*s%s", (int)(name.n - SUFFIX), name.s, suffix);
	return gguf_tensor(g, other);
}

static int is_embedding(struct gguf_string name)
{
	static const char embedding[] = "token_embd.weight";

	return name.n >= sizeof embedding - 1 && !memcmp(name.s, embedding, sizeof embedding - 1);
}

static int check_pair(const struct gguf_tensor *a, const struct gguf_tensor *b, struct why *w)
{
	uint64_t rank = is_embedding(a->name) ? a->dim[0] : a->dim[1];

	if (model_check_type(a, w) < 0 || model_check_type(b, w) < 0)
		return -1;
	if (a->dim[3] != 1 || b->dim[3] != 1)
		return why(w, "tensor %.*s: a fourth dimension", GGUF_SHOWN((a->dim[3] != 1 ? a : b)->name));
	if (a->dim[2] != b->dim[2])
		return why(w, "tensor %.*s: %llu matrices, but its lora_b has %llu", GGUF_SHOWN(a->name),
			(unsigned long long)a->dim[2], (unsigned long long)b->dim[2]);
	return rank == b->dim[0] ? 0 : why(w, "tensor %.*s: a rank of %llu, but that of its lora_b is %llu",
		GGUF_SHOWN(a->name), (unsigned long long)rank, (unsigned long long)b->dim[0]);
}

/* Whether all elements are finite. Adds them to the hash. */
static int check_elements(const struct gguf_tensor *t, uint64_t *hash, struct why *w)
{
	const struct format *f = format_of(t->type);
	const unsigned char *at = t->data, *end = at + t->bytes;
	size_t n = FORMAT_BLOCK_MOST;
	float x[FORMAT_BLOCK_MOST];

	*hash = hash_data(at, t->bytes, hash_data(t->dim, sizeof t->dim, hash_data(t->name.s, t->name.n, *hash)));
	for (; at < end; at += n / f->block * f->bytes) {
		n = size_min(n, (size_t)(end - at) / f->bytes * f->block);
		format_dequantise(f, at, x, n);
		for (size_t i = 0; i < n; i++)
			if (!isfinite(x[i]))
				return why(w, "tensor %.*s: an element is not a number", GGUF_SHOWN(t->name));
	}
	return 0;
}

static int check_tensor(struct lora *l, const struct gguf_tensor *t, size_t *pairs, struct why *w)
{
	int is_a = ends_in(t->name, suffix_a);
	const struct gguf_tensor *other;

	if (ends_in(t->name, "_norm.weight"))
		return 0;       /* of the whole model, as some converters write them */
	if (!is_a && !ends_in(t->name, suffix_b))
		return why(w, "tensor %.*s: neither lora_a nor lora_b", GGUF_SHOWN(t->name));
	other = partner(l->gguf, t->name, is_a ? suffix_b : suffix_a);
	if (!other)
		return why(w, "tensor %.*s: without its %s", GGUF_SHOWN(t->name), is_a ? "lora_b" : "lora_a");
	*pairs += (size_t)is_a;
	if (check_pair(is_a ? t : other, is_a ? other : t, w) < 0)
		return -1;
	return check_elements(t, &l->hash, w);
}

static int check_tensors(struct lora *l, struct why *w)
{
	size_t pairs = 0;

	for (uint64_t i = 0; i < l->gguf->n_tensors; i++)
		if (check_tensor(l, &l->gguf->tensors[i], &pairs, w) < 0)
			return -1;
	return pairs ? 0 : why(w, "an adapter without factors");
}

static int check_file(struct lora *l, struct why *w)
{
	l->used = calloc(l->gguf->n_tensors + 1, 1);
	if (!l->used)
		return why(w, "out of memory");
	if (check_kind(l->gguf, w) < 0 || read_keys(l, w) < 0 || check_tensors(l, w) < 0)
		return -1;
	l->hash = hash_data(&l->alpha, sizeof l->alpha, l->hash);
	if (l->invocation)
		l->hash = hash_data(l->invocation->data, (size_t)(l->invocation->end - l->invocation->data), l->hash);
	return 0;
}

int lora_open(struct lora *l, struct scaled_file file, struct why *w)
{
	*l = (struct lora){ .file = file, .gguf = gguf_open(file.path, 1, w) };
	if (!l->gguf)
		return -1;
	return check_file(l, w) < 0 ? why_in(w, file.path) : 0;
}

void lora_close(struct lora *l)
{
	free(l->used);
	gguf_close(l->gguf);
}

/* ---- for a model ---- */

int lora_check(const struct lora *l, const struct model *m, struct why *w)
{
	struct gguf_string arch = { "missing", 7 };

	if (gguf_text(l->gguf, "general.architecture", &arch, w) < 0)
		return why_in(w, l->file.path);
	if (!gguf_is(arch, m->arch)) {
		why(w, "for architecture %.*s, but the model's is %s", GGUF_SHOWN(arch), m->arch);
		return why_in(w, l->file.path);
	}
	for (uint64_t i = 0; l->invocation && i < l->invocation->n; i++)
		if (gguf_element_integer(l->invocation, i) >= (int64_t)m->n_vocab) {
			why(w, "adapter.alora.invocation_tokens: %lld is outside the vocabulary of %zu",
				(long long)gguf_element_integer(l->invocation, i), m->n_vocab);
			return why_in(w, l->file.path);
		}
	return 0;
}

/* *out = a factor of n matrices [rows × cols]. */
static int take(const struct lora *l, const struct gguf_tensor *t, size_t n, size_t rows, size_t cols,
	struct matrix *out, struct why *w)
{
	if (!tensor_matrices(t, n, rows, cols, out)) {
		why(w, "tensor %.*s: %llu x %llu x %llu elements, but for the model's tensor %zu x %zu x %zu",
			GGUF_SHOWN(t->name), (unsigned long long)t->dim[0], (unsigned long long)t->dim[1],
			(unsigned long long)t->dim[2], cols, rows, n);
		return why_in(w, l->file.path);
	}
	l->used[t - l->gguf->tensors] = 1;
	return 0;
}

int lora_find(const struct model *m, size_t i, const char *name, size_t n, size_t rows, size_t cols,
	struct lora_pair *out, struct why *w)
{
	const struct lora *l = &m->lora[i];
	const struct gguf_tensor *a, *b;
	char factor[NAME_MAX_BYTES];
	size_t rank;

	snprintf(factor, sizeof factor, "%s%s", name, suffix_a);
	a = gguf_tensor(l->gguf, factor);
	if (!a)
		return 0;
	b = partner(l->gguf, a->name, suffix_b);
	rank = (size_t)b->dim[0];
	*out = (struct lora_pair){ .adapter = i, .factor = l->alpha > 0 || l->alpha < 0 ? l->alpha / (float)rank : 1 };
	if ((is_embedding(a->name) ? take(l, a, 1, cols, rank, &out->a, w) : take(l, a, n, rank, cols, &out->a, w)) < 0)
		return -1;
	return take(l, b, n, rows, rank, &out->b, w) < 0 ? -1 : 1;
}

int lora_all_used(const struct model *m, struct why *w)
{
	for (const struct lora *l = m->lora; l < m->lora + m->n_lora; l++)
		for (uint64_t i = 0; i < l->gguf->n_tensors; i++) {
			struct gguf_string name = l->gguf->tensors[i].name, of = { name.s, name.n - SUFFIX };

			if (l->used[i] || !ends_in(name, suffix_a))
				continue;
			why(w, "tensor %.*s: the model has no product with %.*s", GGUF_SHOWN(name), GGUF_SHOWN(of));
			return why_in(w, l->file.path);
		}
	return 0;
}
