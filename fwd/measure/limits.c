/* Runs the loops of peaks.h on the pool's threads, like the engine's own work. */
#include "limits.h"

#include <stdint.h>
#include <stdlib.h>

#include "lib/base/clock.h"

enum { READ_BYTES = 1 << 20, UNIT = 256, LINE = 64 };   /* reading: bytes of an item, which is a multiple of UNIT */
enum { ITEMS_EACH = 8 };                                /* arithmetic: items for each thread */

/* The weights that one item reads. */
struct weights_part {
	const unsigned char *at;
	size_t bytes;
};

/* Prefetch distances in bytes: into the second-level cache, into the first. */
static const size_t distances[LIMITS_READS][2] = {
	{ 0, 0 }, { 0, 2048 }, { 0, 4096 }, { 0, 8192 }, { 8192, 2048 }, { 12288, 4096 }, { 16384, 2048 }
};

/* ---- weights to read ---- */

/* Divides the matrix into parts, stored in to[] unless that is NULL. Returns their number. */
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
	*l = (struct limits){ .peaks = peaks_of(p->setup.kernels), .pool = p->setup.pool };
	for (int i = 0; i < LIMITS_RATES; i++)
		l->last[i] = i < LIMITS_READS ? 1e8 : 1e7;
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
	for (int i = 0; i < LIMITS_RATES; i++)
		l->rate[i].n = 0;
}

/* ---- measuring ---- */

/* A sample of rate i: each item reads a part of the weights or does some rounds of arithmetic. */
struct sample {
	const struct limits *l;
	int i;
	const unsigned char *data;      /* operands of the quantised products */
	size_t rounds;
};

static void run_item(void *context, size_t item, size_t thread)
{
	const struct sample *s = context;
	const struct limits *l = s->l;
	const struct weights_part *part;

	if (s->i == LIMITS_CODES) {
		l->peaks->codes(s->data, s->rounds);
	} else if (s->i == LIMITS_FLOATS) {
		l->peaks->floats(0.5f, 1, s->rounds);
	} else {
		part = &l->part[(l->next + item) % l->n_parts];
		l->peaks->read(part->at, part->bytes, distances[s->i][0], distances[s->i][1]);
	}
}

/* The number of items for this much work. *work: what they amount to, in bytes or multiply-adds. */
static size_t divide_work(struct sample *s, double wanted, double *work)
{
	const struct limits *l = s->l;
	size_t n = ITEMS_EACH * pool_threads(l->pool);
	double each = (double)(s->i == LIMITS_CODES ? l->peaks->codes_each : l->peaks->floats_each);

	if (s->i >= LIMITS_READS) {
		s->rounds = (size_t)(wanted / each / (double)n) + 1;
		*work = (double)n * (double)s->rounds * each;
		return n;
	}
	for (*work = 0, n = 0; *work < wanted; n++)
		*work += (double)l->part[(l->next + n) % l->n_parts].bytes;
	return n;
}

/* Chooses the amount of work by the last rate. A sample that turns out too short is repeated, because the first guess
 * is low. */
static void take_sample(struct limits *l, struct sample s, double seconds)
{
	double start, work, took;
	size_t n;

	do {
		n = divide_work(&s, l->last[s.i] * seconds, &work);
		start = clock_now();
		pool_run(l->pool, n, run_item, &s);
		took = clock_now() - start + 1e-9;
		l->last[s.i] = work / took;
		if (s.i < LIMITS_READS)
			l->next = (l->next + n) % l->n_parts;
	} while (took < seconds / 2);
	meter_add(&l->rate[s.i], l->last[s.i]);
}

void limits_sample(struct limits *l, double seconds)
{
	_Alignas(LINE) unsigned char data[PEAK_BYTES];

	for (size_t i = 0; i < PEAK_BYTES; i++)
		data[i] = (unsigned char)(i * 40503 >> 7 & 15);        /* any varied values */
	for (int i = l->n_parts ? 0 : LIMITS_READS; i < LIMITS_RATES; i++)
		take_sample(l, (struct sample){ .l = l, .i = i, .data = data }, seconds);
}

/* ---- results ---- */

struct limit limits_now(const struct limits *l)
{
	double rate[LIMITS_RATES], read = 0;

	for (int i = 0; i < LIMITS_RATES; i++)
		rate[i] = meter_quantile(&l->rate[i], 0.5);
	for (int i = 0; i < LIMITS_READS; i++)
		read = rate[i] > read ? rate[i] : read;
	return (struct limit){ .read = read, .codes = rate[LIMITS_CODES], .floats = rate[LIMITS_FLOATS] };
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
