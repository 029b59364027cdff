/* Hyperparameters and the keys of the vocabulary. Files come from strangers, so each value is checked before it is
 * used. */
#include "model.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/size.h"
#include "lib/stream/frame.h"
#include "lib/vocab/vocab.h"
#include "diffusion.h"
#include "embedder.h"
#include "expected.h"
#include "family.h"
#include "layers.h"
#include "tensors.h"

/* No real model comes near this, and products of two or three such bounds do not overflow. */
enum { EMBD_MAX = 1 << 20 };

/* ---- hyperparameters ---- */

/* Refuses a file for the value of this key. */
static int unsupported(const char *key, struct gguf_string value, struct why *w)
{
	const char *other = family_other(value.s, value.n);

	return why(w, "%s: \"%.*s\" is not supported%s%s", key, GGUF_SHOWN(value),
		other ? ": " : " (fwd --list names those that are)", other ? other : "");
}

static int read_architecture(struct model *m, struct why *w)
{
	struct gguf_string s;
	int found = gguf_text(m->gguf, "general.type", &s, w);

	if (found > 0 && family_other(s.s, s.n))
		return unsupported("general.type", s, w);
	if (found >= 0)
		found = gguf_text(m->gguf, "general.architecture", &s, w);
	if (found < 0)
		return -1;
	if (!found)
		return why(w, "general.architecture: missing");
	snprintf(m->arch, sizeof m->arch, "%.*s", s.n < sizeof m->arch ? (int)s.n : (int)sizeof m->arch - 1, s.s);
	m->family = family_of(m->arch);
	if (!m->family || s.n != strlen(m->arch))
		return unsupported("general.architecture", s, w);
	return 0;
}

/* A size that can be told from the tensors, too. In a survey, that replaces a faulty key. */
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

static int has_predicting(const struct model *m)
{
	static const char part[] = ".nextn.";

	for (uint64_t i = 0; i < m->gguf->n_tensors; i++) {
		struct gguf_string s = m->gguf->tensors[i].name;

		for (uint64_t at = 0; at + strlen(part) <= s.n; at++)
			if (!memcmp(s.s + at, part, strlen(part)))
				return 1;
	}
	return 0;
}

/* The embedding matrix, or NULL. */
static const struct gguf_tensor *embedding(const struct model *m)
{
	const struct gguf_tensor *t = gguf_tensor(m->gguf, "token_embd.weight");

	return t || !m->family || !m->family->embeds_output ? t : gguf_tensor(m->gguf, "output.weight");
}

static int read_sizes(struct model *m, struct why *w)
{
	const struct gguf_tensor *embd = embedding(m);
	size_t layers = 0, il, predicting = 0;

	for (uint64_t i = 0; m->faults && i < m->gguf->n_tensors; i++)
		if ((il = tensors_layer(m->gguf->tensors[i].name)) < TENSORS_LAYERS && il >= layers)
			layers = il + 1;
	if (key_or_tensors(m, "block_count", TENSORS_LAYERS, layers, &m->n_layer, w) < 0
	    || key_or_tensors(m, "embedding_length", EMBD_MAX, embd ? (size_t)embd->dim[0] : 0, &m->n_embd, w) < 0
	    || key_required(m, "context_length", 1, CTX_MAX, &m->n_ctx_train, w) < 0)
		return -1;
	/* The last layers may be for multi-token prediction. They are not run. */
	m->n_block = m->n_layer;
	if (key_size(m, "nextn_predict_layers", 0, m->family->predicts ? m->n_layer - 1 : 0, &predicting, w) < 0)
		return -1;
	m->n_layer -= m->family->predicts == PREDICTS_BY_NAME && !has_predicting(m) ? 0 : predicting;
	return 0;
}

