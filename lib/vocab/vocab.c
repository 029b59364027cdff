/* vocab: what a file says of its vocabulary, and the way from text to ids and back around the two algorithms. */
#include "priv.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/le.h"

/* ---- opening ---- */

static int is_text(struct gguf_string s, const char *text)
{
	return strlen(text) == s.n && !memcmp(s.s, text, s.n);
}

static int open_kind(struct vocab *v, struct why *w)
{
	struct gguf_string model, pre = { "default", 7 };
	int found = gguf_text(v->g, "tokenizer.ggml.model", &model, w);

	if (found <= 0)
		return found < 0 ? -1 : why(w, "tokenizer.ggml.model: missing, so there is no vocabulary");
	v->spm = is_text(model, "llama");
	if (!v->spm && !is_text(model, "gpt2"))
		return why(w, "tokenizer.ggml.model: \"%.*s\" is not supported (\"llama\", which is SPM, and \"gpt2\", which is BPE, are)",
			(int)(model.n < 40 ? model.n : 40), model.s);
	v->space_prefix = v->add_bos = v->spm;
	v->bos = v->spm ? 1 : 11;
	v->eos = v->spm ? 2 : 11;
	if (v->spm)
		return 0;
	if (gguf_text(v->g, "tokenizer.ggml.pre", &pre, w) < 0)
		return -1;
	if (!pre.n)
		pre = (struct gguf_string){ "default", 7 };
	v->pretok = pretok_find(pre.s, pre.n);
	if (!v->pretok)
		return why(w, "tokenizer.ggml.pre: \"%.*s\" is not a pre-tokenizer that we know", (int)(pre.n < 40 ? pre.n : 40), pre.s);
	v->add_bos = !!(v->pretok->flags & PRETOK_ADD_BOS);
	if (v->pretok->flags & PRETOK_NO_BOS)
		v->bos = -1;
	return 0;
}

static int open_tokens(struct vocab *v, struct why *w)
{
	const struct gguf_value *tokens, *types = gguf_find(v->g, "tokenizer.ggml.token_type");
	int found = gguf_array(v->g, "tokenizer.ggml.tokens", GGUF_STRING, &tokens, w);

	if (found <= 0)
		return found < 0 ? -1 : why(w, "tokenizer.ggml.tokens: missing, so there is no vocabulary");
	if (!tokens->n || tokens->n > FRAME_VOCAB_MAX)
		return why(w, "tokenizer.ggml.tokens: %llu tokens (1 to %d are allowed)", (unsigned long long)tokens->n, FRAME_VOCAB_MAX);
	if (types && (types->type != GGUF_ARRAY || (types->of != GGUF_I32 && types->of != GGUF_U32)))
		return why(w, "tokenizer.ggml.token_type: not an array of 32-bit integers");
	if (types && types->n != tokens->n)
		return why(w, "tokenizer.ggml.token_type: %llu types for %llu tokens", (unsigned long long)types->n, (unsigned long long)tokens->n);
	if (names_open(&v->tokens, tokens, w))
		return -1;
	v->type = malloc(v->tokens.n);
	v->pieces = malloc((size_t)(tokens->end - tokens->data) + 1);   /* what is never printed is never touched */
	if (!v->type || !v->pieces)
		return why(w, "out of memory");
	for (uint32_t i = 0; i < v->tokens.n; i++) {
		uint32_t type = types ? le32(types->data + 4 * (size_t)i) : VOCAB_NORMAL;

		v->type[i] = type <= VOCAB_BYTE ? (unsigned char)type : 0;
	}
	return 0;
}

/* A default that the vocabulary is too small for is none. */
static int open_id(const struct vocab *v, const char *key, int32_t *id, struct why *w)
{
	int64_t given = *id < (int32_t)v->tokens.n ? *id : -1;

	if (gguf_integer(v->g, key, 0, (int64_t)v->tokens.n - 1, &given, w) < 0)
		return -1;
	*id = (int32_t)given;
	return 0;
}

static int open_rules(struct vocab *v, struct why *w)
{
	if (open_id(v, "tokenizer.ggml.bos_token_id", &v->bos, w) || open_id(v, "tokenizer.ggml.eos_token_id", &v->eos, w))
		return -1;
	if (gguf_bool(v->g, "tokenizer.ggml.add_bos_token", &v->add_bos, w) < 0 || gguf_bool(v->g, "tokenizer.ggml.add_eos_token", &v->add_eos, w) < 0 ||
	    gguf_bool(v->g, "tokenizer.ggml.add_space_prefix", &v->space_prefix, w) < 0)
		return -1;
	if (v->add_bos && v->bos < 0)
		return why(w, "tokenizer.ggml.add_bos_token: set, but there is no BOS token");
	if (v->add_eos && v->eos < 0)
		return why(w, "tokenizer.ggml.add_eos_token: set, but there is no EOS token");
	return 0;
}

