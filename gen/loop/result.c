/* Arrays with an element for each id, which grow as ids arrive. */
#include "result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/grow.h"

int result_ids(struct result *r, const int32_t *id, size_t n, uint32_t pos, struct why *w)
{
	double time = clock_now() - r->begin;

	if (!r->ids.n)
		r->pos = pos;
	if (ids_append(&r->ids, id, n, w))
		return -1;
	while (r->room < r->ids.n)
		if (grow(&r->each, &r->room, sizeof *r->each, 1024))
			return why(w, "out of memory");
	for (size_t i = r->ids.n - n; i < r->ids.n; i++)
		r->each[i] = (struct result_id){ .logprob = NAN, .time = time };
	return 0;
}

int result_logprobs(struct result *r, uint32_t pos, const float *payload, size_t rows, struct why *w)
{
	size_t n = rows - 1, i = (size_t)pos - r->pos;

	if (pos < r->pos || i >= r->ids.n)
		return 0;
	r->each[i].logprob = payload[1];
	while (r->likely_room - r->n_likely < n)
		if (grow(&r->likely, &r->likely_room, sizeof *r->likely, 1024))
			return why(w, "out of memory");
	if (n)
		memcpy(r->likely + r->n_likely, payload + 2, n * sizeof *r->likely);
	r->each[i].likely = r->n_likely;
	r->each[i].n_likely = n;
	r->n_likely += n;
	return 0;
}

void result_end(struct result *r, uint32_t reason, const char *text, size_t n)
{
	r->reason = reason;
	if (n && !r->stop && (r->stop = malloc(n))) {
		memcpy(r->stop, text, n);
		r->n_stop = n;
	}
}

double result_sum(const struct result *r)
{
	double sum = 0;

	for (size_t i = 0; i < r->ids.n; i++)
		sum += (double)r->each[i].logprob;
	return sum;
}

struct result_times result_times(const struct result *r)
{
	struct result_times t = { r->ids.n ? r->each[0].time : NAN, NAN, NAN, NAN, NAN };

	for (size_t i = 1; i < r->ids.n; i++) {
		double step = r->each[i].time - r->each[i - 1].time;

		t.min = fmin(step, t.min);      /* fmin() ignores a NaN */
		t.max = fmax(step, t.max);
	}
	if (r->ids.n > 1)
		t.mean = (r->each[r->ids.n - 1].time - t.first) / (double)(r->ids.n - 1);
	t.rate = 1 / t.mean;
	return t;
}

void result_free(struct result *r)
{
	free(r->prompt.id);
	free(r->ids.id);
	free(r->each);
	free(r->likely);
	free(r->stop);
	*r = (struct result){ 0 };
}
