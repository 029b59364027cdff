/* keys: single values. A key that is there and wrong is an error in every program, also where nothing uses it: the file
 * is damaged, and no default can stand in for what it meant. */
#include "encoder.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/gguf/architecture.h"

static const char *const ids[] = {
	"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
	"tokenizer.ggml.eom_token_id", "tokenizer.ggml.unknown_token_id", "tokenizer.ggml.seperator_token_id",
	"tokenizer.ggml.padding_token_id", "tokenizer.ggml.cls_token_id", "tokenizer.ggml.mask_token_id",
	"tokenizer.ggml.fim_pre_token_id", "tokenizer.ggml.fim_suf_token_id", "tokenizer.ggml.fim_mid_token_id",
	"tokenizer.ggml.fim_pad_token_id", "tokenizer.ggml.fim_rep_token_id", "tokenizer.ggml.fim_sep_token_id",
	"tokenizer.ggml.prefix_token_id", "tokenizer.ggml.suffix_token_id", "tokenizer.ggml.middle_token_id"
};

static const char *const flags[] = {
	"tokenizer.ggml.add_bos_token", "tokenizer.ggml.add_eos_token", "tokenizer.ggml.add_sep_token",
	"tokenizer.ggml.add_space_prefix", "tokenizer.ggml.remove_extra_whitespaces",
	"tokenizer.ggml.normalizer.lowercase", "tokenizer.ggml.normalizer.strip_accents"
};

/* of the architecture */
static const struct {
	const char *name;
	enum { COUNT, COUNTS, REAL } kind;      /* COUNTS: an integer, or an array with one for each layer */
} sizes[] = {
	{ "context_length", COUNT }, { "embedding_length", COUNT }, { "block_count", COUNT },
	{ "vocab_size", COUNT },        /* as in llama.cpp, the tokens themselves are counted */
	{ "feed_forward_length", COUNTS },
	{ "attention.head_count", COUNTS }, { "attention.head_count_kv", COUNTS },
	{ "attention.layer_norm_rms_epsilon", REAL }, { "attention.layer_norm_epsilon", REAL },
	{ "rope.freq_base", REAL },
};

int vocab_read_id(const struct vocab *v, const char *key, int32_t *id, struct why *w)
{
	int64_t given = UINT32_MAX, n = v->tokens.n;

	if (gguf_integer(v->g, key, INT64_MIN, INT64_MAX, &given, w) < 0)
		return -1;
	if (given == UINT32_MAX)
		given = *id < n ? *id : -1;
	else if (given < 0 || given >= n)
		return why(w, "%s: %" PRId64 " is not an id of the vocabulary, 0 to %" PRId64, key, given, n - 1);
	*id = (int32_t)given;
	return 0;
}

static int check_size(const struct gguf *g, const char *key, int kind, struct why *w)
{
	const struct gguf_value *v = gguf_find(g, key);
	int64_t count;
	double real;

	if (!v || (kind == COUNTS && v->type == GGUF_ARRAY))
		return 0;
	return kind == REAL ? gguf_real(g, key, &real, w) : gguf_integer(g, key, 0, UINT32_MAX, &count, w);
}

int keys_check(const struct vocab *v, struct why *w)
{
	struct gguf_string architecture = { "", 0 };
	int found = gguf_text(v->g, "general.architecture", &architecture, w), flag;
	char key[128];
	int32_t id;

	if (found <= 0)
		return found < 0 ? -1 : why(w, "general.architecture: missing");
	if (!architecture_known(architecture))
		return why(w, "general.architecture: \"%.*s\" is not supported (fwd --list names those that are)",
			GGUF_SHOWN(architecture));
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		snprintf(key, sizeof key, "%.*s.%s", GGUF_SHOWN(architecture), sizes[i].name);
		if (check_size(v->g, key, sizes[i].kind, w) < 0)
			return -1;
	}
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (gguf_bool(v->g, flags[i], &flag, w) < 0)
			return -1;
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		id = -1;
		if (vocab_read_id(v, ids[i], &id, w))
			return -1;
	}
	return 0;
}
