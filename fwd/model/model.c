/* Hyperparameters and tensors, each checked before it is used: files come from strangers. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stream/frame.h"
#include "lib/vocab/vocab.h"
#include "families.h"
#include "layers.h"

/* No model comes near these, and no product of two or three of them overflows. */
enum { LAYERS_MAX = 1 << 14, EMBD_MAX = 1 << 20, CTX_MAX = 1 << 26 };

/* One that was given out. */
struct vector {
	struct vector *next;
	float x[];
};

/* ---- hyperparameters ---- */

static int read_architecture(struct model *m, struct why *w)
{
	struct gguf_string s;
	int found = gguf_text(m->gguf, "general.architecture", &s, w);

	if (found < 0)
		return -1;
	if (!found)
		return why(w, "general.architecture: missing");
	snprintf(m->arch, sizeof m->arch, "%.*s", s.n < sizeof m->arch ? (int)s.n : (int)sizeof m->arch - 1, s.s);
	m->family = family_of(m->arch);
	if (!m->family || s.n != strlen(m->arch))
		return why(w, "general.architecture: \"%.*s\" is not supported (fwd --list names those that are)",
			s.n < 64 ? (int)s.n : 64, s.s);
	return 0;
}

static int check_causal(const struct model *m, struct why *w)
{
	int causal = 1;

	if (gguf_bool(m->gguf, key_name(m, "attention.causal").s, &causal, w) < 0)
		return -1;
	if (!causal)
		return why(w, "%s: false: not a generative model", key_name(m, "attention.causal").s);
	return 0;
}

static int read_epsilon(struct model *m, struct why *w)
{
	static const char rms[] = "attention.layer_norm_rms_epsilon", layer[] = "attention.layer_norm_epsilon";
	const char *name = m->family->norm == NORM_RMS ? rms : layer;
	double eps;

	if (m->family->either_epsilon && !gguf_find(m->gguf, key_name(m, name).s))
		name = layer;
	if (!gguf_find(m->gguf, key_name(m, name).s))
		return why(w, "%s: missing", key_name(m, name).s);
	if (key_real(m, name, 0, 1, &eps, w) < 0)
		return -1;
	m->eps = (float)eps;
	return 0;
}

static int read_vocabulary(struct model *m, struct why *w)
{
	const struct gguf_tensor *embd = gguf_tensor(m->gguf, "token_embd.weight");

	if (!embd)
		return why(w, "tensor token_embd.weight: missing");
	if (embd->dim[1] > FRAME_VOCAB_MAX)
		return why(w, "tensor token_embd.weight: %llu rows, more than %d", (unsigned long long)embd->dim[1],
			FRAME_VOCAB_MAX);
	m->n_vocab = (size_t)embd->dim[1];
	return 0;
}

/* ---- keys that the forward pass does not need ---- */

enum form { INTEGER, FLAG, TEXT, TEXTS, TOKEN, TOKENS, SCORES, TYPES };

static int check_form(struct model *m, const char *name, enum form form, struct why *w)
{
	const struct gguf_value *v = gguf_find(m->gguf, name);
	struct gguf_string text;
	int64_t integer;
	int flag;

	if (!v)
		return 0;
	switch (form) {
	case INTEGER: return gguf_integer(m->gguf, name, 0, INT64_MAX, &integer, w);
	case TOKEN: return gguf_integer(m->gguf, name, 0, (int64_t)m->n_vocab - 1, &integer, w);
	case FLAG: return gguf_bool(m->gguf, name, &flag, w);
	case TEXT: return gguf_text(m->gguf, name, &text, w);
	case TEXTS: return gguf_array(m->gguf, name, GGUF_STRING, &v, w);
	case TYPES: flag = gguf_array(m->gguf, name, v->of == GGUF_U32 ? GGUF_U32 : GGUF_I32, &v, w); break;
	default: flag = gguf_array(m->gguf, name, form == SCORES ? GGUF_F32 : GGUF_STRING, &v, w);
	}
	if (flag > 0 && v->n != m->n_vocab)
		return why(w, "%s: %llu elements, but token_embd.weight has %zu rows", name, (unsigned long long)v->n,
			m->n_vocab);
	return flag;
}

