/* answer: replaces fwd in tests of streams with many sequences. It has no model: its logits depend only on the last ids
 * of the sequence and their position. Sequences start, fork and end as frame.5 says.
 *
 * answer [-c CTX] [-e X] [-i SEED] [-x SEQ] < ids > logits
 *         -c: the context in the card; -e: added per position to the logits of ids that end a generation;
 *         -i: answers waiting frames in random order between sequences; -x: NaNs for this sequence from its
 *         tenth position on */
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cli.h"
#include "lib/stream/card.h"
#include "lib/stream/ids.h"
#include "lib/stream/sequences.h"

enum { LAST = 3, WAITING = 256 };

static const struct opt opts[] = {
	{ 'c', "ctx-size", "N", "the context in the card (default: 0, none)" },
	{ 'e', "ends", "X", "added to the logits of ends of generation for each position (default: 0)" },
	{ 'i', "interleave", "SEED", "answer sequences in a random order" },
	{ 'x', "nan", "SEQ", "NaNs for this sequence, from its tenth position on" },
	{ 0 }
};

struct text {
	struct sequence sequence;
	struct ids ids;
};

static struct cli c = { .program = "answer", .synopsis = "[options] < ids > logits", .purpose = "logits for tests",
	.opts = opts };
static struct why w;

static struct {
	struct card card;
	struct sequences texts;
	double ends;
	long long nan;
	uint64_t random;
	int32_t n_ctx;
	float *row;
} answers = { .nan = -1 };

static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
	return x ^ x >> 29;
}

static struct text *text_of(uint32_t seq)
{
	struct text *t = (struct text *)sequences_find(&answers.texts, seq);

	if (t)
		return t;
	if (!(t = calloc(1, sizeof *t)))
		cli_die(&c, "out of memory");
	cli_must(&c, sequences_add(&answers.texts, &t->sequence, seq, &w), &w);
	return t;
}

static void answer(const struct text *t)
{
	struct frame f = { .kind = FRAME_LOGITS, .rows = 1, .cols = (uint32_t)answers.card.n_vocab, .type = FRAME_F32,
		.pos = (uint32_t)t->ids.n - 1, .seq = t->sequence.number };
	uint64_t hash = t->ids.n;

	for (size_t i = t->ids.n > LAST ? t->ids.n - LAST : 0; i < t->ids.n; i++)
		hash = mixed(hash + (uint64_t)t->ids.id[i]);
	for (int32_t i = 0; i < answers.card.n_vocab; i++)
		answers.row[i] = (float)(mixed(hash + (uint64_t)i) >> 40) / 2e6f;
	for (int32_t i = 0; i < answers.card.n_eog; i++)
		answers.row[answers.card.eog[i]] += (float)(answers.ends * f.pos);
	for (int32_t i = 0; answers.nan == f.seq && f.pos >= 10 && i < answers.card.n_vocab; i++)
		answers.row[i] = NAN;
	cli_must(&c, frame_write(1, &f, answers.row, &w), &w);
}

/* A waiting frame with its payload. */
static void process(const struct frame *f, const int32_t *payload)
{
	struct text *t = NULL, *from;

	/* a fork may be met again */
	if (f->kind == FRAME_FORK && sequences_find(&answers.texts, f->seq))
		return;
	if (f->kind == FRAME_FORK) {
		from = text_of((uint32_t)*payload);
		t = text_of(f->seq);
		if (f->pos > from->ids.n)
			cli_die(&c, "a fork of %u positions of %zu", (unsigned)f->pos, from->ids.n);
		cli_must(&c, ids_append(&t->ids, from->ids.id, f->pos, &w), &w);
	}
	if (f->kind == FRAME_END && f->seq && (t = (struct text *)sequences_find(&answers.texts, f->seq))) {
		cli_must(&c, sequences_end(&answers.texts, f->seq, &w), &w);
		free(t->ids.id);
		free(t);
	}
	cli_must(&c, frame_write(1, f, payload, &w), &w);
	if (f->kind != FRAME_IDS || !f->rows)
		return;
	t = text_of(f->seq);
	if (f->pos != FRAME_APPEND && f->pos > t->ids.n)
		cli_die(&c, "sequence %u: ids for position %u after %zu", (unsigned)f->seq, (unsigned)f->pos, t->ids.n);
	if (f->pos != FRAME_APPEND)
		t->ids.n = f->pos;
	cli_must(&c, ids_append(&t->ids, payload, f->rows, &w), &w);
	answer(t);
}

struct waiting {
	struct frame f;
	int32_t *payload;
};

/* The frame to answer next: any without an earlier one of its sequence. A fork depends on all earlier frames. */
static size_t choose(const struct waiting *list, size_t n)
{
	size_t at = 0;

	if (!answers.random)
		return 0;
	answers.random = mixed(answers.random + 1);
	at = (size_t)(answers.random >> 20) % n;
	for (size_t i = 1; i <= at; i++)
		if (list[i].f.kind == FRAME_FORK || list[i].f.seq == FRAME_NO_SEQ)
			return 0;
	for (size_t i = 0; i < at; i++)
		if (list[i].f.seq == list[at].f.seq)
			return i;
	return at;
}

static void take_card(struct frame_in *in, const struct frame *f)
{
	cli_must(&c, card_read(in, f, &answers.card, &w), &w);
	answers.card.model = 1;
	answers.card.n_ctx = answers.n_ctx;
	cli_must(&c, card_write(1, &answers.card, &w), &w);
	if (!(answers.row = realloc(answers.row, (size_t)answers.card.n_vocab * sizeof *answers.row)))
		cli_die(&c, "out of memory");
}

static void answer_all(void)
{
	static struct waiting list[WAITING];
	static struct frame_in in;
	struct pollfd ready = { .events = POLLIN };
	size_t n = 0, room, at;
	struct frame f;
	int got = 1;

	frame_open_in(&in, 0, "stdin");
	while (got > 0 || n) {
		/* with random order, read all that is there; otherwise one frame */
		while (got > 0 && n < WAITING && (!n || answers.random)) {
			if (n && in.used == in.have && poll(&ready, 1, 0) <= 0)
				break;
			if ((got = frame_next(&in, &f, &w)) <= 0)
				break;
			if (f.kind == FRAME_CARD) {
				take_card(&in, &f);
				continue;
			}
			list[n] = (struct waiting){ .f = f };
			room = 0;
			cli_must(&c, frame_read_all(&in, &f, &list[n++].payload, &room, &w), &w);
		}
		cli_must(&c, got < 0, &w);
		if (!n)
			continue;
		at = choose(list, n);
		process(&list[at].f, list[at].payload);
		free(list[at].payload);
		memmove(list + at, list + at + 1, (--n - at) * sizeof *list);
	}
}

int main(int argc, char **argv)
{
	const struct opt *o;

	cli_start(&c, argc, argv);
	while ((o = cli_next(&c)))
		switch (o->letter) {
		case 'c': answers.n_ctx = (int32_t)cli_integer(&c, o, 0, 1 << 30); break;
		case 'e': answers.ends = cli_real(&c, o, 0, 1e6); break;
		case 'i': answers.random = (uint64_t)cli_integer(&c, o, 1, 1 << 30); break;
		case 'x': answers.nan = cli_integer(&c, o, 0, UINT32_MAX); break;
		}
	answer_all();
	return cli_end(&c);
}
