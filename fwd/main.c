/* fwd: ids to logits. Opens model, plan and segment, then serves frames until the input ends. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/cli.h"
#include "lib/base/clock.h"
#include "lib/stream/frame.h"
#include "fwd_opts.h"
#include "lib/base/guard.h"
#include "lib/base/size.h"
#include "lib/base/system.h"
#include "fwd/measure/dump.h"
#include "fwd/model/model.h"
#include "fwd/plan/plan.h"
#include "fwd/run/pool.h"
#include "fwd/run/prefault.h"
#include "fwd/measure/report.h"
#include "fwd/state/digest.h"
#include "fwd/state/segment.h"
#include "serve.h"
#include "settings.h"

enum { CTX_DEFAULT = 4096 };

static struct cli c = { .program = "fwd", .synopsis = "[options] MODEL < ids > logits",
	.purpose = "ids to logits: the forward pass", .opts = fwd_opts, .more = { settings_opts } };
static struct why w;

static const struct kernels *backend(struct settings *set)
{
	int all_cores = !strcmp(set->backend, "multicore"), best = all_cores || !strcmp(set->backend, "simd");
	const struct kernels *k = kernels_select(best ? "auto" : set->backend);

	if (!k)
		cli_usage(&c, "--backend: no \"%s\" here", set->backend);
	if (!set->threads)
		set->threads = !strcmp(set->backend, "scalar") || (best && !all_cores) ? 1 : system_cores();
	return k;
}

/* The context that is asked for, that of an existing segment, or the default. */
static size_t context(const struct settings *set, const struct model *m)
{
	struct segment_info info;

	if (set->n_ctx)
		return set->n_ctx;
	if (set->kv && segment_inspect(set->kv, &info, &w) == 0)
		return info.n_ctx;
	return size_min(m->n_ctx_train, CTX_DEFAULT);
}

static void open_segment(struct segment *s, const struct settings *set, const struct plan *p)
{
	const struct model *m = p->model;
	size_t n_ctx = context(set, m);
	enum kv_type type = set->kv_type >= 0 ? (enum kv_type)set->kv_type : m->quantised ? KV_F16 : KV_F32;
	struct segment_shape shape = plan_shape(p, type);
	int status;

	if (n_ctx > m->n_ctx_max)
		cli_die(&c, "%s: a context of %zu, but the model has a table of %zu positions", m->gguf->path, n_ctx,
			m->n_ctx_max);
	status = segment_open(s, set->kv, &shape, n_ctx, &w);
	if (status == 0 && digest_check(s, m->gguf, &w) < 0) {
		segment_close(s);
		status = -1;
	}
	if (status < 0)
		cli_die(&c, "%s", w.text);
}

/* Holds SIGPIPE back while a report is still to be printed, even if the reader leaves; or delivers it. */
static void hold_sigpipe(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(how, &set, NULL);
}

/* SIGUSR1 cancels the current evaluation, not the program. */
static void take_interrupts(void)
{
	struct sigaction act = { .sa_handler = serve_interrupt, .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &act, NULL);
}

int main(int argc, char **argv)
{
	double start = clock_now();
	struct settings set;
	struct dump dump;
	struct segment segment;
	struct serve v = { .segment = &segment };
	const struct kernels *k;
	static struct frame_in in;
	struct prefault *prefault;
	struct digest *digest;
	struct plan_setup setup;
	struct pool *pool;
	int status;

	c.argc = argc;
	c.argv = argv;
	cli_start(&c);
	settings_read(&set, &c);
	k = backend(&set);
	cli_binary(&c, 0);
	cli_binary(&c, 1);
	guard_arm(c.program);
	take_interrupts();

	v.model = model_open(c.argv[0], &w);
	pool = v.model ? pool_open(set.threads, &w) : NULL;
	if (pool) {
		setup = (struct plan_setup){ .kernels = k, .pool = pool, .batch = set.batch, .last = v.model->n_layer };
		v.plan = plan_open(v.model, &setup, &w);
	}
	if (!v.plan || (set.dump && dump_open(&dump, set.dump, &w) < 0))
		cli_die(&c, "%s", w.text);
	prefault = prefault_start(v.plan);
	open_segment(&segment, &set, v.plan);
	if (plan_bind(v.plan, segment.n_ctx, &w) < 0) {
		segment_close(&segment);
		cli_die(&c, "%s", w.text);
	}
	digest = digest_start(&segment, v.model->gguf);
	v.n_ctx = segment.n_ctx;
	v.all = set.all;
	v.chain = set.chain.chunk ? &set.chain : NULL;
	v.plan->timed = set.profile;
	v.plan->dump = set.dump ? &dump : NULL;
	if (!v.chain)
		system_widen_pipe(1, v.model->n_vocab * sizeof(float));
	if (set.verbose && set.chain.temp > 0)
		fprintf(stderr, "fwd: seed %" PRIu64 "\n", set.chain.seed);
	if (set.verbose)
		report_loaded(&v, start);

	if (set.verbose || set.profile)
		hold_sigpipe(SIG_BLOCK);
	frame_open_in(&in, 0, "standard input");
	status = serve(&v, &in, &w);
	if (set.verbose)
		report_done(&v, start);
	if (set.profile)
		report_profile(v.plan);
	hold_sigpipe(SIG_UNBLOCK);
	digest_close(digest);
	prefault_close(prefault);
	plan_close(v.plan);
	segment_close(&segment);
	pool_close(pool);
	model_close(v.model);
	if (status < 0)
		cli_die(&c, "%s", w.text);
	if (set.dump && dump.failed)
		cli_die(&c, "%s", dump.why.text);
	return cli_end(&c);
}
