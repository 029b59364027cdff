/* sampler_test: the chain against a second implementation in doubles that sorts the whole row; draws against the probabilities they should have;
 * ties, NaN, infinities, tiny vocabularies; the history; and fixed ids for a fixed seed, the same on every machine. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/cut.h"
#include "../lib/fmath.h"
#include "../lib/frame.h"
#include "../lib/rng.h"
#include "../lib/sampler.h"

static int passed, failed;

static void check(int ok, const char *what, long long detail)
{
	if (ok) {
		passed++;
		return;
	}
	failed++;
	printf("failed: %s (%lld)\n", what, detail);
}

/* Rows of our own making; nothing that the sampler itself uses. */
static uint32_t state = 1;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state / 4294967296.0;
}

static void fill(float *row, size_t n, double spread, int with_ties)
{
	size_t i;

	for (i = 0; i < n; i++) {
		row[i] = (float)(spread * (uniform() + uniform() + uniform() - 1.5));
		if (with_ties)
			row[i] = floorf(row[i] * 4) / 4;
	}
}

/* ---- the reference ---- */

struct ref {
	double l;
	int32_t id;
};

static int descending(const void *a, const void *b)
{
	const struct ref *x = a, *y = b;

	return x->l != y->l ? (x->l < y->l ? 1 : -1) : (x->id > y->id) - (x->id < y->id);
}

/* prob[n] = what the chain should leave, 0 for the dropped. window: ids, each once for each time it counts. Returns the number of survivors. */
static size_t reference(const struct sampler_params *p, const float *row, size_t n, const int32_t *window, size_t n_window, double *prob)
{
	struct ref *r = malloc(n * sizeof *r);
	double sum, reached, count;
	size_t i, j, kept = n;

	for (i = 0; i < n; i++) {
		r[i] = (struct ref){ row[i], (int32_t)i };
		for (count = 0, j = 0; j < n_window; j++)
			count += window[j] == (int32_t)i;
		if (count > 0) {
			r[i].l = r[i].l <= 0 ? r[i].l * p->repeat : r[i].l / p->repeat;
			r[i].l -= count * p->frequency + p->presence;
		}
	}
	qsort(r, n, sizeof *r, descending);
	if (p->top_k > 0 && kept > (size_t)p->top_k)
		kept = (size_t)p->top_k;
	if (p->top_p < 1) {
		for (sum = 0, i = 0; i < kept; i++)
			sum += exp(r[i].l - r[0].l);
		for (reached = 0, i = 0; i < kept && (i == 0 || reached < (double)p->top_p * sum); i++)
			reached += exp(r[i].l - r[0].l);
		kept = i;
	}
	if (p->min_p > 0)
		while (r[kept - 1].l < r[0].l + log(p->min_p))
			kept--;
	if (p->temp <= 0)
		kept = 1;
	for (i = 0; i < n; i++)
		prob[i] = 0;
	for (sum = 0, i = 0; i < kept; i++)
		sum += prob[r[i].id] = exp(p->temp > 0 ? (r[i].l - r[0].l) / p->temp : 0);
	for (i = 0; i < n; i++)
		prob[i] /= sum;
	free(r);
	return kept;
}

/* ---- tests ---- */

/* Random rows and parameters: everyone who survives is drawn at some position, nobody else is, and the probabilities are right. */
static void against_reference(void)
{
	enum { N = 700, DRAWS = 400 };
	static float row[N], scratch[N];
	static double prob[N];
	static int32_t window[40];
	struct sampler_params p;
	struct sampler_pick pick;
	struct sampler *s;
	struct why w;
	size_t trial, i, n_window;

	for (trial = 0; trial < 400; trial++) {
		sampler_defaults(&p);
		fill(row, N, 1 + 30 * uniform(), trial % 3 == 0);
		p.temp = trial % 7 == 0 ? 0 : trial % 7 == 1 ? 1 : (float)(0.1 + 2 * uniform());
		p.top_k = trial % 5 == 0 ? 0 : (int32_t)(1 + uniform() * (trial % 5 == 1 ? 2 * N : 60));
		p.top_p = trial % 4 == 0 ? 1 : (float)uniform();
		p.min_p = trial % 3 == 1 ? 0 : (float)(uniform() * uniform());
		p.last_n = trial % 2 ? 40 : 30;
		if (trial % 2) {
			p.repeat = (float)(0.8 + uniform());
			p.frequency = (float)uniform();
			p.presence = (float)uniform();
		}
		for (i = 0; i < 40; i++)
			window[i] = (int32_t)(uniform() * 50);
		n_window = (size_t)p.last_n;
		reference(&p, row, N, window + 40 - n_window, n_window, prob);
		s = sampler_open(&p, N, &w);
		check(sampler_history(s, 0, window, 40, &w) == 0, "history", (long long)trial);
		for (i = 0; i < DRAWS; i++) {
			memcpy(scratch, row, sizeof row);
			if (sampler_draw(s, scratch, (uint32_t)i, &pick, &w) < 0 || fabs(pick.p - prob[pick.id]) > 1e-5 * prob[pick.id] + 1e-7)
				break;
		}
		check(i == DRAWS, "a survivor and its probability", (long long)trial);
		sampler_close(s);
	}
}

