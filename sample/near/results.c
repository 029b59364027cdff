/* As text: score, id and, if there is one, text, separated by tabs. */
#include "results.h"

#include <string.h>

#include "lib/base/json.h"
#include "lib/base/members.h"
#include "lib/base/out.h"

enum { LABEL_ARENA = 1 << 30 };

/* The id of the row: its own, or the number of the row. */
static void print_id(const struct json *id, size_t row)
{
	struct json_writer j = json_to_out();

	if (!id)
		out_print("%zu", row);
	else if (id->type == JSON_STRING)
		out_quoted(id->s, id->n, 0);
	else
		json_value(&j, id);
}

static void print_line(const struct hit *hit, const struct label *label)
{
	out_print("%.6f\t", hit->score);
	print_id(json_get(label->members, "id"), hit->row);
	if (label->text) {
		out_char('\t');
		out_quoted(label->text, label->n, 0);
	}
	out_char('\n');
}

/* The object of a hit: index and score, then the members of its label. */
static void put_hit(struct json_writer *j, const struct hit *hit, const struct label *label)
{
	json_open(j, '{');
	member_int(j, "index", (int64_t)hit->row);
	member_real(j, "score", hit->score);
	for (const struct json *m = label->members ? label->members->child : NULL; m; m = m->next)
		if (strcmp(m->key, "index") && strcmp(m->key, "score"))
			member_copy(j, m);
	if (!label->members && label->text)
		member_bytes(j, "text", label->text, label->n);
	json_close(j, '}');
}

/* The label of a hit, which the arena holds. */
static int label_of(const struct results *r, const struct hit *hit, struct arena *a, struct label *label, struct why *w)
{
	arena_free(a);
	*label = (struct label){ .text = NULL };
	return r->labels->n ? labels_get(r->labels, hit->row, a, label, w) : 0;
}

/* The hits as lines, or as elements of an array. */
static int print_hits(const struct results *r, struct json_writer *j, const struct nearest *found, struct why *w)
{
	struct arena arena = { .limit = LABEL_ARENA };
	struct label label;
	int failed = 0;

	for (size_t i = 0; i < found->n && !failed; i++) {
		failed = label_of(r, &found->hit[i], &arena, &label, w);
		if (!failed && r->as_json)
			put_hit(j, &found->hit[i], &label);
		else if (!failed)
			print_line(&found->hit[i], &label);
	}
	arena_free(&arena);
	return failed;
}

int results_print(struct results *r, const struct query *q, const struct nearest *found, struct why *w)
{
	struct json_writer j = json_to_out();
	int failed;

	if (r->as_json) {
		json_open(&j, '{');
		if (q->text)
			member_bytes(&j, "query", q->text, q->n);
		if (q->error)
			member_text(&j, "error", q->error);
		else
			member_open(&j, "results", '[');
	} else if (r->printed) {
		out_char('\n');
	}
	failed = q->error ? 0 : print_hits(r, &j, found, w);
	if (r->as_json) {
		if (!q->error)
			json_close(&j, ']');
		json_close(&j, '}');
		out_char('\n');
	}
	r->printed++;
	r->failed += q->error != NULL;
	return failed ? -1 : out_flush(w);
}