/* Phi-3 is known by its name alone: "phi3" or "phi-3" in any case. */
static int is_phi3(const struct gguf *g)
{
	struct gguf_string name;
	struct why ignored;

	if (gguf_text(g, "general.name", &name, &ignored) <= 0)
		return 0;
	for (size_t i = 0; i + 4 <= name.n; i++) {
		const char *s = name.s + i;

		if ((s[0] | 32) == 'p' && (s[1] | 32) == 'h' && (s[2] | 32) == 'i' &&
		    (s[3] == '3' || (i + 5 <= name.n && s[3] == '-' && s[4] == '3')))
			return 1;
	}
	return 0;
}

static int open_encoder(struct vocab *v, struct why *w)
{
	const struct gguf_value *scores = NULL;
	int found;

	v->work = calloc(1, sizeof *v->work);
	if (!v->work || !(v->work->words = calloc(WORDS, sizeof *v->work->words)))
		return why(w, "out of memory");
	if (special_open(v, w))
		return -1;
	v->phi3 = is_phi3(v->g);
	if (!v->spm) {
		found = gguf_array(v->g, "tokenizer.ggml.merges", GGUF_STRING, &v->merges, w);
		return found > 0 ? 0 : found < 0 ? -1 : why(w, "tokenizer.ggml.merges: missing");
	}
	if (gguf_array(v->g, "tokenizer.ggml.scores", GGUF_F32, &scores, w) < 0)
		return -1;
	if (scores && scores->n != v->tokens.n)
		return why(w, "tokenizer.ggml.scores: %llu scores for %u tokens", (unsigned long long)scores->n, v->tokens.n);
	v->scores = scores ? scores->data : NULL;
	spm_open(v);
	return 0;
}

int vocab_supported(const struct gguf *g)
{
	struct vocab v = { .g = g };
	struct why ignored;

	return open_kind(&v, &ignored) == 0;
}

struct vocab *vocab_open(const struct gguf *g, int need, struct why *w)
{
	struct vocab *v = calloc(1, sizeof *v);

	if (!v) {
		why(w, "%s: out of memory", g->path);
		return NULL;
	}
	v->g = g;
	if (open_kind(v, w) || open_tokens(v, w) || open_rules(v, w) || known_open(v, w) || (need == VOCAB_ENCODE && open_encoder(v, w))) {
		why_in(w, g->path);
		vocab_close(v);
		return NULL;
	}
	v->card.n_vocab = (int32_t)v->tokens.n;
	v->card.bos = v->bos;
	v->card.vocab = gguf_vocab_fingerprint(g);
	return v;
}

void vocab_close(struct vocab *v)
{
	if (!v)
		return;
	special_close(v);
	if (v->work) {
		merge_free(&v->work->merge);
		names_close(&v->work->merges);
		free(v->work->line);
		free(v->work->text);
		free(v->work->spelt);
		free(v->work->words);
	}
	free(v->work);
	names_close(&v->tokens);
	free(v->type);
	free(v->pieces);
	free(v);
}

/* ---- text to ids ---- */

int ids_add(struct ids *ids, int32_t id)
{
	if (ids->n == ids->room && grow(&ids->id, &ids->room, sizeof *ids->id, 256))
		return -1;
	ids->id[ids->n++] = id;
	return 0;
}

int vocab_room(char **p, size_t *room, size_t n)
{
	char *more;

	if (n <= *room)
		return 0;
	n = n < 256 ? 256 : n;
	more = malloc(n);
	if (!more)
		return -1;
	free(*p);
	*p = more;
	*room = n;
	return 0;
}

/* isspace() of the C locale. */
static int is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A stretch of raw text; after: the id before it, or -1 where it is the first. */
static int encode_raw(struct vocab *v, const char *text, size_t n, int32_t after, int flags, struct ids *out, struct why *w)
{
	if (after >= 0 && special_swallows(v, after))
		for (; n && is_space(*text); n--)
			text++;
	if (!n)
		return 0;
	if (v->spm)
		return spm_encode(v, text, n, v->space_prefix && !(after < 0 && flags & VOCAB_CONTINUE), out, w);
	return bpe_encode(v, text, n, !!(flags & VOCAB_RAW), out, w);
}

