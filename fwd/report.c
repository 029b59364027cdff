/* Lines on stderr. */
#include "report.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static double mib(size_t bytes)
{
	return (double)bytes / (1 << 20);
}

void report_loaded(const struct serve *v, double start)
{
	static const char *const types[] = { [KV_F16] = "f16", [KV_F32] = "f32" };
	const struct model *m = v->model;
	const struct segment *s = v->segment;

	fprintf(stderr, "fwd: %s: %s, %.1f MiB, %zu layers, %zu wide, %zu heads on %zu KV heads of %zu, vocabulary of %zu\n", m->gguf->path, m->arch,
		mib(m->bytes), m->n_layer, m->n_embd, m->n_head, m->n_head_kv, m->dim_k, m->n_vocab);
	fprintf(stderr, "fwd: backend %s, threads: %zu, batches of %zu\n", v->plan->step.k->name, pool_threads(v->plan->step.pool), v->plan->batch);
	fprintf(stderr, "fwd: context of %zu, K and V in %s, %.1f MiB%s%s\n", v->n_ctx, types[s->shape.kv_type], mib(s->bytes),
		s->object[0] ? " of segment " : "", s->object);
	fprintf(stderr, "fwd: %zu ids there; ready after %.1f ms\n", s->length, 1e3 * (serve_now() - start));
}

static void rate(const char *what, size_t n, double seconds)
{
	if (n)
		fprintf(stderr, "fwd: %s: %zu ids in %.1f ms, %.2f ids/s\n", what, n, 1e3 * seconds, (double)n / (seconds > 1e-9 ? seconds : 1e-9));
}

void report_done(const struct serve *v, double start)
{
	struct rusage use;

	fprintf(stderr, "fwd: %zu ids reused, %zu evaluated\n", v->reused, v->evaluated);
	if (v->first > 0)
		fprintf(stderr, "fwd: first %s after %.1f ms\n", v->chain ? "ids" : "logits", 1e3 * (v->first - start));
	rate("prompt", v->prompt, v->prompt_seconds);
	rate("decode", v->decode, v->decode_seconds);
	if (!getrusage(RUSAGE_SELF, &use))
		fprintf(stderr, "fwd: peak memory %.1f MiB, the mapped model's pages included\n", (double)use.ru_maxrss / 1024);
}

/* ---- profile ---- */

static int same(const struct label *a, const struct label *b, int by_layer)
{
	return by_layer ? a->layer == b->layer : !strcmp(a->name, b->name);
}

/* The sum over the ops from `from` on that are of its kind (or in its layer); runs are its own. */
static struct label sum(const struct plan *p, size_t from, int by_layer)
{
	struct label all = p->label[from];

	all.bytes *= all.runs;
	for (size_t i = from + 1; i < p->n_ops; i++)
		if (same(&p->label[from], &p->label[i], by_layer)) {
			all.seconds += p->label[i].seconds;
			all.bytes += p->label[i].bytes * p->label[i].runs;
		}
	return all;
}

/* 1 if an earlier op is of the same kind (or in the same layer). */
static int seen(const struct plan *p, size_t i, int by_layer)
{
	for (size_t j = 0; j < i; j++)
		if (same(&p->label[j], &p->label[i], by_layer))
			return 1;
	return 0;
}

static void line(const char *name, const struct label *l, size_t bytes, double total)
{
	fprintf(stderr, "  %-20s %10.3f %6.1f%% %10.1f %8.2f\n", name, 1e3 * l->seconds, 100 * l->seconds / total, mib(bytes),
		l->seconds > 0 ? (double)bytes / l->seconds * 1e-9 : 0.0);
}

static void heading(const char *what)
{
	fprintf(stderr, "fwd: time by %s\n  %-20s %10s %7s %10s %8s\n", what, "", "ms", "share", "MiB read", "GB/s");
}

void report_profile(const struct plan *p)
{
	double total = 1e-12;
	struct label l;
	char name[64];

	for (size_t i = 0; i < p->n_ops; i++)
		total += p->label[i].seconds;
	heading("kind of op");
	for (size_t i = 0; i < p->n_ops; i++)
		if (!seen(p, i, 0)) {
			l = sum(p, i, 0);
			line(l.name, &l, l.bytes, total);
		}
	heading("layer");
	for (size_t i = 0; i < p->n_ops; i++) {
		if (p->label[i].layer != LABEL_NONE && !seen(p, i, 1)) {
			l = sum(p, i, 1);
			snprintf(name, sizeof name, "layer %zu", l.layer);
			line(name, &l, l.bytes, total);
		}
		snprintf(name, sizeof name, p->label[i].layer != LABEL_NONE ? "    %s" : "%s", p->label[i].name);
		line(name, &p->label[i], p->label[i].bytes * p->label[i].runs, total);
	}
}
