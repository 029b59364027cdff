/* The choice with the highest log-probability: in total, per token, or per byte. */
#include "choices.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/members.h"
#include "lib/base/out.h"
#include "progress.h"

/* How texts of different lengths are made comparable: by tokens as llama-perplexity does, not at all, by bytes. */
enum { BY_TOKEN, TOTAL, BY_BYTE, WAYS };

static double likelihood(const struct choice *c, int way)
{
	return c->sum / (double)(way == BY_TOKEN ? c->to - c->from : way == BY_BYTE ? c->bytes : 1);
}

/* Of equally likely choices the first; without a way to win, of -infinity alone, the first too. */
static size_t chosen(const struct item *item, int way)
{
	size_t best = 0;

	for (size_t i = 1; i < item->n; i++)
		if (likelihood(&item->choice[i], way) > likelihood(&item->choice[best], way))
			best = i;
	return best;
}

/* ---- reading ---- */

/* The choice that a sequence is about: items have consecutive numbers, in order. NULL: none. */
static struct choice *choice_of(const struct items *t, uint32_t seq)
{
	size_t low = 0, high = t->n, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (t->item[middle].seq <= seq)
			low = middle;
		else
			high = middle;
	}
	return seq >= t->item[low].seq && seq - t->item[low].seq < t->item[low].n
		? &t->item[low].choice[seq - t->item[low].seq] : NULL;
}

/* Takes the score of a token. Returns 1 if it completes a choice. */
static int take(const struct items *t, const struct positions *in, const struct position *at, struct why *w)
{
	struct choice *c = choice_of(t, at->seq);

	if (positions_check(in, at, &t->card, w) < 0)
		return -1;
	if (!c || at->pos >= c->ids.n || at->id != c->ids.id[at->pos])
		return why(w, "%s: position %" PRIu32 " of sequence %" PRIu32 ": not of these items", in->in.name,
			at->pos, at->seq);
	if (at->pos < c->from || at->pos >= c->to)
		return 0;
	c->sum += (double)at->score[SCORE_LOGPROB];
	c->first += at->score[SCORE_RANK] < 2;
	c->got++;
	return c->got == c->to - c->from;
}

static int read_all(const struct items *t, struct positions *in, struct why *w)
{
	struct progress progress;
	struct position at;
	size_t all = 0, done = 0;
	int status, complete = 0;

	for (size_t i = 0; i < t->n; i++)
		all += t->item[i].n;
	progress_start(&progress, "choices", all);
	while (complete >= 0 && (status = positions_next(in, &at, w)) > 0)
		if (at.id >= 0 && (complete = take(t, in, &at, w)) > 0)
			progress_show(&progress, ++done);
	progress_end();
	return complete < 0 ? -1 : status;
}

static int check_all(const struct items *t, const char *name, struct why *w)
{
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < t->item[i].n; k++)
			if (t->item[i].choice[k].got != t->item[i].choice[k].to - t->item[i].choice[k].from)
				return why(w, "%s: no scores of choice %zu of line %zu", name, k + 1, t->item[i].line);
	return 0;
}

/* ---- printing ---- */

static void put_numbers(struct json_writer *to, const char *key, const struct item *item, int way)
{
	member_open(to, key, '[');
	for (size_t i = 0; i < item->n; i++)
		json_real(to, likelihood(&item->choice[i], way));
	json_close(to, ']');
}

static void put_object(const struct item *item)
{
	struct figures f;

	figures_start(&f, 1);
	figures_number(&f.json, "line", (double)item->line);
	figures_number(&f.json, "answer", item->answer < 0 ? NAN : (double)item->answer);
	figures_number(&f.json, "chosen", (double)chosen(item, BY_TOKEN));
	put_numbers(&f.json, "logprob", item, TOTAL);
	put_numbers(&f.json, "per_token", item, BY_TOKEN);
	put_numbers(&f.json, "per_byte", item, BY_BYTE);
	member_open(&f.json, "greedy", '[');
	for (size_t i = 0; i < item->n; i++)
		json_raw(&f.json, item->choice[i].first == item->choice[i].got ? "true" : "false");
	json_close(&f.json, ']');
	figures_end(&f);
}

static void put_line(const struct item *item)
{
	out_print("%8zu ", item->line);
	if (item->answer < 0)
		out_print("%7s", "-");
	else
		out_print("%7" PRId64, item->answer);
	out_print(" %7zu ", chosen(item, BY_TOKEN));
	for (size_t i = 0; i < item->n; i++)
		out_print(" %9.4f", likelihood(&item->choice[i], BY_TOKEN));
	out_char('\n');
}

static void put_table(const struct choices *c)
{
	if (!c->as_json)
		out_print("%8s %7s %7s  %s\n", "line", "answer", "chosen",
			"mean log-probability per token, for each choice");
	for (size_t i = 0; i < c->items.n; i++)
		if (c->as_json)
			put_object(&c->items.item[i]);
		else
			put_line(&c->items.item[i]);
}

static void put_figures(const struct choices *c)
{
	struct mean right[WAYS] = { { .n = 0 } }, sum = { .n = 0 }, greedy = { .n = 0 };
	struct figures f;

	for (const struct item *item = c->items.item; item < c->items.item + c->items.n; item++) {
		const struct choice *answer = &item->choice[item->answer < 0 ? 0 : item->answer];

		for (int way = 0; item->answer >= 0 && item->n > 1 && way < WAYS; way++)
			mean_add(&right[way], chosen(item, way) == (size_t)item->answer ? 100 : 0);
		if (item->answer < 0 && item->n > 1)
			continue;
		mean_add(&sum, answer->sum);
		mean_add(&greedy, answer->first == answer->got ? 100 : 0);
	}
	const struct figure all[] = {
		{ "items", "items", "", (double)c->items.n, -1, 0 },
		{ "accuracy", "accuracy", "% by token", mean_of(&right[BY_TOKEN]), mean_error(&right[BY_TOKEN]), 4 },
		{ "accuracy_total", "", "% in total", mean_of(&right[TOTAL]), mean_error(&right[TOTAL]), 4 },
		{ "accuracy_byte", "", "% by byte", mean_of(&right[BY_BYTE]), mean_error(&right[BY_BYTE]), 4 },
		{ "logprob", "log p of answers", "nats", mean_of(&sum), mean_error(&sum), 4 },
		{ "greedy", "greedy answers", "%", mean_of(&greedy), -1, 4 },
	};

	figures_start(&f, c->as_json);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		figures_put(&f, &all[i]);
	figures_end(&f);
}

int choices_run(struct choices *c, struct positions *in, struct why *w)
{
	if (read_all(&c->items, in, w) < 0 || check_all(&c->items, in->in.name, w) < 0)
		return -1;
	if (c->table)
		put_table(c);
	else
		put_figures(c);
	return 0;
}
