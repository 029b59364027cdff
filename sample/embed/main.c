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

/* A text without an embedding: the reason is in the output if that is JSON. */
static void fail(const struct item *item, const char *error)
{
	n_failed++;
	if (!output_is_text(set.kind))
		cli_warn(&c, "text %" PRIu64 ": %s", n_texts, error);
	cli_must(&c, output_fail(&output, item ? &item->label : NULL, error, &w), &w);
}

/* Keeps the first elements (0: all) and normalises them. */
static void shape(struct embedding *e, size_t dimensions)
{
	int whole = e->pooling == POOLING_NONE || e->pooling == POOLING_RANK;
	int p = set.normalizes || !whole ? set.normalize : SCALE_NONE;
	size_t cols = dimensions ? dimensions : e->cols;

	for (size_t i = 0; i < e->rows; i++) {
		for (size_t k = 0; cols < e->cols && k < cols; k++)
			e->row[i * cols + k] = e->row[i * e->cols + k];
		scale_row(e->row + i * cols, cols, p);
	}
	e->cols = cols;
}

static void print_embedding(const struct item *item, struct embedding *e)
{
	int64_t asked = item && item->dimensions ? item->dimensions : (int64_t)set.dimensions;
	int scores = e->pooling == POOLING_RANK, too_many = e->rows && asked > (scores ? 0 : (int64_t)e->cols);
	struct why why_not;

	if (too_many && scores)
		why(&why_not, "dimensions: a reranker's scores have none");
	else if (too_many)
		why(&why_not, "dimensions %" PRId64 ": the embeddings have %zu", asked, e->cols);
	if (too_many && scores && set.dimensions)
		cli_usage(&c, "--%s", why_not.text);
	if (too_many && set.dimensions)
		cli_die(&c, "--%s", why_not.text);
	n_texts++;
	if (item && item->error) {
		fail(item, item->error);
	} else if (!e->rows) {
		fail(item, e->error);
	} else if (!scale_is_finite(e->row, e->rows * e->cols)) {
		fail(item, "the embedding is not finite");
	} else if (too_many) {
		fail(item, why_not.text);
	} else {
		shape(e, (size_t)asked);
		cli_must(&c, output_put(&output, item ? &item->label : NULL, e, &w), &w);
	}
}

/* card: of the stream. */
static void print(const struct item *item, struct embedding *e, const struct card *card)
{
	if (!item || item->asks == ITEM_EMBEDDING)
		print_embedding(item, e);
	else if (item->asks == ITEM_MODEL)
		cli_must(&c, output_model(&item->label, set.file, card, &w), &w);
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
		print(item, &e, &in.card);
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

	cli_must(&c, (fd = pipeline_start(&set.pipeline, &w)) < 0, &w);
	got = print_all(fd, "fwd");
	of_stream = w;
	close(fd);
	status = pipeline_wait(&set.pipeline, &w);
	/* questions about the model are empty lines, which tok counts as failures */
	cli_must(&c, status < 0 || (status > 0 && !n_failed && set.kind != OUTPUT_ANSWERS), &w);
	if (got < 0)
		cli_die(&c, "%s", of_stream.text);
}

int main(int argc, char **argv)
{
	cli_start(&c, argc, argv);
	settings_read(&set, &c);
	if (!output_is_text(set.kind))
		cli_binary(&c, 1);
	cli_must(&c, output_open(&output, set.kind, &w), &w);
	if (set.model) {
		run();
	} else {
		cli_binary(&c, 0);
		cli_must(&c, print_all(0, "standard input") < 0, &w);
	}
	cli_must(&c, output_end(&output, &w), &w);
	gguf_close(set.file);
	if (set.kind == OUTPUT_ANSWERS)
		return cli_end(&c);
	if (n_failed && set.kind == OUTPUT_JSON)
		cli_die(&c, "%" PRIu64 " of %" PRIu64 " texts failed", n_failed, n_texts);
	if (n_failed)
		cli_failed(&c, "%" PRIu64 " of %" PRIu64 " texts failed", n_failed, n_texts);
	return cli_end(&c);
}
