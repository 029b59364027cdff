/* read: a file's vocabulary, checked. A key with a wrong value is an error even in programs that do not use it, so that
 * every program refuses a damaged file. (Only chat reads the templates.) */
#include "encoder.h"

#include <inttypes.h>
#include <math.h>
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
	v->lacks_pre = !pre.n;
	if (v->lacks_pre)
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

/* An array with an element for each token; *out stays as it is if there is none. */
static int read_column(const struct vocab *v, const char *key, uint32_t of, const struct gguf_value **out,
	struct why *w)
{
	int found = gguf_array(v->g, key, of, out, w);

	if (found > 0 && (*out)->n != v->tokens.n)
		return why(w, "%s: %" PRIu64 " elements for %u tokens", key, (*out)->n, v->tokens.n);
	return found < 0 ? -1 : 0;
}

static int read_types(struct vocab *v, struct why *w)
{
	static const char key[] = "tokenizer.ggml.token_type";
	const struct gguf_value *given = gguf_find(v->g, key);

	if (read_column(v, key, given && given->of == GGUF_U32 ? GGUF_U32 : GGUF_I32, &v->types, w))
		return -1;
	v->type = malloc(v->tokens.n);
	if (!v->type)
		return why(w, "out of memory");
	for (uint32_t i = 0; i < v->tokens.n; i++) {
		uint32_t type = v->types ? le32(v->types->data + 4 * (size_t)i) : VOCAB_NORMAL;

		if (type > VOCAB_BYTE)
			return why(w, "%s: number %u: %" PRId32 " is not a type of tokens", key, i, (int32_t)type);
		v->type[i] = (unsigned char)type;
	}
	return 0;
}

static int read_tokens(struct vocab *v, struct why *w)
{
	const struct gguf_value *tokens;
	int found = gguf_array(v->g, "tokenizer.ggml.tokens", GGUF_STRING, &tokens, w);

	if (found <= 0)
		return found < 0 ? -1 : why(w, "tokenizer.ggml.tokens: missing, so there is no vocabulary");
	if (!tokens->n || tokens->n > FRAME_VOCAB_MAX)
		return why(w, "tokenizer.ggml.tokens: %" PRIu64 " tokens (1 to %d are allowed)", tokens->n,
			FRAME_VOCAB_MAX);
	if (names_open(&v->tokens, tokens, w))
		return -1;
	v->pieces = malloc((size_t)(tokens->end - tokens->data) + 1);   /* pages of unprinted pieces stay untouched */
	return v->pieces ? 0 : why(w, "out of memory");
}

static int read_rules(struct vocab *v, struct why *w)
{
	if (vocab_read_id(v, "tokenizer.ggml.bos_token_id", &v->rules.bos, w)
	    || vocab_read_id(v, "tokenizer.ggml.eos_token_id", &v->rules.eos, w))
		return -1;
	if (gguf_bool(v->g, "tokenizer.ggml.add_bos_token", &v->rules.add_bos, w) < 0
	    || gguf_bool(v->g, "tokenizer.ggml.add_eos_token", &v->rules.add_eos, w) < 0
	    || gguf_bool(v->g, "tokenizer.ggml.add_space_prefix", &v->rules.space_prefix, w) < 0)
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

/* What the names of the model and of its architecture say. */
static int read_names(struct vocab *v, struct why *w)
{
	const struct gguf_tensor *embd = gguf_tensor(v->g, "token_embd.weight");
	struct gguf_string name = { "", 0 }, architecture = { "", 0 };

	if (gguf_text(v->g, "general.name", &name, w) < 0
	    || gguf_text(v->g, "general.architecture", &architecture, w) < 0)
		return -1;
	if (contains(architecture, "nomic-bert-moe") || contains(architecture, "jina-bert-v3"))
		v->mask = "<mask>";
	if (!v->mask && (contains(name, "phi3") || contains(name, "phi-3")))
		v->phi3 = 1;
	else if (!v->mask && contains(name, "modern-bert"))
		v->mask = "[MASK]";
	if (embd && v->tokens.n > embd->dim[1])
		return why(w, "tokenizer.ggml.tokens: %u tokens, but token_embd.weight has %" PRIu64 " rows",
			v->tokens.n, embd->dim[1]);
	return 0;
}

static int read_scores(struct vocab *v, struct why *w)
{
	if (read_column(v, "tokenizer.ggml.scores", GGUF_F32, &v->scores, w))
		return -1;
	if (!v->scores)
		return v->kind->flags & KIND_SCORES ? why(w, "tokenizer.ggml.scores: missing") : 0;
	for (uint32_t i = 0; i < v->tokens.n; i++)
		if (!isfinite(vocab_score(v, i)))
			return why(w, "tokenizer.ggml.scores: number %u: not finite", i);
	return 0;
}

int vocab_supported(const struct gguf *g, struct why *w)
{
	struct vocab v = { .g = g };

	return read_kind(&v, w) == 0;
}

int vocab_read(struct vocab *v, struct why *w)
{
	return read_kind(v, w) || read_tokens(v, w) || read_types(v, w) || keys_check(v, w) || read_names(v, w)
		|| read_rules(v, w) || read_scores(v, w) || merges_read(v, w) ? -1 : 0;
}
