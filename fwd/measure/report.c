/* Lines on stderr. Users read tokens, which are the ids of the stream. */
#include "report.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/base/clock.h"
#include "lib/base/system.h"
#include "limits.h"

static double mib(size_t bytes)
{
	return (double)bytes / (1 << 20);
}

void report_loaded(const struct serve *v, double start)
{
	const struct model *m = v->model;
	const struct layer *l = m->layer;
	const struct segment *s = v->served->first;
	const struct plan_setup *setup = &v->plan->setup;

	while (!l->n_head_kv && l + 1 < m->layer + m->n_layer)
		l++;            /* to one with attention */
	fprintf(stderr, "fwd: %s: %s, %.1f MiB, %zu layers of width %zu, %zu heads, %zu KV heads of %zu, "
		"vocabulary of %zu\n", m->gguf->path, m->arch, mib(m->bytes), m->n_layer, m->n_embd, l->n_head,
		l->n_head_kv, l->dim_k, m->n_vocab);
	fprintf(stderr, "fwd: backend %s, threads: %zu, batches of %zu tokens\n", setup->kernels->name,
		pool_threads(setup->pool), setup->batch);
	fprintf(stderr, "fwd: context of %zu tokens, K and V in %s, %.1f KiB a token%s%s\n", v->n_ctx,
		kv_type_name[s->shape.kv_type], (double)(s->shape.bytes + s->shape.recent_bytes) / KV_EXTENT / 1024,
		s->name ? ", segment " : "", s->name ? s->name : "");
	fprintf(stderr, "fwd: %zu tokens in the context; ready after %.1f ms\n", s->length,
		1e3 * (clock_now() - start));
}

static void rate(const char *what, size_t n, double seconds)
{
	if (n)
		fprintf(stderr, "fwd: %s: %zu tokens in %.1f ms, %.2f tokens/s\n", what, n, 1e3 * seconds,
			(double)n / (seconds > 1e-9 ? seconds : 1e-9));
}

void report_done(const struct serve *v, double start)
{
	size_t peak = system_peak_memory(RUSAGE_SELF);

	fprintf(stderr, "fwd: %zu tokens reused, %zu evaluated\n", v->reused, v->evaluated);
	if (v->first > 0)
		fprintf(stderr, "fwd: first %s after %.1f ms\n", v->chain ? "tokens" : "logits",
			1e3 * (v->first - start));
	rate("prompt", v->prompt, v->prompt_seconds);
	rate("decode", v->decode, v->decode_seconds);
	if (peak)
		fprintf(stderr, "fwd: peak memory %.1f MiB, with the pages of the model\n", mib(peak));
}

/* ---- profile ---- */

struct profile {
	const struct plan *plan;
	int prompt;             /* batches of several rows, or of one: index of op->cost */
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

/* The sum of all ops with the name, or of the layer, of op `first`, if that is the first of them. */
static void group(const struct profile *f, size_t first, int by_layer, const char *name)
{
	const struct op *op = f->plan->op;
	struct cost sum = { .times = 0 };

	for (size_t i = 0; i < f->plan->n_ops; i++)
		if (by_layer ? op[i].layer == op[first].layer : !strcmp(op[i].name, op[first].name)) {
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

		snprintf(name, sizeof name, "layer %zu", op->layer);
		if (layer)
			group(f, i, 1, name);
		line(f, 1 + layer, op->name, &op->cost[f->prompt]);
	}
}

void report_profile(const struct plan *p)
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
