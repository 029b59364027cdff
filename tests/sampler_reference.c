/* sampler_reference: every sampler from its definition. */
#include "sampler_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sampler/rng.h"

void ref_start(struct reference *r, const struct sampler_params *p, const float *row, size_t n_vocab)
{
	size_t i;

	*r = (struct reference){ .p = p, .n_vocab = n_vocab, .temp = 1 };
	r->c = malloc(n_vocab * sizeof *r->c);
	r->prob = malloc(n_vocab * sizeof *r->prob);
	for (i = 0; i < n_vocab; i++)
		if (row[i] > -INFINITY)
			r->c[r->n++] = (struct ref_candidate){ row[i], (int32_t)i };
	for (i = 0; i < p->n_bias; i++)
		for (size_t k = 0; k < r->n; k++)
			if (r->c[k].id == p->bias[i].id)
				r->c[k].l += p->bias[i].bias;
}

void ref_free(struct reference *r)
{
	free(r->c);
	free(r->prob);
}

static int descending(const void *a, const void *b)
{
	const struct ref_candidate *x = a, *y = b;

	return x->l != y->l ? (x->l < y->l ? 1 : -1) : (x->id > y->id) - (x->id < y->id);
}

static void sort(struct reference *r)
{
	qsort(r->c, r->n, sizeof *r->c, descending);
}

static double total(const struct reference *r)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < r->n; i++)
		sum += exp(r->c[i].l - r->c[0].l);
	return sum;
}

/* After sort(). */
static double p_of(const struct reference *r, size_t i)
{
	return exp(r->c[i].l - r->c[0].l) / total(r);
}

static double entropy(const struct reference *r)
{
	double h = 0, p, sum = total(r);
	size_t i;

	for (i = 0; i < r->n; i++)
		if ((p = exp(r->c[i].l - r->c[0].l) / sum) > 0)
			h -= p * log(p);
	return h;
}

void ref_probabilities(struct reference *r)
{
	double sum = 0;
	size_t i;

	sort(r);
	for (i = 0; i < r->n_vocab; i++)
		r->prob[i] = 0;
	for (i = 0; i < r->n; i++)
		sum += r->prob[r->c[i].id] = exp((r->c[i].l - r->c[0].l) / r->temp);
	for (i = 0; i < r->n; i++)
		r->prob[r->c[i].id] /= sum;
}

/* ---- the samplers ---- */

static void penalties(struct reference *r)
{
	const struct sampler_params *p = r->p;
	size_t from = p->last_n < 0 || (size_t)p->last_n > r->n_history ? 0 : r->n_history - (size_t)p->last_n;
	size_t i, k, count;

	for (i = 0; i < r->n; i++) {
		for (count = 0, k = from; k < r->n_history; k++)
			count += r->history[k] == r->c[i].id;
		if (!count)
			continue;
		r->c[i].l = r->c[i].l <= 0 ? r->c[i].l * p->repeat : r->c[i].l / p->repeat;
		r->c[i].l -= (double)count * p->frequency + p->presence;
	}
}

static int contains(const char *s, size_t n, const char *t, size_t m)
{
	size_t i;

	for (i = 0; i + m <= n; i++)
		if (!memcmp(s + i, t, m))
			return 1;
	return 0;
}

static int breaks(const struct sampler_breakers *b, int32_t id)
{
	const char *s;
	size_t i, n = 0;

	for (i = 0; i < b->n_id; i++)
		if (b->id[i] == id)
			return 1;
	for (i = 0; i < b->n_text; i++)
		if ((s = b->piece(b->context, id, &n)) && contains(s, n, b->text[i].s, b->text[i].n))
			return 1;
	return 0;
}

/* The ids at the end of x[n] in whose text, with that of the id before them, no breaker ends. */
static size_t unbroken(const struct sampler_breakers *b, const int32_t *x, size_t n)
{
	char text[65536];
	size_t from, i, len, total_len, k;
	const char *s;

	for (from = n; from > 0; from--) {
		if (breaks(b, x[from - 1]))
			return n - from;
		/* Does a breaker end in the id at from − 1? All the text up to its end, searched from the end. */
		for (total_len = 0, i = 0; b->n_text && i < from; i++) {
			s = b->piece(b->context, x[i], &len);
			memcpy(text + total_len, s, len);
			total_len += len;
		}
		if (b->n_text) {
			b->piece(b->context, x[from - 1], &len);
			for (k = 0; k < b->n_text; k++)
				for (i = 0; i < len && total_len - i >= b->text[k].n; i++)
					if (!memcmp(text + total_len - i - b->text[k].n, b->text[k].s, b->text[k].n))
						return n - from;
		}
	}
	return n;
}

