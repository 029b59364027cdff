/* fwd: ids to logits. Opens a model and an engine, then serves frames until the input ends. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "lib/base/cli.h"
#include "lib/base/clock.h"
#include "lib/base/guard.h"
#include "lib/base/out.h"
#include "lib/base/system.h"
#include "lib/stream/frame.h"
#include "fwd/measure/compare.h"
#include "fwd/measure/dump.h"
#include "fwd/measure/profile.h"
#include "fwd/measure/report.h"
#include "fwd/run/prefault.h"
#include "fwd/state/digest.h"
#include "batch.h"
#include "engine.h"
#include "fwd_opts.h"
#include "serve.h"
#include "settings.h"
#include "supported.h"

static struct cli c = { .program = "fwd", .synopsis = "[options] MODEL < ids > logits",
	.purpose = "ids to logits: the forward pass", .opts = fwd_opts, .more = { settings_opts } };
static struct why w;
static struct settings set;
static struct engine e;
static struct all_served served;
static struct dump dump;

/* Blocks SIGPIPE while a report is still to be printed, in case the reader is gone; or delivers it. */
static void hold_sigpipe(int how)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGPIPE);
	sigprocmask(how, &signals, NULL);
}

/* SIGUSR1 cancels the current evaluation, not the program. */
static void take_interrupts(void)
{
	struct sigaction act = { .sa_handler = batch_interrupt, .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &act, NULL);
}

static void warn(const char *why)
{
	cli_warn(&c, "%s", why);
}

/* What stands in for something missing, each with its NUL. It is said when the model runs: a refusal is one line. */
static struct bytes notes = { .limit = 1 << 20 };

static void note(void *context, const char *text)
{
	bytes_put(&notes, text, strlen(text) + 1);
}

static void print_notes(void)
{
	if (notes.failed)
		cli_die(&c, "out of memory");
	for (size_t at = 0; at < notes.n; at += strlen(notes.p + at) + 1)
		cli_warn(&c, "%s: %s", c.argv[0], notes.p + at);
	bytes_free(&notes);
}

static int open_progress(struct serve *v)
{
	if (set.progress && (v->progress = open(set.progress, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
		return why(&w, "%s: %s", set.progress, strerror(errno));
	return 0;
}

static void open_all(struct serve *v)
{
	static const struct faults missing = { .tell = note };
	const struct model_setup setup = { set.set, set.ignores_unknown, &missing };

	v->model = model_open(c.argv[0], &setup, &w);
	if (v->model && v->model->diffusion && (set.score || set.chain.chunk))
		cli_die(&c, "%s: a diffusion model: not with --%s", c.argv[0], set.score ? "score" : "chain");
	if (!v->model || engine_open(&e, v->model, &set.engine, &w) < 0)
		cli_die(&c, "%s", w.text);
	if (served_open(&served, &e.segment, &e.weights, &w) < 0
	    || (set.dump && dump_open(&dump, set.dump, &w) < 0) || open_progress(v) < 0) {
		engine_close(&e);
		cli_die(&c, "%s", w.text);
	}
	print_notes();
}

static void set_up(struct serve *v)
{
	v->served = &served;
	v->out = 1;
	v->warn = warn;
	v->plan = e.plan;
	v->n_ctx = e.segment.n_ctx;
	v->all = set.all || set.score;
	v->score = set.score;
	v->lens = set.engine.lens;
	v->chain = set.chain.chunk ? &set.chain : NULL;
	v->plan->timed = set.profile;
	v->plan->after_op = set.dump ? dump_op : NULL;
	v->plan->after_op_context = &dump;
	if (!v->chain && !v->score)
		system_widen_pipe(1, v->model->n_vocab * sizeof(float));
}

static int serve_input(struct serve *v, double start)
{
	static struct frame_in in;
	struct prefault *prefault = prefault_start(e.plan);
	struct digest *digest = digest_start(&e.segment, &e.weights);
	int status;

	if (set.verbose && set.chain.temp > 0)
		fprintf(stderr, "fwd: seed %" PRIu64 "\n", set.chain.seed);
	if (set.verbose)
		report_loaded(v, start);
	if (set.verbose || set.profile)
		hold_sigpipe(SIG_BLOCK);
	frame_open_in(&in, 0, "standard input");
	status = serve_open(v, &w) < 0 ? -1 : serve(v, &in, &w);
	serve_close(v);
	if (set.verbose)
		report_done(v, start);
	if (set.profile)
		profile_print(v->plan);
	hold_sigpipe(SIG_UNBLOCK);
	digest_close(digest);
	prefault_close(prefault);
	return status;
}

/* Closes what open_all() opened. Returns the first failure. */
static int close_all(struct serve *v, int status)
{
	struct why ignored;

	if (served_close(&served, status ? &ignored : &w) < 0)
		status = -1;
	if (status == 0)
		status = segment_sync(&e.segment, &w);
	engine_close(&e);
	model_close(v->model);
	return status;
}

/* The status of --compare. */
static int compare(void)
{
	int status = compare_dumps(set.compare, c.argv[0], &w);

	if (status < 0 || out_flush(&w) < 0)
		cli_die(&c, "%s", w.text);
	return cli_end(&c) || status;
}

int main(int argc, char **argv)
{
	double start = clock_now();
	struct serve v = { .progress = -1 };

	cli_start(&c, argc, argv);
	settings_read(&set, &c);
	if (set.list) {
		supported_print();
		return cli_end(&c);
	}
	if (set.compare)
		return compare();
	cli_binary(&c, 0);
	cli_binary(&c, 1);
	guard_arm(c.program);
	take_interrupts();
	open_all(&v);
	set_up(&v);
	if (close_all(&v, serve_input(&v, start)) < 0)
		cli_die(&c, "%s", w.text);
	if (set.dump && dump.failed)
		cli_die(&c, "%s", dump.why.text);
	if (v.failed)
		cli_failed(&c, "%zu sequence%s failed", v.failed, v.failed == 1 ? "" : "s");
	return cli_end(&c);
}
