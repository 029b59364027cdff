/* fwd/plan: sequences that share batches give the bits of one sequence alone. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fwd/builder/builder.h"
#include "fwd/kernels/kernels.h"
#include "fwd/plan/kinds.h"
#include "fwd/plan/plan.h"
#include "fwd/state/named.h"
#include "lib/base/size.h"
#include "lib/sampler/rng.h"
#include "check.h"
#include "mkopen.h"

enum { LAYERS = 3, BATCH = 64, CTX = 1400, VOCAB = 300 };
enum { LONG = 1300, SHORT = 200 };      /* ids of two sequences; a long one has enough blocks for threads to share */

static struct why w;
static struct pool *pool;
static struct model *model;

static _Noreturn void die(const char *what)
{
	printf("plan_test: %s: %s\n", what, w.text);
	exit(1);
}

static struct plan *open_plan(void)
{
	struct plan_setup setup = { .kernels = kernels_select("auto"), .pool = pool, .batch = BATCH,
		.last = LAYERS };
	struct plan *p = build_plan(model, &setup, &w);

	if (!p || plan_bind(p, CTX, &w) < 0)
		die("plan");
	return p;
}

static struct segment *open_state(const struct plan *p)
{
	struct segment_shape shape = plan_shape(p, CTX, KV_F16);
	struct segment *s = malloc(sizeof *s);

	if (!s || segment_open(s, NULL, &shape, CTX, &w) < 0 || segment_reserve(s, CTX, &w) < 0)
		die("state");
	return s;
}

static void close_state(struct segment *s)
{
	segment_close(s);
	free(s);
}

static int32_t id_at(size_t sequence, size_t pos)
{
	return (int32_t)(rng_bits(7, sequence, pos) % VOCAB);
}

static float *logits_of(size_t n)
{
	float *logits = malloc(n * VOCAB * sizeof *logits);

	return logits ? logits : (die("memory"), NULL);
}

static int same(const float *a, const float *b, size_t n)
{
	return !memcmp(a, b, n * VOCAB * sizeof *a);
}

/* Logits of each of the ids [0, n) of a sequence that is evaluated alone, in batches of `some`. */
static float *alone(struct plan *p, size_t sequence, size_t n, size_t some)
{
	struct segment *s = open_state(p);
	float *logits = logits_of(n);
	int32_t ids[BATCH];

	for (size_t pos = 0; pos < n; pos += some) {
		struct run run = { .state = s, .n = some < n - pos ? some : n - pos };

		run.wanted = run.n;
		for (size_t i = 0; i < run.n; i++)
			ids[i] = id_at(sequence, pos + i);
		check_at(!plan_step(p, ids, &run, 1), "a step", (long long)pos);
		plan_logits(p, 0, run.n, logits + pos * VOCAB);
	}
	close_state(s);
	return logits;
}

/* Batches of both sequences, in which all rows are wanted, only the last of each, or none of the second sequence, in
 * turn. */
static void together(struct plan *p, const float *a, const float *b)
{
	struct run run[2] = { { .state = open_state(p) }, { .state = open_state(p) } };
	const size_t all[2] = { LONG, SHORT };
	const float *want[2] = { a, b };
	float *logits = logits_of(BATCH);
	int32_t ids[BATCH];
	size_t pos[2] = { 0, 0 }, rows, row;

	for (int turn = 0; pos[0] < LONG && pos[1] < SHORT; turn++) {
		rows = 0;
		for (int i = 0; i < 2; i++) {
			size_t most = turn < 20 ? (size_t)(i ? 9 : BATCH - 9) : 1, left = all[i] - pos[i];

			run[i].n = most < left ? most : left;
			run[i].wanted = turn % 3 == 0 ? run[i].n : turn % 3 == 2 && i ? 0 : 1;
			for (size_t j = 0; j < run[i].n; j++)
				ids[rows++] = id_at((size_t)i, pos[i] + j);
		}
		check_at(!plan_step(p, ids, run, 2), "a step of two runs", turn);
		row = run[0].wanted + run[1].wanted;
		plan_logits(p, 0, row, logits);
		for (int i = 0; i < 2; i++) {
			const float *got = logits + (i ? run[0].wanted * VOCAB : 0);

			pos[i] += run[i].n;
			check_at(same(got, want[i] + (pos[i] - run[i].wanted) * VOCAB, run[i].wanted),
				i ? "logits of the second sequence" : "logits of the first sequence", turn);
		}
	}
	close_state(run[0].state);
	close_state(run[1].state);
	free(logits);
}

static int yes(void *context)
{
	return --*(int *)context < 0;
}

/* Evaluates ids of sequence 1 up to `to`; all logits are wanted. Returns whether they are right. */
static int go_on(struct plan *p, struct segment *s, size_t to, const float *want)
{
	struct run run = { .state = s };
	float *logits = logits_of(BATCH);
	int32_t ids[BATCH];
	int ok = 1;

	for (size_t pos; ok && (pos = s->length) < to;) {
		run.n = run.wanted = size_min(BATCH, to - pos);
		for (size_t i = 0; i < run.n; i++)
			ids[i] = id_at(1, pos + i);
		ok = plan_step(p, ids, &run, 1) == 0;
		plan_logits(p, 0, run.n, logits);
		ok &= same(logits, want + pos * VOCAB, run.n);
	}
	free(logits);
	return ok;
}

