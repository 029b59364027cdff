/* near: the vectors that are nearest to those of queries, with their texts: exact search over a file. */
#include "lib/base/cli.h"
#include "lib/base/guard.h"
#include "lib/base/lines.h"
#include "lib/base/size.h"
#include "queries.h"
#include "results.h"
#include "search.h"
#include "settings.h"
#include "vectors.h"

static struct cli c = { .program = "near", .synopsis = "[options] VECTORS < queries",
	.purpose = "the nearest of many vectors, and their texts", .opts = settings_opts,
	.examples = "  near -n 3 vectors.jsonl < queries.jsonl\n"
		"  near --json vectors.npy < queries.jsonl\n"
		"  near --dimensions 384 --texts notes.txt notes.f32 < queries.jsonl\n" };
static struct why w;
static struct settings set;
static struct vectors vectors;

static void must(int failed)
{
	if (failed)
		cli_die(&c, "%s", w.text);
}

/* The texts of --texts, or of the lines of JSON. */
static const struct labels *open_labels(void)
{
	static struct labels texts;

	if (!set.texts)
		return &vectors.labels;
	must(labels_read(&texts, set.texts, &w));
	if (texts.n != vectors.rows)
		cli_die(&c, "%s: %zu lines, not one for each of %zu vectors", set.texts, texts.n, vectors.rows);
	return &texts;
}

/* Searches for a group of queries and prints what was found. */
static void answer(struct search *search, struct results *results, const struct queries *q)
{
	const float *vector[SEARCH_QUERIES];
	struct nearest found[SEARCH_QUERIES];

	for (size_t i = 0; i < q->n; i++) {
		vector[i] = q->query[i].vector;
		must(nearest_open(&found[i], size_max(1, size_min(set.most, vectors.rows)), &w));
	}
	must(search_run(search, vector, q->n, found, &w));
	for (size_t i = 0; i < q->n; i++) {
		must(results_print(results, &q->query[i], &found[i], &w));
		nearest_close(&found[i]);
	}
}

int main(int argc, char **argv)
{
	static struct queries queries;
	struct search search = { .vectors = &vectors };
	struct results results = { .printed = 0 };
	struct lines from_stdin;
	int got;

	cli_start(&c, argc, argv);
	settings_read(&set, &c);
	guard_arm(c.program);
	must(vectors_open(&vectors, set.vectors, set.dimensions, &w));
	search.cosine = set.cosine;
	search.n_threads = set.threads;
	results.labels = open_labels();
	results.as_json = set.as_json;
	queries.cols = vectors.cols;
	must(lines_open(&from_stdin, "-", &w));
	while ((got = queries_next(&queries, &from_stdin, &w)) > 0)
		answer(&search, &results, &queries);
	must(got);
	lines_close(&from_stdin);
	vectors_close(&vectors);
	if (search.not_finite)
		cli_die(&c, "%s: %zu of %zu vectors are not finite", set.vectors, search.not_finite, vectors.rows);
	return cli_end(&c);
}
