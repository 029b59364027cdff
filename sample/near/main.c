/* near: the vectors that are nearest to those of queries, with their texts: exact search over a file. */
#include <string.h>

#include "lib/base/cli.h"
#include "lib/base/guard.h"
#include "lib/base/lines.h"
#include "lib/base/size.h"
#include "child.h"
#include "queries.h"
#include "rerank.h"
#include "results.h"
#include "search.h"
#include "settings.h"
#include "vectors.h"

static struct cli c = { .program = "near", .synopsis = "[options] VECTORS < queries",
	.purpose = "the nearest of many vectors, and their texts", .opts = settings_opts, .rules = settings_rules,
	.examples = "  near -m m.gguf --query 'Who has the key?' vectors.jsonl\n"
		"  near -n 3 vectors.jsonl < queries.jsonl\n"
		"  near --dimensions 384 --texts notes.txt notes.f32 < queries.jsonl\n" };
static struct why w;
static struct settings set;
static struct vectors vectors;
static struct search search = { .vectors = &vectors };
static struct results results;
static struct child ranker;

/* The texts of --texts, or of the lines of JSON. */
static const struct labels *open_labels(void)
{
	static struct labels texts;

	if (!set.texts)
		return &vectors.labels;
	cli_must(&c, labels_read(&texts, set.texts, &w), &w);
	if (texts.n != vectors.rows)
		cli_die(&c, "%s: %zu lines, not one for each of %zu vectors", set.texts, texts.n, vectors.rows);
	return &texts;
}

/* Searches for a group of queries and prints what was found. */
static void answer(const struct queries *q)
{
	const size_t most = size_max(1, size_min(set.reranker ? set.candidates : set.most, vectors.rows));
	const struct query *query[SEARCH_QUERIES];      /* those that have one */
	const float *vector[SEARCH_QUERIES];
	struct nearest found[SEARCH_QUERIES];
	size_t n = 0, at = 0;

	for (size_t i = 0; i < q->n; i++) {
		if (!(vector[n] = q->query[i].vector))
			continue;
		query[n] = &q->query[i];
		cli_must(&c, nearest_open(&found[n++], most, &w), &w);
	}
	cli_must(&c, n && search_run(&search, vector, n, found, &w), &w);
	cli_must(&c, set.reranker && rerank(&ranker, query, found, n, set.most, results.labels, &w), &w);
	for (size_t i = 0; i < q->n; i++)
		cli_must(&c, results_print(&results, &q->query[i], q->query[i].vector ? &found[at++] : NULL, &w), &w);
	while (n)
		nearest_close(&found[--n]);
}

/* The only query: its text, embedded. */
static void answer_text(struct queries *q)
{
	struct child child = { .stage = set.embed };
	const size_t length = strlen(set.query);
	const struct json *line = NULL;
	const char *error;
	int failed;

	failed = child_add(&child, 1, (const char *[]){ "text" }, &set.query, &length, &w)
		|| child_start(&child, &w) || !(line = child_next(&child, &w));
	if (!failed && (error = json_get_string(line, "error")))
		failed = why(&w, "--query: %s", error);
	else if (!failed && queries_add(q, line, set.query, length, &w))
		failed = why_in(&w, "--query");
	child_end(&child, &w);
	cli_must(&c, failed, &w);
	answer(q);
}

static void answer_lines(struct queries *q)
{
	struct lines from_stdin;
	int got;

	cli_must(&c, lines_open(&from_stdin, "-", &w), &w);
	while ((got = queries_next(q, &from_stdin, &w)) > 0)
		answer(q);
	cli_must(&c, got, &w);
	lines_close(&from_stdin);
}

int main(int argc, char **argv)
{
	static struct queries queries;

	cli_start(&c, argc, argv);
	settings_read(&set, &c);
	guard_arm(c.program);
	cli_must(&c, vectors_open(&vectors, set.vectors, set.dimensions, &w), &w);
	search.cosine = set.cosine;
	search.n_threads = set.threads;
	results.labels = open_labels();
	results.as_json = set.as_json;
	ranker.stage = set.rank;
	queries.cols = vectors.cols;
	(set.query ? answer_text : answer_lines)(&queries);
	queries_clear(&queries);
	vectors_close(&vectors);
	if (search.not_finite)
		cli_die(&c, "%s: %zu of %zu vectors are not finite", set.vectors, search.not_finite, vectors.rows);
	if (results.failed)
		cli_die(&c, "%zu of %zu queries have no vector", results.failed, results.printed);
	return cli_end(&c);
}