/* A step from `from` on leaves the state unchanged if it is cancelled, at any op. */
static void cancelled(struct plan *p, size_t from, const float *want)
{
	struct run run = { .state = open_state(p), .n = 40, .wanted = 40 };
	int32_t ids[40];
	int left, times = 0;

	check_at(go_on(p, run.state, from, want), "logits before cancelled steps", (long long)from);
	for (size_t i = 0; i < 40; i++)
		ids[i] = id_at(1, from + i);
	p->cancelled = yes;
	p->cancel_context = &left;
	for (left = times; plan_step(p, ids, &run, 1) < 0; left = ++times)
		check_at(run.state->length == from, "nothing counts after a cancelled step", times);
	p->cancelled = NULL;
	check_at(times > LAYERS, "times that a step asked", times);
	check_at(run.state->length == from + 40, "a step after cancelled ones", (long long)from);
	check_at(go_on(p, run.state, SHORT, want), "logits after cancelled steps", (long long)from);
	close_state(run.state);
}

/* After being cut back to any length, the state continues as if it had never been longer. */
static void cut_back(struct plan *p, const float *want)
{
	struct segment *s = open_state(p);

	check(go_on(p, s, SHORT, want), "logits before cuts");
	for (size_t i = 0; i <= SHORT; i += s->shape.state_bytes ? 1 : 9) {
		size_t length = i * 77 % (SHORT + 1), to = size_min(SHORT, length + 1 + i % 50);

		if (length > s->length)
			check_at(go_on(p, s, length, want), "logits before a cut", (long long)length);
		segment_set_length(s, length);
		check_at(go_on(p, s, to, want), "logits after a cut", (long long)length);
	}
	close_state(s);
}

static void open_named(struct segment *s, const char *name, const struct segment_shape *shape)
{
	if (segment_open(s, name, shape, CTX, &w) < 0 || segment_reserve(s, SHORT, &w) < 0)
		die("state");
}

struct killer {
	const char *segment, *copy;
	int left;               /* ops before the one at which the segment is copied */
};

static int copy_at(void *context)
{
	static char bytes[1 << 22];
	struct killer *k = context;
	int from, to;
	ssize_t n;

	if (k->left-- != 0)
		return 0;
	from = open(k->segment, O_RDONLY);
	to = open(k->copy, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	n = read(from, bytes, sizeof bytes);
	if (n <= 0 || n == sizeof bytes || write(to, bytes, (size_t)n) != n)
		die("the segment cannot be copied");
	close(from);
	close(to);
	return 0;
}

/* The state that a kill would leave, before any op of a step from `from` on, continues correctly, too. */
static void killed(struct plan *p, size_t from, const float *want)
{
	struct killer k = { .segment = "./plan-segment", .copy = "./plan-killed", .left = -1 };
	struct segment_shape shape = plan_shape(p, CTX, KV_F16);
	struct segment s;
	int times;

	for (times = 0; k.left < 0; times++) {
		open_named(&s, k.segment, &shape);
		check_at(go_on(p, &s, from, want), "logits before a kill", times);
		k.left = times;
		p->cancelled = copy_at;
		p->cancel_context = &k;
		check_at(go_on(p, &s, from + 40, want), "logits of a step that could be killed", times);
		p->cancelled = NULL;
		segment_close(&s);
		segment_remove(k.segment, &w);
		if (k.left >= 0)
			break;
		open_named(&s, k.copy, &shape);
		check_at(s.length == from && go_on(p, &s, from + 45, want), "logits after a kill", times);
		segment_close(&s);
		segment_remove(k.copy, &w);
	}
	check_at(times > LAYERS, "ops that could be killed", times);
}

static void family(const char *arch, const char *type)
{
	struct plan *p;
	float *a, *b, *c;

	model = mkopen(arch, type, LAYERS, VOCAB, CTX);
	p = open_plan();
	a = alone(p, 0, LONG, BATCH);
	b = alone(p, 1, SHORT, BATCH);
	c = alone(p, 1, SHORT, 1);
	check(same(b, c, SHORT), "%s: one row at a time", arch);
	together(p, a, b);
	cancelled(p, 0, b);
	cancelled(p, 70, b);
	cut_back(p, b);
	killed(p, 50, b);
	killed(p, 96, b);
	plan_close(p);
	model_close(model);
	free(a);
	free(b);
	free(c);
}

/* The packed rows of a mixture fit, however its slots are divided among experts. */
static void experts_have_room(void)
{
	enum { SLOTS_MOST = 130 };      /* beyond what any backend packs separately */
	static const size_t elements[] = { 32, 96, 512, 2880, 8192 };
	size_t need[SLOTS_MOST + 1] = { 0 };    /* bytes for this many slots, in the division that needs most */
	const struct kernels *k;
	struct packed p = { .k = 0 };
	struct acts acts;

	for (size_t i = 0; (k = kernels_each(i)); i++)
		for (size_t c = 0; c < ACTS_KINDS * sizeof elements / sizeof *elements; c++) {
			enum acts_kind kind = (enum acts_kind)(c % ACTS_KINDS);
			size_t short_of = 0;

			p.k = elements[c / ACTS_KINDS];
			p.by_expert[kind] = &acts;
			for (size_t slots = 1; slots <= SLOTS_MOST; slots++) {
				need[slots] = 0;
				for (size_t n = 1; n <= slots; n++)
					need[slots] = size_max(need[slots], packed_place(&p, k, 0, n, kind,
						need[slots - n]));
				short_of += need[slots] > expert_acts_bytes(k, kind, p.k, slots);
			}
			check(!short_of, "%s: room for experts' rows of %zu elements", k->name, p.k);
		}
}

int main(void)
{
	if (!(pool = pool_open(2, &w)))
		die("pool");
	family("llama", "Q8_0");
	family("gpt2", "F32");
	family("qwen3", "Q4_0");
	family("lfm2", "Q8_0");
	family("granitehybrid", "Q8_0");
	family("qwen35", "Q8_0");
	experts_have_room();
	pool_close(pool);
	return check_end("plan_test");
}
