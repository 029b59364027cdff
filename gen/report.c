/* What -v says of a text: which ids went in and came out, how likely each was, and how long it took. */
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>

#include "lib/base/system.h"
#include "gen/loop/draft.h"

void report_speed(const struct request *q, const struct result *r)
{
	struct result_times t = result_times(r);

	fprintf(stderr, "%s: a prompt of %zu tokens, %.2f s; ", q->program, r->prompt.n, t.first);
	if (r->ids.n > 1)
		fprintf(stderr, "%zu tokens at %.1f tokens/s\n", r->ids.n, t.rate);
	else
		fprintf(stderr, "1 token\n");
}

void report(const struct request *q, const struct loop *l, const struct result *r)
{
	size_t peak = system_peak_memory(RUSAGE_CHILDREN);
	struct result_times t = result_times(r);

	fprintf(stderr, "model: %s\nseed: %" PRId64 "\nprompt, %zu tokens:", q->model, q->seed, r->prompt.n);
	for (size_t i = 0; i < r->prompt.n; i++)
		fprintf(stderr, " %d", r->prompt.id[i]);
	fprintf(stderr, "\nend-of-generation ids:");
	for (int i = 0; i < l->card.n_eog; i++)
		fprintf(stderr, " %d", l->card.eog[i]);
	fprintf(stderr, "\ngenerated, %zu tokens:", r->ids.n);
	for (size_t i = 0; i < r->ids.n; i++)
		if (isnan(r->each[i].logprob))
			fprintf(stderr, " %d", r->ids.id[i]);
		else
			fprintf(stderr, " %d (%.3f)", r->ids.id[i], exp((double)r->each[i].logprob));
	fprintf(stderr, "\n");
	if (!isnan(result_sum(r)))
		fprintf(stderr, "log-probability: %.4f\n", result_sum(r));
	fprintf(stderr, "stop reason: %s\ntime to the first token: %.1f ms\n",
		r->reason ? frame_reason_words(r->reason, r->n_stop) : "end of the stream", 1e3 * t.first);
	if (r->ids.n > 1)
		fprintf(stderr, "decode rate: %.1f tokens/s; time per token: min %.2f, mean %.2f, max %.2f ms\n",
			t.rate, 1e3 * t.min, 1e3 * t.mean, 1e3 * t.max);
	fprintf(stderr, "forward passes: %zu\n", r->passes);
	if (peak)
		fprintf(stderr, "peak memory of a stage: %.1f MiB\n", (double)peak / (1 << 20));
	if (l->draft)
		fprintf(stderr, "draft: %zu tokens proposed, %zu of them accepted; none in %zu rounds\n",
			l->draft->proposed, l->draft->accepted, l->draft->plain);
}
