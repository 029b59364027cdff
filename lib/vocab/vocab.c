/* vocab: the parts of encoding and decoding that all kinds of vocabulary share. */
#include "encoder.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/space.h"

/* ---- opening ---- */

int vocab_open_set(const struct vocab *v, struct special_set *set, unsigned types, int given, struct why *w)
{
	size_t room = 0;

	for (uint32_t i = 0; i < v->tokens.n; i++) {
		struct gguf_string s;

		if (!(types & 1u << (given ? vocab_given_type(v, i) : v->type[i])))
			continue;
		s = vocab_token(v, (int32_t)i);
		if (!s.n)
			continue;
		if (s.n > SPECIAL_LONGEST)
			return why(w, "tokenizer.ggml.tokens: number %u: %zu bytes (at most %d are supported for a "
				"special token)", i, s.n, SPECIAL_LONGEST);
		if (set->n == room && grow(&set->token, &room, sizeof *set->token, 64))
			return why(w, "out of memory");
		set->token[set->n++] = (struct special){ .id = (int32_t)i, .text = s };
	}
	special_index(set);
	return 0;
}

static int open_encoder(struct vocab *v, struct why *w)
{
	struct encoder *e = v->encoder = calloc(1, sizeof *v->encoder);

	if (!e)
		return why(w, "out of memory");
	if (vocab_open_set(v, &e->all, 1 << VOCAB_UNKNOWN | 1 << VOCAB_CONTROL | 1 << VOCAB_USER, 0, w))
		return -1;
	e->user.token = malloc((e->all.n + (size_t)1) * sizeof *e->user.token);
	if (!e->user.token)
		return why(w, "out of memory");
	for (uint32_t i = 0; i < e->all.n; i++)
		if (v->type[e->all.token[i].id] == VOCAB_USER)
			e->user.token[e->user.n++] = e->all.token[i];
	special_index(&e->user);
	return v->kind->open ? v->kind->open(v, w) : 0;
}

/* What vocab_check() leaves out: the card, and the types of tokens that are known by their text. */
static int open_card(struct vocab *v, struct why *w)
{
	v->card.n_vocab = (int32_t)v->tokens.n;
	v->card.bos = v->rules.bos;
	v->card.vocab = gguf_vocab_fingerprint(v->g);
	return known_read(v, w);
}

struct vocab *vocab_open(const struct gguf *g, int need, struct why *w)
{
	struct vocab *v = calloc(1, sizeof *v);

	if (!v) {
		why(w, "%s: out of memory", g->path);
		return NULL;
	}
	v->g = g;
	if (vocab_read(v, w) || open_card(v, w) || (need == VOCAB_ENCODE && open_encoder(v, w))) {
		why_in(w, g->path);
		vocab_close(v);
		return NULL;
	}
	return v;
}

const char *vocab_warning(const struct vocab *v)
{
	return v->lacks_pre ? "tokenizer.ggml.pre: missing; the default is used" : NULL;
}

static void close_encoder(struct encoder *e)
{
	if (!e)
		return;
	merge_close(e->merge);
	special_free(&e->search);
	ranks_free(&e->ranks);
	free(e->word_memory);
	free(e->all.token);
	free(e->user.token);
	free(e->given_user.token);
	prefixes_free(&e->prefixes);
	free(e->weight);
	free(e->pair);
	free(e->text);
	free(e->repaired);
	free(e->segment);
	free(e->word);
	free(e->lattice);
	free(e);
}

int vocab_check(const struct gguf *g, struct why *w)
{
	struct vocab *v = calloc(1, sizeof *v);
	struct why unsupported;
	int status;

	if (!v)
		return why(w, "out of memory");
	v->g = g;
	status = vocab_supported(g, &unsupported) ? vocab_read(v, w) : 0;
	vocab_close(v);
	return status;
}

void vocab_close(struct vocab *v)
{
	if (!v)
		return;
	close_encoder(v->encoder);
	names_close(&v->tokens);
	free(v->type);
	free(v->pieces);
	free(v);
}

/* ---- text to ids ---- */

/* Whether white space after this special token is dropped (Phi-3). */
static int swallows(const struct vocab *v, int32_t id)
{
	static const char *const not[] = { "<unk>", "<s>", "<|endoftext|>" };
	struct gguf_string s = vocab_token(v, id);

	if (!v->phi3)
		return 0;
	for (size_t i = 0; i < sizeof not / sizeof *not; i++)
		if (gguf_is(s, not[i]))
			return 0;
	return 1;
}

/* Encodes text between special tokens. after: the id before it, or -1 at the start. */
static int encode_raw(struct vocab *v, const char *text, size_t n, int32_t after, int flags, struct ids *out,
	struct why *w)
{
	if (after >= 0 && swallows(v, after))
		for (; n && space_ascii(*text); n--)
			text++;
	if (!n)
		return 0;
	return v->kind->encode(v, text, n, after < 0 ? flags : flags & ~VOCAB_CONTINUE, out, w);
}

int vocab_index_prefixes(struct vocab *v, const unsigned char *only, struct why *w)
{
	if (prefixes_start(&v->encoder->prefixes, v->tokens.n, only, w))
		return -1;
	for (uint32_t i = 0; i < v->tokens.n; i++) {
		struct gguf_string s = vocab_token(v, (int32_t)i);

		if (v->kind->types & 1u << vocab_given_type(v, i)
		    && prefixes_add(&v->encoder->prefixes, s.s, s.n, (int32_t)i, w))
			return -1;
	}
	return prefixes_build(&v->encoder->prefixes, w);
}

