/* sample: logits to ids. Draws one id for each `logi` frame, from its last row, through lib/sampler's chain; whose ids they are and which of them end
 * a generation, the stream's card says. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/cli.h"
#include "../lib/frame.h"
#include "../lib/rng.h"
#include "../lib/sampler.h"

enum { BIAS_MAX = 4096, NO_LIMIT = -1 };
enum { GREEDY = 1, TEMP, TOP_K, TOP_P, MIN_P, REPEAT, LAST_N, FREQUENCY, PRESENCE, IGNORE_EOS, LOGPROBS };

static const struct opt opts[] = {
	{ 'n', "n-predict", "N", "stop after N ids (default: at an end-of-generation id, or the end of the input)" },
	{ 's', "seed", "N", "seed of the draws; -1: a random one (default: -1)" },
	{ GREEDY, "greedy", NULL, "take the largest logit; the same as --temp 0" },
	{ TEMP, "temp", "T", "temperature (default: 0.8)" },
	{ TOP_K, "top-k", "K", "keep the K largest logits; 0: all (default: 40)" },
	{ TOP_P, "top-p", "P", "keep the likeliest ids that make up P; 1: all (default: 0.95)" },
	{ MIN_P, "min-p", "P", "keep ids at least P times as likely as the likeliest; 0: all (default: 0.05)" },
	{ REPEAT, "repeat-penalty", "R", "divide logits of recent ids by R, multiply negative ones; 1: off (default: 1)" },
	{ FREQUENCY, "frequency-penalty", "F", "take F from the logit of a recent id for each time (default: 0)" },
	{ PRESENCE, "presence-penalty", "P", "take P from the logit of a recent id once (default: 0)" },
	{ LAST_N, "repeat-last-n", "N", "how many ids are recent; -1: all (default: 64)" },
	{ 'l', "logit-bias", "ID+B", "add B to the logit of ID, or ID-B, or ID-inf: never; may be repeated" },
	{ IGNORE_EOS, "ignore-eos", NULL, "never draw an end-of-generation id" },
	{ LOGPROBS, "logprobs", "N", "a `logp` frame after each id: its log-probability and the N best" },
	{ 'v', "verbose", NULL, "the seed on stderr" },
	{ 0 }
};

static struct cli c = { .program = "sample", .synopsis = "[options] < logits > ids", .purpose = "logits to ids", .opts = opts };
static struct why w;

struct settings {
	struct sampler_params chain;
	struct sampler_bias bias[BIAS_MAX + FRAME_EOG_MAX];
	int64_t n;
	int ignore_eos, verbose;
};

/* ID+B, ID-B, ID+inf, ID-inf. */
static void add_bias(struct settings *set, const struct opt *o)
{
	const char *text = c.value, *sign = strpbrk(text, "+-");
	struct sampler_bias *b = &set->bias[set->chain.n_bias++];
	char id[16];

	if (!sign || sign == text || (size_t)(sign - text) >= sizeof id)
		cli_usage(&c, "-l/--logit-bias: \"%s\" is not an id, + or -, and a number", text);
	if (set->chain.n_bias > BIAS_MAX)
		cli_usage(&c, "-l/--logit-bias: more than %d of them", BIAS_MAX);
	snprintf(id, sizeof id, "%.*s", (int)(sign - text), text);
	c.value = id;
	b->id = (int32_t)cli_integer(&c, o, 0, FRAME_VOCAB_MAX - 1);
	c.value = sign + (*sign == '+');
	if (!strcmp(sign + 1, "inf"))
		b->bias = *sign == '-' ? -INFINITY : FLT_MAX;
	else
		b->bias = (float)cli_real(&c, o, -FLT_MAX, FLT_MAX);
}

