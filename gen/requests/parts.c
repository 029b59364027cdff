#include "parts.h"

#include "lib/base/members.h"
#include "logprobs.h"

const char *parts_finish(const struct choice *c)
{
	switch (c->reason) {
	case FRAME_END_LENGTH: case FRAME_END_CONTEXT: return "length";
	case FRAME_END_INTERRUPT: return "cancelled";
	default: return c->answer && c->message.n_calls ? "tool_calls" : "stop";
	}
}

void parts_reason(struct json_writer *to, const struct choice *c, const char *finish)
{
	size_t n;
	const char *stop = finish && c->reason == FRAME_END_STOP && c->found >= 0
		? stop_string(c->stop, c->found, &n) : NULL;

	member_text(to, "finish_reason", finish);
	if (stop)
		member_bytes(to, "stop_reason", stop, n);
}

void parts_logprobs(struct json_writer *to, const struct choice *c, size_t first, size_t end, int echo)
{
	json_name(to, "logprobs");
	if (c->job->logprobs < 0 || (first == end && !echo && c->job->stream))
		json_raw(to, "null");
	else if (job_is_text(c->job))
		logprobs_text(to, c, first, end, echo);
	else
		logprobs_chat(to, c, first, end);
}

void parts_echo(const struct choice *c, struct bytes *to)
{
	const struct prompt *p = c->prompt;
	int begins = 1;
	size_t n;

	if (p->text) {
		bytes_put(to, p->text, p->n);
		return;
	}
	for (size_t i = 0; i < p->ids.n; i++) {
		const char *piece = vocab_text(c->model->vocab, p->ids.id[i], c->special, &begins, &n);

		bytes_put(to, piece, n);
	}
}
