/* best: the most likely of the texts that a sampler draws from one prompt. It reads a stream of generations with
 * their log-probabilities, each ended by an `end ` frame or by ids that do not continue it, and writes the one with
 * the highest score: the sum of its log-probabilities over its length to the power of the penalty. seq says which
 * text it is, counted from 0. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cli.h"
#include "lib/base/grow.h"
#include "lib/stream/frame.h"
#include "result.h"

enum { PENALTY = 1, ALL };

static const struct opt opts[] = {
	{ PENALTY, "length-penalty", "A", "divide the log-probability by the length to the power of A (default: 1)" },
	{ ALL, "all", NULL, "write all texts, the best first" },
	{ 's', "seed", "N", "seed of the first text, for -v (default: 0)" },
	{ 'v', "verbose", NULL, "seed and score of each text that is written, on stderr" },
	{ 0 }
};

static struct cli c = { .program = "best", .synopsis = "[options] < ids > ids",
	.purpose = "the most likely of several texts", .opts = opts };
static struct why w;

struct candidate {
	struct result r;
	uint32_t number;        /* from 0 */
	double score;
};

static struct {
	struct candidate *text; /* [n] */
	size_t n, room;
	double penalty;
	int64_t seed;
	int all, verbose;
	struct card card;
	int carded;
} run = { .penalty = 1 };

static void must(int failed)
{
	if (failed)
		cli_die(&c, "%s", w.text);
}

/* The text that is under way, or NULL. */
static struct candidate *last(void)
{
	return run.n ? &run.text[run.n - 1] : NULL;
}

/* Ids that do not continue the text that is under way begin another. */
static void take_ids(const struct frame *f, const int32_t *ids)
{
	struct candidate *t = last();

	if (!t || t->r.reason || (t->r.ids.n && f->pos != t->r.pos + t->r.ids.n)) {
		if (run.n == run.room && grow(&run.text, &run.room, sizeof *run.text, 16))
			cli_die(&c, "out of memory");
		run.text[run.n] = (struct candidate){ .number = (uint32_t)run.n };
		run.n++;
	}
	must(result_ids(&last()->r, ids, f->rows, f->pos, &w));
}

static void read_all(void)
{
	static struct frame_in in;
	struct frame f;
	void *payload = NULL;
	size_t room = 0;
	int got;

	frame_open_in(&in, 0, "stdin");
	while ((got = frame_next(&in, &f, &w)) > 0) {
		if (f.kind == FRAME_CARD && !run.carded++)
			must(card_read(&in, &f, &run.card, &w) || card_write(1, &run.card, &w));
		if (f.kind != FRAME_IDS && f.kind != FRAME_LOGPROBS && f.kind != FRAME_END)
			continue;
		must(frame_read_all(&in, &f, &payload, &room, &w));
		if (f.kind == FRAME_IDS && f.flags & FRAME_SAMPLED && f.rows)
			take_ids(&f, payload);
		if (f.kind == FRAME_END && run.n && !last()->r.reason)
			result_end(&last()->r, f.flags ? f.flags : FRAME_END_LENGTH, payload, f.rows);
		if (f.kind == FRAME_LOGPROBS && run.n)
			result_logprob(&last()->r, f.pos, ((const float *)payload)[1]);
	}
	must(got < 0);
	free(payload);
}

static int compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static void write_text(const struct candidate *t)
{
	const struct result *r = &t->r;
	uint32_t next = r->pos + (uint32_t)r->ids.n;
	enum frame_reason reason = r->reason ? (enum frame_reason)r->reason : FRAME_END_LENGTH;

	if (run.verbose)
		fprintf(stderr, "seed %" PRId64 ": log-probability %.4f, %zu tokens, score %.4f\n",
			run.seed + t->number, result_sum(r), r->ids.n, t->score);
	must(frame_write_ids(1, r->ids.id, (uint32_t)r->ids.n, r->pos, FRAME_SAMPLED, t->number, &w));
	if (r->stop)
		must(frame_write_stop(1, r->stop, r->n_stop, next, t->number, &w));
	else
		must(frame_write_end(1, reason, next, t->number, &w));
}

int main(int argc, char **argv)
{
	const struct opt *o;

	c.argc = argc;
	c.argv = argv;
	cli_start(&c);
	while ((o = cli_next(&c)))
		switch (o->letter) {
		case PENALTY: run.penalty = cli_real(&c, o, 0, 10); break;
		case ALL: run.all = 1; break;
		case 's': run.seed = cli_integer(&c, o, 0, INT64_MAX); break;
		case 'v': run.verbose = 1; break;
		}
	if (c.argc)
		cli_usage(&c, "%s: takes no operands: texts come on standard input (try --help)", c.argv[0]);
	cli_binary(&c, 0);
	cli_binary(&c, 1);
	read_all();
	for (size_t i = 0; i < run.n; i++)
		run.text[i].score = result_sum(&run.text[i].r) / pow((double)run.text[i].r.ids.n, run.penalty);
	if (run.n)
		qsort(run.text, run.n, sizeof *run.text, compare);
	for (size_t i = 0; i < run.n && (run.all || !i); i++)
		write_text(&run.text[i]);
	for (size_t i = 0; i < run.n; i++)
		result_free(&run.text[i].r);
	free(run.text);
	return cli_end(&c);
}
