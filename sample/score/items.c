/* Reading items, and writing their tokens. */
#include "items.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/json.h"
#include "lib/base/lines.h"
#include "lib/base/size.h"
#include "lib/gguf/gguf.h"
#include "lib/vocab/vocab.h"

/* TRAILING: if all choices have more tokens than this after the common ones, an `after` is scored alone. */
enum { OUT = 1, CHOICES_MAX = 1024, TRAILING = 3 };
enum { TEXT_MAX = 1 << 28 };

/* ---- texts to tokens ---- */

/* The ids of a text in up to three parts, with BOS where the model adds it. */
static int encode(struct vocab *v, const char *const part[3], struct ids *ids, struct why *w)
{
	const struct vocab_rules *rules = vocab_rules(v);
	struct bytes text = { .limit = TEXT_MAX };
	int status = 0;

	for (int i = 0; i < 3 && part[i]; i++)
		status |= bytes_puts(&text, part[i]);
	if (status || (rules->add_bos && ids_add(ids, rules->bos)))
		status = why(w, "out of memory");
	else
		status = vocab_encode(v, text.p, text.n, 0, ids, w);
	bytes_free(&text);
	return status;
}

static size_t common_of(const struct ids *a, const struct ids *b, size_t most)
{
	size_t i = 0;

	most = size_min(most, size_min(a->n, b->n));
	while (i < most && a->id[i] == b->id[i])
		i++;
	return i;
}

/* Which tokens count. base: how many the text has without `after`, or 0. */
static int set_range(const struct item *item, struct choice *c, size_t base, int long_after, struct why *w)
{
	size_t from = size_max(long_after ? base : item->common, 1);         /* nothing comes before the first */

	c->from = from;
	c->to = c->ids.n;
	if (base && c->to > from + 1)
		c->to--;
	return c->to > from ? 0 : why(w, "choice %zu adds no token", (size_t)(c - item->choice) + 1);
}

/* How many ids a text has. -1 */
static int count(struct vocab *v, const char *const part[3], size_t *n, struct why *w)
{
	struct ids ids = { .n = 0 };
	int status = encode(v, part, &ids, w);

	*n = ids.n;
	free(ids.id);
	return status;
}

/* The choices of the item, whose texts are in the line's members. */
static int encode_choices(struct vocab *v, struct item *item, const struct json *line, const struct json *choices,
	struct why *w)
{
	const char *context = json_get_string(line, "context"), *after = json_get_string(line, "after");
	const struct json *text = choices->type == JSON_ARRAY ? choices->child : choices;
	struct ids alone = { .n = 0 };          /* what a single choice is told apart from */
	size_t base[CHOICES_MAX] = { 0 };
	int long_after = after != NULL, status = encode(v, (const char *[3]){ context }, &alone, w);

	item->common = SIZE_MAX;
	for (size_t i = 0; i < item->n && !status; i++, text = text->next) {
		struct choice *c = &item->choice[i];

		c->bytes = text->n + !text->n;
		status = encode(v, (const char *[3]){ context, text->s, after }, &c->ids, w);
		if (!status && after)
			status = count(v, (const char *[3]){ context, text->s }, &base[i], w);
		item->common = common_of(item->n > 1 ? &item->choice[0].ids : &alone, &c->ids, item->common);
		if (item->n > 1 && item->common == c->ids.n && c->ids.n)
			item->common--;         /* another goes on where this one ends */
	}
	for (size_t i = 0; i < item->n; i++)
		long_after &= item->choice[i].ids.n > item->common + TRAILING;
	for (size_t i = 0; i < item->n && !status; i++)
		status = set_range(item, &item->choice[i], base[i], long_after, w);
	free(alone.id);
	return status;
}

/* ---- lines to items ---- */

static int check_texts(const struct json *choices, struct why *w)
{
	if (choices->type == JSON_STRING)
		return 0;
	if (choices->type != JSON_ARRAY || !choices->n || choices->n > CHOICES_MAX)
		return why(w, "\"choices\" is not a string, nor an array of 1 to %d strings", CHOICES_MAX);
	for (const struct json *v = choices->child; v; v = v->next)
		if (v->type != JSON_STRING)
			return why(w, "\"choices\" has %s, not only strings", json_type_name(v));
	return 0;
}

