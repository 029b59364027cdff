/* sampler_test: every sampler, in chains of any order, against a second implementation in doubles that sorts the whole
 * row; draws against the probabilities they should have; gumbel against its definition; ties, NaN, infinities, tiny
 * vocabularies; the history; and fixed ids for a fixed seed, the same on every machine. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sampler/topk.h"
#include "lib/base/fmath.h"
#include "lib/stream/frame.h"
#include "lib/sampler/gumbel.h"
#include "lib/sampler/rng.h"
#include "lib/sampler/sampler.h"
#include "check.h"
#include "random.h"
#include "sampler_reference.h"

static void fill(float *row, size_t n, double spread, int with_ties)
{
	size_t i;

	for (i = 0; i < n; i++) {
		row[i] = (float)(spread * (random_unit() + random_unit() + random_unit() - 1.5));
		if (with_ties)
			row[i] = floorf(row[i] * 4) / 4;
	}
}

/* ---- each sampler against the reference ---- */

enum { VOCAB = 300, HISTORY = 60 };

/* What observe() compares. */
struct observed {
	struct reference ref;
	size_t steps;
	long long trial;
	int wrong;
};

static void compare(void *context, const struct sampler_view *v)
{
	struct observed *x = context;
	double sum = 0, p[VOCAB] = { 0 }, max = -INFINITY;
	size_t i, left = 0;
	char what[64];

	if (strcmp(v->name, "logits"))
		ref_apply(&x->ref, v->name);
	ref_probabilities(&x->ref);
	for (i = 0; i < v->n; i++)
		max = fmax(max, v->logit[i]);
	for (i = 0; i < v->n; i++) {
		left += v->logit[i] > -INFINITY;
		sum += p[v->id ? v->id[i] : (int32_t)i] = exp((v->logit[i] - max) / v->temp);
	}
	for (i = 0; i < VOCAB && fabs(p[i] / sum - x->ref.prob[i]) <= 2e-5 * x->ref.prob[i] + 1e-8; i++)
		;
	snprintf(what, sizeof what, "%s leaves %zu, not %zu, and the first wrong id is %zu", v->name, left, x->ref.n,
		i);
	x->steps++;
	if (!x->wrong)
		check_at(left == x->ref.n && i == VOCAB, what, x->trial);
	x->wrong |= left != x->ref.n || i != VOCAB;
}

/* Two letters each, so that breakers of several letters lie across ids. */
static const char *piece(const void *context, int32_t id, size_t *n)
{
	static char text[VOCAB][2];

	(void)context;
	text[id][0] = (char)('a' + id % 11);
	text[id][1] = (char)('a' + id / 11 % 7);
	*n = 1 + (id % 3 != 0);
	return text[id];
}

static float some(double chance, double off, double low, double high)
{
	return (float)(random_unit() < chance ? low + (high - low) * random_unit() : off);
}

/* All the parameters at random, most samplers on; the order shuffled. */
static void random_params(struct sampler_params *p)
{
	static const int32_t ids[] = { 7, 19 };
	static const struct sampler_breaker texts[] = { { "jd", 2 }, { "kbc", 3 } };
	size_t i, k;
	enum sampler_kind kind;

	sampler_defaults(p);
	p->seed = (uint64_t)(random_unit() * 1e6);
	p->repeat = some(0.5, 1, 0.7, 1.8);
	p->frequency = some(0.5, 0, -0.5, 1);
	p->presence = some(0.3, 0, -0.5, 1);
	p->last_n = (int32_t)some(0.8, -1, 0, 80);
	p->dry_multiplier = some(0.5, 0, 0.1, 2);
	p->dry_base = some(0.8, 1, 1, 3);
	p->dry_allowed = (int32_t)(4 * random_unit());
	p->dry_last_n = (int32_t)some(0.5, -1, 0, 80);
	p->breakers.piece = piece;
	p->breakers.id = ids;
	p->breakers.n_id = random_unit() < 0.3 ? 2 : 0;
	p->breakers.text = texts;
	p->breakers.n_text = random_unit() < 0.5 ? 2 : 0;
	p->top_n_sigma = some(0.3, -1, 0.3, 4);
	p->top_k = (int32_t)some(0.5, 0, 1, 320);
	p->typical = some(0.4, 1, 0.1, 1);
	p->top_p = some(0.5, 1, 0, 1);
	p->min_p = some(0.4, 0, 0.0001, 0.5);
	p->xtc_probability = some(0.5, 0, 0, 1);
	p->xtc_threshold = some(0.8, 0.1, 0, 0.6);
	p->temp = some(0.8, 1, 0.1, 2);
	p->temp = random_unit() < 0.05 ? 0 : p->temp;
	p->temp_range = some(0.3, 0, 0, 1);
	p->temp_exponent = some(0.5, 1, 0.2, 3);
	p->gumbel = random_unit() < 0.2;
	for (i = SAMPLER_KINDS - 1; i > 0; i--) {
		k = (size_t)(random_unit() * (double)(i + 1));
		kind = p->order[i];
		p->order[i] = p->order[k];
		p->order[k] = kind;
	}
}

