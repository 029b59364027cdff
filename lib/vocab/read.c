/* read: a file's vocabulary, checked. A key with a wrong value is an error even in programs that do not use it, so that
 * every program refuses a damaged file. (Only chat reads the templates.) */
#include "priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/le.h"

static const struct kind *const kinds[] = { &spm_kind, &bpe_kind, &gemma4_kind, &rwkv_kind, &ugm_kind, &wpm_kind,
	&plamo2_kind, &whitespace_kind, &dna_kind };

const char *vocab_each(size_t i)
{
	return i < sizeof kinds / sizeof *kinds ? kinds[i]->model : NULL;
}

static int read_pretok(struct vocab *v, struct why *w)
{
	struct gguf_string pre = { "", 0 };

	if (gguf_text(v->g, "tokenizer.ggml.pre", &pre, w) < 0)
		return -1;
	if (!(v->kind->flags & KIND_PRETOK))
		return 0;
	if (v->kind->pre)
		pre = (struct gguf_string){ v->kind->pre, strlen(v->kind->pre) };
	else if (!pre.n)
		pre = (struct gguf_string){ "default", 7 };
	v->pretok = pretok_find(pre.s, pre.n);
	if (!v->pretok)
		return why(w, "tokenizer.ggml.pre: \"%.*s\" is not a supported pre-tokenizer (fwd --list names those "
			"that are)", GGUF_SHOWN(pre));
	v->rules.add_bos = !!(v->pretok->flags & PRETOK_ADD_BOS);
	if (v->pretok->flags & PRETOK_MASK)
		v->mask = "<mask>";
	if (v->pretok->flags & PRETOK_NO_BOS)
		v->rules.bos = -1;
	return 0;
}

static int read_kind(struct vocab *v, struct why *w)
{
	struct gguf_string model;
	int found = gguf_text(v->g, "tokenizer.ggml.model", &model, w);

	if (found <= 0)
		return found < 0 ? -1 : why(w, "tokenizer.ggml.model: missing: no vocabulary");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (gguf_is(model, kinds[i]->model))
			v->kind = kinds[i];
	if (!v->kind)
		return why(w, "tokenizer.ggml.model: \"%.*s\" is not supported (fwd --list names those that are)",
			GGUF_SHOWN(model));
	v->rules = v->kind->rules;
	if (read_pretok(v, w))
		return -1;
	v->plain = v->kind->flags & KIND_PLAIN || (v->pretok && v->pretok->flags & PRETOK_PLAIN);
	v->bytes = v->plain || v->kind->flags & KIND_BYTES || (v->pretok && v->pretok->flags & PRETOK_BYTES);
	return 0;
}

static int read_tokens(struct vocab *v, struct why *w)
{
	const struct gguf_value *tokens, *types = gguf_find(v->g, "tokenizer.ggml.token_type");
	int found = gguf_array(v->g, "tokenizer.ggml.tokens", GGUF_STRING, &tokens, w);

	if (found <= 0)
		return found < 0 ? -1 : why(w, "tokenizer.ggml.tokens: missing, so there is no vocabulary");
	if (!tokens->n || tokens->n > FRAME_VOCAB_MAX)
		return why(w, "tokenizer.ggml.tokens: %" PRIu64 " tokens (1 to %d are allowed)", tokens->n,
			FRAME_VOCAB_MAX);
	if (types && (types->type != GGUF_ARRAY || (types->of != GGUF_I32 && types->of != GGUF_U32)))
		return why(w, "tokenizer.ggml.token_type: not an array of 32-bit integers");
	if (types && types->n != tokens->n)
		return why(w, "tokenizer.ggml.token_type: %" PRIu64 " types for %" PRIu64 " tokens", types->n,
			tokens->n);
	if (names_open(&v->tokens, tokens, w))
		return -1;
	v->type = malloc(v->tokens.n);
	v->pieces = malloc((size_t)(tokens->end - tokens->data) + 1);   /* pages of unprinted pieces stay untouched */
	if (!v->type || !v->pieces)
		return why(w, "out of memory");
	v->types = types ? types->data : NULL;
	for (uint32_t i = 0; i < v->tokens.n; i++)
		v->type[i] = (unsigned char)vocab_given_type(v, i);
	return 0;
}

int vocab_read_id(const struct vocab *v, const char *key, int32_t *id, struct why *w)
{
	int64_t given = -1, n = v->tokens.n;

	if (gguf_integer(v->g, key, INT64_MIN, INT64_MAX, &given, w) < 0)
		return -1;
	*id = (int32_t)(given >= 0 && given < n ? given : *id < n ? *id : -1);
	return 0;
}

static int read_rules(struct vocab *v, struct why *w)
{
	if (vocab_read_id(v, "tokenizer.ggml.bos_token_id", &v->rules.bos, w) ||
	    vocab_read_id(v, "tokenizer.ggml.eos_token_id", &v->rules.eos, w))
		return -1;
	if (gguf_bool(v->g, "tokenizer.ggml.add_bos_token", &v->rules.add_bos, w) < 0 ||
	    gguf_bool(v->g, "tokenizer.ggml.add_eos_token", &v->rules.add_eos, w) < 0 ||
	    gguf_bool(v->g, "tokenizer.ggml.add_space_prefix", &v->rules.space_prefix, w) < 0)
		return -1;
	if (v->pretok)
		v->rules.space_prefix = 0;
	if (v->kind->flags & KIND_NO_ENDS)
		v->rules.add_bos = v->rules.add_eos = 0;
	if (v->pretok && v->pretok->flags & PRETOK_MUST_BOS)
		v->rules.add_bos = 1;
	if (v->kind->read && v->kind->read(v, w))
		return -1;
	if (v->rules.add_bos && v->rules.bos < 0)
		return why(w, "tokenizer.ggml.add_bos_token: set, but there is no BOS token");
	if (v->rules.add_eos && v->rules.eos < 0)
		return why(w, "tokenizer.ggml.add_eos_token: set, but there is no EOS token");
	return 0;
}

