/* embed: texts to embeddings, by tok and fwd, which it runs; or a stream of embeddings to lines of JSON or files of
 * floats. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/cli.h"
#include "embeddings.h"
#include "output.h"
#include "pipeline.h"
#include "scale.h"
#include "settings.h"

static struct cli c = { .program = "embed", .synopsis = "[options] MODEL [FILE ...] < texts",
	.purpose = "texts to embeddings; MODEL -: a stream of fwd --pool", .opts = settings_opts,
	.rules = settings_rules,
	.common = "lines files jsonl pair prefix no-text truncate pool dimensions normalize raw npy threads ctx-size",
	.examples = "  embed m.gguf < lines > vectors.jsonl\n"
		"  embed --files m.gguf notes/*.txt > notes.jsonl\n"
		"  tok --lines m.gguf < lines | fwd --pool mean m.gguf | embed - --raw > v.f32\n" };
static struct why w;
static struct settings set;
static struct output output;
static uint64_t n_texts, n_failed;

static void must(int failed)
{
	if (failed)
		cli_die(&c, "%s", w.text);
}

/* A text without an embedding: the reason is in the output if that is JSON. */
static void fail(const struct item *item, const char *error)
{
	n_failed++;
	if (set.kind != OUTPUT_JSON)
		cli_warn(&c, "text %" PRIu64 ": %s", n_texts, error);
	must(output_fail(&output, item ? &item->label : NULL, error, &w));
}

/* Cuts the rows to --dimensions and normalises them. */
static void shape(struct embedding *e)
{
	int whole = e->pooling == POOLING_NONE || e->pooling == POOLING_RANK;
	int p = set.normalizes || !whole ? set.normalize : SCALE_NONE;
	size_t cols = set.dimensions && e->pooling != POOLING_RANK ? set.dimensions : e->cols;

	if (cols > e->cols)
		cli_die(&c, "--dimensions %zu: the embeddings have %zu", set.dimensions, e->cols);
	for (size_t i = 0; i < e->rows; i++) {
		for (size_t k = 0; cols < e->cols && k < cols; k++)
			e->row[i * cols + k] = e->row[i * e->cols + k];
		scale_row(e->row + i * cols, cols, p);
	}
	e->cols = cols;
}

static void print(const struct item *item, struct embedding *e)
{
	n_texts++;
	if (item && item->error) {
		fail(item, item->error);
	} else if (!e->rows) {
		fail(item, e->error);
	} else if (!scale_is_finite(e->row, e->rows * e->cols)) {
		fail(item, "the embedding is not finite");
	} else {
		shape(e);
		must(output_put(&output, item ? &item->label : NULL, e->pooling, e->row, e->rows, e->cols, &w));
	}
}

/* Prints the embeddings of a stream; with a model those of the texts that the pipeline has been given. Returns -1 if
 * the stream is damaged. */
static int print_all(int fd, const char *name)
{
	static struct embeddings in;
	struct embedding e;
	struct item *item;
	int got;

	embeddings_open(&in, fd, name);
	while ((got = embeddings_next(&in, &e, &w)) > 0) {
		item = set.model ? pipeline_take(&set.pipeline) : NULL;
		print(item, &e);
		item_free(item);
	}
	embeddings_close(&in);
	return got;
}

/* Of several errors the likely cause is reported: what a stage says comes before what is wrong with the stream. */
static void run(void)
{
	struct why of_stream;
	int fd, got, status;

	must((fd = pipeline_start(&set.pipeline, &w)) < 0);
	got = print_all(fd, "fwd");
	of_stream = w;
	close(fd);
	status = pipeline_wait(&set.pipeline, &w);
	must(status < 0 || (status > 0 && !n_failed));
	if (got < 0)
		cli_die(&c, "%s", of_stream.text);
}

int main(int argc, char **argv)
{
	cli_start(&c, argc, argv);
	settings_read(&set, &c);
	if (set.kind != OUTPUT_JSON)
		cli_binary(&c, 1);
	must(output_open(&output, set.kind, &w));
	if (set.model) {
		run();
	} else {
		cli_binary(&c, 0);
		must(print_all(0, "standard input") < 0);
	}
	must(output_end(&output, &w));
	if (n_failed && set.kind == OUTPUT_JSON)
		cli_die(&c, "%" PRIu64 " of %" PRIu64 " texts failed", n_failed, n_texts);
	if (n_failed)
		cli_failed(&c, "%" PRIu64 " of %" PRIu64 " texts failed", n_failed, n_texts);
	return cli_end(&c);
}
