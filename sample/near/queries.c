/* Groups of queries, which share a pass over the vectors. */
#include "queries.h"

#include <stdlib.h>
#include <string.h>

#include "vectors.h"

enum { LINE_ARENA = 1 << 30 };

void queries_clear(struct queries *q)
{
	while (q->n) {
		free(q->query[--q->n].vector);
		free(q->query[q->n].text);
	}
}

int queries_add(struct queries *q, const struct json *vector, const char *text, size_t n, struct why *w)
{
	struct query *to = &q->query[q->n++];
	size_t cols = q->cols, room = cols ? cols : VECTORS_COLS_MAX;

	*to = (struct query){ .vector = malloc(room * sizeof *to->vector), .n = n };
	to->text = text ? malloc(n + 1) : NULL;
	if (!to->vector || (text && !to->text))
		return why(w, "out of memory");
	if (text)
		memcpy(to->text, text, n);
	return vectors_read(vector, to->vector, room, &cols, w);
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

int queries_next(struct queries *q, struct lines *from, struct why *w)
{
	char *line;
	size_t n;
	int got = 1;

	queries_clear(q);
	while (q->n < SEARCH_QUERIES && (!q->n || lines_ready(from)) && (got = lines_next(from, &line, &n, w)) > 0)
		if (json_blank(line, n) < n && add_line(q, from, line, n, w))
			return -1;
	return got < 0 ? -1 : (int)q->n;
}
