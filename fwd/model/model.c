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

static int check_causal(struct model *m, struct why *w)
{
	int causal = 1;

	if (gguf_bool(m->gguf, key_name(m, "attention.causal").s, &causal, w) < 0)
		return -1;
	if (!causal)
		why(w, "%s: false: not a generative model", key_name(m, "attention.causal").s);
	return causal ? 0 : why_tell(m->faults, w);
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

/* A size that the tensors tell, too: in a survey, where its key is faulty, they do. */
static int key_or_tensors(struct model *m, const char *name, size_t most, size_t of_tensors, size_t *out, struct why *w)
{
	int unsure = m->unsure;

	if (key_required(m, name, 1, most, out, w) < 0)
		return -1;
	if (m->unsure > unsure && of_tensors && of_tensors <= most) {
		*out = of_tensors;
		m->unsure = unsure;
	}
	return 0;
}

static int read_sizes(struct model *m, struct why *w)
{
	const struct gguf_tensor *embd = gguf_tensor(m->gguf, "token_embd.weight");
	size_t layers = 0, il, predicting = 0;

	for (uint64_t i = 0; m->faults && i < m->gguf->n_tensors; i++)
		if ((il = layer_of(m->gguf->tensors[i].name)) < LAYERS_MAX && il >= layers)
			layers = il + 1;
	if (key_or_tensors(m, "block_count", LAYERS_MAX, layers, &m->n_layer, w) < 0
	    || key_or_tensors(m, "embedding_length", EMBD_MAX, embd ? (size_t)embd->dim[0] : 0, &m->n_embd, w) < 0
	    || key_required(m, "context_length", 1, CTX_MAX, &m->n_ctx_train, w) < 0)
		return -1;
	/* The last layers of the file may predict further tokens: they are not run. */
	m->n_block = m->n_layer;
	if (m->family->predicts && key_size(m, "nextn_predict_layers", 0, m->n_layer - 1, &predicting, w) < 0)
		return -1;
	m->n_layer -= predicting;
	return 0;
}

static int read_epsilon(struct model *m, struct why *w)
{
	static const char rms[] = "attention.layer_norm_rms_epsilon", layer[] = "attention.layer_norm_epsilon";
	const char *name = m->family->norm == NORM_RMS ? rms : layer;
	double eps = 0;

	if (m->family->either_epsilon && !gguf_find(m->gguf, key_name(m, name).s))
		name = layer;
	if (!gguf_find(m->gguf, key_name(m, name).s)) {
		why(w, "%s: missing", key_name(m, name).s);
		return why_tell(m->faults, w);
	}
	if (key_real(m, name, 0, 1, &eps, w) < 0)
		return -1;
	m->eps = (float)eps;
	return 0;
}

static int read_vocabulary(struct model *m, struct why *w)
{
	const struct gguf_tensor *embd = gguf_tensor(m->gguf, "token_embd.weight");
	const struct gguf_value *tokens = gguf_find(m->gguf, "tokenizer.ggml.tokens");

	if (embd && embd->dim[1] <= FRAME_VOCAB_MAX) {
		m->n_vocab = (size_t)embd->dim[1];
		return 0;
	}
	if (embd)
		why(w, "tensor token_embd.weight: %llu rows, more than %d", (unsigned long long)embd->dim[1],
			FRAME_VOCAB_MAX);
	else
		why(w, "tensor token_embd.weight: missing");
	m->n_vocab = tokens && tokens->n <= FRAME_VOCAB_MAX ? (size_t)tokens->n : 1;
	return why_tell(m->faults, w);
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
		if (check_form(m, others[i].name, others[i].form, w) < 0 && why_tell(m->faults, w) < 0)
			return -1;
	if (key_size(m, "vocab_size", 1, FRAME_VOCAB_MAX, &n_vocab, w) < 0)
		return -1;
	if (n_vocab == m->n_vocab)
		return 0;
	why(w, "%s: %zu, but token_embd.weight has %zu rows", key_name(m, "vocab_size").s, n_vocab, m->n_vocab);
	return why_tell(m->faults, w);
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
static int check_set(struct model *m, struct why *w)
{
	const char *key = gguf_unasked(m->gguf);

	return key ? why(w, "--set: %s: not a key of architecture %s", key, m->arch) : 0;
}

static int check_merges(struct model *m, struct why *w)
{
	return vocab_check_merges(m->gguf, w);
}

/* What depends on the architecture, then the vocabulary. In a survey each step is taken that does not need one that
 * failed. */
static int read_all(struct model *m, struct why *w)
{
	static int (*const steps[])(struct model *m, struct why *w) = {
		read_architecture, check_causal, read_sizes, layers_read, keys_refuse_features, read_epsilon,
		read_vocabulary, check_others, check_merges, check_set
	};
	enum { STEPS = sizeof steps / sizeof *steps, VOCABULARY = 6 };

	m->used = calloc(m->gguf->n_tensors + 1, 1);
	if (!m->used)
		return why(w, "out of memory");
	m->embedding_scale = m->residual_scale = m->logit_scale = 1;
	m->n_streams = 1;
	m->ready = 1;
	for (size_t i = 0; i < STEPS; i++) {
		if (steps[i](m, w) == 0)
			continue;
		if (why_tell(m->faults, w) < 0)
			return -1;
		m->ready &= i >= VOCABULARY;
		i = i < VOCABULARY ? VOCABULARY - 1 : i;
	}
	count_positions(m);
	measure(m);
	m->vocab = gguf_vocab_fingerprint(m->gguf);
	return 0;
}

/* Of a file that is open, or NULL. */
static struct model *model_of(struct gguf *g, const char *const *set, const struct faults *faults, struct why *w)
{
	struct model *m = g ? calloc(1, sizeof *m) : NULL;

	if (!m) {
		if (g)
			why(w, "%s: out of memory", g->path);
		gguf_close(g);
		return NULL;
	}
	m->gguf = g;
	m->faults = faults;
	if ((!faults && set_values(m, set, w) < 0) || read_all(m, w) < 0) {
		why_in(w, g->path);
		model_close(m);
		return NULL;
	}
	return m;
}

struct model *model_open(const char *path, const char *const *set, struct why *w)
{
	return model_of(gguf_open(path, 1, w), set, NULL, w);
}

struct model *model_survey(const char *path, const struct faults *faults, struct why *w)
{
	return model_of(gguf_survey(path, faults, w), NULL, faults, w);
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
	int bad = 0;

	if (t)
		m->used[t - m->gguf->tensors] = 1;
	if (t && !t->data)
		return NULL;    /* told when the file was opened */
	if (!t)
		bad = why(w, "tensor %s: missing", name);
	else if (t->dim[0] == cols && t->dim[1] == rows && t->dim[2] * t->dim[3] == n)
		bad = model_check_type(t, w);
	else if (m->unsure)
		return NULL;
	else
		bad = why(w, "tensor %s: %llu x %llu x %llu x %llu elements, not %zu x %zu x %zu", name,
			(unsigned long long)t->dim[0], (unsigned long long)t->dim[1], (unsigned long long)t->dim[2],
			(unsigned long long)t->dim[3], cols, rows, n);
	if (bad)
		why_tell(m->faults, w);
	return bad ? NULL : t;
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
	if (!m->faults)
		return -1;
	*out = model_floats(m, n);
	return *out ? 0 : why(w, "out of memory");
}

int model_matrices(struct model *m, const char *name, size_t n, size_t rows, size_t cols, struct matrix *out,
	struct why *w)
{
	const struct gguf_tensor *t = find(m, name, n, rows, cols, w);
	const struct format *f = format_of(t ? t->type : FORMAT_F32);

	if (!t && !m->faults)
		return -1;
	*out = (struct matrix){ .format = f, .data = t ? t->data : NULL, .rows = rows, .cols = cols,
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

	if (t && t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3] == n)    /* in whatever shape */
		t = find(m, name, (size_t)(t->dim[2] * t->dim[3]), (size_t)t->dim[1], (size_t)t->dim[0], w);
	else
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
		if (why_tell(m->faults, w) < 0)
			return -1;
	}
	return 0;
}