static void options(struct settings *set)
{
	struct sampler_params *p = &set->chain;
	int64_t seed = -1;
	int greedy = 0;
	const struct opt *o;

	sampler_defaults(p);
	p->bias = set->bias;
	set->n = NO_LIMIT;
	while ((o = cli_next(&c)))
		switch (o->letter) {
		case 'n': set->n = cli_integer(&c, o, 0, INT32_MAX); break;
		case 's': seed = cli_integer(&c, o, -1, INT64_MAX); break;
		case GREEDY: greedy = 1; break;
		case TEMP: p->temp = (float)cli_real(&c, o, 0, 1e6); break;
		case TOP_K: p->top_k = (int32_t)cli_integer(&c, o, 0, FRAME_VOCAB_MAX); break;
		case TOP_P: p->top_p = (float)cli_real(&c, o, 0, 1); break;
		case MIN_P: p->min_p = (float)cli_real(&c, o, 0, 1); break;
		case REPEAT: p->repeat = (float)cli_real(&c, o, 0, 1e6); break;
		case FREQUENCY: p->frequency = (float)cli_real(&c, o, -1e6, 1e6); break;
		case PRESENCE: p->presence = (float)cli_real(&c, o, -1e6, 1e6); break;
		case LAST_N: p->last_n = (int32_t)cli_integer(&c, o, -1, SAMPLER_HISTORY); break;
		case 'l': add_bias(set, o); break;
		case IGNORE_EOS: set->ignore_eos = 1; break;
		case LOGPROBS: p->n_best = (int32_t)cli_integer(&c, o, 0, SAMPLER_BEST_MAX); break;
		case 'v': set->verbose = 1; break;
		}
	if (c.argc)
		cli_usage(&c, "%s: takes no operands: logits come on standard input (try --help)", c.argv[0]);
	p->seed = seed < 0 ? rng_seed() >> 1 : (uint64_t)seed;  /* a random one, too, that -s can name */
	if (greedy)
		p->temp = 0;
	if (set->verbose)
		fprintf(stderr, "sample: seed %" PRIu64 "\n", p->seed);
}

/* ---- the stream ---- */

struct stage {
	struct settings set;
	struct frame_in in;
	struct card card;
	struct sampler *sampler;        /* NULL before the card */
	float *row;
	uint32_t seq, next;             /* the sequence, and the position after the last id drawn */
	int64_t drawn;
	int in_sequence, warned;
};

static _Noreturn void die_at(const struct stage *st, const char *cause)
{
	cli_die(&c, "%s: frame %" PRIu64 ": %s", st->in.name, st->in.number, cause);
}

static void begin(struct stage *st, const struct frame *f)
{
	struct card card;

	if (card_read(&st->in, f, &card, &w) < 0)
		cli_die(&c, "%s", w.text);
	if (st->sampler) {
		if (card_agree(&card, "stdin: a later card", &st->card, "the first", &w) < 0)
			cli_die(&c, "%s", w.text);
		return;
	}
	st->card = card;
	for (int32_t i = 0; st->set.ignore_eos && i < card.n_eog; i++)
		st->set.bias[st->set.chain.n_bias++] = (struct sampler_bias){ card.eog[i], -INFINITY };
	for (size_t i = 0; i < st->set.chain.n_bias; i++)
		if (st->set.bias[i].id >= card.n_vocab)
			cli_usage(&c, "-l/--logit-bias: id %" PRId32 " is outside the vocabulary of %" PRId32, st->set.bias[i].id, card.n_vocab);
	st->sampler = sampler_open(&st->set.chain, card.n_vocab, &w);
	st->row = malloc((size_t)card.n_vocab * sizeof *st->row);
	if (!st->sampler || !st->row)
		cli_die(&c, "no memory for a vocabulary of %" PRId32, card.n_vocab);
	frame_widen(0, (size_t)card.n_vocab * sizeof *st->row);
	if (card_write(1, &card, &w) < 0)
		cli_die(&c, "%s", w.text);
}

static void remember(struct stage *st, const struct frame *f)
{
	int32_t ids[1024];
	uint32_t i, n;

	for (i = 0; i < f->rows; i += n) {
		n = f->rows - i < 1024 ? f->rows - i : 1024;
		if (frame_read(&st->in, f, ids, n, &w) < 0)
			cli_die(&c, "%s", w.text);
		if (sampler_history(st->sampler, f->pos == FRAME_APPEND ? FRAME_APPEND : f->pos + i, ids, n, &w) < 0)
			die_at(st, w.text);
	}
}