/* Has the tokens that text[n] can be spelled with indexed by their text: for a short text no others, since indexing a large vocabulary takes longer
 * than all the rest; for a long one, or when a second short one needs more, all. */
static int cover(struct vocab *v, const char *text, size_t n, struct why *w)
{
	enum { SHORT = 512 };
	struct vocab_work *work = v->work;
	unsigned char bytes[256] = { 0 };
	int first = !v->tokens.slots, covered = !first;

	if (covered && work->covers_all)
		return 0;
	if (n <= SHORT) {
		(v->spm ? spm_mark : bpe_mark)(text, n, bytes);
		for (int b = 0; b < 256; b++)
			covered &= bytes[b] <= work->covers[b];
		if (covered)
			return 0;
	}
	work->covers_all = n > SHORT || !first;
	memcpy(work->covers, bytes, sizeof bytes);
	free(work->merges.slots);       /* follow when they are needed */
	work->merges.slots = NULL;
	return names_index(&v->tokens, NAMES_LAST, work->covers_all ? NULL : work->covers, w);
}

static int encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w)
{
	const struct stretches *found = &v->work->cut.found;
	size_t from = 0, at = 0, end;
	int32_t after = -1;
	int more;

	while ((more = special_next(v, !!(flags & VOCAB_SPECIAL), text, n, at, &end)) > 0) {
		at = end;
		for (size_t i = 0; i < found->n; i++) {
			if (found->p[i].id < 0)
				continue;
			if (encode_raw(v, text + from, found->p[i].at - from, after, flags, out, w))
				return -1;
			after = found->p[i].id;
			from = found->p[i].at + found->p[i].n;
			if (ids_add(out, after))
				return why(w, "out of memory");
		}
	}
	if (more < 0)
		return why(w, "out of memory");
	return encode_raw(v, text + from, n - from, after, flags, out, w);
}

int vocab_encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w)
{
	if (flags & VOCAB_BOS && v->add_bos && ids_add(out, v->bos))
		return why(w, "out of memory");
	if (n && (cover(v, text, n, w) || encode(v, text, n, flags, out, w)))
		return why_in(w, v->g->path);
	if (flags & VOCAB_EOS && v->add_eos && ids_add(out, v->eos))
		return why(w, "out of memory");
	return 0;
}

/* ---- ids to bytes ---- */

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int vocab_byte(struct gguf_string s)
{
	if (s.n != 6 || memcmp(s.s, "<0x", 3) || s.s[5] != '>' || hex(s.s[3]) < 0 || hex(s.s[4]) < 0)
		return -1;
	return hex(s.s[3]) << 4 | hex(s.s[4]);
}

/* U+2581 to space. */
static size_t unescape(struct gguf_string s, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; n++) {
		if (s.n - i >= 3 && !memcmp(s.s + i, "\xe2\x96\x81", 3)) {
			out[n] = ' ';
			i += 3;
		} else {
			out[n] = s.s[i++];
		}
	}
	return n;
}

const char *vocab_piece(const struct vocab *v, int32_t id, int special, size_t *n)
{
	struct gguf_string s;
	char *out;

	if (id < 0 || (uint32_t)id >= v->tokens.n)
		return NULL;
	s = names_get(&v->tokens, (uint32_t)id);
	*n = s.n;
	switch (v->type[id]) {
	case VOCAB_UNKNOWN:
	case VOCAB_CONTROL:
		*n = special ? s.n : 0;
		return s.s;
	case VOCAB_USER:
		return s.s;
	case VOCAB_NORMAL:
		out = v->pieces + v->tokens.at[id];
		*n = v->spm ? unescape(s, out) : bpe_spell(s.s, s.n, out);
		return out;
	case VOCAB_BYTE:
		out = v->pieces + v->tokens.at[id];
		*out = (char)vocab_byte(s);
		*n = v->spm && vocab_byte(s) >= 0;
		return out;
	default:
		*n = 0;
		return s.s;
	}
}

int32_t vocab_bos(const struct vocab *v)
{
	return v->bos;
}

int32_t vocab_eos(const struct vocab *v)
{
	return v->eos;
}

int vocab_adds_bos(const struct vocab *v)
{
	return v->add_bos;
}

int vocab_space_prefix(const struct vocab *v)
{
	return v->spm && v->space_prefix;
}

int vocab_is_special(const struct vocab *v, int32_t id)
{
	return id >= 0 && (uint32_t)id < v->tokens.n &&
		(v->type[id] == VOCAB_UNKNOWN || v->type[id] == VOCAB_CONTROL || v->type[id] == VOCAB_USER);
}

void vocab_card(const struct vocab *v, struct card *card)
{
	*card = v->card;
}