/* Pearson's chi-square of many draws; the bound is about five standard deviations. */
static void chi_square(const struct sampler_params *p, size_t n, int draws, const char *what)
{
	float row[200], scratch[200];
	double prob[200], x = 0, df = 0, rest = 1, d;
	long long seen[200] = { 0 }, rest_seen = draws;
	struct sampler_pick pick;
	struct why w;
	struct sampler *s = sampler_open(p, (int32_t)n, &w);
	size_t i;

	fill(row, n, 6, 0);
	reference(p, row, n, NULL, 0, prob);
	for (i = 0; i < (size_t)draws; i++) {
		memcpy(scratch, row, n * sizeof *row);
		sampler_draw(s, scratch, (uint32_t)i, &pick, &w);
		seen[pick.id]++;
	}
	for (i = 0; i < n; i++)
		if (prob[i] * draws >= 10) {
			d = (double)seen[i] - prob[i] * draws;
			x += d * d / (prob[i] * draws);
			df++;
			rest -= prob[i];
			rest_seen -= seen[i];
		}
	if (rest * draws >= 10) {
		d = (double)rest_seen - rest * draws;
		x += d * d / (rest * draws);
		df++;
	} else {
		check(rest_seen <= 40, "draws of the unlikely", rest_seen);
	}
	check(x < df + 5 * sqrt(2 * df) && x > df - 5 * sqrt(2 * df), what, (long long)x);
	sampler_close(s);
}

static int32_t one(const struct sampler_params *p, const float *row, size_t n, struct sampler_pick *pick)
{
	float scratch[16];
	struct why w;
	struct sampler *s = sampler_open(p, (int32_t)n, &w);
	int status;

	memcpy(scratch, row, n * sizeof *row);
	status = sampler_draw(s, scratch, 3, pick, &w);
	sampler_close(s);
	return status < 0 ? -1 : pick->id;
}

static void odd_rows(const struct sampler_params *p)
{
	static const struct {
		float row[4];
		size_t n, n_nan;
		int32_t low, high;      /* the ids that may be drawn; -1: none can */
	} rows[] = {
		{ { NAN, NAN, NAN, NAN }, 4, 4, -1, -1 },
		{ { -INFINITY, -INFINITY, -INFINITY, -INFINITY }, 4, 0, -1, -1 },
		{ { NAN, -INFINITY, NAN, -INFINITY }, 4, 2, -1, -1 },
		{ { NAN, -5, NAN, -INFINITY }, 4, 2, 1, 1 },
		{ { 1, 2, INFINITY, 3 }, 4, 0, 2, 2 },
		{ { INFINITY, -FLT_MAX, -INFINITY, NAN }, 4, 1, 0, 0 },
		{ { -INFINITY, -INFINITY, INFINITY, INFINITY }, 4, 0, 2, 3 },
		{ { 7, 7, 7, 7 }, 4, 0, 0, 3 },
		{ { 1e-45f, 1e-40f, -1e-45f, 0 }, 4, 0, 0, 3 },
		{ { -FLT_MAX, -FLT_MAX, FLT_MAX, -FLT_MAX }, 4, 0, 2, 2 },
		{ { -3 }, 1, 0, 0, 0 },
		{ { NAN }, 1, 1, -1, -1 },
	};
	struct sampler_pick pick;
	size_t i;
	int32_t id;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		id = one(p, rows[i].row, rows[i].n, &pick);
		check(id >= rows[i].low && id <= rows[i].high && pick.n_nan == rows[i].n_nan, "odd row", (long long)i);
	}
}

