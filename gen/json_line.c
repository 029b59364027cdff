#include "json_line.h"

#include <sys/resource.h>

#include "lib/base/members.h"
#include "lib/base/out.h"
#include "lib/base/system.h"
#include "record.h"

/* For each position, an array of the most likely ids. */
static void put_likely(struct json_writer *w, const struct result *r)
{
	member_open(w, "top", '[');
	for (size_t i = 0; i < r->ids.n; i++) {
		json_open(w, '[');
		for (size_t k = 0; k < r->each[i].n_likely; k++) {
			const float *pair = r->likely[r->each[i].likely + k];

			json_open(w, '{');
			member_int(w, "id", (int64_t)pair[0]);
			member_real(w, "logprob", (double)pair[1]);
			json_close(w, '}');
		}
		json_close(w, ']');
	}
	json_close(w, ']');
}

int json_line(const struct request *q, const struct card *card, const struct result *r, const struct bytes *text,
	struct why *w)
{
	struct json_writer to = json_to_out();
	struct result_times t = result_times(r);

	json_open(&to, '{');
	member_ints(&to, "prompt", r->prompt.id, r->prompt.n);
	member_ints(&to, "ids", r->ids.id, r->ids.n);
	member_bytes(&to, "text", text->p, text->n);
	member_open(&to, "logprobs", '[');
	for (size_t i = 0; i < r->ids.n; i++)
		json_real(&to, (double)r->each[i].logprob);
	json_close(&to, ']');
	if (q->likely)
		put_likely(&to, r);
	member_real(&to, "logprob", result_sum(r));
	member_int(&to, "count", (int64_t)r->ids.n);
	member_text(&to, "stop_reason", frame_reason_key(r->reason));
	if (r->stop)
		member_bytes(&to, "stop", r->stop, r->n_stop);
	else
		member_null(&to, "stop");
	member_int(&to, "seed", q->seed);
	member_open(&to, "seconds", '{');
	member_real(&to, "first", t.first);
	member_real(&to, "min", t.min);
	member_real(&to, "mean", t.mean);
	member_real(&to, "max", t.max);
	member_real(&to, "ids_per_second", t.rate);
	json_close(&to, '}');
	member_int(&to, "forward_passes", (int64_t)r->passes);
	member_int(&to, "peak_memory", q->conversation ? 0 : (int64_t)system_peak_memory(RUSAGE_CHILDREN));
	if (record_write(&to, q, card, r, w))
		return -1;
	json_close(&to, '}');
	out_char('\n');
	return out_flush(w);
}
