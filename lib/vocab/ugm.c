/* ugm: SentencePiece's unigrams, T5's kind of vocabulary. The text is normalized: a map in the file replaces sequences
 * of characters, and spaces become U+2581. Of all ways to divide the result into tokens, the one whose scores have the
 * highest sum is taken. A character that is no token can be unknown, at a low score; a run of them is one unknown
 * token. */
#include "encoder.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/le.h"
#include "lib/base/size.h"
#include "unicode.h"

/* Longer sequences and replacements do not occur but in damaged maps. They are ignored, and so is all in a map that has
 * changed since it was checked. */
enum { SEQUENCE_LONGEST = 256, REPLACEMENT_LONGEST = 256 };

/* ---- the map: Darts' double array, of 32-bit nodes ---- */

/* A node's children are at its base, each exclusive-or its byte. */
static uint32_t base(uint32_t node)
{
	return node >> 10 << ((node & 1u << 9) >> 6);
}

/* The node's byte; more than a byte where it holds a value. */
static uint32_t label(uint32_t node)
{
	return node & (1u << 31 | 0xff);
}

static int has_value(uint32_t node)
{
	return node >> 8 & 1;
}

/* 0 past the end, which is no child of anything. */
static uint32_t node_at(const struct charsmap *map, uint32_t i)
{
	return i < map->n_nodes ? le32(map->nodes + 4 * (size_t)i) : 0;
}

/* The longest sequence in the map that text[n] begins with: returns its length, 0 for none, and its replacement. */
static size_t replace(const struct charsmap *map, const char *text, size_t n, const char **unit, size_t *n_unit)
{
	uint32_t i = base(node_at(map, 0)), node, at;
	size_t longest = 0, room;
	const char *end;

	n = map->n_nodes ? size_min(n, SEQUENCE_LONGEST) : 0;
	for (size_t k = 0; k < n && text[k]; k++) {
		i ^= (unsigned char)text[k];
		node = node_at(map, i);
		if (label(node) != (unsigned char)text[k])
			break;
		i ^= base(node);
		at = node_at(map, i) & 0x7fffffff;
		if (!has_value(node) || at >= map->n_texts)
			continue;
		room = size_min(map->n_texts - at, REPLACEMENT_LONGEST + 1);
		end = memchr(map->texts + at, 0, room);
		if (!end)
			continue;
		*unit = map->texts + at;
		*n_unit = (size_t)(end - *unit);
		longest = k + 1;
	}
	return longest;
}

/* A struct kind's unit(). Each byte that is not UTF-8 becomes U+FFFD. As in llama.cpp, text that agrees with the start
 * of a user-defined token stays as it is, as far as it agrees. */
static size_t read_unit(const struct vocab *v, const char *text, const char *end, char own[4], const char **unit,
	size_t *n)
{
	size_t length = special_agrees(&v->encoder->given_user, text, (size_t)(end - text));
	int bad;

	(void)own;
	if (length) {
		*unit = text;
		*n = length;
		return length;
	}
	length = replace(&v->charsmap, text, (size_t)(end - text), unit, n);
	if (length)
		return length;
	unicode_next((const unsigned char *)text, (const unsigned char *)end, &length);
	bad = length == 1 && *text & 0x80;
	*unit = bad ? "\xef\xbf\xbd" : text;
	*n = bad ? 3 : length;
	return length;
}

/* Writes text[n], normalized, to e->text. continues: it continues other text. */
static int normalize(const struct vocab *v, const char *text, size_t n, int continues, size_t *written, struct why *w)
{
	static const char space[] = "\xe2\x96\x81";
	struct encoder *e = v->encoder;
	const char *end = text + n, *unit = NULL;
	int in_word = continues, prefixed = continues || !v->add_space;
	size_t at = 0, n_unit = 0;
	char own[4];

	while (text < end) {
		text += read_unit(v, text, end, own, &unit, &n_unit);
		while (e->text_room - at < 4 * n_unit)
			if (grow(&e->text, &e->text_room, 1, 4096))
				return why(w, "out of memory");
		for (size_t i = 0; i < n_unit; i++) {
			int dark = unit[i] != ' ';

			if (dark && !in_word ? !prefixed || v->merge_spaces : !dark && !v->merge_spaces) {
				memcpy(e->text + at, space, 3);
				at += 3;
				prefixed |= dark;
			}
			if (dark)
				e->text[at++] = unit[i];
			in_word = dark;
		}
	}
	*written = at;
	return 0;
}

