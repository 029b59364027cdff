/* The loops of peaks.h, shared out to the pool as the engine's own work is. */
#include "limits.h"

#include <stdint.h>
#include <stdlib.h>

#include "lib/base/clock.h"

enum { STRETCH = 1 << 20, UNIT = 256, LINE = 64 };      /* bytes that are read by one piece of work; what they are a multiple of */
enum { CHUNKS = 8 };                                    /* pieces of arithmetic for each thread */

struct stretch {
	const unsigned char *at;
	size_t bytes;
};

/* Bytes ahead, into the second cache and into the first. */
static const size_t ways[LIMITS_WAYS][2] = { { 0, 0 }, { 0, 2048 }, { 0, 4096 }, { 0, 8192 }, { 8192, 2048 }, { 12288, 4096 }, { 16384, 2048 } };

/* ---- what there is to read ---- */

/* Divides the matrix into stretches, at to[0 ...] unless that is NULL; returns how many. */
static size_t divide(const struct matrix *w, struct stretch *to)
{
	const unsigned char *at = w->data, *end = at + w->rows * w->row_bytes;
	size_t n = 0, bytes;

	for (at += -(uintptr_t)at % LINE; at < end && (bytes = (size_t)(end - at) / UNIT * UNIT); at += bytes) {
		bytes = bytes < STRETCH ? bytes : STRETCH;
		if (to)
			to[n] = (struct stretch){ at, bytes };
		n++;
	}
	return n;
}

static size_t divide_all(const struct plan *p, struct stretch *to)
{
	size_t n = 0;

	for (const struct op *op = p->op; op < p->op + p->n_ops; op++)
		for (size_t i = 0; i < op->n_weights; i++)
			n += divide(&op->weights[i], to ? to + n : NULL);
	return n;
}

int limits_open(struct limits *l, const struct plan *p, struct why *w)
{
	*l = (struct limits){ .peaks = peaks_of(p->setup.kernels), .pool = p->setup.pool, .reading = 1e8, .coding = 1e7, .floating = 1e7 };
	l->n_stretches = divide_all(p, NULL);
	l->stretch = malloc((l->n_stretches + 1) * sizeof *l->stretch);
	if (!l->stretch)
		return why(w, "out of memory");
	divide_all(p, l->stretch);
	return 0;
}

void limits_close(struct limits *l)
{
	free(l->stretch);
}

void limits_forget(struct limits *l)
{
	l->codes.n = l->floats.n = 0;
	for (int i = 0; i < LIMITS_WAYS; i++)
		l->read[i].n = 0;
}

/* ---- measuring ---- */

struct sampling {
	const struct limits *l;
	const size_t *way;
	const unsigned char *data;      /* for the products of codes */
	size_t rounds;                  /* of one piece of arithmetic */
};

static void read_piece(void *context, size_t piece, size_t thread)
{
	const struct sampling *j = context;
	const struct stretch *s = &j->l->stretch[(j->l->at + piece) % j->l->n_stretches];

	j->l->peaks->read(s->at, s->bytes, j->way[0], j->way[1]);
}

static void codes_piece(void *context, size_t piece, size_t thread)
{
	const struct sampling *j = context;

	j->l->peaks->codes(j->data, j->rounds);
}

static void floats_piece(void *context, size_t piece, size_t thread)
{
	const struct sampling *j = context;

	j->l->peaks->floats(0.5f, 1, j->rounds);
}

static double timed(struct sampling *j, size_t pieces, void (*work)(void *context, size_t piece, size_t thread))
{
	double start = clock_now();

	pool_run(j->l->pool, pieces, work, j);
	return clock_now() - start + 1e-9;
}

/* Each sample is as long as the rate of the last one makes it; one that came out too short (the first guess is low) is made again. */
static void sample_reading(struct limits *l, int way, double seconds)
{
	struct sampling j = { .l = l, .way = ways[way] };
	double bytes, took;
	size_t n;

	do {
		for (bytes = 0, n = 0; bytes < l->reading * seconds; n++)
			bytes += (double)l->stretch[(l->at + n) % l->n_stretches].bytes;
		took = timed(&j, n, read_piece);
		l->at = (l->at + n) % l->n_stretches;
		l->reading = bytes / took;
	} while (took < seconds / 2);
	meter_add(&l->read[way], l->reading);
}

static void sample_sums(struct sampling *j, void (*work)(void *context, size_t piece, size_t thread), double each, double seconds, double *rate,
	struct meter *m)
{
	size_t pieces = CHUNKS * pool_threads(j->l->pool);
	double took;

	do {
		j->rounds = (size_t)(*rate * seconds / each / (double)pieces) + 1;
		took = timed(j, pieces, work);
		*rate = (double)pieces * (double)j->rounds * each / took;
	} while (took < seconds / 2);
	meter_add(m, *rate);
}

void limits_sample(struct limits *l, double seconds)
{
	_Alignas(LINE) unsigned char data[PEAK_BYTES];
	struct sampling j = { .l = l, .data = data };

	for (size_t i = 0; i < PEAK_BYTES; i++)
		data[i] = (unsigned char)(i * 40503 >> 7 & 15);        /* any, but not all the same */
	for (int i = 0; i < LIMITS_WAYS && l->n_stretches; i++)
		sample_reading(l, i, seconds);
	sample_sums(&j, codes_piece, (double)l->peaks->codes_each, seconds, &l->coding, &l->codes);
	sample_sums(&j, floats_piece, (double)l->peaks->floats_each, seconds, &l->floating, &l->floats);
}

/* ---- what came out ---- */

struct limit limits_now(const struct limits *l)
{
	struct limit now = { .codes = meter_quantile(&l->codes, 0.5), .floats = meter_quantile(&l->floats, 0.5) };
	double rate;

	for (int i = 0; i < LIMITS_WAYS; i++) {
		rate = meter_quantile(&l->read[i], 0.5);
		now.read = rate > now.read ? rate : now.read;
	}
	return now;
}

double limit_seconds(const struct limit *l, const struct work *w, enum bound *bound)
{
	double read = l->read > 0 ? w->bytes / l->read : 0, codes = w->codes / l->codes, floats = w->floats / l->floats;

	*bound = read > codes + floats ? BOUND_READ : codes > floats ? BOUND_CODES : floats > 0 ? BOUND_FLOATS : BOUND_NONE;
	return read > codes + floats ? read : codes + floats;
}
