/* fwd: ids to logits. Options, model, plan, segment; then the frames, until the input ends. */
#include <signal.h>
#include <string.h>

#include "../lib/cli.h"
#include "../lib/frame.h"
#include "../lib/guard.h"
#include "model.h"
#include "plan.h"
#include "pool.h"
#include "prefault.h"
#include "report.h"
#include "segment.h"
#include "serve.h"

enum { BACKEND = 1, KV, KV_TYPE, ALL, PROFILE };
enum { THREADS_MAX = 1024, BATCH_MAX = 1 << 16, CTX_DEFAULT = 4096 };

static const struct opt opts[] = {
	{ BACKEND, "backend", "NAME", "multicore: the best instruction set, on all cores; simd: the same on one thread;\n"
		"scalar; or avx2, avx512, neon (default: multicore)" },
	{ 't', "threads", "N", "threads (default: as the backend says)" },
	{ 'c', "ctx-size", "N", "positions of the context (default: the model's, 4096 at most)" },
	{ 'b', "batch-size", "N", "ids evaluated at once (default: 512)" },
	{ KV, "kv", "NAME", "keep K and V in the segment NAME, and go on from what is there (see kv)" },
	{ KV_TYPE, "kv-type", "TYPE", "f16, f32 or auto: f32 for models of floats, f16 for quantised ones (default: auto)" },
	{ ALL, "all", NULL, "logits of every id, not of each frame's last alone" },
	{ PROFILE, "profile", NULL, "at the end, a table of where the time went, on stderr" },
	{ 'v', "verbose", NULL, "what was loaded, times and rates, on stderr" },
	{ 0 }
};

static struct cli c = { .program = "fwd", .synopsis = "[options] MODEL < ids > logits", .purpose = "ids to logits: the forward pass", .opts = opts };
static struct why w;

struct settings {
	const char *backend, *kv;
	size_t threads, n_ctx, batch;   /* threads and n_ctx 0: not said */
	int kv_type;                    /* -1: auto */
	int all, profile, verbose;
};

static int kv_type(const char *name)
{
	if (!strcmp(name, "f16"))
		return KV_F16;
	if (!strcmp(name, "f32"))
		return KV_F32;
	if (strcmp(name, "auto"))
		cli_usage(&c, "--kv-type: \"%s\" is not f16, f32 or auto", name);
	return -1;
}

static void options(struct settings *set)
{
	const struct opt *o;

	*set = (struct settings){ .backend = "multicore", .batch = 512, .kv_type = -1 };
	while ((o = cli_next(&c)))
		switch (o->letter) {
		case BACKEND: set->backend = c.value; break;
		case 't': set->threads = (size_t)cli_integer(&c, o, 1, THREADS_MAX); break;
		case 'c': set->n_ctx = (size_t)cli_integer(&c, o, 1, SEGMENT_CTX_MAX); break;
		case 'b': set->batch = (size_t)cli_integer(&c, o, 1, BATCH_MAX); break;
		case KV: set->kv = c.value; break;
		case KV_TYPE: set->kv_type = kv_type(c.value); break;
		case ALL: set->all = 1; break;
		case PROFILE: set->profile = 1; break;
		case 'v': set->verbose = 1; break;
		}
	if (c.argc != 1)
		cli_usage(&c, c.argc ? "one model, please (try --help)" : "no model (try --help)");
	if (set->kv && segment_check_name(set->kv, &w) < 0)
		cli_usage(&c, "--kv: %s", w.text);
}

static const struct kernels *backend(struct settings *set)
{
	int all_cores = !strcmp(set->backend, "multicore"), best = all_cores || !strcmp(set->backend, "simd");
	const struct kernels *k = kernels_select(best ? "auto" : set->backend);

	if (!k)
		cli_usage(&c, "--backend: no \"%s\" here", set->backend);
	if (!set->threads)
		set->threads = !strcmp(set->backend, "scalar") || (best && !all_cores) ? 1 : pool_cores();
	return k;
}

static void open_segment(struct segment *s, const struct settings *set, const struct model *m)
{
	size_t n_ctx = set->n_ctx ? set->n_ctx : m->n_ctx_train < CTX_DEFAULT ? m->n_ctx_train : CTX_DEFAULT;
	enum kv_type type = set->kv_type >= 0 ? (enum kv_type)set->kv_type : m->quantised ? KV_F16 : KV_F32;
	struct segment_shape shape = plan_shape(m, type, n_ctx);

	if (n_ctx > m->n_ctx_max)
		cli_die(&c, "%s: -c %zu, but the model has learned %zu positions", m->gguf->path, n_ctx, m->n_ctx_max);
	if (segment_open(s, set->kv, &shape, !set->n_ctx, &w) < 0)
		cli_die(&c, "%s", w.text);
}

/* With something to say at the end, a reader that leaves must not end us before: the signal waits. */
static void hold_sigpipe(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(how, &set, NULL);
}

int main(int argc, char **argv)
{
	double start = serve_now();
	struct settings set;
	struct segment segment;
	struct serve v = { .segment = &segment };
	const struct kernels *k;
	static struct frame_in in;
	struct pool *pool;
	int status;

	c.argc = argc;
	c.argv = argv;
	cli_start(&c);
	options(&set);
	k = backend(&set);
	cli_binary(&c, 0);
	cli_binary(&c, 1);
	guard_arm(c.program);

	v.model = model_open(c.argv[0], &w);
	pool = v.model ? pool_open(set.threads, &w) : NULL;
	v.plan = pool ? plan_open(v.model, k, pool, set.batch, &w) : NULL;
	if (!v.plan)
		cli_die(&c, "%s", w.text);
	open_segment(&segment, &set, v.model);
	if (plan_bind(v.plan, &segment, &w) < 0)
		cli_die(&c, "%s", w.text);
	v.n_ctx = segment.shape.n_ctx;
	v.all = set.all;
	v.plan->timed = set.profile;
	v.prefault = prefault_start(v.plan);
	frame_widen(1, v.model->n_vocab * sizeof(float));
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
	prefault_close(v.prefault);
	plan_close(v.plan);
	segment_close(&segment);
	pool_close(pool);
	model_close(v.model);
	if (status < 0)
		cli_die(&c, "%s", w.text);
	return cli_end(&c);
}
