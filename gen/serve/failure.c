/* The APIs' names of what HTTP has a status for. */
#include "failure.h"

#include "lib/base/members.h"

static const struct kind {
	int status;
	const char *openai, *anthropic;
} kinds[] = {
	{ 400, "invalid_request_error", "invalid_request_error" },
	{ 401, "authentication_error", "authentication_error" },
	{ 403, "permission_error", "permission_error" },
	{ 404, "not_found_error", "not_found_error" },
	{ 413, "invalid_request_error", "request_too_large" },
	{ 429, "rate_limit_error", "rate_limit_error" },
	{ 501, "not_supported_error", "api_error" },
	{ 503, "unavailable_error", "overloaded_error" }
};

static const struct kind *kind_of(int status)
{
	static const struct kind server = { 500, "server_error", "api_error" };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].status == status)
			return &kinds[i];
	return status < 500 ? &kinds[0] : &server;
}

static void write_code(struct json_writer *to, const struct failure *f)
{
	if (f->status == 401)
		member_text(to, "code", "invalid_api_key");
	else
		member_null(to, "code");
}

static void write_param(struct json_writer *to, const struct failure *f)
{
	if (f->param)
		member_text(to, "param", f->param);
	else
		member_null(to, "param");
}

void failure_body(struct json_writer *to, enum form form, const struct failure *f)
{
	const struct kind *k = kind_of(f->status);

	json_open(to, '{');
	if (form == FORM_ANTHROPIC)
		member_text(to, "type", "error");
	member_open(to, "error", '{');
	member_text(to, "message", f->message);
	member_text(to, "type", form == FORM_ANTHROPIC ? k->anthropic : k->openai);
	if (form != FORM_ANTHROPIC) {
		write_param(to, f);
		write_code(to, f);
	}
	json_close(to, '}');
	json_close(to, '}');
}

const char *failure_event(struct json_writer *to, enum form form, const struct failure *f, size_t events)
{
	if (form != FORM_RESPONSES) {
		failure_body(to, form, f);
		return form == FORM_ANTHROPIC ? "error" : NULL;
	}
	json_open(to, '{');
	member_text(to, "type", "error");
	member_text(to, "code", kind_of(f->status)->openai);
	member_text(to, "message", f->message);
	write_param(to, f);
	member_int(to, "sequence_number", (int64_t)events);
	json_close(to, '}');
	return "error";
}