/* Among few ids, and in copies of what was there, so that there is something to repeat. */
static void random_history(int32_t *ids, size_t n)
{
	size_t i, from, len;

	for (i = 0; i < n; i++) {
		ids[i] = (int32_t)(random_unit() * 30);
		if (i > 5 && random_unit() < 0.3) {
			from = (size_t)(random_unit() * (double)(i - 4));
			len = (size_t)(random_unit() * 8);
			for (; len && i < n && from < i; len--)
				ids[i++] = ids[from++];
			i--;
		}
	}
}

static void random_row(float *row, size_t trial)
{
	size_t i;

	fill(row, VOCAB, 1 + 20 * random_unit(), trial % 3 == 0);
	if (trial % 5 == 0)
		for (i = 0; i < 40; i++)
			row[(size_t)(random_unit() * VOCAB)] = i % 2 ? NAN : -INFINITY;
}

static void without_nan(float *row)
{
	size_t i;

	for (i = 0; i < VOCAB; i++)
		row[i] = row[i] == row[i] ? row[i] : -INFINITY;
}

/* The survivors and their probabilities after each sampler of random chains, and whom the draw is made among. */
static void against_reference(void)
{
	struct sampler_params p;
	struct observed x = { .steps = 0 };
	struct sampler_survivors left;
	struct sampler_pick pick;
	struct sampler *s;
	struct why w = { "" };
	float row[VOCAB];
	int32_t history[HISTORY];
	size_t i;

	for (x.trial = 0; x.trial < 2500; x.trial++) {
		random_params(&p);
		p.observe = compare;
		p.observer = &x;
		random_row(row, (size_t)x.trial);
		random_history(history, HISTORY);
		s = sampler_open(&p, VOCAB, &w);
		if (!s || sampler_history(s, 0, history, HISTORY, &w))
			check_at(0, w.text, x.trial);
		without_nan(row);
		ref_start(&x.ref, &p, row, VOCAB);
		x.ref.history = history;
		x.ref.n_history = HISTORY;
		x.ref.position = HISTORY;
		x.wrong = 0;
		if (sampler_draw(s, row, HISTORY, &pick, &w))
			check_at(0, w.text, x.trial);
		left = sampler_survivors(s);
		for (i = 0; i < left.n; i++)
			if (!(fabs(left.weight[i] / left.sum - x.ref.prob[left.id[i]])
				<= 2e-5 * x.ref.prob[left.id[i]] + 1e-8))
				break;
			;
		check_at(x.wrong || (i == left.n && left.n == x.ref.n && x.ref.prob[pick.id] > 0),
			"whom the draw is made among", x.trial);
		ref_free(&x.ref);
		sampler_close(s);
	}
	check_at(x.steps > 10000, "samplers that were compared", (long long)x.steps);
}