static int read_item(struct vocab *v, struct item *item, const struct json *line, struct why *w)
{
	const struct json *choices = json_get(line, "choices"), *answer = json_get(line, "answer");
	const struct json *after = json_get(line, "after");

	if (!json_get_string(line, "context"))
		return why(w, "\"context\" is not a string");
	if (!choices)
		return why(w, "no \"choices\"");
	if (check_texts(choices, w) < 0)
		return -1;
	if (after && after->type != JSON_STRING)
		return why(w, "\"after\" is not a string");
	item->n = choices->type == JSON_STRING ? 1 : choices->n;
	if (answer && answer->type != JSON_NULL
	    && (answer->type != JSON_INT || answer->i < 0 || answer->i >= (int64_t)item->n))
		return why(w, "\"answer\" is not the number of a choice, from 0");
	item->answer = answer && answer->type == JSON_INT ? answer->i : -1;
	if (!(item->choice = calloc(item->n, sizeof *item->choice)))
		return why(w, "out of memory");
	return encode_choices(v, item, line, choices, w);
}

static int add_line(struct items *t, struct vocab *v, const char *text, size_t n, size_t number, struct why *w)
{
	struct arena arena = { .limit = TEXT_MAX };
	const struct json *line = json_parse(&arena, text, n, w);
	const struct item *before = t->n ? &t->item[t->n - 1] : NULL;
	uint32_t seq = before ? before->seq + (uint32_t)before->n : 1;
	int status = -1;

	if (t->n == t->room && grow(&t->item, &t->room, sizeof *t->item, 256) < 0)
		why(w, "out of memory");
	else if (line) {
		t->item[t->n] = (struct item){ .line = number, .seq = seq };
		status = read_item(v, &t->item[t->n++], line, w);
	}
	arena_free(&arena);
	return status;
}

static int is_blank(const char *s, size_t n)
{
	while (n && strchr(" \t\r", *s))
		s++, n--;
	return !n;
}

static int read_lines(struct items *t, struct vocab *v, const char *file, struct why *w)
{
	struct lines lines;
	char *line, where[32];
	size_t n;
	int status = lines_open(&lines, file, w);

	while (status == 0 && (status = lines_next(&lines, &line, &n, w)) > 0) {
		status = is_blank(line, n) ? 0 : add_line(t, v, line, n, lines.number, w);
		if (status < 0) {
			snprintf(where, sizeof where, "line %zu", lines.number);
			why_in(w, where);
			why_in(w, lines.name);
		}
	}
	if (status == 0 && !t->n)
		status = why(w, "%s: no items", file);
	lines_close(&lines);
	return status;
}

int items_open(struct items *t, const char *file, const char *model, struct why *w)
{
	struct gguf *g = gguf_open(model, 0, w);
	struct vocab *v = g ? vocab_open(g, VOCAB_ENCODE, w) : NULL;
	int status = -1;

	*t = (struct items){ .n = 0 };
	if (v) {
		vocab_card(v, &t->card);
		status = read_lines(t, v, file, w);
		vocab_close(v);
	}
	if (g)
		gguf_close(g);
	return status;
}

void items_close(struct items *t)
{
	for (size_t i = 0; i < t->n; i++) {
		for (size_t k = 0; t->item[i].choice && k < t->item[i].n; k++)
			free(t->item[i].choice[k].ids.id);
		free(t->item[i].choice);
	}
	free(t->item);
}

/* ---- items to frames ---- */

static int write_item(const struct item *item, struct why *w)
{
	const struct ids *ids = &item->choice[0].ids;
	const int32_t source = (int32_t)item->seq;
	struct frame fork = { .kind = FRAME_FORK, .rows = 1, .cols = 1, .type = FRAME_I32,
		.pos = (uint32_t)item->common };

	if (item->common && frame_write_ids(OUT, ids->id, fork.pos, 0, 0, item->seq, w) < 0)
		return -1;
	for (size_t i = 1; item->common && i < item->n; i++) {
		fork.seq = item->seq + (uint32_t)i;
		if (frame_write(OUT, &fork, &source, w) < 0)
			return -1;
	}
	for (size_t i = 0; i < item->n; i++) {
		uint32_t seq = item->seq + (uint32_t)i, n = (uint32_t)(item->choice[i].ids.n - item->common);

		if (frame_write_ids(OUT, item->choice[i].ids.id + item->common, n, fork.pos, 0, seq, w) < 0)
			return -1;
	}
	for (size_t i = 0; i < item->n; i++)
		if (frame_write_end(OUT, 0, (uint32_t)item->choice[i].ids.n, item->seq + (uint32_t)i, w) < 0)
			return -1;
	return 0;
}

int items_write(const struct items *t, struct why *w)
{
	if (card_write(OUT, &t->card, w) < 0)
		return -1;
	for (size_t i = 0; i < t->n; i++)
		if (write_item(&t->item[i], w) < 0)
			return -1;
	return frame_write_end(OUT, 0, 0, FRAME_NO_SEQ, w);
}
