/* -v, on stderr, and --json, on stdout: which ids went in and came out, how likely each was, and how long it took. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/base/json.h"
#include "lib/base/system.h"
#include "lib/stream/frame.h"
#include "report.h"

/* Seconds. NaN where there are too few tokens. */
struct times {
	double first, min, mean, max, rate;
};

static struct times times(const struct result *r)
{
	struct times t = { r->ids.n ? r->each[0].time : NAN, NAN, NAN, NAN, NAN };

	for (size_t i = 1; i < r->ids.n; i++) {
		double step = r->each[i].time - r->each[i - 1].time;

		t.min = step < t.min || i == 1 ? step : t.min;
		t.max = step > t.max || i == 1 ? step : t.max;
	}
	if (r->ids.n > 1) {
		t.mean = (r->each[r->ids.n - 1].time - r->each[0].time) / (double)(r->ids.n - 1);
		t.rate = 1 / t.mean;
	}
	return t;
}

/* ---- for people ---- */

static const char *reason_name(const struct result *r)
{
	switch (r->reason) {
	case FRAME_END_EOG: return "end of generation";
	case FRAME_END_LENGTH: return "length";
	case FRAME_END_STOP: return r->stop ? "stop string" : "stop id";
	case FRAME_END_ERROR: return "error";
	case FRAME_END_INTERRUPT: return "interrupt";
	default: return "end of the stream";
	}
}

static void print_times(const struct result *r)
{
	size_t peak = system_peak_memory(RUSAGE_CHILDREN);
	struct times t = times(r);

	fprintf(stderr, "first token after %.1f ms\n", 1e3 * t.first);
	if (r->ids.n > 1)
		fprintf(stderr, "%zu further in %.1f ms: %.1f tokens/s; "
			"time of a step: %.2f ms at least, %.2f on average, %.2f at most\n", r->ids.n - 1,
			1e3 * (r->each[r->ids.n - 1].time - t.first), t.rate, 1e3 * t.min, 1e3 * t.mean, 1e3 * t.max);
	fprintf(stderr, "forward passes: %zu\n", r->passes);
	if (peak)
		fprintf(stderr, "peak memory of a stage: %.1f MiB\n", (double)peak / (1 << 20));
}

void report(const struct request *q, const struct result *r)
{
	fprintf(stderr, "model: %s\nseed: %" PRId64 "\nprompt, %zu tokens:", q->model, q->seed, r->prompt.n);
	for (size_t i = 0; i < r->prompt.n; i++)
		fprintf(stderr, " %d", r->prompt.id[i]);
	fprintf(stderr, "\nends of generation:");
	for (int i = 0; i < r->n_eog; i++)
		fprintf(stderr, " %d", r->eog[i]);
	fprintf(stderr, "\ngenerated, %zu tokens:", r->ids.n);
	for (size_t i = 0; i < r->ids.n; i++)
		if (isnan(r->each[i].logprob))
			fprintf(stderr, " %d", r->ids.id[i]);
		else
			fprintf(stderr, " %d (%.3f)", r->ids.id[i], exp((double)r->each[i].logprob));
	fprintf(stderr, "\n");
	if (!isnan(result_sum(r)))
		fprintf(stderr, "log-probability: %.4f\n", result_sum(r));
	fprintf(stderr, "stopped by: %s\n", reason_name(r));
	print_times(r);
	if (q->draft)
		fprintf(stderr, "draft: %zu tokens proposed, %zu of them accepted; paused for %zu rounds\n",
			r->proposed, r->accepted, r->paused);
}

/* ---- for programs ---- */

static void key(struct json_writer *w, const char *name)
{
	json_key(w, name, strlen(name));
}

static void put_number(struct json_writer *w, double d)
{
	if (isfinite(d))
		json_float(w, d);
	else
		json_raw(w, "null");
}

static void put_ids(struct json_writer *w, const char *name, const struct tokens *ids)
{
	key(w, name);
	json_open(w, '[');
	for (size_t i = 0; i < ids->n; i++)
		json_int(w, ids->id[i]);
	json_close(w, ']');
}

static void put_logprobs(struct json_writer *w, const struct result *r)
{
	key(w, "logprobs");
	json_open(w, '[');
	for (size_t i = 0; i < r->ids.n; i++)
		put_number(w, (double)r->each[i].logprob);
	json_close(w, ']');
	key(w, "logprob");
	put_number(w, result_sum(r));
}

static void put_reason(struct json_writer *w, const struct result *r)
{
	static const char *const names[] = { NULL, "eog", "length", "stop", "error", "interrupt" };

	key(w, "stop_reason");
	if (r->reason && r->reason < sizeof names / sizeof *names)
		json_string(w, names[r->reason], strlen(names[r->reason]));
	else
		json_raw(w, "null");
	key(w, "stop");
	if (r->stop)
		json_string(w, r->stop, r->n_stop);
	else
		json_raw(w, "null");
}

static void put_times(struct json_writer *w, const struct result *r)
{
	struct times t = times(r);
	const struct { const char *name; double value; } all[] = {
		{ "first", t.first }, { "min", t.min }, { "mean", t.mean }, { "max", t.max },
		{ "ids_per_second", t.rate }
	};

	key(w, "seconds");
	json_open(w, '{');
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		key(w, all[i].name);
		put_number(w, all[i].value);
	}
	json_close(w, '}');
}

void report_json(const struct request *q, const struct result *r, const struct bytes *text)
{
	struct json_writer w = json_to_file(stdout);

	json_open(&w, '{');
	put_ids(&w, "prompt", &r->prompt);
	put_ids(&w, "ids", &r->ids);
	key(&w, "text");
	json_string(&w, text->n ? text->p : "", text->n);
	put_logprobs(&w, r);
	key(&w, "count");
	json_int(&w, (int64_t)r->ids.n);
	put_reason(&w, r);
	key(&w, "seed");
	json_int(&w, q->seed);
	put_times(&w, r);
	key(&w, "forward_passes");
	json_int(&w, (int64_t)r->passes);
	key(&w, "peak_memory");
	json_int(&w, q->chat ? 0 : (int64_t)system_peak_memory(RUSAGE_CHILDREN));
	json_close(&w, '}');
	putchar('\n');
	fflush(stdout);
}