/* If one of these is wrong the file is damaged, whichever program reads the key. */
static int check_others(struct model *m, struct why *w)
{
	static const struct {
		const char *name;
		enum form form;
	} others[] = {
		{ "general.name", TEXT }, { "general.file_type", INTEGER }, { "general.quantization_version", INTEGER },
		{ "tokenizer.ggml.model", TEXT }, { "tokenizer.ggml.pre", TEXT }, { "tokenizer.ggml.tokens", TOKENS },
		{ "tokenizer.ggml.scores", SCORES }, { "tokenizer.ggml.token_type", TYPES },
		{ "tokenizer.ggml.merges", TEXTS },
		{ "tokenizer.ggml.bos_token_id", TOKEN }, { "tokenizer.ggml.eos_token_id", TOKEN },
		{ "tokenizer.ggml.eot_token_id", TOKEN }, { "tokenizer.ggml.eom_token_id", TOKEN },
		{ "tokenizer.ggml.add_bos_token", FLAG }, { "tokenizer.ggml.add_eos_token", FLAG },
		{ "tokenizer.ggml.add_space_prefix", FLAG },
	};
	size_t n_vocab = m->n_vocab;

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (check_form(m, others[i].name, others[i].form, w) < 0)
			return -1;
	if (key_size(m, "vocab_size", 1, FRAME_VOCAB_MAX, &n_vocab, w) < 0)
		return -1;
	if (n_vocab != m->n_vocab)
		return why(w, "%s: %zu, but token_embd.weight has %zu rows", key_name(m, "vocab_size").s, n_vocab,
			m->n_vocab);
	return 0;
}

/* A table of learned positions bounds the context. */
static void count_positions(struct model *m)
{
	const struct gguf_tensor *t = gguf_tensor(m->gguf, "position_embd.weight");

	m->n_ctx_max = t ? (size_t)t->dim[1] : SIZE_MAX;
	if (m->n_ctx_train > m->n_ctx_max)
		m->n_ctx_train = m->n_ctx_max;
}

/* A table that no product reads leaves the activations as they are. */
static void measure(struct model *m)
{
	const struct gguf_tensor *t, *table = gguf_tensor(m->gguf, "per_layer_token_embd.weight");

	for (uint64_t i = 0; i < m->gguf->n_tensors; i++) {
		t = &m->gguf->tensors[i];
		m->bytes += t->bytes;
		m->quantised |= t != table && t->n_dims > 1 && format_of(t->type) && format_of(t->type)->read;
	}
}

/* The last layers of the file may predict further tokens: they are not run. */
static int drop_predicting(struct model *m, struct why *w)
{
	size_t n = 0;

	m->n_block = m->n_layer;
	if (m->family->predicts && key_size(m, "nextn_predict_layers", 0, m->n_layer - 1, &n, w) < 0)
		return -1;
	m->n_layer -= n;
	return 0;
}

/* The fingerprint stays that of the file, which other programs know. */
static int set_values(struct model *m, const char *const *set, struct why *w)
{
	m->fingerprint = gguf_model_fingerprint(m->gguf);
	if (!set || !*set)
		return 0;
	for (; *set; set++)
		if (gguf_set(m->gguf, *set, w) < 0)
			return why_in(w, "--set");
	m->settings = gguf_model_fingerprint(m->gguf) ^ m->fingerprint;
	return 0;
}

/* A value that has no effect is an error, not a surprise. */
static int check_set(const struct model *m, struct why *w)
{
	const char *key = gguf_unasked(m->gguf);

	return key ? why(w, "--set: %s: not a key of architecture %s", key, m->arch) : 0;
}

static int read_all(struct model *m, struct why *w)
{
	m->used = calloc(m->gguf->n_tensors + 1, 1);
	if (!m->used)
		return why(w, "out of memory");
	m->embedding_scale = m->residual_scale = m->logit_scale = 1;
	m->n_streams = 1;
	if (read_architecture(m, w) < 0 || check_causal(m, w) < 0
	    || key_required(m, "block_count", 1, LAYERS_MAX, &m->n_layer, w) < 0
	    || drop_predicting(m, w) < 0 || key_required(m, "embedding_length", 1, EMBD_MAX, &m->n_embd, w) < 0
	    || key_required(m, "context_length", 1, CTX_MAX, &m->n_ctx_train, w) < 0
	    || layers_read(m, w) < 0 || keys_refuse_features(m, w) < 0 || read_epsilon(m, w) < 0
	    || read_vocabulary(m, w) < 0 || check_others(m, w) < 0
	    || vocab_check_merges(m->gguf, w) < 0 || check_set(m, w) < 0)
		return -1;
	count_positions(m);
	measure(m);
	m->vocab = gguf_vocab_fingerprint(m->gguf);
	return 0;
}

struct model *model_open(const char *path, const char *const *set, struct why *w)
{
	struct model *m = calloc(1, sizeof *m);

	if (!m) {
		why(w, "%s: out of memory", path);
		return NULL;
	}
	m->gguf = gguf_open(path, 1, w);
	if (!m->gguf) {
		free(m);
		return NULL;
	}
	if (set_values(m, set, w) < 0 || read_all(m, w) < 0) {
		why_in(w, path);
		model_close(m);
		return NULL;
	}
	return m;
}

void model_close(struct model *m)
{
	if (!m)
		return;
	for (struct vector *v = m->vectors, *next; v; v = next) {
		next = v->next;
		free(v);
	}
	free(m->layer);
	free(m->used);
	gguf_close(m->gguf);
	free(m);
}

/* ---- tensors ---- */

int model_has(const struct model *m, const char *name)
{
	return gguf_tensor(m->gguf, name) != NULL;
}

