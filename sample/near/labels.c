/* One buffer of all labels. */
#include "labels.h"

#include <stdint.h>
#include <stdlib.h>

#include "lib/base/grow.h"
#include "lib/base/lines.h"

int labels_add(struct labels *l, const char *s, size_t n, struct why *w)
{
	l->bytes.limit = PTRDIFF_MAX;
	if (bytes_put(&l->bytes, s, n) || (l->n == l->room && grow(&l->end, &l->room, sizeof *l->end, 64)))
		return why(w, "out of memory");
	l->end[l->n++] = l->bytes.n;
	return 0;
}

void labels_free(struct labels *l)
{
	bytes_free(&l->bytes);
	free(l->end);
}

int labels_read(struct labels *l, const char *name, struct why *w)
{
	struct lines lines;
	int got = lines_open(&lines, name, w);
	char *line;
	size_t n;

	while (got >= 0 && (got = lines_next(&lines, &line, &n, w)) > 0)
		if (labels_add(l, line, n, w))
			got = -1;
	lines_close(&lines);
	return got;
}

int labels_get(const struct labels *l, size_t i, struct arena *a, struct label *label, struct why *w)
{
	size_t start = i ? l->end[i - 1] : 0;
	const struct json *text;

	*label = (struct label){ .text = l->bytes.p + start, .n = l->end[i] - start };
	if (!l->as_json)
		return 0;
	if (!(label->members = json_parse(a, label->text, label->n, w)))
		return -1;
	label->text = NULL;
	if ((text = json_get(label->members, "text")) && text->type == JSON_STRING) {
		label->text = text->s;
		label->n = text->n;
	}
	return 0;
}