static void mark(struct vocab *v, const char *text, size_t n, unsigned char bytes[256])
{
	size_t written = 0;
	struct why ignored;

	if (normalize(v, text, n, 0, &written, &ignored) == 0)
		for (size_t i = 0; i < written; i++)
			bytes[(unsigned char)v->encoder->text[i]] = 1;
	spm_mark(v, text, n, bytes);
}

/* ---- the search ---- */

static union weight score(const struct vocab *v, int32_t id)
{
	int user = v->type[id] == VOCAB_USER;

	/* known_read() made it a control token, but it is as likely as before. */
	if (v->type[id] == VOCAB_CONTROL)
		user = vocab_given_type(v, (uint32_t)id) == VOCAB_USER;
	return (union weight){ .score = user ? 0 : vocab_score(v, (uint32_t)id) };
}

/* How long a text can be for which any sum of its tokens' scores is exact; 0 if scores are too large or too precise to
 * tell. */
static size_t exact_length(const struct encoder *e)
{
	uint64_t bits = 0, most = 0;

	for (size_t i = 0; i <= e->prefixes.n_tokens; i++) {
		double x = fabs(i ? e->weight[i - 1].score : e->unknown_score) * 0x1p40;

		if (!(x < 0x1p62) || x != (double)(uint64_t)x)
			return 0;
		bits |= (uint64_t)x;
		most = (uint64_t)x > most ? (uint64_t)x : most;
	}
	return most ? ((uint64_t)1 << 53) / (most / (bits & -bits)) : SIZE_MAX;
}

static int index_tokens(struct vocab *v, const unsigned char *only, struct why *w)
{
	if (vocab_index_weighted(v, only, score, w))
		return -1;
	v->encoder->exact_length = exact_length(v->encoder);
	return 0;
}

static void offer(struct lattice *at, double sum, size_t n, int32_t id)
{
	if (sum > at->sum.score)
		*at = (struct lattice){ .sum.score = sum, .n = (uint32_t)n, .id = id };
}

/* Finds the best way from the start of text[n] to each end of a token. */
static void search(const struct vocab *v, const char *text, size_t n)
{
	const struct encoder *e = v->encoder;
	struct lattice *way = e->lattice;
	size_t length;

	for (size_t i = 1; i <= n; i++)
		way[i] = (struct lattice){ .sum.score = -DBL_MAX, .n = (uint32_t)i, .id = v->rules.unknown };
	way->sum.score = 0;
	for (size_t from = 0; from < n; from += length) {
		struct prefixes_walk walk = { &e->prefixes, text + from, n - from, 0, 0 };
		int whole = 0;          /* the character is a token */
		const struct sort_string *t;

		length = size_min(unicode_length((unsigned char)text[from]), n - from);
		while ((t = prefixes_next(&walk))) {
			whole |= t->n == length;
			offer(&way[from + t->n], way[from].sum.score + e->weight[t - e->prefixes.tokens].score, t->n,
				t->id);
		}
		if (!whole)
			offer(&way[from + length], way[from].sum.score + e->unknown_score, length, v->rules.unknown);
	}
}

/* Appends the ids on the best way to text[n], from its end, then turns them round. */
static int add_way(const struct vocab *v, size_t n, struct ids *out, struct why *w)
{
	const struct lattice *way = v->encoder->lattice;
	size_t first = out->n;

	for (; n; n -= way[n].n)
		if (way[n].id < 0 ? words_add_unknown(v, out, w) : ids_add(out, way[n].id) && why(w, "out of memory"))
			return -1;
	for (size_t last = out->n; first + 1 < last; first++) {
		int32_t id = out->id[first];

		out->id[first] = out->id[--last];
		out->id[last] = id;
	}
	return 0;
}

static int encode_word(struct vocab *v, const char *s, size_t n, struct ids *out, struct why *w)
{
	if (vocab_reserve_lattice(v, n, w))
		return -1;
	search(v, s, n);
	return add_way(v, n, out, w);
}