/* 60 draws in a row, of which the last 20 are made again. */
static void mirostat(int version, double spread)
{
	enum { DRAWS = 60, BACK = 40 };
	struct sampler_params p;
	struct observed x = { .trial = version * 1000 + (long long)spread };
	double mu[DRAWS + 1];
	int32_t id[DRAWS];
	struct sampler_pick pick;
	struct sampler *s;
	struct why w;
	float row[VOCAB], scratch[VOCAB];
	int i, again;

	sampler_defaults(&p);
	p.mirostat = version;
	p.temp_range = 0.5f;
	p.mirostat_ent = 3;
	p.mirostat_lr = 0.3f;
	p.observe = compare;
	p.observer = &x;
	s = sampler_open(&p, VOCAB, &w);
	fill(row, VOCAB, spread, 0);
	mu[0] = 2 * p.mirostat_ent;
	for (i = again = 0; i < DRAWS; i++) {
		ref_start(&x.ref, &p, row, VOCAB);
		x.ref.mu = mu[i];
		memcpy(scratch, row, sizeof row);
		check_at(!sampler_draw(s, scratch, (uint32_t)(100 + i), &pick, &w), "mirostat", i);
		mu[i + 1] = mu[i] - p.mirostat_lr * (-log2(x.ref.prob[pick.id]) - p.mirostat_ent);
		check_at(!again || pick.id == id[i], "mirostat, drawn again", i);
		id[i] = pick.id;
		ref_free(&x.ref);
		if (i == DRAWS - 1 && !again++)
			i = BACK - 1;
	}
	sampler_close(s);
}

static void orders(void)
{
	static const struct {
		const char *names;
		int good;
	} names[] = {
		{ "", 1 }, { "top_k", 1 }, { "top-k;temp", 1 },
		{ "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature", 1 },
		{ "typical;min_p;", 1 },
		{ "top_k;top_k", 0 }, { "top_k;;temp", 0 }, { "topk", 0 }, { "top_k top_p", 0 },
		{ "typ_p;typical_p", 0 }, { "TOP_K", 0 }, { "top_", 0 }, { ";", 0 }
	}, letters[] = { { "", 1 }, { "edskypmxt", 1 }, { "tk", 1 }, { "kk", 0 }, { "i", 0 }, { "k;t", 0 } };
	struct sampler_params p, q;
	struct why w;
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		check_at((sampler_order(&p, names[i].names, &w) == 0) == names[i].good, names[i].names, (long long)i);
	for (i = 0; i < sizeof letters / sizeof *letters; i++)
		check_at((sampler_order_letters(&p, letters[i].names, &w) == 0) == letters[i].good, letters[i].names,
			(long long)i);
	sampler_defaults(&q);
	sampler_order_letters(&p, "edskypmxt", &w);
	check_at(p.n_order == q.n_order && !memcmp(p.order, q.order, sizeof p.order), "the default order",
		(long long)p.n_order);
}

/* ---- draws ---- */

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

	struct reference ref;

	fill(row, n, 6, 0);
	ref_start(&ref, p, row, n);
	if (p->top_k > 0)
		ref_apply(&ref, "top_k");
	ref_apply(&ref, "top_p");
	if (p->min_p > 0)
		ref_apply(&ref, "min_p");
	ref_apply(&ref, "temperature");
	ref_probabilities(&ref);
	memcpy(prob, ref.prob, n * sizeof *prob);
	ref_free(&ref);
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
		check_at(rest_seen <= 40, "draws of the unlikely", rest_seen);
	}
	check_at(x < df + 5 * sqrt(2 * df) && x > df - 5 * sqrt(2 * df), what, (long long)x);
	sampler_close(s);
}

/* By the definition: adding up in order. */
static int32_t slow_draw(const struct sampler_survivors *c, double u)
{
	double reached = 0;
	size_t i;

	for (i = 0; i < c->n; i++)
		if ((reached += c->weight[i]) > u * c->sum)
			break;
	return i < c->n ? c->id[i] : -1;
}

static void draws_by_definition(void)
{
	enum { N = 5000 };
	static float row[N], scratch[N];
	struct sampler_params p;
	struct sampler_survivors left;
	struct sampler_pick pick;
	struct sampler *s;
	struct why w;
	uint32_t trial;

	for (trial = 0; trial < 600; trial++) {
		sampler_defaults(&p);
		p.seed = trial;
		p.top_k = 0;
		p.top_p = trial % 2 ? 1 : 0.9f;
		p.min_p = trial % 3 ? 0 : 0.001f;
		fill(row, N, trial % 5, trial % 7 == 0);
		memcpy(scratch, row, sizeof row);
		s = sampler_open(&p, N - (int32_t)(trial % 100), &w);
		check_at(!sampler_draw(s, scratch, trial, &pick, &w), "a draw", trial);
		left = sampler_survivors(s);
		check_at(pick.id == slow_draw(&left, rng_real(trial, trial, SAMPLER_KEY_DRAW)),
			"a draw by the definition", trial);
		sampler_close(s);
	}
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
		check_at(id >= rows[i].low && id <= rows[i].high && pick.n_nan == rows[i].n_nan, "odd row",
			(long long)i);
	}
}

