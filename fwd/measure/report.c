/* Lines on stderr. They call ids tokens, as users do. */
#include "report.h"

#include <stdio.h>
#include <sys/resource.h>

#include "lib/base/clock.h"
#include "lib/base/system.h"
#include "fwd/model/encoder.h"

static double mib(size_t bytes)
{
	return (double)bytes / (1 << 20);
}

void report_evaluated(struct report *r, int decodes, size_t n, double seconds)
{
	r->evaluated += n;
	*(decodes ? &r->decode : &r->prompt) += n;
	*(decodes ? &r->decode_seconds : &r->prompt_seconds) += seconds;
}

void report_answered(struct report *r)
{
	if (r->first <= 0)
		r->first = clock_now();
}

void report_loaded(const struct report *r, const struct plan *p, const struct segment *s)
{
	const struct model *m = p->model;
	const struct layer *l = m->layer;
	const struct plan_setup *setup = &p->setup;

	while (!l->n_head_kv && l + 1 < m->layer + m->n_layer)
		l++;            /* the first with attention */
	fprintf(stderr, "fwd: %s: %s, %.1f MiB, ", m->gguf->path, m->arch, mib(m->bytes));
	if (encoder_of(p->model)->n_layer)
		fprintf(stderr, "an encoder of %zu layers, ", encoder_of(p->model)->n_layer);
	fprintf(stderr, "%zu layers of width %zu, %zu heads, %zu KV heads of %zu, vocabulary of %zu\n", m->n_layer,
		m->n_embd, l->n_head, l->n_head_kv, l->dim_k, m->n_vocab);
	fprintf(stderr, "fwd: backend %s, threads: %zu, batches of %zu tokens\n", setup->kernels->name,
		pool_threads(setup->pool), setup->batch);
	fprintf(stderr, "fwd: context of %zu tokens, K and V in %s, %.1f KiB a token%s%s\n", s->n_ctx,
		kv_type_name[s->shape.kv_type], (double)(s->shape.bytes + s->shape.recent_bytes) / KV_EXTENT / 1024,
		s->name ? ", segment " : "", s->name ? s->name : "");
	fprintf(stderr, "fwd: %zu tokens in the context; ready after %.1f ms\n", s->length,
		1e3 * (clock_now() - r->start));
}

static void rate(const char *what, size_t n, double seconds)
{
	if (n)
		fprintf(stderr, "fwd: %s: %zu tokens in %.1f ms, %.2f tokens/s\n", what, n, 1e3 * seconds,
			(double)n / (seconds > 1e-9 ? seconds : 1e-9));
}

void report_done(const struct report *r, const char *answers)
{
	size_t peak = system_peak_memory(RUSAGE_SELF);

	fprintf(stderr, "fwd: %zu tokens reused, %zu evaluated\n", r->reused, r->evaluated);
	if (r->first > 0)
		fprintf(stderr, "fwd: first %s after %.1f ms\n", answers,
			1e3 * (r->first - r->start));
	rate("prompt", r->prompt, r->prompt_seconds);
	rate("decode", r->decode, r->decode_seconds);
	if (peak)
		fprintf(stderr, "fwd: peak memory %.1f MiB, with the pages of the model\n", mib(peak));
}
