/* fwd/plan/split: layers divided among two or three plans give the same bits as one plan, for every family of
 * mkfamilies, wherever its layers can be divided; for prompts, single rows, two sequences, and after cutting back. */
#include <stdlib.h>
#include <string.h>

#include "fwd/builder/builder.h"
#include "fwd/kernels/kernels.h"
#include "fwd/plan/split.h"
#include "lib/base/size.h"
#include "lib/sampler/rng.h"
#include "check.h"
#include "mkfamilies.h"
#include "mkopen.h"

enum { BATCH = 48, CTX = 512, VOCAB = 300, ROWS = 170, STAGES = 3 };

static struct why w;
static struct pool *pool;
static struct model *model;

static _Noreturn void die(const char *what)
{
	printf("split_test: %s: %s\n", what, w.text);
	exit(1);
}

static int32_t id_at(size_t sequence, size_t pos)
{
	return (int32_t)(rng_bits(7, sequence, pos) % VOCAB);
}

/* Plans that run one after the other, each with the states of two sequences. */
struct stages {
	size_t n;
	struct plan *plan[STAGES];
	struct segment state[STAGES][2];
};

static struct plan *open_plan(size_t first, size_t last)
{
	struct plan_setup setup = { .kernels = kernels_select("auto"), .pool = pool, .batch = BATCH, .first = first,
		.last = last };
	struct plan *p = build_plan(model, &setup, &w);

	if (p && plan_bind(p, CTX, &w) < 0)
		die("plan");
	return p;
}

static void close_stages(struct stages *s)
{
	for (size_t k = 0; k < s->n; k++) {
		segment_close(&s->state[k][0]);
		segment_close(&s->state[k][1]);
		plan_close(s->plan[k]);
	}
}

/* Whether the states of two plans keep and drop the same positions. */
static int alike(const struct segment_shape *a, const struct segment_shape *b)
{
	return a->window == b->window && a->keeps_current == b->keeps_current && !a->recent_bytes == !b->recent_bytes
		&& !a->state_bytes == !b->state_bytes && !a->row_bytes == !b->row_bytes;
}

/* Divides before the layers in `at`, which ends with 0; n becomes 0 if that is refused. */
static struct stages open_stages(const size_t at[STAGES])
{
	struct stages s = { .n = 0 };
	struct segment_shape shape;
	size_t first = 0;

	do {
		struct plan *p = s.plan[s.n] = open_plan(first, at[s.n] ? at[s.n] : model->n_layer);

		if (!p) {
			close_stages(&s);
			return (struct stages){ .n = 0 };
		}
		shape = plan_shape(p, CTX, KV_F16);
		check_at(!s.n || alike(&shape, &s.state[0][0].shape), "shapes that keep the same", (long long)first);
		for (int i = 0; i < 2; i++)
			if (segment_open(&s.state[s.n][i], NULL, &shape, CTX, &w) < 0
			    || segment_reserve(&s.state[s.n][i], CTX, &w) < 0)
				die("state");
		first = at[s.n];
	} while (at[s.n++]);
	return s;
}

/* Runs a step of n[0] and n[1] new rows of the two sequences. logits: of the last row of each. */
static void step(struct stages *s, const size_t n[2], float *logits)
{
	static float hidden[BATCH << 14];
	int32_t ids[BATCH];
	struct run run[2];
	size_t rows, runs = 0;

	for (size_t k = 0; k < s->n; k++) {
		runs = rows = 0;
		for (size_t i = 0; i < 2; i++) {
			if (!n[i])
				continue;
			for (size_t j = 0; j < n[i]; j++)
				ids[rows++] = id_at(i, s->state[k][i].length + j);
			run[runs++] = (struct run){ .state = &s->state[k][i], .n = n[i], .wanted = 1 };
		}
		if (k)
			split_take(s->plan[k], 0, rows, hidden);
		check_at(plan_step(s->plan[k], ids, run, runs) == 0, "a step", (long long)k);
		if (k + 1 < s->n)
			split_give(s->plan[k], 0, rows, hidden);
	}
	plan_logits(s->plan[s->n - 1], 0, runs, logits);
}

