/* bench: tokens/s of the engine, compared with what the machine can do. Reads the options, then runs each test for each
 * model and number of threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/settings.h"
#include "fwd/model/diffusion.h"
#include "fwd/model/encoder.h"
#include "lib/base/cli.h"
#include "lib/base/guard.h"
#include "lib/base/size.h"
#include "lib/base/system.h"
#include "tests/mkweights.h"
#include "print.h"
#include "random.h"
#include "timing.h"

enum { SHAPE = 1, TYPE, BACKEND, KV_TYPE, DIRECTORY, SHARED };
enum { LIST_MAX = 32, N_MAX = 1 << 20, SEQUENCES_MAX = 1 << 16 };

static const struct opt opts[] = {
	{ 'm', "model", "MODEL", "a model file instead of random models" },
	{ SHAPE, "shape", "LIST", "shapes of the random models: llama-1b, qwen3-0.6b, smol-135m (default: llama-1b)" },
	{ TYPE, "type", "LIST", "types of their matrices: those of fwd --list, Q3_K_M, Q4_K_M, Q5_K_M, or mix\n"
		"(default: Q8_0,Q4_0,Q4_K_M,Q6_K,F16)" },
	{ 't', "threads", "LIST", "threads (default: 1 and the number of cores)" },
	{ 'p', "n-prompt", "LIST", "tokens of a prompt; 0: none (default: 512)" },
	{ 'n', "n-gen", "LIST", "tokens to decode; 0: none (default: 128)" },
	{ 'd', "n-depth", "LIST", "tokens in the context before (default: 0)" },
	{ 'j', "jobs", "LIST", "sequences that do each test together (default: 1)" },
	{ SHARED, "shared", NULL, "the sequences share the context before (forks)" },
	{ 'r', "repetitions", "N", "runs of each test; the median is reported (default: 5)" },
	{ BACKEND, "backend", "scalar|" KERNELS_NAMES "auto", "the instruction set (default: auto)" },
	{ 'b', "batch-size", "N", "tokens evaluated at once (default: 512)" },
	{ KV_TYPE, "kv-type", KV_TYPE_NAMES "auto", "type of K and V, as in fwd (default: auto)" },
	{ DIRECTORY, "dir", "DIR", "where the random models are written (default: $TMPDIR, or /tmp)" },
	{ 'o', "output", "md|csv|json", "style of the table (default: md)" },
	{ 0 }
};

struct list {
	size_t n, number[LIST_MAX];
	const char *name[LIST_MAX];     /* or numbers */
};

static struct cli c = { .program = "bench", .synopsis = "[options]",
	.purpose = "tokens per second, next to what the machine can do", .opts = opts,
	.examples = "  bench -m m.gguf\n"
		"  bench --shape smol-135m --type Q8_0,Q4_K_M -p 512,4096\n"
		"  bench -m m.gguf -n 64 -j 1,4,16 -o csv > rates.csv\n" };
static struct why w;

static struct {
	const char *model, *dir;
	struct list shapes, types, threads, prompts, decodes, depths, jobs;
	size_t repetitions;
	int shared;
	struct engine_setup engine;
	enum style style;
} set = { .shapes = { .n = 1, .name = { "llama-1b" } },
	.types = { .n = 5, .name = { "Q8_0", "Q4_0", "Q4_K_M", "Q6_K", "F16" } },
	.prompts = { .n = 1, .number = { 512 } },
	.decodes = { .n = 1, .number = { 128 } }, .depths = { .n = 1, .number = { 0 } },
	.jobs = { .n = 1, .number = { 1 } }, .repetitions = 5,
	.engine = { .batch = 512, .kv_type = -1 } };

/* ---- options ---- */

/* The next item of a comma-separated list; its comma becomes NUL. */
static const char *next_item(const struct opt *o, char **rest, const struct list *l)
{
	char *item = *rest, *comma = strchr(item, ',');

	if (l->n == LIST_MAX)
		cli_usage(&c, "--%s: more than %d items", o->name, LIST_MAX);
	*rest = comma ? comma + 1 : NULL;
	if (comma)
		*comma = '\0';
	return item;
}

static void numbers(const struct opt *o, long long low, long long high, struct list *l)
{
	struct cli one = c;
	char *rest = (char *)c.value;

	for (l->n = 0; rest; l->n++) {
		one.value = next_item(o, &rest, l);
		l->number[l->n] = (size_t)cli_integer(&one, o, low, high);
	}
}

static int shape_known(const char *name)
{
	return mkweights_shape(name) != NULL;
}

static void names(const struct opt *o, int (*known)(const char *name), struct list *l)
{
	char *rest = (char *)c.value;

	for (l->n = 0; rest; l->n++) {
		l->name[l->n] = next_item(o, &rest, l);
		if (!known(l->name[l->n]))
			cli_usage(&c, "--%s: unknown name \"%s\"", o->name, l->name[l->n]);
	}
}