/* The last row. */
static void read_row(struct stage *st, const struct frame *f)
{
	if (f->cols != (uint32_t)st->card.n_vocab) {
		why(&w, "%" PRIu32 " logits for a vocabulary of %" PRId32 ", as the card says", f->cols, st->card.n_vocab);
		die_at(st, w.text);
	}
	if (frame_skip(&st->in, f, (uint64_t)(f->rows - 1) * f->cols, &w) < 0 || frame_read_floats(&st->in, f, st->row, f->cols, &w) < 0)
		cli_die(&c, "%s", w.text);
}

static int write_logprobs(const struct sampler_pick *pick, uint32_t pos, uint32_t seq)
{
	static float pair[1 + SAMPLER_BEST_MAX][2];
	struct frame f = { .kind = FRAME_LOGPROBS, .rows = (uint32_t)pick->n_best + 1, .cols = 2, .type = FRAME_F32, .pos = pos, .seq = seq };
	size_t i;

	pair[0][0] = (float)pick->id;
	pair[0][1] = pick->logprob;
	for (i = 0; i < pick->n_best; i++) {
		pair[i + 1][0] = (float)pick->best[i].id;
		pair[i + 1][1] = pick->best[i].logprob;
	}
	return frame_write(1, &f, pair, &w);
}

/* Returns 0 to go on, or the reason to stop. */
static int pick(struct stage *st, const struct frame *f)
{
	uint32_t pos = f->pos == FRAME_APPEND ? sampler_next(st->sampler) : f->pos + f->rows;
	struct sampler_pick p;
	int status;

	read_row(st, f);
	if (sampler_draw(st->sampler, st->row, pos, &p, &w) < 0)
		die_at(st, w.text);
	if (p.n_nan && !st->warned++)
		fprintf(stderr, "sample: %s: frame %" PRIu64 ": logits that are NaN: %zu, never drawn\n", st->in.name, st->in.number, p.n_nan);
	status = frame_write_ids(1, &p.id, 1, pos, FRAME_SAMPLED, f->seq, &w);
	if (!status && st->set.chain.n_best >= 0)
		status = write_logprobs(&p, pos, f->seq);
	if (status)
		cli_die(&c, "%s", w.text);
	st->drawn++;
	st->next = pos + 1;
	return card_is_eog(&st->card, p.id) ? FRAME_END_EOG : st->drawn == st->set.n ? FRAME_END_LENGTH : 0;
}

int main(int argc, char **argv)
{
	static struct stage st;
	struct frame f;
	int got, reason = 0;

	c.argc = argc;
	c.argv = argv;
	cli_start(&c);
	options(&st.set);
	cli_binary(&c, 0);
	cli_binary(&c, 1);
	if (!st.set.n)
		return cli_end(&c);
	frame_open_in(&st.in, 0, "stdin");
	while (!reason && (got = frame_next(&st.in, &f, &w)) != 0) {
		if (got < 0)
			cli_die(&c, "%s", w.text);
		if (f.kind != FRAME_CARD && !st.sampler)
			die_at(&st, "no card before it: what ends a generation is not known");
		if (f.kind != FRAME_CARD && st.in_sequence && f.seq != st.seq)
			die_at(&st, "another sequence: sample follows one");
		if (f.kind != FRAME_CARD) {
			st.in_sequence = 1;
			st.seq = f.seq;
		}
		if (f.kind == FRAME_CARD)
			begin(&st, &f);
		else if (f.kind == FRAME_IDS)
			remember(&st, &f);
		else if (f.kind == FRAME_LOGITS)
			reason = pick(&st, &f);
		else if (f.kind == FRAME_END && frame_write(1, &f, NULL, &w) < 0)
			cli_die(&c, "%s", w.text);
		if (reason && frame_write_end(1, (enum frame_reason)reason, st.next, f.seq, &w) < 0)
			cli_die(&c, "%s", w.text);
	}
	return cli_end(&c);
}