int vocab_index_weighted(struct vocab *v, const unsigned char *only,
	union weight (*weigh)(const struct vocab *v, int32_t id), struct why *w)
{
	struct encoder *e = v->encoder;

	if (vocab_index_prefixes(v, only, w))
		return -1;
	if (grow_scratch(&e->weight, &e->weight_room, e->prefixes.n_tokens * sizeof *e->weight))
		return why(w, "out of memory");
	for (size_t i = 0; i < e->prefixes.n_tokens; i++)
		e->weight[i] = weigh(v, e->prefixes.tokens[i].id);
	return 0;
}

int vocab_reserve_lattice(struct vocab *v, size_t n, struct why *w)
{
	struct encoder *e = v->encoder;

	if (n >= UINT32_MAX)
		return why(w, "%zu bytes of text (at most %lu are supported)", n, (unsigned long)UINT32_MAX - 1);
	return grow_scratch(&e->lattice, &e->lattice_room, (n + 1) * sizeof *e->lattice) ? why(w, "out of memory") : 0;
}

/* Indexes the tokens that the encoding of text[n] can contain: only these for a short text, because indexing a large
 * vocabulary takes longer than all the rest; all tokens for a long text, or if a second short text needs others. */
static int cover(struct vocab *v, const char *text, size_t n, struct why *w)
{
	enum { SHORT = 512 };
	struct encoder *e = v->encoder;
	unsigned char bytes[256] = { 0 };
	int first = !e->indexed, covered = !first;

	if (covered && e->covers_all)
		return 0;
	if (n <= SHORT) {
		for (size_t i = 0; i < n; i++)
			bytes[(unsigned char)text[i]] = 1;
		if (v->kind->mark)
			v->kind->mark(v, text, n, bytes);
		for (int b = 0; b < 256; b++)
			covered &= bytes[b] <= e->covers[b];
		if (covered)
			return 0;
	}
	e->covers_all = n > SHORT || !first;
	memcpy(e->covers, bytes, sizeof bytes);
	e->indexed = !v->kind->index(v, e->covers_all ? NULL : e->covers, w);
	return e->indexed ? 0 : -1;
}

/* The length of text[n] before this special token: without its last white space where the token takes that. */
static size_t length_before(const struct vocab *v, int32_t id, const char *text, size_t n)
{
	if (v->mask && gguf_is(vocab_token(v, id), v->mask))
		for (; n && space_ascii(text[n - 1]); n--)
			;
	return n;
}

static int encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w)
{
	struct encoder *e = v->encoder;
	const struct special_set *set = flags & VOCAB_SPECIAL ? &e->all : &e->user;
	size_t from = 0, search_at = 0;
	int32_t after = -1;
	int more;

	while ((more = special_next(set, &e->search, text, n, search_at, &search_at)) > 0)
		for (size_t i = 0; i < e->search.n; i++) {
			const struct special_match *found = &e->search.match[i];
			int32_t id = set->token[found->token].id;
			size_t length = length_before(v, id, text + from, found->at - from);

			if (encode_raw(v, text + from, length, after, flags, out, w))
				return -1;
			after = id;
			from = found->at + set->token[found->token].text.n;
			if (ids_add(out, after))
				return why(w, "out of memory");
		}
	if (more < 0)
		return why(w, "out of memory");
	return encode_raw(v, text + from, n - from, after, flags, out, w);
}

int vocab_encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w)
{
	return n && (cover(v, text, n, w) || encode(v, text, n, flags, out, w)) ? why_in(w, v->g->path) : 0;
}

/* ---- ids to bytes ---- */

/* The bytes that a normal token stands for. */
static size_t spell(const struct vocab *v, struct gguf_string s, char *out)
{
	if (v->kind->piece)
		return v->kind->piece(s, out);
	if (v->plain)
		return spm_piece(s, out);
	if (!v->bytes)
		return bpe_piece(s, out);
	memcpy(out, s.s, s.n);
	return s.n;
}

const char *vocab_piece(const struct vocab *v, int32_t id, int special, size_t *n)
{
	struct gguf_string s;
	char *out;

	if (id < 0 || (uint32_t)id >= v->tokens.n)
		return NULL;
	s = vocab_token(v, id);
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
		*n = spell(v, s, out);
		return out;
	case VOCAB_BYTE:
		out = v->pieces + v->tokens.at[id];
		*out = (char)spm_byte(s);
		*n = v->bytes && spm_byte(s) >= 0;
		return out;
	default:
		*n = v->kind->flags & KIND_PRINTS ? s.n : 0;
		return s.s;
	}
}

const struct vocab_rules *vocab_rules(const struct vocab *v)
{
	return &v->rules;
}

const char *vocab_text(const struct vocab *v, int32_t id, int special, int *begins, size_t *n)
{
	const char *piece = vocab_piece(v, id, special, n);

	if (!piece || vocab_is_special(v, id)) {
		*begins = id != v->rules.unknown;
		return piece;
	}
	if (*begins && v->rules.space_prefix && *n && *piece == ' ') {
		piece++;
		*n -= 1;
	}
	*begins = 0;
	return piece;
}

int vocab_is_special(const struct vocab *v, int32_t id)
{
	return id >= 0 && (uint32_t)id < v->tokens.n
		&& (v->type[id] == VOCAB_UNKNOWN || v->type[id] == VOCAB_CONTROL || v->type[id] == VOCAB_USER);
}

void vocab_card(const struct vocab *v, struct card *card)
{
	*card = v->card;
}