static void ties(void)
{
	static const float row[] = { 1, 5, 2, 5, 5, 0 }, zeros[] = { -1, -0.0f, 0.0f, -0.0f };
	struct sampler_params p;
	struct sampler_pick pick;
	struct sampler_bias bias[] = { { 1, -INFINITY }, { 0, 4 } };
	int32_t at[CUT_ROOM(4)];
	float scratch[CUT_ROOM(4)];

	sampler_defaults(&p);
	p.temp = 0;
	check(one(&p, row, 6, &pick) == 1, "greedy takes the lowest of equals", pick.id);
	check(one(&p, zeros, 4, &pick) == 1, "the zeros are equal", pick.id);
	p.bias = bias;
	p.n_bias = 2;
	check(one(&p, row, 6, &pick) == 0, "bias is added first, a banned id never comes", pick.id);
	check(cut_best_sorted(row, 6, 4, at, scratch) == 4 && at[0] == 1 && at[1] == 3 && at[2] == 4 && at[3] == 2, "sorted best", at[0]);
	check(cut_best(row, 6, 2, at, scratch) == 2 && at[0] == 1 && at[1] == 3, "best two of three equals", at[1]);
}

static void selection(void)
{
	enum { N = 20000 };
	static float x[N], scratch[N];
	static int32_t at[N];
	static struct ref r[N];
	size_t k[] = { 1, 2, 40, 700, 9000, N - 1, N }, i, j, kind;

	for (kind = 0; kind < 4; kind++) {
		fill(x, N, 10, kind == 1);
		for (i = 0; i < N; i++) {
			if (kind >= 2)
				x[i] = kind == 2 ? (float)i : -(float)i;
			r[i] = (struct ref){ x[i], (int32_t)i };
		}
		qsort(r, N, sizeof *r, descending);
		for (j = 0; j < sizeof k / sizeof *k; j++) {
			cut_best_sorted(x, N, k[j], at, scratch);
			for (i = 0; i < k[j] && at[i] == r[i].id; i++)
				;
			check(i == k[j], "the best of a row", (long long)(kind * 100 + j));
		}
	}
}

static void history(void)
{
	static const float row[] = { 5, 4, 3, 2 };
	static int32_t many[SAMPLER_HISTORY + 10];
	int32_t ids[] = { 0, 1, 2 }, wrong[] = { 0, 4 };
	struct sampler_params p;
	struct sampler_pick pick;
	struct sampler *s;
	float scratch[4];
	struct why w;

	sampler_defaults(&p);
	p.temp = 0;
	p.presence = 10;
	s = sampler_open(&p, 4, &w);
	sampler_history(s, 0, ids, 3, &w);
	memcpy(scratch, row, sizeof row);
	sampler_draw(s, scratch, 3, &pick, &w);
	check(pick.id == 3, "what was said is not said again", pick.id);
	sampler_history(s, 1, ids, 0, &w);
	memcpy(scratch, row, sizeof row);
	sampler_draw(s, scratch, 1, &pick, &w);
	check(pick.id == 1 && sampler_next(s) == 1, "a position cuts back", pick.id);
	check(sampler_history(s, FRAME_APPEND, wrong, 2, &w) < 0 && sampler_next(s) == 1, "an id outside the vocabulary", 4);
	sampler_history(s, FRAME_APPEND, many, SAMPLER_HISTORY + 10, &w);
	check(sampler_next(s) == SAMPLER_HISTORY + 11, "a long history", sampler_next(s));
	sampler_history(s, 900, ids + 1, 1, &w);
	memcpy(scratch, row, sizeof row);
	sampler_draw(s, scratch, 901, &pick, &w);
	check(pick.id == 0 && sampler_next(s) == 901, "back to a place no longer known", pick.id);
	sampler_close(s);
}