static void ties(void)
{
	static const float row[] = { 1, 5, 2, 5, 5, 0 }, zeros[] = { -1, -0.0f, 0.0f, -0.0f };
	struct sampler_params p;
	struct sampler_pick pick;
	struct sampler_bias bias[] = { { 1, -INFINITY }, { 0, 4 } };
	int32_t at[4];
	float scratch[TOPK_SCRATCH(6)];

	sampler_defaults(&p);
	p.temp = 0;
	check_at(one(&p, row, 6, &pick) == 1, "greedy takes the lowest of equals", pick.id);
	check_at(one(&p, zeros, 4, &pick) == 1, "the zeros are equal", pick.id);
	p.bias = bias;
	p.n_bias = 2;
	check_at(one(&p, row, 6, &pick) == 0, "bias is added first, a banned id never comes", pick.id);
	check_at(topk_sorted(row, 6, 4, at, scratch) == 4 && at[0] == 1 && at[1] == 3 && at[2] == 4 && at[3] == 2,
		"sorted best", at[0]);
	check_at(topk_select(row, 6, 2, at, scratch) == 2 && at[0] == 1 && at[1] == 3, "best two of three equals",
		at[1]);
}

static int descending(const void *a, const void *b)
{
	const struct ref_candidate *x = a, *y = b;

	return x->l != y->l ? (x->l < y->l ? 1 : -1) : (x->id > y->id) - (x->id < y->id);
}

/* Weighted cuts of rows of many kinds, against adding up a sorted copy. */
static void cuts(void)
{
	enum { N = 30000 };
	static float key[N], weight[N];
	static struct ref_candidate r[N];
	double total, reached, target;
	size_t i, trial, n, ties;
	struct threshold c;

	for (trial = 0; trial < 300; trial++) {
		n = trial % 4 ? 1 + (size_t)(random_unit() * 300) : N;
		fill(key, n, trial % 7 == 0 ? 1e30 : 10, trial % 3 == 0);
		for (total = 0, i = 0; i < n; i++) {
			key[i] = trial % 5 == 4 ? (float)ldexp(key[i], (int)(200 * random_unit()) - 150)
				: trial % 11 == 10 ? -(float)(i % 3) * 0.0f : key[i];
			key[i] = trial % 13 == 12 && i % 2 ? -INFINITY : key[i];
			/* whole, so that every order of adding gives the same */
			weight[i] = (float)floor(8 * random_unit());
			total += weight[i];
		}
		/* more equal keys than topk.c collects, beside others */
		for (i = 0; i < n && trial % 17 == 16; i++)
			key[i] = i % 3 ? 1 : key[i];
		for (i = 0; i < n; i++)
			r[i] = (struct ref_candidate){ key[i], (int32_t)i };
		target = floor(total * random_unit() * 1.05) + 0.5;
		qsort(r, n, sizeof *r, descending);
		for (reached = 0, i = 0; i < n && reached < target; i++)
			reached += weight[r[i].id];
		for (ties = 0; ties < i && r[i - 1 - ties].l == r[i - 1].l; ties++)
			;
		c = topk_threshold(key, weight, n, target);
		check_at(c.value == (float)r[i - 1].l && c.ties == ties, "a weighted cut", (long long)trial);
	}
}

