#include "envelope.h"

#include <stdio.h>
#include <time.h>

#include "lib/base/members.h"
#include "choice.h"
#include "fields.h"

enum { LINE_MAX_BYTES = 200 << 20 };     /* less than what serve reads */

struct json_writer envelope_begin(struct job *j, int status)
{
	struct json_writer to = json_to_bytes(&j->out);
	char id[40];

	j->newest = j->out.n;
	j->out.limit = j->newest + LINE_MAX_BYTES;
	json_open(&to, '{');
	if (!j->batch) {
		member_value(&to, "id", j->id);
		return to;
	}
	snprintf(id, sizeof id, "batch_req_%zu", j->number);
	member_text(&to, "id", id);
	member_value(&to, "custom_id", j->id);
	member_open(&to, "response", '{');
	member_int(&to, "status_code", status);
	member_text(&to, "request_id", id);
	member_open(&to, "body", '{');
	return to;
}

void envelope_response(const struct job *j, struct json_writer *to)
{
	const struct json *model = field(j, "model");
	char id[40];

	if (!j->batch)
		return;
	snprintf(id, sizeof id, "%s-%zu", job_is_text(j) ? "cmpl" : "chatcmpl", j->number);
	member_text(to, "id", id);
	member_text(to, "object", job_is_text(j) ? "text_completion" : "chat.completion");
	member_int(to, "created", (int64_t)time(NULL));
	member_text(to, "model", model && model->type == JSON_STRING ? model->s : j->choice->model->name);
}

int envelope_end(struct job *j, struct json_writer *to, struct why *w)
{
	if (j->batch) {
		json_close(to, '}');
		json_close(to, '}');
		member_null(to, "error");
	}
	json_close(to, '}');
	if (!bytes_puts(&j->out, "\n") && !to->failed)
		return 0;
	j->out.n = j->newest;
	j->out.failed = 0;
	return why(w, "the answer has more than %d MiB, or memory is short", LINE_MAX_BYTES >> 20);
}
