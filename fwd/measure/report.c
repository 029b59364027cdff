/* Lines on stderr. They call ids tokens, as users do. */
#include "report.h"

#include <stdio.h>
#include <sys/resource.h>

#include "lib/base/clock.h"
#include "lib/base/system.h"

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
		l++;            /* the first with attention */
	fprintf(stderr, "fwd: %s: %s, %.1f MiB, ", m->gguf->path, m->arch, mib(m->bytes));
	if (m->encoder.n_layer)
		fprintf(stderr, "an encoder of %zu layers, ", m->encoder.n_layer);
	fprintf(stderr, "%zu layers of width %zu, %zu heads, %zu KV heads of %zu, vocabulary of %zu\n", m->n_layer,
		m->n_embd, l->n_head, l->n_head_kv, l->dim_k, m->n_vocab);
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
