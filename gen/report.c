/* Reports which ids went in and came out, how likely each was, and how long it took. */
#include "report.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/base/members.h"
#include "lib/base/out.h"
#include "lib/base/system.h"
#include "gen/loop/draft.h"
#include "record.h"

/* In seconds. NaN if there are too few tokens. */
struct times {
	double first, min, mean, max, rate;
};

static struct times times(const struct result *r)
{
	struct times t = { r->ids.n ? r->each[0].time : NAN, NAN, NAN, NAN, NAN };

	for (size_t i = 1; i < r->ids.n; i++) {
		double step = r->each[i].time - r->each[i - 1].time;

		t.min = fmin(step, t.min);      /* fmin() ignores a NaN */
		t.max = fmax(step, t.max);
	}
	if (r->ids.n > 1)
		t.mean = (r->each[r->ids.n - 1].time - t.first) / (double)(r->ids.n - 1);
	t.rate = 1 / t.mean;
	return t;
}

/* ---- for users ---- */

/* the file in which fwd reports progress; 0: none */
static int progress;
static const char *program = "gen";

int report_progress(struct request *q, struct why *w)
{
	static char path[STAGE_PATH];

	program = q->program;
	if (!q->stage[FWD].n || q->stage[FWD].shell || q->hosts || !isatty(STDERR_FILENO))
		return 0;
	return (progress = stage_file(w)) < 0
		|| stage_arg_path(&q->stage[FWD], "--progress", progress, path, w) ? -1 : 0;
}

/* Shows percent, and the seconds left at the current rate. */
static void show_progress(double waited)
{
	char line[64] = "";
	double done, all;

	if (progress && pread(progress, line, sizeof line - 1, 0) > 0 && sscanf(line, "%lf of %lf", &done, &all) == 2
	    && done > 0 && done <= all)
		fprintf(stderr, ", %.0f%%, %.0f s left", 100 * done / all, waited * (all - done) / done);
}

void report_wait(struct loop *l, int waiting)
{
	double waited = clock_now() - l->r->begin;
	static int shown;

	/* what it says was about the previous prompt */
	if (!waiting && progress && ftruncate(progress, 0))
		progress = 0;
	if (waiting && waited >= 1 && isatty(STDERR_FILENO)) {
		if (l->card.n_vocab)
			fprintf(stderr, "\r%s: a prompt of %zu tokens, %.1f s", program, l->r->prompt.n, waited);
		else
			fprintf(stderr, "\r%s: loading the model, %.1f s", program, waited);
		show_progress(waited);
		fprintf(stderr, "\033[K");
		shown = 1;
	} else if (!waiting && shown) {
		fprintf(stderr, "\r\033[K");
		shown = 0;
	}
}

/* ---- several texts ---- */

static struct {
	size_t all;             /* 0: not known */
	double begin, shown;    /* clock_now(); 0: never */
} batch;

static void show_batch(struct loop *l)
{
	double now = clock_now(), took = now - batch.begin;

	/* until the first id, it is the prompt that takes time */
	if (!l->drawing || took < 1 || now < batch.shown + 0.2)
		return;
	fprintf(stderr, "\r%s: %zu", program, l->done);
	if (batch.all)
		fprintf(stderr, " of %zu", batch.all);
	fprintf(stderr, " texts, %.0f tokens/s", (double)l->drawn / took);
	if (l->done && l->done <= batch.all)
		fprintf(stderr, ", %.0f s left", took * (double)(batch.all - l->done) / (double)l->done);
	fprintf(stderr, "\033[K");
	batch.shown = now;
}

/* The number of lines; 0 if it cannot be told without reading what is read only once. */
static size_t count_lines(const char *path)
{
	static char part[1 << 16];
	size_t lines = 0;
	struct stat st;
	char last = '\n';
	ssize_t n;
	int fd;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return 0;
	while ((n = io_read(fd, part, sizeof part)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			lines += part[i] == '\n';
		last = part[n - 1];
	}
	close(fd);
	return lines + (last != '\n');
}

void report_batch(const struct request *q, struct loop *l)
{
	if ((!q->listed && !q->best_of) || !isatty(STDERR_FILENO) || isatty(STDOUT_FILENO))
		return;
	program = q->program;
	batch.all = q->lines ? count_lines(q->lines) : (size_t)q->texts;
	batch.begin = clock_now();
	l->tick = show_batch;
}

void report_batch_end(void)
{
	if (batch.shown > 0)
		fputs("\r\033[K", stderr);
	batch.shown = 0;
}

void report_speed(const struct request *q, const struct result *r)
{
	struct times t = times(r);

	fprintf(stderr, "%s: a prompt of %zu tokens, %.2f s; ", q->program, r->prompt.n, t.first);
	if (r->ids.n > 1)
		fprintf(stderr, "%zu tokens at %.1f tokens/s\n", r->ids.n, t.rate);
	else
		fprintf(stderr, "1 token\n");
}

void report(const struct request *q, const struct loop *l, const struct result *r)
{
	size_t peak = system_peak_memory(RUSAGE_CHILDREN);
	struct times t = times(r);

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

/* ---- for programs ---- */

/* For each position, an array of the most likely ids. */
static void put_likely(struct json_writer *w, const struct result *r)
{
	member_open(w, "top", '[');
	for (size_t i = 0; i < r->ids.n; i++) {
		json_open(w, '[');
		for (size_t k = 0; k < r->each[i].n_likely; k++) {
			const float *pair = r->likely[r->each[i].likely + k];

			json_open(w, '{');
			member_int(w, "id", (int64_t)pair[0]);
			member_real(w, "logprob", (double)pair[1]);
			json_close(w, '}');
		}
		json_close(w, ']');
	}
	json_close(w, ']');
}

int report_json(const struct request *q, const struct card *card, const struct result *r, const struct bytes *text,
	struct why *w)
{
	const char *reason = frame_reason_key(r->reason);
	struct json_writer to = json_to_out();
	struct times t = times(r);

	json_open(&to, '{');
	member_ints(&to, "prompt", r->prompt.id, r->prompt.n);
	member_ints(&to, "ids", r->ids.id, r->ids.n);
	member_bytes(&to, "text", text->p, text->n);
	member_open(&to, "logprobs", '[');
	for (size_t i = 0; i < r->ids.n; i++)
		json_real(&to, (double)r->each[i].logprob);
	json_close(&to, ']');
	if (q->likely)
		put_likely(&to, r);
	member_real(&to, "logprob", result_sum(r));
	member_int(&to, "count", (int64_t)r->ids.n);
	member_text(&to, "stop_reason", reason);
	if (r->stop)
		member_bytes(&to, "stop", r->stop, r->n_stop);
	else
		member_null(&to, "stop");
	member_int(&to, "seed", q->seed);
	member_open(&to, "seconds", '{');
	member_real(&to, "first", t.first);
	member_real(&to, "min", t.min);
	member_real(&to, "mean", t.mean);
	member_real(&to, "max", t.max);
	member_real(&to, "ids_per_second", t.rate);
	json_close(&to, '}');
	member_int(&to, "forward_passes", (int64_t)r->passes);
	member_int(&to, "peak_memory", q->conversation ? 0 : (int64_t)system_peak_memory(RUSAGE_CHILDREN));
	if (record_write(&to, q, card, r, w))
		return -1;
	json_close(&to, '}');
	out_char('\n');
	return out_flush(w);
}
