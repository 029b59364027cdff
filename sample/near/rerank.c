/* All pairs go through one process. */
#include "rerank.h"

enum { LABEL_ARENA = 1 << 30 };

/* Adds the pair of a query and the text of a row. */
static int add_pair(struct child *c, const struct query *query, size_t row, const struct labels *labels,
	struct why *w)
{
	static const char *const keys[] = { "query", "document" };
	struct arena arena = { .limit = LABEL_ARENA };
	struct label label = { .text = NULL };
	int failed = row < labels->n ? labels_get(labels, row, &arena, &label, w) : 0;

	if (!failed && !label.text)
		failed = why(w, "--rerank: vector %zu has no text", row);
	if (!failed)
		failed = child_add(c, 2, keys, (const char *[]){ query->text, label.text },
			(size_t[]){ query->n, label.n }, w);
	arena_free(&arena);
	return failed;
}

static int add_pairs(struct child *c, const struct query *const query[], const struct nearest *found, size_t n,
	const struct labels *labels, struct why *w)
{
	for (size_t i = 0; i < n; i++) {
		if (!query[i]->text)
			return why(w, "--rerank: a query has no \"text\"");
		for (size_t h = 0; h < found[i].n; h++)
			if (add_pair(c, query[i], found[i].hit[h].row, labels, w))
				return -1;
	}
	return 0;
}

/* Of several labels, the first counts. */
static int read_score(struct child *c, struct hit *hit, struct why *w)
{
	const struct json *line = child_next(c, w), *score, *scores;
	const char *error;

	if (!line)
		return -1;
	if ((error = json_get_string(line, "error")))
		return why(w, "--rerank: vector %zu: %s", hit->row, error);
	scores = json_get(line, "scores");
	if (!(score = scores ? scores->child : json_get(line, "score")))
		return why(w, "--rerank: %s prints no score", c->stage.name);
	hit->score = score->d;
	return 0;
}

/* The best `most` hits by new scores. */
static int rank(struct child *c, struct nearest *found, size_t most, struct why *w)
{
	struct nearest best;

	if (nearest_open(&best, most, w))
		return -1;
	for (size_t h = 0; h < found->n; h++) {
		if (read_score(c, &found->hit[h], w)) {
			nearest_close(&best);
			return -1;
		}
		nearest_add(&best, found->hit[h]);
	}
	nearest_sort(&best);
	nearest_close(found);
	*found = best;
	return 0;
}

int rerank(struct child *c, const struct query *const query[], struct nearest *found, size_t n, size_t most,
	const struct labels *labels, struct why *w)
{
	int failed = add_pairs(c, query, found, n, labels, w);

	if (!failed && c->input.n)
		failed = child_start(c, w);
	for (size_t i = 0; i < n && !failed; i++)
		failed = rank(c, &found[i], most, w);
	child_end(c, w);
	return failed;
}
