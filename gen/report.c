/* What gen -v tells, on stderr: which ids went in and came out, how likely each was, and how long it took. */
#include <math.h>
#include <stdio.h>

#include "../lib/frame.h"
#include "gen.h"

static const char *reason_name(uint32_t reason)
{
	switch (reason) {
	case FRAME_END_EOG: return "end of generation";
	case FRAME_END_LENGTH: return "length";
	case FRAME_END_STOP: return "stop string";
	case FRAME_END_ERROR: return "error";
	default: return "end of the stream";
	}
}

static void print_times(const struct result *r)
{
	double min = INFINITY, max = 0, first = r->time[0], last = r->time[r->ids.n - 1];
	size_t steps = r->ids.n - 1;

	for (size_t i = 1; i < r->ids.n; i++) {
		double t = r->time[i] - r->time[i - 1];

		min = t < min ? t : min;
		max = t > max ? t : max;
	}
	fprintf(stderr, "first id after %.1f ms\n", 1e3 * first);
	if (steps)
		fprintf(stderr, "%zu further in %.1f ms: %.1f ids/s; a step took %.2f ms at least, %.2f on average, %.2f at most\n", steps, 1e3 * (last - first),
			(double)steps / (last - first), 1e3 * min, 1e3 * (last - first) / (double)steps, 1e3 * max);
}

void report(const struct request *q, const struct result *r)
{
	fprintf(stderr, "model: %s\nseed: %s\nprompt, %zu ids:", q->model, q->seed, r->prompt.n);
	for (size_t i = 0; i < r->prompt.n; i++)
		fprintf(stderr, " %d", r->prompt.id[i]);
	fprintf(stderr, "\nends a generation:");
	for (int i = 0; i < r->n_eog; i++)
		fprintf(stderr, " %d", r->eog[i]);
	fprintf(stderr, "\ngenerated, %zu ids:", r->ids.n);
	for (size_t i = 0; i < r->ids.n; i++)
		if (isnan(r->logprob[i]))
			fprintf(stderr, " %d", r->ids.id[i]);
		else
			fprintf(stderr, " %d (%.3f)", r->ids.id[i], exp((double)r->logprob[i]));
	fprintf(stderr, "\nstopped by: %s\n", reason_name(r->reason));
	print_times(r);
}
