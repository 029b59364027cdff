/* Groups of queries, which share a pass over the vectors. */
#include "queries.h"

#include <stdlib.h>
#include <string.h>

#include "vectors.h"

enum { LINE_ARENA = 1 << 30 };

static void drop_last(struct queries *q)
{
	struct query *last = &q->query[--q->n];

	free(last->vector);
	free(last->error);
	free(last->text);
}

void queries_clear(struct queries *q)
{
	while (q->n)
		drop_last(q);
}

/* The vector of a line of JSON, or the error in its place. */
static int read_vector(struct query *to, const struct json *line, size_t cols, struct why *w)
{
	const char *error = json_get(line, "embedding") ? NULL : json_get_string(line, "error");
	size_t room = cols ? cols : VECTORS_COLS_MAX;

	if (error)
		return (to->error = strdup(error)) ? 0 : why(w, "out of memory");
	to->vector = malloc(room * sizeof *to->vector);
	return to->vector ? vectors_read(line, to->vector, room, &cols, w) : why(w, "out of memory");
}

int queries_add(struct queries *q, const struct json *vector, const char *text, size_t n, struct why *w)
{
	struct query *to = &q->query[q->n++];
	int failed = 0;

	*to = (struct query){ .n = n };
	if (text && !(to->text = malloc(n + 1)))
		failed = why(w, "out of memory");
	else if (text)
		memcpy(to->text, text, n);
	if (failed || read_vector(to, vector, q->cols, w)) {
		drop_last(q);
		return -1;
	}
	return 0;
}

static int add_line(struct queries *q, const struct lines *from, const char *line, size_t n, struct why *w)
{
	struct arena arena = { .limit = LINE_ARENA };
	const struct json *parsed = json_parse_line(&arena, line, n, from->number, w), *text;
	int failed = parsed ? 0 : why_in(w, from->name);

	if (!failed) {
		text = json_get(parsed, "text");
		text = text && text->type == JSON_STRING ? text : NULL;
		if ((failed = queries_add(q, parsed, text ? text->s : NULL, text ? text->n : 0, w))) {
			struct why cause = *w;

			why(w, "%s: line %zu: %s", from->name, from->number, cause.text);
		}
	}
	arena_free(&arena);
	return failed;
}

/* Keeps the reason for the next call if there are queries to be answered before. */
static int fail(struct queries *q, const struct why *w)
{
	if (!q->n)
		return -1;
	q->failed = 1;
	q->cause = *w;
	return (int)q->n;
}

int queries_next(struct queries *q, struct lines *from, struct why *w)
{
	char *line;
	size_t n;
	int got = 1;

	queries_clear(q);
	if (q->failed) {
		*w = q->cause;
		return -1;
	}
	while (q->n < SEARCH_QUERIES && (!q->n || lines_ready(from)) && (got = lines_next(from, &line, &n, w)) > 0)
		if (json_blank(line, n) < n && (got = add_line(q, from, line, n, w)))
			break;
	return got < 0 ? fail(q, w) : (int)q->n;
}