static void selection(void)
{
	enum { N = 20000 };
	static float x[N], scratch[TOPK_SCRATCH(N)];
	static int32_t at[N];
	static struct ref_candidate r[N];
	size_t k[] = { 1, 2, 40, 700, 9000, N - 1, N }, i, j, kind;

	for (kind = 0; kind < 4; kind++) {
		fill(x, N, 10, kind == 1);
		for (i = 0; i < N; i++) {
			if (kind >= 2)
				x[i] = kind == 2 ? (float)i : -(float)i;
			r[i] = (struct ref_candidate){ x[i], (int32_t)i };
		}
		qsort(r, N, sizeof *r, descending);
		for (j = 0; j < sizeof k / sizeof *k; j++) {
			topk_sorted(x, N, k[j], at, scratch);
			for (i = 0; i < k[j] && at[i] == r[i].id; i++)
				;
			check_at(i == k[j], "the best of a row", (long long)(kind * 100 + j));
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
	check_at(pick.id == 3, "what was said is not said again", pick.id);
	sampler_history(s, 1, ids, 0, &w);
	memcpy(scratch, row, sizeof row);
	sampler_draw(s, scratch, 1, &pick, &w);
	check_at(pick.id == 1 && sampler_next(s) == 1, "a position cuts back", pick.id);
	check_at(sampler_history(s, FRAME_APPEND, wrong, 2, &w) < 0 && sampler_next(s) == 1,
		"an id outside the vocabulary", 4);
	sampler_history(s, FRAME_APPEND, many, SAMPLER_HISTORY + 10, &w);
	check_at(sampler_next(s) == SAMPLER_HISTORY + 11, "a long history", sampler_next(s));
	sampler_history(s, 900, ids + 1, 1, &w);
	memcpy(scratch, row, sizeof row);
	sampler_draw(s, scratch, 901, &pick, &w);
	check_at(pick.id == 0 && sampler_next(s) == 901, "back to a place no longer known", pick.id);
	sampler_close(s);
}

/* ---- gumbel ---- */

/* By the definition: the noise of every id. */
static int32_t slow_gumbel(const float *row, size_t n, float temp, uint64_t seed, uint64_t position)
{
	double best = -INFINITY, x;
	int32_t at = -1;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!(row[i] > -INFINITY))
			continue;
		x = (row[i] > FLT_MAX ? FLT_MAX : row[i]) / (temp > 0 ? (double)temp : 1);
		x = temp > 0 ? x - fmath_log(-fmath_log(rng_real(seed, position, i))) : x;
		if (x > best) {
			best = x;
			at = (int32_t)i;
		}
	}
	return at;
}

static void gumbel(void)
{
	enum { N = 3000 };
	static const float temps[] = { 0, 1e-6f, 0.05f, 0.7f, 1, 3, 1e6f };
	static float row[N], scratch[N];
	static int32_t id[N];
	static const float nobody[] = { NAN, -INFINITY, NAN };
	struct sampler_params p;
	struct sampler_pick pick;
	struct sampler *s;
	struct why w;
	size_t i, n, m, trial;
	int32_t among;

	for (trial = 0; trial < 4000; trial++) {
		n = 1 + (size_t)(random_unit() * (trial % 10 ? 200 : N));
		fill(row, n, trial % 4 == 3 ? 1e38 : trial % 4 == 2 ? 100 : 10 * random_unit(), trial % 6 == 0);
		for (i = 0; i < n && trial % 5 == 0; i += 7)
			row[i] = i % 2 ? NAN : i % 3 ? -INFINITY : i % 4 ? FLT_MAX : INFINITY;
		row[n - 1] = 1;
		check_at(gumbel_pick(row, n, temps[trial % 7], trial, 9) == slow_gumbel(row, n, temps[trial % 7], trial,
			9), "gumbel by the definition", (long long)trial);
		for (i = m = 0; i < n; i++)
			if (i % 3 == 0 || i == n - 1) {
				id[m] = (int32_t)i;
				scratch[m++] = row[i];
			} else {
				row[i] = -INFINITY;
			}
		among = gumbel_among(scratch, id, m, temps[trial % 7], trial, 9);
		check_at(id[among] == slow_gumbel(row, n, temps[trial % 7], trial, 9), "gumbel among some",
			(long long)trial);
	}
	check_at(gumbel_pick(nobody, 3, 1, 0, 0) == -1 && gumbel_pick(row, 0, 1, 0, 0) == -1, "gumbel among nobody", 0);

	/* The filter draws what a chain of steps draws. */
	sampler_defaults(&p);
	p.top_k = 0;
	p.top_p = 1;
	p.min_p = 0;
	p.gumbel = 1;
	p.seed = 77;
	for (trial = 0; trial < 700; trial++) {
		p.temp = temps[trial % 7];
		s = sampler_open(&p, N, &w);
		fill(row, N, 12, trial % 3 == 0);
		memcpy(scratch, row, sizeof row);
		check_at(!sampler_draw(s, scratch, (uint32_t)trial, &pick, &w)
			&& pick.id == gumbel_pick(row, N, p.temp, 77, trial), "gumbel in the chain", (long long)trial);
		sampler_close(s);
	}
}