/* The log-probabilities are those of the row as it came, whatever the chain makes of it. */
static void log_probabilities(void)
{
	enum { N = 300, BEST = 7 };
	float row[N], scratch[N];
	struct ref r[N];
	struct sampler_params p;
	struct sampler_pick pick;
	struct sampler_bias bias = { 5, 100 };
	struct sampler *s;
	struct why w;
	double sum = 0;
	size_t i;

	fill(row, N, 8, 1);
	row[7] = -INFINITY;
	for (i = 0; i < N; i++) {
		r[i] = (struct ref){ row[i], (int32_t)i };
		sum += exp(row[i]);
	}
	qsort(r, N, sizeof *r, descending);
	sampler_defaults(&p);
	p.bias = &bias;
	p.n_bias = 1;
	p.n_best = BEST;
	s = sampler_open(&p, N, &w);
	memcpy(scratch, row, sizeof row);
	check(!sampler_draw(s, scratch, 0, &pick, &w) && pick.id == 5 && pick.n_best == BEST, "a forced id", pick.id);
	check(fabs(pick.logprob - (row[5] - log(sum))) < 1e-5, "its log-probability, in 1e-6", (long long)(pick.logprob * 1e6));
	for (i = 0; i < BEST && pick.best[i].id == r[i].id && fabs(pick.best[i].logprob - (r[i].l - log(sum))) < 1e-5; i++)
		;
	check(i == BEST, "the best beside it", (long long)i);
	sampler_close(s);
}

/* The bits are a contract: no compiler, library or processor may change them. */
static void frozen(void)
{
	enum { N = 5000 };
	static float row[N];
	struct sampler_params p;
	struct sampler_pick pick;
	struct sampler *s;
	uint64_t hash = 0;
	struct why w;
	uint32_t i;

	check(rng_bits(1, 2, 3) == UINT64_C(0xd0734750fde362b3), "rng_bits(1, 2, 3)", (long long)rng_bits(1, 2, 3));
	check(rng_unit(1, 2, 3) == 13660999 * 0x1p-24f, "rng_unit(1, 2, 3), in 2^-24", (long long)(rng_unit(1, 2, 3) * 0x1p24f));
	for (i = 0; i < 100000; i++) {
		float f = fmath_exp(-(float)i / 1024);
		double l = fmath_log(1e-3 + i / 64.0);
		uint32_t u;
		uint64_t v;

		memcpy(&u, &f, sizeof u);
		memcpy(&v, &l, sizeof v);
		hash = rng_bits(hash, u, v);
	}
	check(hash == UINT64_C(0x9c7122a69fbf5efc), "exp and log", (long long)hash);
	sampler_defaults(&p);
	p.seed = 42;
	s = sampler_open(&p, N, &w);
	for (hash = 0, i = 0; i < 200; i++) {
		for (uint32_t k = 0; k < N; k++)
			row[k] = 12 * (rng_unit(i, k, 7) + rng_unit(i, k, 8) + rng_unit(i, k, 9));
		sampler_draw(s, row, i, &pick, &w);
		hash = rng_bits(hash, (uint32_t)pick.id, i);
	}
	check(hash == UINT64_C(0xdacee90dbcd25be4), "ids drawn", (long long)hash);
	sampler_close(s);
}

static void accuracy(void)
{
	double worst = 0, e, x;
	int i;

	for (i = 0; i < 200000; i++) {
		x = (float)(-87.0 * i / 200000);
		e = exp(x);
		worst = fmax(worst, fabs(fmath_exp((float)x) - e) / e);
	}
	check(worst < 2.5e-7, "exp, in 1e-9", (long long)(worst * 1e9));
	for (worst = 0, i = 1; i < 200000; i++) {
		x = pow(1.0005, i - 100000);
		worst = fmax(worst, fabs(fmath_log(x) - log(x)) / fmax(fabs(log(x)), 1e-300));
	}
	check(worst < 1e-15, "log, in 1e-18", (long long)(worst * 1e18));
	check(fmath_exp(0) == 1 && fmath_exp(-INFINITY) == 0 && fmath_log(1) == 0, "exp and log of the simplest", 0);
}

int main(void)
{
	struct sampler_params p;

	against_reference();
	sampler_defaults(&p);
	odd_rows(&p);
	chi_square(&p, 200, 1000000, "chi-square of the default chain");
	p.top_k = 0;
	p.top_p = 1;
	p.min_p = 0;
	odd_rows(&p);
	chi_square(&p, 200, 200000, "chi-square of the temperature alone");
	p.temp = 1;
	chi_square(&p, 200, 200000, "chi-square of the softmax");
	p.temp = 0;
	odd_rows(&p);
	ties();
	selection();
	history();
	log_probabilities();
	accuracy();
	frozen();
	printf("sampler: %d passed, %d failed\n", passed, failed);
	return failed != 0;
}