static int read_epsilon(struct model *m, struct why *w)
{
	static const char rms[] = "attention.layer_norm_rms_epsilon", layer[] = "attention.layer_norm_epsilon";
	const char *name = m->norm == NORM_RMS ? rms : layer;
	double eps = 0;

	if (m->family->epsilon == EPSILON_NONE)
		return 0;
	if (m->family->epsilon == EPSILON_EITHER && !gguf_find(m->gguf, key_name(m, name).s))
		name = layer;
	if (m->family->epsilon != EPSILON_OPTIONAL && !gguf_find(m->gguf, key_name(m, name).s)) {
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
	const struct gguf_tensor *embd = embedding(m);
	const struct gguf_value *tokens = gguf_find(m->gguf, "tokenizer.ggml.tokens");

	if (embd && embd->dim[1] <= FRAME_VOCAB_MAX) {
		m->n_vocab = (size_t)embd->dim[1];
		return 0;
	}
	if (embd)
		why(w, "tensor %.*s: %llu rows, more than %d", GGUF_SHOWN(embd->name),
			(unsigned long long)embd->dim[1], FRAME_VOCAB_MAX);
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
	case TOKEN: return gguf_integer(m->gguf, name, INT64_MIN, INT64_MAX, &integer, w); /* see vocab_read_id() */
	case FLAG: return gguf_bool(m->gguf, name, &flag, w);
	case TEXT: return gguf_text(m->gguf, name, &text, w);
	case TEXTS: return gguf_array(m->gguf, name, GGUF_STRING, &v, w);
	case TYPES: flag = gguf_array(m->gguf, name, v->of == GGUF_U32 ? GGUF_U32 : GGUF_I32, &v, w); break;
	default: flag = gguf_array(m->gguf, name, form == SCORES ? GGUF_F32 : GGUF_STRING, &v, w);
	}
	if (flag > 0 && v->n != m->n_vocab)
		return why(w, "%s: %llu elements, but the embedding has %zu rows", name, (unsigned long long)v->n,
			m->n_vocab);
	return flag;
}

/* A file in which one of these is wrong is damaged, even if no program here reads the key. */
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
	size_t ignored;         /* vocab_size may differ from the number of tokens, as in llama.cpp */

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (check_form(m, others[i].name, others[i].form, w) < 0 && why_tell(m->faults, w) < 0)
			return -1;
	return key_size(m, "vocab_size", 0, UINT32_MAX, &ignored, w);
}

/* A table of learned positions limits the context. */
static void count_positions(struct model *m)
{
	const struct gguf_tensor *t = gguf_tensor(m->gguf, "position_embd.weight");

	if (t)
		m->n_ctx_max = (size_t)t->dim[1];
	if (m->n_ctx_train > m->n_ctx_max)
		m->n_ctx_train = m->n_ctx_max;
}

/* Whether some matrix is quantised. A table that is only looked up does not count, because activations are not
 * quantised for it. */
static void measure(struct model *m)
{
	const struct gguf_tensor *t, *table = gguf_tensor(m->gguf, "per_layer_token_embd.weight");

	for (uint64_t i = 0; i < m->gguf->n_tensors; i++) {
		t = &m->gguf->tensors[i];
		m->bytes += t->bytes;
		m->quantised |= t != table && t->n_dims > 1 && format_of(t->type) && format_of(t->type)->read;
	}
}

/* The fingerprint remains that of the file, because other programs compare with it. */
static int set_values(struct model *m, const char *const *set, struct why *w)
{
	m->fingerprint = gguf_model_fingerprint(m->gguf);
	if (!set || !*set)
		return 0;
	for (; *set; set++)
		if (gguf_set(m->gguf, *set, w) < 0)
			return why_in(w, "--override");
	m->settings = gguf_model_fingerprint(m->gguf) ^ m->fingerprint;
	return 0;
}

/* A value set for a key that nobody reads is an error, so that a typo does not go unnoticed. */
static int check_set(struct model *m, struct why *w)
{
	const char *key = gguf_unasked(m->gguf);

	return key ? why(w, "--override: %s: not a key of architecture %s", key, m->arch) : 0;
}

/* A model whose vocabulary is of an unknown kind runs all the same, on ids. For tok this is a fault, which a survey
 * reports elsewhere. */
static int check_vocabulary(struct model *m, struct why *w)
{
	struct why unsupported;

	if (!m->faults && gguf_find(m->gguf, "tokenizer.ggml.tokens") && !vocab_supported(m->gguf, &unsupported))
		model_note(m, "%s; run without a vocabulary", unsupported.text);
	return vocab_check(m->gguf, w);
}

typedef int reader(struct model *m, struct why *w);

