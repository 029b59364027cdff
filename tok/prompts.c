/* Each line of a file is a prompt and a sequence, written as soon as it has been read. */
#include "prompts.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/json.h"
#include "lib/base/lines.h"
#include "lib/base/out.h"
#include "pair.h"

enum { JSON_LINE_MAX = 512 << 20 };     /* bytes of memory */

/* A sequence ends after its prompt, also after one without tokens, so that the lines of the answers match. */
static int write_prompt(const struct tok *t, const struct ids *ids, int failed, struct why *w)
{
	if (t->count)
		out_print("%zu\n", ids->n);
	for (size_t i = 0; t->decimal && i < ids->n; i++)
		out_print(i ? " %d" : "%d", (int)ids->id[i]);
	if (t->decimal)
		out_char('\n');
	if (!tok_writes_frames(t))
		return out_flush(w);
	if (ids->n && frame_write_ids(1, ids->id, (uint32_t)ids->n, 0, 0, t->n_lines, w))
		return -1;
	return frame_write_end(1, failed ? FRAME_END_ERROR : 0, (uint32_t)ids->n, t->n_lines, w);
}

/* Appends the ids of an array. */
static int take_ids(const struct tok *t, const struct json *list, struct ids *ids, struct why *w)
{
	for (const struct json *v = list->child; v; v = v->next) {
		if (v->type != JSON_INT || v->i < 0 || v->i >= t->card.n_vocab)
			return why(w, "an array of token ids from 0 to %d is expected", (int)t->card.n_vocab - 1);
		if (ids_add(ids, (int32_t)v->i))
			return why(w, "out of memory");
	}
	return 0;
}

/* The ids of what the line says. Returns 1 for null: the stage before has said what is wrong with it. */
static int encode_json(struct tok *t, struct source *x, struct arena *a, struct ids *ids, struct why *w)
{
	const struct json *v = json_parse(a, x->s, x->n, w);

	if (!v)
		return -1;
	if (v->type == JSON_NULL)
		return 1;
	if (v->type == JSON_ARRAY)
		return take_ids(t, v, ids, w);
	if (v->type != JSON_STRING)
		return why(w, "%s, where a string is expected", json_type_name(v));
	x->s = (char *)v->s;
	x->n = v->n;
	return tok_encode(t, x, ids, w);
}

/* The ids of the line. Returns 0; 1 if there are none, as the stage before has said; -1 with a reason that names it. */
static int encode_line(struct tok *t, struct source *x, struct ids *ids, struct why *w)
{
	struct arena a = { .limit = JSON_LINE_MAX };
	int failed = 0;
	char where[32];

	x->line = ++t->n_lines;
	ids->n = 0;
	if (t->pairing)
		failed = pair_encode(t, x, &a, ids, w);
	else
		failed = t->json ? encode_json(t, x, &a, ids, w) : tok_encode(t, x, ids, w);
	if (!failed && ids->n > FRAME_IDS_MAX)
		failed = why(w, "more tokens than a frame holds");
	arena_free(&a);
	/* an id that is none is named with its line */
	if (failed < 0 && !t->from_ids) {
		snprintf(where, sizeof where, "line %zu", x->line);
		why_in(w, where);
		why_in(w, x->name);
	}
	return failed;
}

static int write_lines(struct tok *t, struct lines *lines, struct why *w)
{
	static struct ids ids;
	struct source line = { .name = lines->name, .first = 1, .last = 1 };
	int got, failed;

	while ((got = lines_next(lines, &line.s, &line.n, w)) > 0) {
		if (t->n_lines == FRAME_NO_SEQ - 1)
			return why(w, "more lines than a stream has sequences");
		if ((failed = encode_line(t, &line, &ids, w))) {
			if (failed < 0)
				t->warn(w->text);
			ids.n = 0;
			t->n_failed++;
		}
		if (write_prompt(t, &ids, failed, w))
			return -1;
	}
	return got;
}

int prompts_add(struct tok *t, const char *name, struct why *w)
{
	static struct lines lines;
	int status = lines_open(&lines, name, w) ? -1 : write_lines(t, &lines, w);

	lines_close(&lines);
	return status;
}
