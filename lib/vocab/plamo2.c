/* plamo2: PLaMo 2's unigrams. The text is divided into tokens of the least cost, which is minus the sum of their
 * scores; a character that is no token is spelled with byte tokens, at a high cost. Costs are whole numbers. The search
 * begins at the end of the text, and of equal ways the one with the longest first token is taken. */
#include "encoder.h"

#include <math.h>
#include <string.h>

#include "lib/base/le.h"
#include "unicode.h"

static const int64_t unknown_cost = 10000000, far = INT64_MAX;

/* `far`: the token is not used. */
static union weight cost(const struct vocab *v, int32_t id)
{
	double score = vocab_score(v, (uint32_t)id) * 1e4;

	return (union weight){ .cost = score > -2e7 && score < INT32_MAX ? -(int64_t)round(score) : far };
}

static int index_tokens(struct vocab *v, const unsigned char *only, struct why *w)
{
	return vocab_index_weighted(v, only, cost, w);
}

/* The start of the character that ends before text[n]. */
static size_t character_before(const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t from = n - 1, length;

	while (from && n - from < 4 && (s[from] & 0xc0) == 0x80)
		from--;
	unicode_next(s + from, s + n, &length);
	return from + length == n ? from : n - 1;
}

/* Finds the best way from each character of text[n] to the end. */
static void search(const struct vocab *v, const char *text, size_t n)
{
	const struct encoder *e = v->encoder;
	struct lattice *way = e->lattice;

	for (size_t i = 0; i < n; i++)
		way[i].sum.cost = far;          /* stays so inside of characters */
	way[n].sum.cost = 0;
	for (size_t to = n, from; to; to = from) {
		struct prefixes_walk walk;
		struct lattice best;
		const struct sort_string *t;

		from = character_before(text, to);
		best = (struct lattice){ { .cost = way[to].sum.cost + unknown_cost }, (uint32_t)(to - from), -1 };
		walk = (struct prefixes_walk){ &e->prefixes, text + from, n - from, 0, 0 };
		while ((t = prefixes_next(&walk))) {
			const struct lattice *rest = &way[from + t->n];
			int64_t more = e->weight[t - e->prefixes.tokens].cost;

			if (more != far && rest->sum.cost != far && rest->sum.cost + more <= best.sum.cost)
				best = (struct lattice){ { .cost = rest->sum.cost + more }, t->n, t->id };
		}
		way[from] = best;
	}
}

static int encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w)
{
	const struct encoder *e = v->encoder;

	if (!(flags & VOCAB_RAW)) {
		if (words_repair(v, &text, &n, w))
			return -1;
		if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {       /* a byte order mark */
			text += 3;
			n -= 3;
		}
	}
	if (vocab_reserve_lattice(v, n, w))
		return -1;
	search(v, text, n);
	for (size_t i = 0; i < n; i += e->lattice[i].n)
		if (words_add_symbol(v, e->lattice[i].id, text + i, e->lattice[i].n, out, w))
			return -1;
	return 0;
}

static void mark(struct vocab *v, const char *text, size_t n, unsigned char bytes[256])
{
	struct why ignored;

	if (words_repair(v, &text, &n, &ignored) == 0)
		for (size_t i = 0; i < n; i++)
			bytes[(unsigned char)text[i]] = 1;
}

static int open_plamo2(struct vocab *v, struct why *w)
{
	(void)w;
	spm_find_bytes(v);
	return 0;
}

const struct kind plamo2_kind = {
	.model = "plamo2", .flags = KIND_BYTES | KIND_SCORES | KIND_NO_ENDS | KIND_REPAIRS | KIND_ABOVE | KIND_PRINTS,
	.rules = { .bos = 1, .eos = 2, .unknown = -1 },
	.open = open_plamo2, .mark = mark, .index = index_tokens, .types = ~(1u << VOCAB_BYTE),
	.encode = encode
};