/* Takes the steps up to the NULL. Returns 1 if one has failed and the survey goes on. */
static int read_steps(struct model *m, reader *const *step, int each_needs_last, struct why *w)
{
	int failed = 0;

	for (; *step && !(failed && each_needs_last); step++)
		if ((*step)(m, w)) {
			if (why_tell(m->faults, w) < 0)
				return -1;
			failed = 1;
		}
	return failed;
}

/* Reads what depends on the architecture, then the vocabulary. A survey skips only the steps that need one that
 * failed. */
static int read_all(struct model *m, struct why *w)
{
	static reader *const architecture[] = { read_architecture, read_sizes, layers_read,
		embedder_read, keys_note_unused, read_epsilon, NULL };
	static reader *const vocabulary[] = { read_vocabulary, diffusion_read, check_others, check_vocabulary,
		check_set, NULL };
	int failed;

	m->used = calloc(m->gguf->n_tensors + 1, 1);
	if (!m->used)
		return why(w, "out of memory");
	m->embedding_scale = m->residual_scale = m->logit_scale = m->attn_out_scale = 1;
	m->n_streams = 1;
	m->n_ctx_max = SIZE_MAX;
	failed = read_steps(m, architecture, 1, w);
	m->ready = !failed;
	if (failed < 0 || read_steps(m, vocabulary, 0, w) < 0)
		return -1;
	count_positions(m);
	measure(m);
	m->vocab = gguf_vocab_fingerprint(m->gguf);
	if (m->ready)
		expected_note(m);
	return 0;
}

/* Opens what is added to the model. */
static int open_added(struct model *m, const struct model_setup *setup, struct why *w)
{
	m->lora = calloc(setup->n_lora + 1, sizeof *m->lora);
	m->control = calloc(m->n_layer + 1, sizeof *m->control);
	if (!m->lora || !m->control)
		return why(w, "out of memory");
	for (size_t i = 0; i < setup->n_lora; i++) {
		m->n_lora++;
		if (lora_open(&m->lora[i], setup->lora[i], w) < 0 || lora_check(&m->lora[i], m, w) < 0)
			return -1;
	}
	return control_read(m, &setup->control, w);
}

/* Makes a model of an open file; g NULL returns NULL. */
static struct model *model_of(struct gguf *g, const struct model_setup *setup, const struct faults *faults,
	struct why *w)
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
	m->notes = setup->notes;
	m->ignores_unknown = setup->ignores_unknown;
	if ((!faults && set_values(m, setup->set, w) < 0) || read_all(m, w) < 0) {
		why_in(w, g->path);
		model_close(m);
		return NULL;
	}
	if (open_added(m, setup, w) < 0) {
		model_close(m);
		return NULL;
	}
	return m;
}

struct model *model_open(const char *path, const struct model_setup *setup, struct why *w)
{
	const struct model_setup none = { .set = NULL };

	return model_of(gguf_open(path, 1, w), setup ? setup : &none, NULL, w);
}

struct model *model_survey(const char *path, const struct faults *faults, const struct faults *notes, struct why *w)
{
	const struct model_setup setup = { .notes = notes };

	return model_of(gguf_survey(path, faults, w), &setup, faults, w);
}

void model_note(const struct model *m, const char *format, ...)
{
	struct why w;
	va_list ap;

	if (!m->notes)
		return;
	va_start(ap, format);
	vsnprintf(w.text, sizeof w.text, format, ap);
	va_end(ap);
	why_clean(w.text);
	m->notes->tell(m->notes->context, w.text);
}

void *model_own(struct model *m, const void *owner, size_t size)
{
	struct owned *o = m->owned, *end = o + m->n_owned;
	size_t items = size_divide_up(size, sizeof *m->room);

	while (o < end && o->owner != owner)
		o++;
	if (o == end) {
		assert(m->n_owned < OWNERS && m->room_used + items <= sizeof m->room / sizeof *m->room);
		*o = (struct owned){ owner, m->room + m->room_used };
		m->room_used += items;
		m->n_owned++;
	}
	return o->at;
}

void model_close(struct model *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n_lora; i++)
		lora_close(&m->lora[i]);
	free(m->lora);
	free(m->control);
	tensors_close(m);
	free(m->layer);
	free(m->used);
	gguf_close(m->gguf);
	free(m);
}