/* From out->id[first] on, a run of unknown tokens becomes one. */
static void join_unknown(int32_t unknown, struct ids *out, size_t first)
{
	size_t n = first;

	for (size_t i = first; i < out->n; i++)
		if (i == first || out->id[i] != unknown || out->id[i - 1] != unknown)
			out->id[n++] = out->id[i];
	out->n = n;
}

/* The best way through the text consists of those through its words, as long as sums are exact. */
static int encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w)
{
	struct encoder *e = v->encoder;
	size_t first = out->n, start = 0;
	const char *s;

	if (normalize(v, text, n, flags & VOCAB_CONTINUE, &n, w))
		return -1;
	s = e->text;
	if (e->covers_all && n <= e->exact_length) {    /* a short text is not worth it */
		words_find_joins(v);
		for (size_t i = 0; i < n; i += unicode_length((unsigned char)s[i])) {
			if (i == 0 || words_joined(e, s + i))
				continue;
			if (words_add(v, s + start, i - start, out, w))
				return -1;
			start = i;
		}
	}
	if (words_add(v, s + start, n - start, out, w) || words_flush(v, out, w))
		return -1;
	join_unknown(v->rules.unknown, out, first);
	return 0;
}

/* ---- opening ---- */

static int open_ugm(struct vocab *v, struct why *w)
{
	float least = FLT_MAX;

	for (uint32_t i = 0; i < v->tokens.n; i++)
		if (vocab_given_type(v, i) == VOCAB_NORMAL && vocab_score(v, i) < least)
			least = vocab_score(v, i);
	v->encoder->unknown_score = least - 10.0f;
	return vocab_open_set(v, &v->encoder->given_user, 1 << VOCAB_USER, 1, w) ? -1 : words_open(v, w);
}

/* Whether each node has its children, or its value, in the map, and each value is the place of a replacement. */
static int is_sound(const struct charsmap *map)
{
	for (size_t i = 0; i < map->n_nodes; i++) {
		uint32_t node = le32(map->nodes + 4 * i);

		if (node >> 31 ? (node & 0x7fffffff) >= map->n_texts : (i ^ base(node)) >= map->n_nodes)
			return 0;
	}
	return 1;
}

/* The map: the bytes of its nodes, the nodes, the replacements. */
static int read_map(struct vocab *v, struct why *w)
{
	static const char key[] = "tokenizer.ggml.precompiled_charsmap";
	const struct gguf_value *map = gguf_find(v->g, key);
	uint64_t bytes;

	if (!map)
		return 0;
	if (map->type != GGUF_ARRAY || (map->of != GGUF_U8 && map->of != GGUF_I8))
		return why(w, "%s: not an array of bytes", key);
	bytes = map->n > 4 ? le32(map->data) : 1;
	if (bytes % 4 || bytes + 4 >= map->n || map->end[-1])
		return why(w, "%s: damaged", key);
	v->charsmap = (struct charsmap){ .nodes = map->data + 4, .texts = (const char *)map->data + 4 + bytes,
		.n_nodes = (size_t)bytes / 4, .n_texts = (size_t)(map->n - 4 - bytes) };
	return is_sound(&v->charsmap) ? 0 : why(w, "%s: damaged: it points outside itself", key);
}

static int read_keys(struct vocab *v, struct why *w)
{
	if (vocab_read_id(v, "tokenizer.ggml.unknown_token_id", &v->rules.unknown, w)
	    || gguf_bool(v->g, "tokenizer.ggml.remove_extra_whitespaces", &v->merge_spaces, w) < 0)
		return -1;
	v->add_space = v->rules.space_prefix;
	v->rules.space_prefix |= v->merge_spaces;
	return read_map(v, w);
}

const struct kind ugm_kind = {
	.model = "t5", .flags = KIND_PLAIN | KIND_SCORES,
	.rules = { .bos = -1, .eos = 1, .add_eos = 1, .unknown = 2 },
	.read = read_keys, .open = open_ugm, .mark = mark, .index = index_tokens,
	.types = 1 << VOCAB_NORMAL | 1 << VOCAB_USER | 1 << VOCAB_UNUSED, .encode = encode,
	.encode_word = encode_word, .unit = read_unit
};
