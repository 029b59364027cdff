/* best: the most likely of several texts that were drawn from one prompt, each a sequence. Reads their ids with
 * log-probabilities, and writes the text with the highest score: the sum of its log-probabilities, divided by its
 * length to the power of the penalty. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cli.h"
#include "lib/stream/card.h"
#include "lib/stream/sequences.h"
#include "gen/loop/result.h"

enum { PENALTY = 1, ALL };

static const struct opt opts[] = {
	{ PENALTY, "length-penalty", "A", "divide the log-probability by the length to the power of A (default: 1)" },
	{ ALL, "all", NULL, "write all texts, the best first" },
	{ 's', "seed", "N", "seed of the first text, for -v (default: 0)" },
	{ 'v', "verbose", NULL, "print seed and score of each text to stderr" },
	{ 0 }
};

static struct cli c = { .program = "best", .synopsis = "[options] < ids > ids",
	.purpose = "the most likely of several texts", .opts = opts,
	.examples = "  tok m.gguf < prompt | feed -N 8 f | fwd m.gguf |\n"
		"    sample --turns -n 40 --logprobs 0 | tee f | best | detok m.gguf\n"
		"  gen -m m.gguf --best-of 8 -n 40 \"Once upon a time\"\n" };
static struct why w;

struct contender {
	struct sequence sequence;
	struct result r;
	double score;
};

static struct {
	struct sequences texts; /* of struct contender */
	double penalty;
	int64_t seed;
	int all, verbose;
	struct card card;
	int carded;
} ranking = { .penalty = 1 };

static struct contender *find(uint32_t seq)
{
	return (struct contender *)sequences_find(&ranking.texts, seq);
}

static void take_ids(const struct frame *f, const int32_t *ids)
{
	struct contender *t = find(f->seq);

	if (!t && !(t = calloc(1, sizeof *t)))
		cli_die(&c, "out of memory");
	if (!t->r.ids.n)
		cli_must(&c, sequences_add(&ranking.texts, &t->sequence, f->seq, &w), &w);
	if (!t->r.reason)
		cli_must(&c, result_ids(&t->r, ids, f->rows, f->pos, &w), &w);
}

/* Log-probabilities belong to an id before them; those of one that was cut off again are ignored. */
static void take_logprobs(const struct frame_in *in, struct contender *t, const struct frame *f, const float *pair)
{
	const struct result *r = &t->r;
	int bad = f->pos >= r->pos && f->pos - r->pos < r->ids.n
		&& !(pair[0] >= 0 && pair[0] < FRAME_VOCAB_MAX && (int32_t)pair[0] == r->ids.id[f->pos - r->pos]);

	for (uint32_t i = 0; i < f->rows; i++)
		bad |= !(pair[2 * i + 1] <= 0);
	if (bad)
		why(&w, "position %" PRIu32 ": not the log-probability of the token before it", f->pos);
	cli_must(&c, (bad && frame_why(in, &w)) || result_logprobs(&t->r, f->pos, pair, f->rows, &w), &w);
}

static void read_all(void)
{
	static struct frame_in in;
	struct contender *t;
	struct frame f;
	void *payload = NULL;
	size_t room = 0;
	int got;

	frame_open_in(&in, 0, "standard input");
	while ((got = frame_next(&in, &f, &w)) > 0) {
		if (f.kind == FRAME_CARD && !ranking.carded++)
			cli_must(&c, card_read(&in, &f, &ranking.card, &w) || card_write(1, &ranking.card, &w), &w);
		if (f.kind != FRAME_IDS && f.kind != FRAME_LOGPROBS && f.kind != FRAME_END)
			continue;
		cli_must(&c, frame_read_all(&in, &f, &payload, &room, &w), &w);
		if (f.kind == FRAME_IDS && f.flags & FRAME_SAMPLED && f.rows)
			take_ids(&f, payload);
		else if (!(t = find(f.seq)))
			continue;
		else if (f.kind == FRAME_END && !t->r.reason)
			result_end(&t->r, f.flags ? f.flags : FRAME_END_LENGTH, payload, f.rows);
		else if (f.kind == FRAME_LOGPROBS && f.rows)
			take_logprobs(&in, t, &f, payload);
	}
	cli_must(&c, got < 0, &w);
	free(payload);
}

static int compare(const void *a, const void *b)
{
	const struct contender *x = *(struct contender *const *)a, *y = *(struct contender *const *)b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->sequence.number < y->sequence.number ? -1 : 1;
}

static void write_text(const struct contender *t)
{
	const struct result *r = &t->r;
	uint32_t next = r->pos + (uint32_t)r->ids.n, seq = t->sequence.number;
	enum frame_reason reason = r->reason ? (enum frame_reason)r->reason : FRAME_END_LENGTH;

	if (ranking.verbose)
		fprintf(stderr, "seed %" PRId64 ": log-probability %.4f, %zu tokens, score %.4f\n",
			ranking.seed + seq, result_sum(r), r->ids.n, t->score);
	cli_must(&c, frame_write_ids(1, r->ids.id, (uint32_t)r->ids.n, r->pos, FRAME_SAMPLED, seq, &w), &w);
	if (r->stop)
		cli_must(&c, frame_write_stop(1, r->stop, r->n_stop, next, seq, &w), &w);
	else
		cli_must(&c, frame_write_end(1, reason, next, seq, &w), &w);
}

/* Writes all texts, the best first. */
static void write_all(void)
{
	struct sequence **all = sequences_all(&ranking.texts, &w);
	struct sequence *s;
	size_t n = ranking.texts.n;

	cli_must(&c, !all, &w);
	for (size_t i = 0; i < n; i++) {
		struct contender *t = (struct contender *)all[i];

		if (isnan(result_sum(&t->r)))
			cli_die(&c, "sequence %" PRIu32 ": no log-probabilities (sample --logprobs 0)",
				t->sequence.number);
		t->score = result_sum(&t->r) / pow((double)t->r.ids.n, ranking.penalty);
	}
	qsort(all, n, sizeof *all, compare);
	for (size_t i = 0; i < n && (ranking.all || !i); i++)
		write_text((struct contender *)all[i]);
	free(all);
	while ((s = sequences_take(&ranking.texts))) {
		result_free(&((struct contender *)s)->r);
		free(s);
	}
}

int main(int argc, char **argv)
{
	const struct opt *o;

	cli_start(&c, argc, argv);
	while ((o = cli_next(&c)))
		switch (o->letter) {
		case PENALTY: ranking.penalty = cli_real(&c, o, 0, 10); break;
		case ALL: ranking.all = 1; break;
		case 's': ranking.seed = cli_integer(&c, o, 0, INT64_MAX); break;
		case 'v': ranking.verbose = 1; break;
		}
	if (c.argc)
		cli_usage(&c, "%s: takes no operands: texts come on standard input (try --help)", c.argv[0]);
	cli_binary(&c, 0);
	cli_binary(&c, 1);
	read_all();
	write_all();
	return cli_end(&c);
}