/* Whether the name contains this text, in any case. */
static int contains(struct gguf_string name, const char *text)
{
	size_t length = strlen(text);

	for (size_t i = 0; i + length <= name.n; i++)
		if (!strncasecmp(name.s + i, text, length))
			return 1;
	return 0;
}

/* A key of the model that is there and wrong is an error in every program, also where only the vocabulary is used. */
static int check_sizes(const struct gguf *g, struct gguf_string architecture, struct why *w)
{
	static const struct {
		const char *name;
		enum { COUNT, COUNTS, REAL } kind;      /* COUNTS: an integer, or an array with one for each layer */
	} keys[] = {
		{ "context_length", COUNT }, { "embedding_length", COUNT }, { "block_count", COUNT },
		{ "feed_forward_length", COUNTS },
		{ "attention.head_count", COUNTS }, { "attention.head_count_kv", COUNTS },
		{ "attention.layer_norm_rms_epsilon", REAL }, { "attention.layer_norm_epsilon", REAL },
		{ "rope.freq_base", REAL },
	};
	char key[128];
	int64_t count;
	double real;

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const struct gguf_value *v;

		snprintf(key, sizeof key, "%.*s.%s", GGUF_SHOWN(architecture), keys[i].name);
		v = gguf_find(g, key);
		if (!v || (keys[i].kind == COUNTS && v->type == GGUF_ARRAY))
			continue;
		if ((keys[i].kind == REAL ? gguf_real(g, key, &real, w)
			: gguf_integer(g, key, 0, UINT32_MAX, &count, w)) < 0)
			return -1;
	}
	return 0;
}

/* The model's name, and checks of sizes. */
static int read_model(struct vocab *v, struct why *w)
{
	const struct gguf_tensor *embd = gguf_tensor(v->g, "token_embd.weight");
	struct gguf_string name = { "", 0 }, architecture = { "", 0 };
	int64_t ignored;        /* vocab_size: as in llama.cpp, the tokens themselves are counted */
	char key[96];

	if (gguf_text(v->g, "general.name", &name, w) < 0 ||
	    gguf_text(v->g, "general.architecture", &architecture, w) < 0)
		return -1;
	/* These are known by their names alone. */
	if (contains(architecture, "nomic-bert-moe") || contains(architecture, "jina-bert-v3"))
		v->mask = "<mask>";
	if (!v->mask && (contains(name, "phi3") || contains(name, "phi-3")))
		v->phi3 = 1;
	else if (!v->mask && contains(name, "modern-bert"))
		v->mask = "[MASK]";
	if (check_sizes(v->g, architecture, w) < 0)
		return -1;
	snprintf(key, sizeof key, "%.*s.vocab_size", GGUF_SHOWN(architecture));
	if (gguf_integer(v->g, key, 0, UINT32_MAX, &ignored, w) < 0)
		return -1;
	if (embd && v->tokens.n > embd->dim[1])
		return why(w, "tokenizer.ggml.tokens: %u tokens, but token_embd.weight has %" PRIu64 " rows",
			v->tokens.n, embd->dim[1]);
	return 0;
}

static int read_scores(struct vocab *v, struct why *w)
{
	const struct gguf_value *scores;
	int found = gguf_array(v->g, "tokenizer.ggml.scores", GGUF_F32, &scores, w);

	if (found > 0 && scores->n != v->tokens.n)
		return why(w, "tokenizer.ggml.scores: %" PRIu64 " scores for %u tokens", scores->n, v->tokens.n);
	if (found > 0)
		v->scores = scores->data;
	return found < 0 ? -1 : 0;
}

/* A merge is two texts with a space between them. */
static int read_merges(struct vocab *v, struct why *w)
{
	int found = gguf_array(v->g, "tokenizer.ggml.merges", GGUF_STRING, &v->merges, w);
	const unsigned char *at;

	if (found < 0 || !v->pretok)
		return found < 0 ? -1 : 0;
	if (!found && v->pretok->flags & PRETOK_MAY_NOT_MERGE)
		return 0;
	if (!found)
		return why(w, "tokenizer.ggml.merges: missing");
	at = v->merges->data;
	for (uint64_t i = 0; !v->merges->spaced && i < v->merges->n; i++) {
		struct gguf_string s = gguf_next_string(v->merges, &at);

		if (s.n < 3 || !memchr(s.s + 1, ' ', s.n - 2))
			return why(w, "tokenizer.ggml.merges: number %" PRIu64 ": \"%.*s\" is not a pair separated "
				"by a space", i, GGUF_SHOWN(s));
	}
	return 0;
}

int vocab_supported(const struct gguf *g)
{
	struct vocab v = { .g = g };
	struct why ignored;

	return read_kind(&v, &ignored) == 0;
}

int vocab_check_merges(const struct gguf *g, struct why *w)
{
	struct vocab v = { .g = g };
	struct why ignored;

	return read_kind(&v, &ignored) ? 0 : read_merges(&v, w);
}

int vocab_read(struct vocab *v, struct why *w)
{
	if (read_kind(v, w) || read_tokens(v, w) || read_model(v, w) || read_rules(v, w) || read_scores(v, w) ||
	    read_merges(v, w) || known_read(v, w))
		return -1;
	v->card.n_vocab = (int32_t)v->tokens.n;
	v->card.bos = v->rules.bos;
	v->card.vocab = gguf_vocab_fingerprint(v->g);
	return 0;
}
