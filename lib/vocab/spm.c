/* vocab, SPM: SentencePiece's BPE by scores. Spaces become U+2581, neighbours are joined to the best-scored token first, and characters that have
 * no token are spelled by bytes. Few vocabularies have a token that reaches over a space, so that text is mostly cut at spaces and a
 * word that was met before is not joined again. */
#include "priv.h"

#include <math.h>
#include <string.h>

#include "lib/base/le.h"
#include "unicode.h"

static const char space[] = "\xe2\x96\x81";     /* U+2581, in the place of a space */

/* Falling scores as rising numbers; no number at all comes last. */
static int join(const struct vocab *v, const unsigned char *s, size_t left, size_t n, struct merge_pair *pair)
{
	uint32_t bits;
	float score;

	pair->id = names_find(&v->tokens, s, n);
	if (pair->id < 0)
		return -1;
	score = v->scores ? le_float(v->scores + 4 * (size_t)pair->id) + 0.0f : 0.0f;   /* + 0: the two zeroes are equal */
	memcpy(&bits, &score, sizeof bits);
	pair->cost = isnan(score) ? UINT32_MAX : bits >> 31 ? bits : 0x7fffffff - bits;
	return 0;
}

static int add_symbol(const struct vocab *v, int32_t id, const char *s, size_t n, struct ids *out, struct why *w)
{
	if (id >= 0)
		return ids_add(out, id) ? why(w, "out of memory") : 0;
	for (size_t i = 0; i < n; i++) {
		id = v->byte_id[(unsigned char)s[i]];
		if (id < 0)
			return why(w, "tokenizer.ggml.tokens: no token for byte 0x%02x of the text, nor for bytes at all", (unsigned char)s[i]);
		if (ids_add(out, id))
			return why(w, "out of memory");
	}
	return 0;
}

/* A stretch that no token reaches out of. */
static int add_word(const struct vocab *v, const char *s, size_t n, struct ids *out, struct why *w)
{
	struct merge *m = &v->work->merge;
	size_t start = out->n, i;
	int known = words_recall(v, s, n, out);

	if (known)
		return known < 0 ? why(w, "out of memory") : 0;
	if (merge_run(m, v, join, (const unsigned char *)s, n, w))
		return -1;
	for (i = 0; i < n; i = m->end[i])
		if (add_symbol(v, m->id[i], s + i, m->end[i] - i, out, w))
			return -1;
	words_keep(v, s, n, out, start);
	return 0;
}

/* text[n] with U+2581 for spaces, in v->work->text; returns its length, or 0 when there is no memory. */
static size_t escape(const struct vocab *v, const char *text, size_t n, int prefix)
{
	struct vocab_work *work = v->work;
	size_t spaces = prefix ? 1 : 0, i;
	char *to;

	for (i = 0; i < n; i++)
		spaces += text[i] == ' ';
	if (vocab_room(&work->text, &work->text_room, n + 3 * spaces))
		return 0;
	to = work->text;
	if (prefix) {
		memcpy(to, space, 3);
		to += 3;
	}
	for (i = 0; i < n; i++) {
		if (text[i] == ' ') {
			memcpy(to, space, 3);
			to += 3;
		} else {
			*to++ = text[i];
		}
	}
	return (size_t)(to - work->text);
}

/* Over the raw array: before a token that starts with a space there is the high byte of its length, and 0 joins nothing that matters. */
static void find_joins(const struct vocab *v)
{
	const unsigned char *p = v->tokens.array->data, *end = v->tokens.array->end;

	for (; (p = memchr(p, 0xe2, (size_t)(end - p))) && end - p >= 3; p++)
		if (p[1] == 0x96 && p[2] == 0x81)
			v->work->joins[p[-1]] = 1;
	v->work->knows_joins = 1;
}

int spm_encode(struct vocab *v, const char *text, size_t n, int prefix, struct ids *out, struct why *w)
{
	enum { SHORT = 512 };           /* not worth cutting */
	size_t escaped = escape(v, text, n, prefix), start = 0, i, length;
	const char *s = v->work->text;

	if (!escaped)
		return why(w, "out of memory");
	if (escaped > SHORT && !v->work->knows_joins)
		find_joins(v);
	for (i = 0; i < escaped && escaped > SHORT; i += length) {
		length = unicode_length((unsigned char)s[i]);
		if (length > escaped - i)
			length = escaped - i;
		if (i > start && length == 3 && !memcmp(s + i, space, 3) && !v->work->joins[(unsigned char)s[i - 1]]) {
			if (add_word(v, s + start, i - start, out, w))
				return -1;
			start = i;
		}
	}
	return add_word(v, s + start, escaped - start, out, w);
}

void spm_mark(const char *text, size_t n, unsigned char bytes[256])
{
	for (size_t i = 0; i < 3; i++)
		bytes[(unsigned char)space[i]] = 1;
	for (size_t i = 0; i < n; i++)
		bytes[(unsigned char)text[i]] = 1;
}

void spm_open(struct vocab *v)
{
	int32_t single[256];

	for (int b = 0; b < 256; b++)
		v->byte_id[b] = single[b] = -1;
	for (uint32_t i = 0; i < v->tokens.n; i++) {
		struct gguf_string s = names_get(&v->tokens, i);
		int b = s.n == 6 ? vocab_byte(s) : -1;

		if (b >= 0)
			v->byte_id[b] = (int32_t)i;
		else if (s.n == 1)
			single[(unsigned char)*s.s] = (int32_t)i;
	}
	for (int b = 0; b < 256; b++)
		if (v->byte_id[b] < 0)
			v->byte_id[b] = single[b];
}
