/* vocab: the parts of encoding and decoding that both kinds of vocabulary share. */
#include "priv.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"

/* ---- opening ---- */

/* Both sets of special tokens. */
static int open_specials(const struct vocab *v, struct special_set *all, struct special_set *user)
{
	size_t room = 0;

	for (uint32_t i = 0; i < v->tokens.n; i++) {
		if (v->type[i] < VOCAB_UNKNOWN || v->type[i] > VOCAB_USER || !vocab_token(v, (int32_t)i).n)
			continue;
		if (all->n == room && grow(&all->token, &room, sizeof *all->token, 64))
			return -1;
		all->token[all->n++] = (struct special){ .id = (int32_t)i, .text = vocab_token(v, (int32_t)i) };
	}
	user->token = malloc((all->n + (size_t)1) * sizeof *user->token);
	if (!user->token)
		return -1;
	for (uint32_t i = 0; i < all->n; i++)
		if (v->type[all->token[i].id] == VOCAB_USER)
			user->token[user->n++] = all->token[i];
	special_index(all);
	special_index(user);
	return 0;
}

static int open_encoder(struct vocab *v, struct why *w)
{
	const struct merge_rules rules = { v, &v->tokens, v->spm ? spm_join : bpe_join, words_add_symbol };
	struct encoder *e = v->encoder = calloc(1, sizeof *v->encoder);

	if (!e || !(e->merge = merge_open(rules)) || !(e->words = words_open()) || open_specials(v, &e->all, &e->user))
		return why(w, "out of memory");
	if (v->plain)
		spm_open(v);
	return v->rwkv ? rwkv_open(v, w) : 0;
}

struct vocab *vocab_open(const struct gguf *g, int need, struct why *w)
{
	struct vocab *v = calloc(1, sizeof *v);

	if (!v) {
		why(w, "%s: out of memory", g->path);
		return NULL;
	}
	v->g = g;
	if (vocab_read(v, w) || (need == VOCAB_ENCODE && open_encoder(v, w))) {
		why_in(w, g->path);
		vocab_close(v);
		return NULL;
	}
	return v;
}

static void close_encoder(struct encoder *e)
{
	if (!e)
		return;
	merge_close(e->merge);
	special_free(&e->search);
	names_close(&e->merges);
	free(e->words);
	free(e->user.token);
	free(e->rwkv.token);
	free(e->all.token);
	free(e->line);
	free(e->text);
	free(e->repaired);
	free(e->word);
	free(e);
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

/* isspace() in the C locale. */
static int is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

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
		for (; n && is_space(*text); n--)
			text++;
	if (!n)
		return 0;
	if (v->spm)
		return spm_encode(v, text, n, v->rules.space_prefix && !(after < 0 && flags & VOCAB_CONTINUE),
			flags & VOCAB_RAW, out, w);
	if (v->rwkv)
		return rwkv_encode(v, text, n, out, w);
	return bpe_encode(v, text, n, flags & VOCAB_RAW, out, w);
}

/* Indexes the tokens that the encoding of text[n] can contain: only these for a short text, because indexing a large
 * vocabulary takes longer than all the rest; all tokens for a long text, or if a second short text needs others. */
static int cover(struct vocab *v, const char *text, size_t n, struct why *w)
{
	enum { SHORT = 512 };
	struct encoder *e = v->encoder;
	unsigned char bytes[256] = { 0 };
	int first = !v->tokens.slots, covered = !first;

	if (v->rwkv || (covered && e->covers_all))
		return 0;
	if (n <= SHORT) {
		(v->spm ? spm_mark : v->plain ? bpe_mark_plain : bpe_mark)(text, n, bytes);
		for (int b = 0; b < 256; b++)
			covered &= bytes[b] <= e->covers[b];
		if (covered)
			return 0;
	}
	e->covers_all = n > SHORT || !first;
	memcpy(e->covers, bytes, sizeof bytes);
	free(e->merges.slots);          /* indexed again when needed */
	e->merges.slots = NULL;
	return names_index(&v->tokens, NAMES_LAST, e->covers_all ? NULL : e->covers, w);
}

/* The length of text[n] before this special token: without its last white space where the token takes that. */
static size_t length_before(const struct vocab *v, int32_t id, const char *text, size_t n)
{
	if (v->mask && gguf_is(vocab_token(v, id), v->mask))
		for (; n && is_space(text[n - 1]); n--)
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
		*n = (v->plain ? spm_piece : v->rwkv ? rwkv_piece : bpe_piece)(s, out);
		return out;
	case VOCAB_BYTE:
		out = v->pieces + v->tokens.at[id];
		*out = (char)spm_byte(s);
		*n = v->plain && spm_byte(s) >= 0;
		return out;
	default:
		*n = 0;
		return s.s;
	}
}

const struct vocab_rules *vocab_rules(const struct vocab *v)
{
	return &v->rules;
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
