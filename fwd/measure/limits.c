/* The loops of peaks.h, shared out to the pool like the engine's own work. */
#include "limits.h"

#include <stdint.h>
#include <stdlib.h>

#include "lib/base/clock.h"

enum { READ_BYTES = 1 << 20, UNIT = 256, LINE = 64 };   /* of one piece of reading, which has a multiple of UNIT */
enum { PIECES_EACH = 8 };                               /* of arithmetic for each thread */

/* What one piece reads. */
struct weights_part {
	const unsigned char *at;
	size_t bytes;
};

/* How far ahead to prefetch into the second and the first cache, in bytes. */
static const size_t distances[LIMITS_READS][2] = {
	{ 0, 0 }, { 0, 2048 }, { 0, 4096 }, { 0, 8192 }, { 8192, 2048 }, { 12288, 4096 }, { 16384, 2048 }
};

/* ---- weights to read ---- */

/* Divides the matrix into parts, at to[0 ...] unless that is NULL; returns how many. */
static size_t divide(const struct matrix *w, struct weights_part *to)
{
	const unsigned char *at = w->data, *end = at + w->rows * w->row_bytes;
	size_t n = 0, bytes;

	for (at += -(uintptr_t)at % LINE; at < end && (bytes = (size_t)(end - at) / UNIT * UNIT); at += bytes) {
		bytes = bytes < READ_BYTES ? bytes : READ_BYTES;
		if (to)
			to[n] = (struct weights_part){ at, bytes };
		n++;
	}
	return n;
}

static size_t divide_all(const struct plan *p, struct weights_part *to)
{
	size_t n = 0;

	for (const struct op *op = p->op; op < p->op + p->n_ops; op++)
		for (size_t i = 0; i < op->n_weights; i++)
			n += divide(&op->weights[i], to ? to + n : NULL);
	return n;
}

int limits_open(struct limits *l, const struct plan *p, struct why *w)
{
	*l = (struct limits){ .peaks = peaks_of(p->setup.kernels), .pool = p->setup.pool, .reading = 1e8, .coding = 1e7,
		.floating = 1e7 };
	l->n_parts = divide_all(p, NULL);
	l->part = malloc((l->n_parts + 1) * sizeof *l->part);
	if (!l->part)
		return why(w, "out of memory");
	divide_all(p, l->part);
	return 0;
}

void limits_close(struct limits *l)
{
	free(l->part);
}

void limits_forget(struct limits *l)
{
	l->codes.n = l->floats.n = 0;
	for (int i = 0; i < LIMITS_READS; i++)
		l->read[i].n = 0;
}

/* ---- measuring ---- */

struct sampling {
	const struct limits *l;
	const size_t *distance;
	const unsigned char *data;      /* for the products of codes */
	size_t rounds;                  /* of one piece of arithmetic */
};

static void read_piece(void *context, size_t piece, size_t thread)
{
	const struct sampling *j = context;
	const struct weights_part *part = &j->l->part[(j->l->next + piece) % j->l->n_parts];

	j->l->peaks->read(part->at, part->bytes, j->distance[0], j->distance[1]);
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

/* The last rate says how much to do in a sample. One that came out too short is repeated: the first guess is low. */
static void sample_reading(struct limits *l, int i, double seconds)
{
	struct sampling j = { .l = l, .distance = distances[i] };
	double bytes, took;
	size_t n;

	do {
		for (bytes = 0, n = 0; bytes < l->reading * seconds; n++)
			bytes += (double)l->part[(l->next + n) % l->n_parts].bytes;
		took = timed(&j, n, read_piece);
		l->next = (l->next + n) % l->n_parts;
		l->reading = bytes / took;
	} while (took < seconds / 2);
	meter_add(&l->read[i], l->reading);
}

/* each: multiply-adds of a round; *rate: the last one. */
static void sample_sums(struct sampling *j, void (*work)(void *context, size_t piece, size_t thread), double each,
	double seconds, double *rate, struct meter *m)
{
	size_t pieces = PIECES_EACH * pool_threads(j->l->pool);
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
		data[i] = (unsigned char)(i * 40503 >> 7 & 15);        /* any values that differ */
	for (int i = 0; i < LIMITS_READS && l->n_parts; i++)
		sample_reading(l, i, seconds);
	sample_sums(&j, codes_piece, (double)l->peaks->codes_each, seconds, &l->coding, &l->codes);
	sample_sums(&j, floats_piece, (double)l->peaks->floats_each, seconds, &l->floating, &l->floats);
}

/* ---- results ---- */

struct limit limits_now(const struct limits *l)
{
	struct limit now = { .codes = meter_quantile(&l->codes, 0.5), .floats = meter_quantile(&l->floats, 0.5) };
	double rate;

	for (int i = 0; i < LIMITS_READS; i++) {
		rate = meter_quantile(&l->read[i], 0.5);
		now.read = rate > now.read ? rate : now.read;
	}
	return now;
}

const char *const bound_name[] = {
	[BOUND_NONE] = "none", [BOUND_READ] = "read", [BOUND_CODES] = "int8", [BOUND_FLOATS] = "f32"
};

double limit_seconds(const struct limit *l, const struct work *w, enum bound *bound)
{
	double read = l->read > 0 ? w->bytes / l->read : 0, codes = w->codes / l->codes, floats = w->floats / l->floats;

	if (read > codes + floats)
		*bound = BOUND_READ;
	else
		*bound = codes > floats ? BOUND_CODES : floats > 0 ? BOUND_FLOATS : BOUND_NONE;
	return *bound == BOUND_READ ? read : codes + floats;
}
