/* Reading items, and writing their tokens. */
#include "items.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/lines.h"
#include "lib/base/size.h"
#include "lib/gguf/gguf.h"
#include "lib/gguf/models.h"
#include "lib/vocab/vocab.h"
#include "question.h"

/* TRAILING: if all choices have more tokens than this after the common ones, an `after` is scored alone. */
enum { TRAILING = 3 };
enum { TEXT_MAX = 1 << 28 };

/* The model that reads the items. */
struct reader {
	struct gguf *g;
	struct vocab *v;
	const struct chat_setup *setup; /* or NULL */
};

/* ---- texts to tokens ---- */

/* The ids of a text in up to three parts, with BOS where the model adds it. */
static int encode(const struct reader *r, const char *const part[3], struct ids *ids, struct why *w)
{
	const struct vocab_rules *rules = vocab_rules(r->v);
	struct bytes text = { .limit = TEXT_MAX };
	int status = 0;

	for (int i = 0; i < 3 && part[i]; i++)
		status |= bytes_puts(&text, part[i]);
	if (status || (rules->add_bos && !r->setup && ids_add(ids, rules->bos)))
		status = why(w, "out of memory");
	else
		status = vocab_encode(r->v, text.p, text.n, r->setup ? VOCAB_SPECIAL : 0, ids, w);
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
static int count(const struct reader *r, const char *const part[3], size_t *n, struct why *w)
{
	struct ids ids = { .n = 0 };
	int status = encode(r, part, &ids, w);

	*n = ids.n;
	free(ids.id);
	return status;
}

static size_t bytes_of(const char *choice)
{
	return size_max(strlen(choice + (*choice == ' ')), 1);
}

static int encode_choices(const struct reader *r, struct item *item, const struct question *q, struct why *w)
{
	struct ids alone = { .n = 0 };          /* the context, in place of the other choices where there are none */
	size_t base[QUESTION_CHOICES] = { 0 };
	int long_after = q->after != NULL, status = encode(r, (const char *[3]){ q->context }, &alone, w);

	item->common = SIZE_MAX;
	for (size_t i = 0; i < item->n && !status; i++) {
		struct choice *c = &item->choice[i];

		c->bytes = bytes_of(q->choice[i]);
		status = encode(r, (const char *[3]){ q->context, q->choice[i], q->after }, &c->ids, w);
		if (!status && q->after)
			status = count(r, (const char *[3]){ q->context, q->choice[i] }, &base[i], w);
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

/* Makes the context what the template makes of a user's message, and the choices answers to it. *text holds it. */
static int render(const struct reader *r, struct question *q, struct bytes *text, struct why *w)
{
	struct bytes template = { .limit = CHAT_FILE_MAX };
	struct chat chat;
	int status = chat_open(&chat, r->setup, r->v, w)
		|| chat_add_text(&chat, "user", q->context, strlen(q->context), w) ? -1 : 0;

	status = status ? status : chat_choose(&chat, r->setup, r->g, &template, w);
	if (status > 0)
		status = why(w, "the model has no chat template (--template)");
	else if (!status)
		status = chat_render(&chat, template.p, template.n, NULL, text, w);
	bytes_free(&template);
	chat_end(&chat);
	if (!status && (memchr(text->p, 0, text->n) || bytes_put(text, "", 1)))
		status = why(w, "the rendered context contains NUL, or is too long");
	q->context = text->p;
	for (size_t i = 0; i < q->n; i++)
		q->choice[i] += *q->choice[i] == ' ';
	return status;
}

static int read_item(const struct reader *r, struct item *item, struct arena *arena, const struct json *line,
	struct why *w)
{
	struct bytes context = { .limit = TEXT_MAX };
	struct question q;
	int status;

	if (question_read(&q, arena, line, w) < 0)
		return -1;
	item->n = q.n;
	item->answer = q.answer;
	if (!(item->choice = calloc(item->n, sizeof *item->choice))) {
		item->n = 0;
		return why(w, "out of memory");
	}
	status = r->setup ? render(r, &q, &context, w) : 0;
	if (!status)
		status = encode_choices(r, item, &q, w);
	bytes_free(&context);
	return status;
}

static int add_line(struct items *t, const struct reader *r, const char *text, size_t n, size_t number, struct why *w)
{
	struct arena arena = { .limit = TEXT_MAX };
	const struct json *line = json_parse_line(&arena, text, n, number, w);
	const struct item *before = t->n ? &t->item[t->n - 1] : NULL;
	uint32_t seq = before ? before->seq + (uint32_t)before->n : 1;
	char where[32];
	int status = -1;

	if (t->n == t->room && grow(&t->item, &t->room, sizeof *t->item, 256) < 0)
		why(w, "out of memory");
	else if (line) {
		t->item[t->n] = (struct item){ .line = number, .seq = seq };
		status = read_item(r, &t->item[t->n++], &arena, line, w);
		snprintf(where, sizeof where, "line %zu", number);
		status = status < 0 ? why_in(w, where) : 0;
	}
	arena_free(&arena);
	return status;
}

static int read_lines(struct items *t, const struct reader *r, const char *file, struct why *w)
{
	struct lines lines;
	char *line;
	size_t n;
	int status = lines_open(&lines, file, w);

	while (status == 0 && (status = lines_next(&lines, &line, &n, w)) > 0) {
		status = json_blank(line, n) == n ? 0 : add_line(t, r, line, n, lines.number, w);
		if (status < 0)
			why_in(w, lines.name);
	}
	if (status == 0 && !t->n)
		status = why(w, "%s: no items", file);
	lines_close(&lines);
	return status;
}

int items_open(struct items *t, const char *file, const char *model, const struct chat_setup *setup, struct why *w)
{
	struct reader r = { .g = gguf_open(models_path(model, w), 0, w), .setup = setup };
	int status = -1;

	*t = (struct items){ .n = 0 };
	if (r.g && (r.v = vocab_open(r.g, VOCAB_ENCODE, w))) {
		vocab_card(r.v, &t->card);
		status = read_lines(t, &r, file, w);
		vocab_close(r.v);
	}
	gguf_close(r.g);
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

int items_fit(const struct items *t, const char *file, int32_t n_ctx, struct why *w)
{
	for (const struct item *item = t->item; item < t->item + t->n; item++)
		for (size_t k = 0; k < item->n; k++)
			if (item->choice[k].ids.n > (size_t)n_ctx)
				return why(w, "%s: line %zu: choice %zu: %zu tokens do not fit the context of %" PRId32
					" (-c)", file, item->line, k + 1, item->choice[k].ids.n, n_ctx);
	return 0;
}

/* ---- items to frames ---- */

static int write_item(const struct item *item, int fd, struct why *w)
{
	const struct ids *ids = &item->choice[0].ids;
	const int32_t source = (int32_t)item->seq;
	struct frame fork = { .kind = FRAME_FORK, .rows = 1, .cols = 1, .type = FRAME_I32,
		.pos = (uint32_t)item->common };

	if (item->common && frame_write_ids(fd, ids->id, fork.pos, 0, 0, item->seq, w) < 0)
		return -1;
	for (size_t i = 1; item->common && i < item->n; i++) {
		fork.seq = item->seq + (uint32_t)i;
		if (frame_write(fd, &fork, &source, w) < 0)
			return -1;
	}
	for (size_t i = 0; i < item->n; i++) {
		uint32_t seq = item->seq + (uint32_t)i, n = (uint32_t)(item->choice[i].ids.n - item->common);

		if (frame_write_ids(fd, item->choice[i].ids.id + item->common, n, fork.pos, 0, seq, w) < 0)
			return -1;
	}
	for (size_t i = 0; i < item->n; i++)
		if (frame_write_end(fd, 0, (uint32_t)item->choice[i].ids.n, item->seq + (uint32_t)i, w) < 0)
			return -1;
	return 0;
}

int items_write(const struct items *t, int fd, struct why *w)
{
	if (card_write(fd, &t->card, w) < 0)
		return -1;
	for (size_t i = 0; i < t->n; i++)
		if (write_item(&t->item[i], fd, w) < 0)
			return -1;
	return frame_write_end(fd, 0, 0, FRAME_NO_SEQ, w);
}