/* Cuts both sequences back. All states must be able to continue from the same position. */
static void cut(struct stages *s, size_t length)
{
	size_t next[2];

	for (size_t i = 0; i < 2; i++) {
		segment_set_length(&s->state[0][i], size_min(length, s->state[0][i].length));
		next[i] = s->state[0][i].next;
	}
	for (size_t k = 0; k < s->n; k++)
		for (size_t i = 0; i < 2; i++) {
			struct segment *state = &s->state[k][i];

			segment_set_length(state, size_min(length, state->length));
			check_at(state->next == next[i], "the position to go on from", (long long)k);
			segment_set_length(state, next[i]);
			check_at(state->next == next[i], "the position gone on from", (long long)k);
		}
}

/* The logits of a series of steps and cuts, one after the other. */
static size_t history(struct stages *s, float *logits)
{
	static const struct { size_t n[2], length; } steps[] = {
		{ { 40, 8 }, CTX }, { { 1, 0 }, CTX }, { { 30, 18 }, CTX }, { { 1, 1 }, CTX }, { { 1, 1 }, 50 },
		{ { 24, 24 }, CTX }, { { 10, 30 }, CTX }, { { 1, 1 }, CTX }, { { 3, 1 }, 33 }, { { 40, 0 }, 32 },
		{ { 44, 1 }, CTX }, { { 20, 9 }, 7 }, { { 1, 2 }, CTX },
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		if (steps[i].length < CTX)
			cut(s, steps[i].length);
		step(s, steps[i].n, logits + n * VOCAB);
		n += 1 + (steps[i].n[1] > 0);
	}
	return n;
}

/* Whether the layers can be divided there. */
static int divided(const char *name, const size_t at[STAGES], const float *want, float *got)
{
	struct stages s = open_stages(at);
	size_t n;

	if (!s.n)
		return 0;
	n = history(&s, got);
	check(!memcmp(got, want, n * VOCAB * sizeof *got), "%s divided before %zu, %zu: other logits", name, at[0],
		at[1]);
	close_stages(&s);
	return 1;
}

/* Finds the layers before which a model can be divided. */
static size_t family(const char *name, const char *type)
{
	static float want[2 * ROWS * VOCAB], got[2 * ROWS * VOCAB];
	size_t whole[STAGES] = { 0 }, possible = 0;
	struct stages s;

	model = mkopen(name, type, 0, VOCAB, CTX);
	s = open_stages(whole);
	if (!s.n)
		die(name);
	history(&s, want);
	close_stages(&s);
	for (size_t first = 1; first < model->n_layer; first++) {
		size_t two[STAGES] = { first }, three[STAGES] = { first, first + 1 };

		if (divided(name, two, want, got))
			possible++;
		else
			check(strstr(w.text, "cannot be divided before layer") != NULL, "%s: %s", name, w.text);
		if (first == possible && first + 1 < model->n_layer)
			divided(name, three, want, got);
	}
	model_close(model);
	return possible;
}

/* A segment of some layers does not fit other layers of the same size. */
static void shapes(void)
{
	static const size_t range[][2] = { { 0, 2 }, { 2, 4 }, { 0, 4 }, { 1, 3 } };
	struct segment_shape shape[4];

	model = mkopen("llama", "Q8_0", 4, VOCAB, CTX);
	for (size_t i = 0; i < 4; i++) {
		struct plan *p = open_plan(range[i][0], range[i][1]);

		if (!p)
			die("plan");
		shape[i] = plan_shape(p, CTX, KV_F16);
		plan_close(p);
		for (size_t j = 0; j < i; j++)
			check_at(shape[i].layout != shape[j].layout, "layouts of different layers", (long long)i);
	}
	check(!open_plan(2, 5) && strstr(w.text, "the model has layers 0 to 3"), "layers past the last: %s", w.text);
	model_close(model);
}

int main(void)
{
	static const char *const quantised[] = { "llama", "gemma2", "qwen35", "mamba", "rwkv7" };
	const struct mkfamily *f;
	size_t n;

	if (!(pool = pool_open(2, &w)))
		die("pool");
	for (size_t i = 0; (f = mkfamilies_each(i)); i++) {
		if (f->decoders || f->mask)     /* cannot be divided (split_check()) */
			continue;
		n = family(f->name, "F32");
		/* layers that share K and V stay together */
		check(n == (f->shared_kv ? 1 : !strcmp(f->name, "gemma3n") ? 4 : n) && n, "%s: divided in %zu places",
			f->name, n);
	}
	for (size_t i = 0; i < sizeof quantised / sizeof *quantised; i++)
		family(quantised[i], "Q8_0");
	shapes();
	pool_close(pool);
	return check_end("split_test");
}
