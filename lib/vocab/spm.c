/* spm: SentencePiece's BPE by scores. Spaces become U+2581, the neighbours that make the token with the best score are
 * joined first, and characters without a token are spelled with byte tokens. A text is divided into words where no
 * token contains the bytes on both sides, mostly before spaces. */
#include "encoder.h"

#include <math.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/le.h"
#include "lib/base/size.h"
#include "unicode.h"

static const char space[] = "\xe2\x96\x81";     /* U+2581, in the place of a space */

/* For merge_rules. The cost rises as the score falls; NaN, which only a file
 * that changes has, costs most. */
static int join(void *context, const char *s, size_t left, size_t n, struct merge_pair *pair)
{
	const struct vocab *v = context;
	uint32_t bits;
	float score;

	pair->id = names_find(&v->tokens, s, n);
	if (pair->id < 0)
		return -1;
	/* + 0: the two zeroes are equal */
	score = vocab_score(v, (uint32_t)pair->id) + 0.0f;
	memcpy(&bits, &score, sizeof bits);
	pair->cost = isnan(score) ? UINT32_MAX : bits >> 31 ? bits : 0x7fffffff - bits;
	return 0;
}

static char *put_space(char *to)
{
	memcpy(to, space, 3);
	return to + 3;
}

/* Writes text[n] to e->text with U+2581 for spaces; returns its length, 0 if memory runs out. */
static size_t escape(struct encoder *e, const char *text, size_t n, int prefix)
{
	char *to;

	if (n > SIZE_MAX / 3 - 1 || grow_scratch(&e->text, &e->text_room, 3 * (n + 1)))
		return 0;
	to = prefix ? put_space(e->text) : e->text;
	for (size_t i = 0; i < n; i++)
		if (text[i] == ' ')
			to = put_space(to);
		else
			*to++ = text[i];
	return (size_t)(to - e->text);
}

int spm_encode(struct vocab *v, const char *text, size_t n, int prefix, int raw, struct ids *out, struct why *w)
{
	struct encoder *e = v->encoder;
	size_t escaped = escape(e, text, n, prefix), start = 0, length;
	int divide = e->covers_all, bad;        /* a short text is not worth it */
	const char *s = e->text;

	if (!escaped)
		return why(w, "out of memory");
	if (divide)
		words_find_joins(v);
	for (size_t i = 0; i < escaped && (divide || raw); i += length) {
		length = 1;
		bad = 0;
		if (s[i] & 0x80) {
			length = size_min(unicode_length((unsigned char)s[i]), escaped - i);
			if (raw)
				unicode_next((const unsigned char *)s + i, (const unsigned char *)s + escaped, &length);
			bad = raw && length == 1;
		}
		if (bad || (divide && i > start && !words_joined(e, s + i))) {
			if (words_add(v, s + start, i - start, out, w))
				return -1;
			start = i + bad;
		}
		if (bad && (words_flush(v, out, w)
		    || words_add_symbol(v, names_find(&v->tokens, s + i, 1), s + i, 1, out, w)))
			return -1;
	}
	return words_add(v, s + start, escaped - start, out, w) ? -1 : words_flush(v, out, w);
}

static int encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w)
{
	return spm_encode(v, text, n, v->rules.space_prefix && !(flags & VOCAB_CONTINUE), flags & VOCAB_RAW, out, w);
}

void spm_mark(struct vocab *v, const char *text, size_t n, unsigned char bytes[256])
{
	(void)v;
	(void)text;
	(void)n;
	for (size_t i = 0; i < 3; i++)
		bytes[(unsigned char)space[i]] = 1;
}

void spm_find_bytes(struct vocab *v)
{
	int32_t single[256];

	for (int b = 0; b < 256; b++)
		v->encoder->byte_id[b] = single[b] = -1;
	for (uint32_t i = 0; i < v->tokens.n; i++) {
		struct gguf_string s = vocab_token(v, (int32_t)i);
		int b = s.n == 6 ? spm_byte(s) : -1;

		if (b >= 0)
			v->encoder->byte_id[b] = (int32_t)i;
		else if (s.n == 1)
			single[(unsigned char)*s.s] = (int32_t)i;
	}
	for (int b = 0; b < 256; b++)
		if (v->encoder->byte_id[b] < 0)
			v->encoder->byte_id[b] = single[b];
}

static int open_spm(struct vocab *v, struct why *w)
{
	const struct merge_rules rules = { v, &v->tokens, NULL, join, words_add_symbol };

	spm_find_bytes(v);
	return words_open_merged(v, &rules, w);
}

static int encode_word(struct vocab *v, const char *s, size_t n, struct ids *out, struct why *w)
{
	return merge_text(v->encoder->merge, s, n, out, w);
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int spm_byte(struct gguf_string s)
{
	if (s.n != 6 || memcmp(s.s, "<0x", 3) || s.s[5] != '>' || hex(s.s[3]) < 0 || hex(s.s[4]) < 0)
		return -1;
	return hex(s.s[3]) << 4 | hex(s.s[4]);
}

size_t spm_piece(struct gguf_string s, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; n++) {
		if (s.n - i >= 3 && !memcmp(s.s + i, space, 3)) {
			out[n] = ' ';
			i += 3;
		} else {
			out[n] = s.s[i++];
		}
	}
	return n;
}

const struct kind spm_kind = {
	.model = "llama", .flags = KIND_PLAIN | KIND_SCORES,
	.rules = { .bos = 1, .eos = 2, .add_bos = 1, .space_prefix = 1, .unknown = -1 },
	.open = open_spm, .mark = spm_mark, .index = words_index, .encode = encode, .encode_word = encode_word
};