void model_ignore(struct model *m, const char *name)
{
	const struct gguf_tensor *t = gguf_tensor(m->gguf, name);

	if (t)
		m->used[t - m->gguf->tensors] = 1;
}

int model_check_type(const struct gguf_tensor *t, struct why *w)
{
	size_t block, bytes;
	const char *name = format_layout(t->type, &block, &bytes);

	return format_of(t->type) ? 0
		: why(w, "tensor %.*s: type %s is not supported (fwd --list names those that are)",
		GGUF_SHOWN(t->name), name ? name : "unknown");
}

/* The n matrices of this name, shape and a supported type; marked as used. That their rows are whole blocks, aligned,
 * and within the file was checked with the file. */
static const struct gguf_tensor *find(struct model *m, const char *name, size_t n, size_t rows, size_t cols,
	struct why *w)
{
	const struct gguf_tensor *t = gguf_tensor(m->gguf, name);

	if (!t) {
		why(w, "tensor %s: missing", name);
		return NULL;
	}
	m->used[t - m->gguf->tensors] = 1;
	if (t->dim[0] != cols || t->dim[1] != rows || t->dim[2] != n || t->dim[3] != 1) {
		why(w, "tensor %s: %llu x %llu x %llu x %llu elements, not %zu x %zu x %zu", name,
			(unsigned long long)t->dim[0], (unsigned long long)t->dim[1], (unsigned long long)t->dim[2],
			(unsigned long long)t->dim[3], cols, rows, n);
		return NULL;
	}
	return model_check_type(t, w) < 0 ? NULL : t;
}

float *model_floats(struct model *m, size_t n)
{
	struct vector *v = calloc(1, sizeof *v + n * sizeof *v->x);

	if (!v)
		return NULL;
	v->next = m->vectors;
	m->vectors = v;
	return v->x;
}

/* What stands for n elements of a tensor that is refused, where all faults are looked for. */
static int stand_in(struct model *m, size_t n, const float **out, struct why *w)
{
	if (!m->fault)
		return -1;
	m->fault(m->fault_context, w->text);
	*out = model_floats(m, n);
	return *out ? 0 : why(w, "out of memory");
}

int model_matrices(struct model *m, const char *name, size_t n, size_t rows, size_t cols, struct matrix *out,
	struct why *w)
{
	const struct gguf_tensor *t = find(m, name, n, rows, cols, w);
	const struct format *f = format_of(t ? t->type : FORMAT_F32);
	const float *zeroes = NULL;

	if (!t && stand_in(m, n * rows * cols, &zeroes, w) < 0)
		return -1;
	*out = (struct matrix){ .format = f, .data = t ? t->data : zeroes, .rows = rows, .cols = cols,
		.row_bytes = cols / f->block * f->bytes };
	return 0;
}

int model_matrix(struct model *m, const char *name, size_t rows, size_t cols, struct matrix *out, struct why *w)
{
	return model_matrices(m, name, 1, rows, cols, out, w);
}

int model_vector(struct model *m, const char *name, size_t n, const float **out, struct why *w)
{
	const struct gguf_tensor *t = gguf_tensor(m->gguf, name);
	float *x;

	if (t && t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3] == n) {  /* in whatever shape */
		model_ignore(m, name);
		t = model_check_type(t, w) < 0 ? NULL : t;
	} else
		t = find(m, name, 1, 1, n, w);
	if (!t)
		return stand_in(m, n, out, w);
	x = model_floats(m, n);
	if (!x)
		return why(w, "tensor %s: out of memory", name);
	format_dequantise(format_of(t->type), t->data, x, n);
	*out = x;
	return 0;
}

/* The layer that a tensor belongs to; SIZE_MAX: none. */
static size_t layer_of(struct gguf_string name)
{
	size_t il = 0, i = 4;

	if (name.n < 6 || memcmp(name.s, "blk.", 4))
		return SIZE_MAX;
	for (; i < name.n && name.s[i] >= '0' && name.s[i] <= '9' && il < LAYERS_MAX; i++)
		il = 10 * il + (size_t)(name.s[i] - '0');
	return i > 4 && i < name.n && name.s[i] == '.' ? il : SIZE_MAX;
}

int model_all_used(const struct model *m, size_t first, size_t last, struct why *w)
{
	int whole = first == 0 && last == m->n_layer;

	for (uint64_t i = 0; i < m->gguf->n_tensors; i++) {
		struct gguf_string s = m->gguf->tensors[i].name;
		size_t il = layer_of(s);

		if (il >= m->n_layer && il < m->n_block)
			continue;
		if (m->used[i] || !(whole || (il >= first && il < last)))
			continue;
		why(w, "tensor %.*s: unknown for architecture %s", s.n < 128 ? (int)s.n : 128, s.s, m->arch);
		if (!m->fault)
			return -1;
		m->fault(m->fault_context, w->text);
	}
	return 0;
}