static void option(const struct opt *o, const char **backend)
{
	switch (o->letter) {
	case 'm': set.model = c.value; break;
	case SHAPE: names(o, shape_known, &set.shapes); break;
	case TYPE: names(o, mkweights_type_known, &set.types); break;
	case 't': numbers(o, 1, 1024, &set.threads); break;
	case 'p': numbers(o, 0, N_MAX, &set.prompts); break;
	case 'n': numbers(o, 0, N_MAX, &set.decodes); break;
	case 'd': numbers(o, 0, N_MAX, &set.depths); break;
	case 'j': numbers(o, 1, SEQUENCES_MAX, &set.jobs); break;
	case SHARED: set.shared = 1; break;
	case 'r': set.repetitions = (size_t)cli_integer(&c, o, 1, METER_MAX - 1); break;
	case BACKEND: *backend = cli_word(&c, o); break;
	case 'b': set.engine.batch = (size_t)cli_integer(&c, o, 1, 1 << 16); break;
	case KV_TYPE: set.engine.kv_type = settings_kv_type(&c, o); break;
	case DIRECTORY: set.dir = c.value; break;
	case 'o': set.style = (enum style)cli_choice(&c, o); break;
	}
}

static void read_options(void)
{
	const char *backend = "auto";
	const struct opt *o;

	set.dir = getenv("TMPDIR");
	while ((o = cli_next(&c)))
		option(o, &backend);
	if (c.argc)
		cli_usage(&c, "%s: unexpected operand (-m names a model)", c.argv[0]);
	set.engine.kernels = settings_kernels(&c, backend);
	if (!set.dir || !*set.dir)
		set.dir = "/tmp";
	if (!set.threads.n) {
		set.threads.number[set.threads.n++] = 1;
		if (system_cores() > 1)
			set.threads.number[set.threads.n++] = system_cores();
	}
}

/* ---- tests ---- */

static size_t most(const struct list *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n = size_max(l->number[i], n);
	return n;
}

/* Runs one test for each length. The caller sets the other fields of row->test. */
static void run_tests(struct timing *t, struct bench_row *row, const struct list *lengths, int decode)
{
	row->test.decode = decode;
	for (size_t i = 0; i < lengths->n; i++)
		if ((row->test.n = lengths->number[i])) {
			cli_must(&c, timing_test(t, &row->test, set.repetitions, &row->result, &w) < 0, &w);
			print_row(set.style, row);
		}
}

static void run_depths(struct timing *t, struct bench_row *row)
{
	for (size_t d = 0; d < set.depths.n; d++)
		for (size_t j = 0; j < set.jobs.n; j++) {
			row->test = (struct bench_test){ .depth = set.depths.number[d],
				.sequences = set.jobs.number[j], .shared = set.shared };
			run_tests(t, row, &set.prompts, 0);
			run_tests(t, row, &set.decodes, 1);
		}
}

/* The file of a random model is removed as soon as it is open. */
static void run_model(const char *path, const char *name)
{
	struct model *m = model_open(path, NULL, &w);
	struct engine_setup *setup = &set.engine;
	struct bench_row row = { .model = name, .backend = setup->kernels->name, .batch = setup->batch,
		.repetitions = set.repetitions };
	struct timing t;

	random_remove();
	cli_must(&c, !m, &w);
	if (encoder_of(m)->n_layer || diffusion_of(m)->on)
		cli_die(&c, "%s: %s: not supported", path,
			encoder_of(m)->n_layer ? "has an encoder" : "a diffusion model");
	row.bytes = m->bytes;
	setup->n_ctx = size_max(most(&set.depths) + size_max(most(&set.prompts), most(&set.decodes)), 1);
	for (size_t i = 0; i < set.threads.n; i++) {
		setup->threads = row.threads = set.threads.number[i];
		cli_must(&c, timing_open(&t, m, setup, &w) < 0, &w);
		run_depths(&t, &row);
		timing_close(&t);
	}
	model_close(m);
}

static void run_random(const char *shape, const char *type)
{
	const char *path = random_model(shape, type, &w);
	char name[64];

	cli_must(&c, !path, &w);
	snprintf(name, sizeof name, "%s %s", shape, type);
	run_model(path, name);
}

int main(int argc, char **argv)
{
	const char *slash;

	cli_start(&c, argc, argv);
	read_options();
	guard_arm(c.program);
	cli_must(&c, !set.model && random_directory(set.dir, &w) < 0, &w);
	print_start(set.style);
	if (set.model) {
		slash = strrchr(set.model, '/');
		run_model(set.model, slash ? slash + 1 : set.model);
	}
	for (size_t s = 0; !set.model && s < set.shapes.n; s++)
		for (size_t t = 0; t < set.types.n; t++)
			run_random(set.shapes.name[s], set.types.name[t]);
	print_end(set.style);
	return cli_end(&c);
}
