/* fwd: ids to logits. Opens a model and an engine, then answers frames until the input ends. */
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
#include "lib/gguf/models.h"
#include "fwd/measure/compare.h"
#include "fwd/measure/dump.h"
#include "fwd/measure/profile.h"
#include "fwd/measure/report.h"
#include "fwd/plan/prefault.h"
#include "fwd/state/digest.h"
#include "fwd/model/diffusion.h"
#include "batch.h"
#include "chain.h"
#include "engine.h"
#include "fwd_opts.h"
#include "input.h"
#include "settings.h"
#include "supported.h"

static struct cli c = { .program = "fwd", .synopsis = "[options] MODEL < ids > logits",
	.purpose = "ids to logits: the forward pass", .opts = fwd_opts, .more = { settings_opts },
	.rules = settings_rules,
	.common = "backend threads ctx-size batch-size kv kv-type layers all score pool chain verbose profile "
		"dump-tensors list",
	.examples = "  echo hi | tok m.gguf | fwd m.gguf | sample --greedy | detok m.gguf\n"
		"  tok m.gguf < text | fwd --score m.gguf | score\n"
		"  tok m.gguf < text | fwd --kv story m.gguf > /dev/null\n" };
static struct why w;
static struct settings set;
static struct engine e;
static struct texts texts;
static struct report report;
static struct batch batch = { .progress = -1 };
static struct chain chain;
static struct input input;
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

/* What stands in for something missing, each with its NUL. It is said once the model runs, because an error is one
 * line. */
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

static int open_progress(void)
{
	if (set.progress && (batch.progress = open(set.progress, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
		return why(&w, "%s: %s", set.progress, strerror(errno));
	return 0;
}

/* Opens the model, the engine, and the files that options name. */
static void open_all(void)
{
	static const struct faults missing = { .tell = note };
	const struct model_setup setup = { .set = set.override, .ignores_unknown = set.ignores_unknown,
		.notes = &missing, .lora = set.lora, .n_lora = set.n_lora, .control = { set.control, set.n_control,
			set.control_layers.first, set.control_layers.end } };
	struct model *m = model_open(models_path(c.argv[0], &w), &setup, &w);

	if (m && (set.engine.first >= m->n_layer || set.engine.end > m->n_layer))
		cli_usage(&c, "--layers: %s has layers 0 to %zu", c.argv[0], m->n_layer - 1);
	if (m && diffusion_of(m)->on && (set.score || set.chain.chunk))
		cli_die(&c, "%s: a diffusion model: not with --%s", c.argv[0], set.score ? "score" : "chain");
	cli_must(&c, !m || engine_open(&e, m, &set.engine, &w) < 0, &w);
	if (texts_open(&texts, &e.segment, e.choices, m, &e.weights, &w) < 0
	    || (set.dump && dump_open(&dump, set.dump, &w) < 0) || open_progress() < 0) {
		engine_close(&e);
		cli_die(&c, "%s", w.text);
	}
	print_notes();
}

static void set_up(void)
{
	int chained = set.chain.chunk > 0;

	e.plan->timed = set.profile;
	e.plan->after_op = set.dump ? dump_op : NULL;
	e.plan->after_op_context = &dump;
	batch.plan = e.plan;
	batch.texts = &texts;
	batch.report = &report;
	batch.most = set.engine.batch;
	batch.answers = (struct answers){ .out = 1, .every = set.all || set.score, .lens = set.engine.lens,
		.score = set.score, .chained = chained, .embeds = set.engine.embeds };
	chain = (struct chain){ .setup = &set.chain, .plan = e.plan, .report = &report, .out = 1 };
	input.batch = &batch;
	input.chain = chained ? &chain : NULL;
	input.warn = warn;
	input.truncate = set.truncate;
	input.own_kv = set.own_kv;
	if (!chained && !set.score && !set.engine.embeds)
		system_widen_pipe(1, e.model->n_vocab * sizeof(float));
}

static int answer_input(void)
{
	int status = -1;

	if (batch_open(&batch, &w) == 0 && (!input.chain || chain_open(&chain, e.segment.n_ctx, &w) == 0)
	    && input_open(&input, 0, "standard input", &w) == 0)
		status = input_answer(&input, &w);
	input_close(&input);
	chain_close(&chain);
	batch_close(&batch);
	return status;
}

static int run(void)
{
	struct prefault *prefault = prefault_start(e.plan);
	struct digest *digest = digest_start(&e.segment, &e.weights);
	int status;

	if (set.verbose && set.chain.temp > 0)
		fprintf(stderr, "fwd: seed %" PRIu64 "\n", set.chain.seed);
	if (set.verbose)
		report_loaded(&report, e.plan, &e.segment);
	if (set.verbose || set.profile)
		hold_sigpipe(SIG_BLOCK);
	status = answer_input();
	if (set.verbose)
		report_done(&report, input.chain ? "tokens" : set.engine.embeds ? "embeddings" : "logits");
	if (set.profile)
		profile_print(e.plan);
	hold_sigpipe(SIG_UNBLOCK);
	digest_close(digest);
	prefault_close(prefault);
	return status;
}

/* Closes what open_all() opened. Returns the first failure. */
static int close_all(int status)
{
	struct why ignored;

	if (texts_close(&texts, status ? &ignored : &w) < 0)
		status = -1;
	if (status == 0)
		status = segment_sync(&e.segment, &w);
	engine_close(&e);
	model_close(e.model);
	return status;
}

/* The status of --compare. */
static int compare(void)
{
	int status = compare_dumps(set.compare, c.argv[0], &w);

	cli_must(&c, status < 0 || out_flush(&w) < 0, &w);
	return cli_end(&c) || status;
}

int main(int argc, char **argv)
{
	report.start = clock_now();
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
	open_all();
	set_up();
	cli_must(&c, close_all(run()) < 0, &w);
	if (set.dump && dump.failed)
		cli_die(&c, "%s", dump.why.text);
	if (input.failed)
		cli_failed(&c, "%zu sequence%s failed", input.failed, input.failed == 1 ? "" : "s");
	return cli_end(&c);
}