static void dry(struct reference *r)
{
	const struct sampler_params *p = r->p;
	size_t n = p->dry_last_n < 0 || (size_t)p->dry_last_n > r->n_history ? r->n_history : (size_t)p->dry_last_n;
	size_t i, j, k, limit;
	const int32_t *x = r->history + r->n_history - n;
	double exponent;
	long long longest;

	limit = unbroken(&p->breakers, x, n);
	for (i = 0; i < r->n; i++) {
		longest = -1;
		for (j = 1; j < n; j++) {
			if (x[j] != r->c[i].id)
				continue;
			for (k = 0; k < j && k < limit && x[j - 1 - k] == x[n - 1 - k]; k++)
				;
			longest = (long long)k > longest ? (long long)k : longest;
		}
		if (longest < 0 || longest < p->dry_allowed || breaks(&p->breakers, r->c[i].id))
			continue;
		exponent = fmin((double)(longest - p->dry_allowed),
			p->dry_base > 1.000001 ? floor(88.7228391 / log(p->dry_base)) : 1e9);
		r->c[i].l -= p->dry_multiplier * pow(p->dry_base, exponent);
	}
}

static void top_n_sigma(struct reference *r)
{
	double mean = 0, var = 0;
	size_t i;

	sort(r);
	for (i = 0; i < r->n; i++)
		mean += r->c[i].l / (double)r->n;
	for (i = 0; i < r->n; i++)
		var += (r->c[i].l - mean) * (r->c[i].l - mean) / (double)r->n;
	while (r->c[r->n - 1].l < r->c[0].l - r->p->top_n_sigma * sqrt(var))
		r->n--;
}

static void top_k(struct reference *r)
{
	sort(r);
	if (r->n > (size_t)r->p->top_k)
		r->n = (size_t)r->p->top_k;
}

static void typ_p(struct reference *r)
{
	struct ref_candidate *by = malloc(r->n * sizeof *by);
	double h, sum, reached = 0;
	size_t i;

	sort(r);
	h = entropy(r);
	sum = total(r);
	for (i = 0; i < r->n; i++)
		by[i] = (struct ref_candidate){ -fabs(-(r->c[i].l - r->c[0].l - log(sum)) - h), (int32_t)i };
	qsort(by, r->n, sizeof *by, descending);
	for (i = 0; i < r->n && !(reached > r->p->typical); i++)
		reached += p_of(r, (size_t)by[i].id);
	for (size_t k = 0; k < i; k++)
		by[k] = (struct ref_candidate){ r->c[by[k].id].l, r->c[by[k].id].id };
	memcpy(r->c, by, i * sizeof *by);
	r->n = i;
	free(by);
}

static void top_p(struct reference *r)
{
	double reached = 0, sum;
	size_t i;

	sort(r);
	sum = total(r);
	for (i = 0; i < r->n && (!i || reached < (double)r->p->top_p); i++)
		reached += exp(r->c[i].l - r->c[0].l) / sum;
	r->n = i;
}

static void min_p(struct reference *r)
{
	sort(r);
	while (r->c[r->n - 1].l < r->c[0].l + log(r->p->min_p))
		r->n--;
}

static void xtc(struct reference *r)
{
	size_t above = 0;

	sort(r);
	if (r->n < 2 || rng_real(r->p->seed, r->position, UINT64_MAX - 1) > (double)r->p->xtc_probability)
		return;
	while (above < r->n && p_of(r, above) >= (double)r->p->xtc_threshold)
		above++;
	if (above < 2)
		return;
	memmove(r->c, r->c + above - 1, (r->n - above + 1) * sizeof *r->c);
	r->n -= above - 1;
}

static void temperature(struct reference *r)
{
	double t = r->p->temp, low, high;
	size_t i;

	sort(r);
	if (r->p->temp_range > 0 && !r->p->mirostat) {
		if (r->n < 2)
			return;
		low = fmax(0, t - r->p->temp_range);
		high = t + r->p->temp_range;
		t = low + (high - low) * pow(entropy(r) / log((double)r->n), r->p->temp_exponent);
	}
	if (t <= 0) {
		r->n = 1;
		return;
	}
	for (i = 0; i < r->n; i++)
		r->c[i].l /= t;
}

static void mirostat(struct reference *r)
{
	double tb = 0, tt = 0, t, s, eps, k, sum;
	size_t i, n = r->n < 100 ? r->n : 100;

	sort(r);
	sum = total(r);
	if (r->p->mirostat == 2) {
		while (r->n > 1 && -log2(exp(r->c[r->n - 1].l - r->c[0].l) / sum) > r->mu)
			r->n--;
		return;
	}
	for (i = 1; i < n; i++) {
		t = log((double)(i + 1) / (double)i);
		tb += t * (r->c[i - 1].l - r->c[i].l);
		tt += t * t;
	}
	s = tb / tt;
	eps = s - 1;
	k = pow(eps * pow(2, r->mu) / (1 - pow((double)r->n_vocab, -eps)), 1 / s);
	k = floor(fmax(k, 1));
	r->n = k < (double)r->n ? (size_t)k : r->n;
}

void ref_apply(struct reference *r, const char *name)
{
	static const struct {
		const char *name;
		void (*apply)(struct reference *r);
	} ops[] = {
		{ "penalties", penalties }, { "dry", dry }, { "top_n_sigma", top_n_sigma }, { "top_k", top_k },
		{ "typ_p", typ_p }, { "top_p", top_p },
		{ "min_p", min_p }, { "xtc", xtc }, { "temperature", temperature }, { "mirostat", mirostat }
	};
	size_t i;

	for (i = 0; i < sizeof ops / sizeof *ops; i++)
		if (!strcmp(ops[i].name, name))
			ops[i].apply(r);
}
