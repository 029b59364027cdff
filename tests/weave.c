/* weave: streams of many sequences for the tests, and what came of them.
 *
 *	weave make [-s SEED] [-f FRAMES] [-n LIVE] [-l LONGEST] [-e END] DIR
 *	        FRAMES random frames of at most LIVE sequences at a time, of at most LONGEST ids, which start, grow,
 *	        are cut back, guess, fork and end: in DIR/all. In DIR/N the frames of sequence N alone, with the
 *	        number 0; where it is a fork, after a frame of the ids that it shares. DIR/list: a line "N SKIP" for
 *	        each, SKIP frames of whose logits answer no frame of DIR/all. With END, a sequence's first frame has
 *	        that id, and forks have it, too, or nothing: it ends an encoder's text
 *	weave turns N IDS
 *	        N sequences of IDS ids, one after the other
 *	weave sums [N SKIP] < stream
 *	        a line for each sequence with logits, ascending: how many rows, and a hash of these and of their
 *	        positions; of sequence 0 as if it were N, without its first SKIP frames of logits */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/cli.h"
#include "lib/base/hash.h"
#include "lib/base/size.h"
#include "lib/gguf/gguf.h"
#include "lib/stream/frame.h"
#include "mkrandom.h"

enum { VOCAB = 256, SEQUENCES = 4096, LIVE_MOST = 64, GUESSES = 8, OUT = 1 };

static const struct opt opts[] = {
	{ 's', "seed", "N", "make: of the random numbers (default: 1)" },
	{ 'f', "frames", "N", "make: how many (default: 60)" },
	{ 'n', "live", "N", "make: sequences at a time, at most (default: 16)" },
	{ 'l', "longest", "N", "make: ids of a sequence, at most (default: 400)" },
	{ 'e', "end", "N", "make: the id that ends an encoder's text (default: none)" },
	{ 0 }
};

static struct cli c = { .program = "weave", .synopsis = "make|turns|sums [options] [operands]",
	.purpose = "streams of many sequences for tests", .opts = opts };
static struct why w;

static void *memory(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		cli_die(&c, "out of memory");
	return p;
}

/* ---- make ---- */

struct live {
	uint32_t number;
	int32_t *id;            /* [longest] */
	size_t n;
	int alone;              /* descriptor of its own stream */
};

struct loom {
	const char *dir;
	size_t longest, most;
	uint64_t seed, drawn;
	struct live live[LIVE_MOST];
	size_t n;
	uint32_t next;          /* number */
	int32_t end;            /* of an encoder's text; -1: none */
	int all;
	FILE *list;
};

static size_t below(struct loom *l, size_t n)
{
	return (size_t)(mkrandom(l->seed, l->drawn++) >> 16) % n;
}

static int create(const struct loom *l, const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof path, "%s/%s", l->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd < 0)
		cli_die(&c, "%s: cannot be made", path);
	return fd;
}

/* Starts a sequence with the first n ids of another, or empty. */
static struct live *start(struct loom *l, const struct live *from, size_t n)
{
	struct live *q = &l->live[l->n++];
	char name[16];

	*q = (struct live){ .number = l->next++, .id = memory(l->longest, sizeof *q->id), .n = n };
	snprintf(name, sizeof name, "%" PRIu32, q->number);
	q->alone = create(l, name);
	fprintf(l->list, "%s %d\n", name, n > 0);
	if (n) {
		memcpy(q->id, from->id, n * sizeof *q->id);
		cli_must(&c, frame_write_ids(q->alone, q->id, (uint32_t)n, 0, 0, 0, &w), &w);
	}
	return q;
}

static void finish(struct loom *l, struct live *q)
{
	close(q->alone);
	free(q->id);
	*q = l->live[--l->n];
}

/* Whether an encoder's text ends among these ids, if there is an encoder. */
static int has_text(const struct loom *l, const int32_t *id, size_t n)
{
	size_t i = 0;

	while (i < n && id[i] != l->end)
		i++;
	return l->end < 0 || i < n;
}

static void add_ids(struct loom *l, struct live *q)
{
	static const size_t sizes[] = { 1, 1, 1, 1, 1, 1, 2, 5, 17, 33, 70, 200 };
	static const size_t firsts[] = { 1, 3, 20, 90, 150, 300 };
	size_t pos = q->n && below(l, 6) == 0 ? below(l, q->n + 1) : q->n;
	size_t n = q->n ? sizes[below(l, 12)] : firsts[below(l, 6)];
	uint32_t flags = below(l, 3) ? FRAME_SAMPLED : 0;

	n = size_min(n * size_max(l->longest / 400, 1), l->longest - pos);
	if (n && n <= GUESSES && below(l, 5) == 0)
		flags |= FRAME_GUESS;
	for (size_t i = 0; i < n; i++)
		q->id[pos + i] = (int32_t)below(l, VOCAB);
	q->n = pos + n;
	if (n && !has_text(l, q->id, q->n))
		q->id[q->n - 1] = l->end;
	cli_must(&c, frame_write_ids(l->all, q->id + pos, (uint32_t)n, (uint32_t)pos, flags, q->number, &w), &w);
	cli_must(&c, frame_write_ids(q->alone, q->id + pos, (uint32_t)n, (uint32_t)pos, flags, 0, &w), &w);
}

