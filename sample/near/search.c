/* Threads take chunks of rows and keep hits of their own, which are merged. Which thread finds a hit does not matter,
 * as the order of hits is total. */
#include "search.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/base/size.h"
#include "lib/base/thread.h"
#include "inner.h"

enum { CHUNK_BYTES = 1 << 19 };         /* that a thread takes at a time */

struct task {
	const struct search *search;
	const struct inner *inner;
	const double *query;            /* [n][stride], zeros after `cols` */
	const double *length;           /* [n] with cosine: square roots of the sums of squares */
	size_t n, stride;
	size_t chunk;                   /* rows that a thread takes at a time */
	atomic_size_t next;             /* the first row that no thread has taken */
};

struct worker {
	struct task *task;
	struct nearest found[SEARCH_QUERIES];
	size_t not_finite;
	pthread_t thread;
};

static double cosine(double product, double length)
{
	return length > 0 ? product / length : product;
}

/* Compares a row with all queries. */
static void compare(struct worker *k, size_t row)
{
	const struct task *task = k->task;
	const struct vectors *v = task->search->vectors;
	const char *p = v->data + row * v->cols * sizeof(float);
	double length = task->search->cosine ? sqrt(task->inner->square(p, v->cols)) : 0;

	for (size_t i = 0; i < task->n; i++) {
		struct hit hit = { task->inner->product(p, task->query + i * task->stride, v->cols), row };

		if (!isfinite(hit.score)) {
			k->not_finite++;
			return;
		}
		if (task->search->cosine)
			hit.score = cosine(hit.score, length * task->length[i]);
		nearest_add(&k->found[i], hit);
	}
}

static void *work(void *context)
{
	struct worker *k = context;
	struct task *task = k->task;
	size_t row, end;

	while ((row = atomic_fetch_add(&task->next, task->chunk)) < task->search->vectors->rows)
		for (end = size_min(row + task->chunk, task->search->vectors->rows); row < end; row++)
			compare(k, row);
	return NULL;
}

/* Runs the workers, the first one in this thread. If the system refuses threads, fewer do the work. */
static void run(struct worker *worker, size_t n)
{
	size_t started = 1;

	while (started < n && !thread_start(&worker[started].thread, work, &worker[started]))
		started++;
	work(&worker[0]);
	while (started > 1)
		pthread_join(worker[--started].thread, NULL);
}

static int open_workers(struct worker *worker, size_t n, struct task *task, size_t most, struct why *w)
{
	int failed = 0;

	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < task->n && !failed; i++) {
			worker[k].task = task;
			failed = nearest_open(&worker[k].found[i], most, w);
		}
	return failed;
}

static void merge(struct search *s, struct worker *worker, size_t n_workers, struct nearest *found, size_t n)
{
	s->not_finite = 0;
	for (size_t k = 0; k < n_workers; k++) {
		s->not_finite += worker[k].not_finite;
		for (size_t i = 0; i < n; i++)
			for (size_t h = 0; h < worker[k].found[i].n; h++)
				nearest_add(&found[i], worker[k].found[i].hit[h]);
	}
	for (size_t i = 0; i < n; i++)
		nearest_sort(&found[i]);
}

int search_run(struct search *s, const float *const query[], size_t n, struct nearest found[], struct why *w)
{
	const size_t cols = s->vectors->cols, stride = size_divide_up(cols, INNER_LANES) * INNER_LANES;
	double *as_double = calloc(n * stride + 1, sizeof *as_double), length[SEARCH_QUERIES];
	struct worker *worker = calloc(s->n_threads, sizeof *worker);
	struct task task = { .search = s, .inner = inner_select(), .query = as_double, .length = length, .n = n,
		.stride = stride, .chunk = size_max(1, CHUNK_BYTES / size_max(1, cols * sizeof(float))) };
	int failed = !as_double || !worker ? why(w, "out of memory") : 0;

	for (size_t i = 0; i < n && !failed; i++) {
		for (size_t k = 0; k < cols; k++)
			as_double[i * stride + k] = (double)query[i][k];
		length[i] = sqrt(task.inner->square((const char *)query[i], cols));
	}
	if (!failed && !(failed = open_workers(worker, s->n_threads, &task, found[0].most, w))) {
		run(worker, s->n_threads);
		merge(s, worker, s->n_threads, found, n);
	}
	for (size_t k = 0; worker && k < s->n_threads; k++)
		for (size_t i = 0; i < n; i++)
			nearest_close(&worker[k].found[i]);
	free(worker);
	free(as_double);
	return failed;
}
