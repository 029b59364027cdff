/* Prints sums over ops to stderr. */
#include "profile.h"

#include <stdio.h>
#include <string.h>

#include "limits.h"

struct profile {
	const struct plan *plan;
	int prompt;             /* index of op->cost: batches of several rows, or of one */
	double seconds;         /* of all ops */
	struct limit limit;
};

static void add(struct cost *sum, const struct cost *t)
{
	sum->seconds += t->seconds;
	sum->times += t->times;
	sum->work.bytes += t->work.bytes;
	sum->work.codes += t->work.codes;
	sum->work.floats += t->work.floats;
	sum->work.attention += t->work.attention;
}

static void heading(const char *what)
{
	fprintf(stderr, "fwd: %s\n  %-22s %7s %10s %6s %10s %7s %9s\n", what, "", "runs", "ms", "time", "MiB read",
		"GB/s", "of limit");
}

static void line(const struct profile *f, int depth, const char *name, const struct cost *t)
{
	double seconds = t->seconds > 1e-12 ? t->seconds : 1e-12, least;
	struct work work = t->work;
	enum bound bound;

	if (!t->times)
		return;
	work.floats += work.attention;
	least = limit_seconds(&f->limit, &work, &bound);
	fprintf(stderr, "  %*s%-*s %7zu %10.3f %5.1f%%", 2 * depth, "", 22 - 2 * depth, name, t->times,
		1e3 * t->seconds, 100 * t->seconds / f->seconds);
	if (bound)
		fprintf(stderr, " %10.1f %7.2f %4.0f%% %s", work.bytes / (1 << 20), work.bytes / seconds * 1e-9,
			100 * least / seconds, bound_name[bound]);
	fputc('\n', stderr);
}

/* Prints the sum of all ops with this name, or of this layer, if op `first` is the first of them. */
static void group(const struct profile *f, size_t first, int by_layer, const char *name)
{
	const struct op *op = f->plan->op;
	struct cost sum = { .times = 0 };

	for (size_t i = 0; i < f->plan->n_ops; i++)
		if (by_layer ? op[i].layer == op[first].layer && !strcmp(op[i].stack, op[first].stack)
			: !strcmp(op[i].name, op[first].name)) {
			if (i < first)
				return;
			add(&sum, &op[i].cost[f->prompt]);
		}
	line(f, by_layer, name, &sum);
}

static void table(const struct profile *f)
{
	heading(f->prompt ? "batches of several tokens, by op" : "one token at a time, by op");
	for (size_t i = 0; i < f->plan->n_ops; i++)
		group(f, i, 0, f->plan->op[i].name);
}

static void tree(const struct profile *f, const struct cost *all)
{
	char name[32];

	heading(f->prompt ? "batches of several tokens, by layer" : "one token at a time, by layer");
	line(f, 0, "model", all);
	for (size_t i = 0; i < f->plan->n_ops; i++) {
		const struct op *op = &f->plan->op[i];
		int layer = op->layer != OP_NO_LAYER;

		snprintf(name, sizeof name, "%s%slayer %zu", op->stack, *op->stack ? " " : "", op->layer);
		if (layer)
			group(f, i, 1, name);
		line(f, 1 + layer, op->name, &op->cost[f->prompt]);
	}
}

void profile_print(const struct plan *p)
{
	struct profile f = { .plan = p };
	struct limits limits;
	struct cost all;
	struct why w;

	if (limits_open(&limits, p, &w) < 0) {
		fprintf(stderr, "fwd: no profile: %s\n", w.text);
		return;
	}
	for (int i = 0; i < 3; i++)
		limits_sample(&limits, 0.002);
	f.limit = limits_now(&limits);
	limits_close(&limits);
	fprintf(stderr, "fwd: limits with threads: %zu: read %.1f GB/s, int8 %.1f G multiply-adds/s, f32 %.1f\n",
		pool_threads(p->setup.pool), f.limit.read * 1e-9, f.limit.codes * 1e-9, f.limit.floats * 1e-9);
	for (f.prompt = 1; f.prompt >= 0; f.prompt--) {
		all = (struct cost){ .times = 0 };
		for (size_t i = 0; i < p->n_ops; i++)
			add(&all, &p->op[i].cost[f.prompt]);
		f.seconds = all.seconds > 1e-12 ? all.seconds : 1e-12;
		if (!all.times)
			continue;
		table(&f);
		tree(&f, &all);
	}
}