static void add_fork(struct loom *l, const struct live *from)
{
	size_t cut = below(l, from->n + 1), n = has_text(l, from->id, cut) ? cut : 0;
	struct frame f = { .kind = FRAME_FORK, .rows = 1, .cols = 1, .type = FRAME_I32, .pos = (uint32_t)n };
	int32_t source = (int32_t)from->number;

	f.seq = start(l, from, n)->number;
	cli_must(&c, frame_write(l->all, &f, &source, &w), &w);
}

static void make(struct loom *l, size_t frames)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/list", l->dir);
	l->list = fopen(path, "w");
	if (!l->list)
		cli_die(&c, "%s: cannot be made", path);
	l->all = create(l, "all");
	for (size_t i = 0; i < frames; i++) {
		size_t what = below(l, 100);
		struct live *q;

		if (!l->n || (l->n < l->most && what < 25))
			start(l, NULL, 0);
		q = what < 25 ? &l->live[l->n - 1] : &l->live[below(l, l->n)];
		if (what > 92 && l->n < l->most)
			add_fork(l, q);
		else if (what > 87 && q->number) {
			cli_must(&c, frame_write_end(l->all, FRAME_END_LENGTH, (uint32_t)q->n, q->number, &w), &w);
			finish(l, q);
		} else
			add_ids(l, q);
	}
	while (l->n)
		finish(l, l->live);
	close(l->all);
	if (fclose(l->list))
		cli_die(&c, "%s: cannot be written", path);
}

/* ---- turns ---- */

static void turns(size_t n, size_t rows)
{
	int32_t *id = memory(rows + 1, sizeof *id);

	for (size_t i = 0; i < rows; i++)
		id[i] = (int32_t)(mkrandom(1, i) % VOCAB);
	for (uint32_t q = 1; q <= n; q++) {
		cli_must(&c, frame_write_ids(OUT, id, (uint32_t)rows, 0, 0, q, &w), &w);
		cli_must(&c, frame_write_end(OUT, FRAME_END_LENGTH, (uint32_t)rows, q, &w), &w);
	}
	free(id);
}

/* ---- sums ---- */

struct sum {
	uint64_t hash;
	size_t rows;
};

static void add(struct sum *s, struct frame_in *in, const struct frame *f)
{
	size_t n = (size_t)f->rows * f->cols;
	float *x = memory(n, sizeof *x);

	cli_must(&c, frame_read(in, f, x, n, &w), &w);
	s->hash = hash_data(&f->pos, sizeof f->pos, s->hash);
	s->hash = hash_data(x, n * sizeof *x, s->hash);
	s->rows += f->rows;
	free(x);
}

static void sums(uint32_t of, long skip)
{
	struct sum *sum = memory(SEQUENCES, sizeof *sum);
	struct frame_in in;
	struct frame f;
	int more;

	frame_open_in(&in, 0, "stdin");
	while ((more = frame_next(&in, &f, &w)) == 1) {
		if (f.kind != FRAME_LOGITS || skip-- > 0)
			continue;
		if (f.seq >= SEQUENCES)
			cli_die(&c, "sequence %" PRIu32, f.seq);
		add(&sum[f.seq], &in, &f);
	}
	cli_must(&c, more < 0, &w);
	for (uint32_t q = 0; q < SEQUENCES; q++)
		if (sum[q].rows)
			printf("%" PRIu32 ": %zu rows, %016" PRIx64 "\n", q + of, sum[q].rows, sum[q].hash);
	free(sum);
}

int main(int argc, char **argv)
{
	static struct loom l = { .longest = 400, .most = 16, .seed = 1, .end = -1 };
	size_t frames = 60;
	const struct opt *o;

	cli_start(&c, argc, argv);
	while ((o = cli_next(&c)))
		switch (o->letter) {
		case 's': l.seed = (uint64_t)cli_integer(&c, o, 0, INT32_MAX); break;
		case 'f': frames = (size_t)cli_integer(&c, o, 1, SEQUENCES); break;
		case 'n': l.most = (size_t)cli_integer(&c, o, 1, LIVE_MOST); break;
		case 'e': l.end = (int32_t)cli_integer(&c, o, 0, VOCAB - 1); break;
		case 'l': l.longest = (size_t)cli_integer(&c, o, 1, 1 << 20); break;
		}
	if (c.argc == 2 && !strcmp(c.argv[0], "make")) {
		l.dir = c.argv[1];
		make(&l, frames);
	} else if (c.argc == 3 && !strcmp(c.argv[0], "turns"))
		turns(strtoul(c.argv[1], NULL, 10), strtoul(c.argv[2], NULL, 10));
	else if (c.argc >= 1 && !strcmp(c.argv[0], "sums"))
		sums(c.argc > 1 ? (uint32_t)strtoul(c.argv[1], NULL, 10) : 0, c.argc > 2 ? atol(c.argv[2]) : 0);
	else
		cli_usage(&c, "make DIR, turns N IDS, or sums [N SKIP]");
	return cli_end(&c);
}
