/* dry ("don't repeat yourself", by the author of XTC): penalises ids that would continue a repetition of earlier ids;
 * the longer the repetition, the higher the penalty. The Z-algorithm over the reversed window gives the lengths of all
 * repetitions in linear time. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/fmath.h"
#include "candidates.h"

enum dry_breaker {
	DRY_PLAIN,
	DRY_BREAKS,             /* a breaker id, or one whose text contains a breaker */
	DRY_BEGINS              /* its text ends with the beginning of a breaker */
};

/* ---- breakers ---- */

static int contains(const char *s, size_t n, const struct sampler_breaker *b)
{
	size_t i;

	for (i = 0; i + b->n <= n; i++)
		if (s[i] == *b->s && !memcmp(s + i, b->s, b->n))
			return 1;
	return 0;
}

static enum dry_breaker classify(const struct sampler_breakers *b, const char *s, size_t n)
{
	enum dry_breaker found = DRY_PLAIN;
	size_t i, k;

	for (i = 0; i < b->n_text; i++) {
		if (contains(s, n, &b->text[i]))
			return DRY_BREAKS;
		for (k = b->text[i].n - 1; k > 0; k--)
			if (k <= n && !memcmp(s + n - k, b->text[i].s, k))
				found = DRY_BEGINS;
	}
	return found;
}

int dry_open(struct sampler *s, struct why *w)
{
	const struct sampler_breakers *b = &s->params.breakers;
	const char *piece;
	size_t i, n;
	int32_t id;

	s->breaker = sampler_array(s, (size_t)s->n_vocab, sizeof *s->breaker);
	s->match = sampler_array(s, SAMPLER_HISTORY, sizeof *s->match);
	if (!s->breaker || !s->match)
		return -1;
	for (id = 0; b->n_text && id < s->n_vocab; id++)
		if ((piece = b->piece(b->context, id, &n)))
			s->breaker[id] = (unsigned char)classify(b, piece, n);
	for (i = 0; i < b->n_id; i++) {
		if (b->id[i] < 0 || b->id[i] >= s->n_vocab)
			return why(w, "dry's sequence breaker: id %" PRId32 " is outside the vocabulary of %" PRId32,
				b->id[i], s->n_vocab);
		s->breaker[b->id[i]] = DRY_BREAKS;
	}
	return 0;
}

/* How many of the ids x[n] it takes to spell t[m]; 0 if they do not begin with it. */
static size_t ids_to_spell(const struct sampler_breakers *b, const int32_t *x, size_t n, const char *t, size_t m)
{
	const char *piece;
	size_t i, len;

	for (i = 0; i < n && m; i++) {
		piece = b->piece(b->context, x[i], &len);
		len = !piece ? 0 : len < m ? len : m;
		if (len && memcmp(piece, t, len))
			return 0;
		t += len;
		m -= len;
	}
	return m ? 0 : i;
}

/* If a breaker begins in the last bytes of x[0]: how many of the ids after it are needed to complete it; otherwise
 * 0. */
static size_t ids_to_complete(const struct sampler_breakers *b, const int32_t *x, size_t n)
{
	size_t i, k, len, ids, most = 0;
	const char *piece = b->piece(b->context, *x, &len);

	for (i = 0; i < b->n_text; i++)
		for (k = b->text[i].n - 1; k > 0; k--)
			if (k <= len && !memcmp(piece + len - k, b->text[i].s, k)) {
				ids = ids_to_spell(b, x + 1, n - 1, b->text[i].s + k, b->text[i].n - k);
				most = ids > most ? ids : most;
			}
	return most;
}

/* How many ids at the end of x[n] follow the last breaker; n if there is none. */
static size_t since_breaker(const struct sampler *s, const int32_t *x, size_t n)
{
	size_t i, ids;

	for (i = n; i > 0; i--) {
		if (s->breaker[x[i - 1]] == DRY_BREAKS)
			return n - i;
		if (s->breaker[x[i - 1]] == DRY_BEGINS && (ids = ids_to_complete(&s->params.breakers, x + i - 1,
			n - i + 1)))
			return n - i - ids;
	}
	return n;
}

/* ---- repetitions ---- */

/* z[d], d >= 1: the length of the longest common suffix of x[n] and x[n − d]. Gusfield's Z-algorithm over x
 * reversed. */
static void repetitions(const int32_t *x, size_t n, int32_t *z)
{
	size_t left = 0, right = 0, d, k;

	for (d = 1; d < n; d++) {
		k = 0;
		if (d < right)
			k = (size_t)z[d - left] < right - d ? (size_t)z[d - left] : right - d;
		while (d + k < n && x[n - 1 - k] == x[n - 1 - d - k])
			k++;
		z[d] = (int32_t)k;
		if (d + k > right) {
			left = d;
			right = d + k;
		}
	}
}

static float penalise(const struct sampler_params *p, float logit, int32_t count)
{
	double factor = fmath_pow(p->dry_base, (double)(count - 1 - p->dry_allowed));

	return (float)fmax(logit - p->dry_multiplier * fmin(factor, FLT_MAX), -FLT_MAX);
}

void sampler_dry(struct sampler *s, struct candidates *c)
{
	size_t window = sampler_window(s, s->params.dry_last_n), d, most;
	const int32_t *x = s->history + s->n_history - window;
	int32_t n, *count;

	most = since_breaker(s, x, window);
	if (most < (size_t)s->params.dry_allowed)
		return;
	repetitions(x, window, s->match);
	/* Counts are lengths plus one: with dry_allowed 0 a repetition of length 0 is penalised as well. */
	for (d = 1; d < window; d++) {
		n = (size_t)s->match[d] < most ? s->match[d] : (int32_t)most;
		count = &s->count[x[window - d]];
		if (n >= s->params.dry_allowed && n >= *count && s->breaker[x[window - d]] != DRY_BREAKS)
			*count = n + 1;
	}
	candidates_adjust(s, c, x, window, penalise);
}