/* The log-probabilities are those of the row as it came, whatever the chain makes of it. */
static void log_probabilities(void)
{
	enum { N = 300, BEST = 7 };
	float row[N], scratch[N];
	struct ref_candidate r[N];
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
		r[i] = (struct ref_candidate){ row[i], (int32_t)i };
		sum += exp(row[i]);
	}
	qsort(r, N, sizeof *r, descending);
	sampler_defaults(&p);
	p.bias = &bias;
	p.n_bias = 1;
	p.n_best = BEST;
	s = sampler_open(&p, N, &w);
	memcpy(scratch, row, sizeof row);
	check_at(!sampler_draw(s, scratch, 0, &pick, &w) && pick.id == 5 && pick.n_best == BEST, "a forced id",
		pick.id);
	check_at(fabs(pick.logprob - (row[5] - log(sum))) < 1e-5, "its log-probability, in 1e-6",
		(long long)(pick.logprob * 1e6));
	for (i = 0; i < BEST && pick.best[i].id == r[i].id && fabs(pick.best[i].logprob - (r[i].l - log(sum))) < 1e-5;
		i++)
		;
	check_at(i == BEST, "the best beside it", (long long)i);
	sampler_close(s);
}

/* In (0, 1), exact in a float. */
static float unit(uint64_t seed, uint64_t position, uint64_t id)
{
	return (float)(rng_bits(seed, position, id) >> 40 | 1) * 0x1p-24f;
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

	check_at(rng_bits(1, 2, 3) == UINT64_C(0xd0734750fde362b3), "rng_bits(1, 2, 3)", (long long)rng_bits(1, 2, 3));
	for (i = 0; i < 100000; i++) {
		float f = fmath_exp(-(float)i / 1024);
		double l = fmath_log(1e-3 + i / 64.0);
		uint32_t u;
		uint64_t v;

		memcpy(&u, &f, sizeof u);
		memcpy(&v, &l, sizeof v);
		hash = rng_bits(hash, u, v);
	}
	check_at(hash == UINT64_C(0x9c7122a69fbf5efc), "exp and log", (long long)hash);
	sampler_defaults(&p);
	p.seed = 42;
	s = sampler_open(&p, N, &w);
	for (hash = 0, i = 0; i < 200; i++) {
		for (uint32_t k = 0; k < N; k++)
			row[k] = 12 * (unit(i, k, 7) + unit(i, k, 8) + unit(i, k, 9));
		sampler_draw(s, row, i, &pick, &w);
		hash = rng_bits(hash, (uint32_t)pick.id, i);
	}
	check_at(hash == UINT64_C(0xdacee90dbcd25be4), "ids drawn", (long long)hash);
	sampler_close(s);
	for (hash = 0, i = 0; i < 200000; i++) {
		double x = fmath_pow(1e-4 + i / 5e4, (double)(i % 100) / 7 - 3);
		uint64_t v;

		memcpy(&v, &x, sizeof v);
		hash = rng_bits(hash, v, i);
	}
	check_at(hash == UINT64_C(0x62bac70c967b4935), "powers", (long long)hash);
	for (hash = 0, i = 0; i < 3; i++) {
		sampler_defaults(&p);
		p.seed = 42;
		p.typical = i ? 1 : 0.9f;
		p.xtc_probability = i ? 0 : 0.5f;
		p.top_n_sigma = i ? -1 : 2;
		p.temp_range = i ? 0 : 0.3f;
		p.dry_multiplier = i ? 0 : 1;
		p.mirostat = i == 1 ? 2 : 0;
		p.gumbel = i == 2;
		p.top_k = i == 2 ? 0 : p.top_k;
		s = sampler_open(&p, N, &w);
		for (uint32_t pos = 0; pos < 200; pos++) {
			for (uint32_t k = 0; k < N; k++)
				row[k] = 12 * (unit(pos, k, 7) + unit(pos, k, 8) + unit(pos, k, 9));
			sampler_draw(s, row, pos, &pick, &w);
			sampler_history(s, pos, &pick.id, 1, &w);
			hash = rng_bits(hash, (uint32_t)pick.id, pos);
		}
		sampler_close(s);
	}
	check_at(hash == UINT64_C(0xe3167afbb18d1910), "ids drawn by all the others", (long long)hash);
}

/* The same of long rows of candidates. */
static void frozen_without_top_k(void)
{
	enum { N = 5000 };
	static float row[N];
	struct sampler_params p;
	struct sampler_pick pick;
	struct sampler *s;
	uint64_t hash = 0;
	struct why w;

	for (int i = 0; i < 16; i++) {
		sampler_defaults(&p);
		p.seed = 42;
		p.top_k = 0;
		p.min_p = i & 1 ? 0 : 0.05f;
		p.top_p = i & 2 ? 0.95f : 0.5f;
		p.temp = i & 4 ? 1 : 0.8f;
		p.gumbel = (i & 8) > 0;
		s = sampler_open(&p, N, &w);
		for (uint32_t pos = 0; pos < 100; pos++) {
			for (uint32_t k = 0; k < N; k++)
				row[k] = (1 + pos % 4) * (unit(pos, k, 7) + unit(pos, k, 8) + unit(pos, k, 9));
			sampler_draw(s, row, pos, &pick, &w);
			hash = rng_bits(hash, (uint32_t)pick.id, pos);
		}
		sampler_close(s);
	}
	check_at(hash == UINT64_C(0xc3e584a0a796de43), "ids drawn without top_k", (long long)hash);
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
	check_at(worst < 2.5e-7, "exp, in 1e-9", (long long)(worst * 1e9));
	for (worst = 0, i = 1; i < 200000; i++) {
		x = pow(1.0005, i - 100000);
		worst = fmax(worst, fabs(fmath_log(x) - log(x)) / fmax(fabs(log(x)), 1e-300));
	}
	check_at(worst < 1e-15, "log, in 1e-18", (long long)(worst * 1e18));
	for (worst = 0, i = 1; i < 100000; i++) {
		x = pow(1e-3 + i / 2e4, i % 100 - 50.0);
		worst = fmax(worst, fabs(fmath_pow(1e-3 + i / 2e4, i % 100 - 50.0) - x) / x);
	}
	check_at(worst < 1e-13, "pow, in 1e-16", (long long)(worst * 1e16));
	check_at(fabs(fmath_pow(2, 3) - 8) < 1e-13 && fmath_pow(0, 2) == 0 && fmath_pow(0, 0) == 1
		&& fmath_pow(2, 1e5) == INFINITY && fmath_pow(2, -1e5) == 0, "pow of the simplest", 0);
	check_at(fmath_exp(0) == 1 && fmath_exp(-INFINITY) == 0 && fmath_log(1) == 0, "exp and log of the simplest", 0);
}

int main(void)
{
	struct sampler_params p;

	against_reference();
	mirostat(1, 6);
	mirostat(1, 30);
	mirostat(2, 6);
	mirostat(2, 30);
	orders();
	draws_by_definition();
	gumbel();
	cuts();
	sampler_defaults(&p);
	odd_rows(&p);
	chi_square(&p, 200, 1000000, "chi-square of the default chain");
	p.top_k = 0;
	p.top_p = 1;
	p.min_p = 0;
	odd_rows(&p);
	chi_square(&p, 200, 200000, "chi-square of the temperature alone");
	p.temp = 1;
	chi_square(&p, 200, 1000000, "chi-square of the softmax");
	p.gumbel = 1;
	odd_rows(&p);
	chi_square(&p, 200, 1000000, "chi-square of gumbel");
	p.temp = 0.7f;
	p.top_k = 50;
	chi_square(&p, 200, 200000, "chi-square of gumbel after top_k");
	p.gumbel = 0;
	p.top_k = 0;
	p.temp = 0;
	odd_rows(&p);
	ties();
	selection();
	history();
	log_probabilities();
	accuracy();
	frozen();
	frozen_without_top_k();
	return check_end("sampler");
}
