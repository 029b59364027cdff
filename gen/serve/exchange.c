/* From a request to its answer, whatever the API. */
#include "exchange.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/members.h"

enum { BODY_MEMORY = 256 << 20, ANSWER_MAX = 512 << 20 };

struct bytes exchange_buffer(void)
{
	return (struct bytes){ .limit = ANSWER_MAX };
}

void exchange_name(struct exchange *x, const char *prefix)
{
	snprintf(x->id, sizeof x->id, "%s%08" PRIx64 "%08" PRIx64, prefix, (uint64_t)x->service->started,
		x->service->exchanges);
}

/* Nobody waits any more for what the engine has of it. */
static void give_up(struct exchange *x)
{
	if (!x->asked)
		return;
	engine_cancel(&x->service->engine, x);
	x->service->waiting--;
	x->asked = 0;
}

/* ---- the answer ---- */

static void finish(struct exchange *x, int status)
{
	x->done = 1;
	x->service->counts.answers[status / 100 % 6]++;
	give_up(x);
}

void exchange_answer_text(struct exchange *x, const char *type, struct bytes *text)
{
	if (text->failed) {
		bytes_free(text);
		exchange_fail(x, 500, NULL, "out of memory");
		return;
	}
	reply_whole(&x->reply, 200, type, text->p, text->n);
	bytes_free(text);
	finish(x, 200);
}

void exchange_answer(struct exchange *x, struct bytes *json)
{
	exchange_answer_text(x, "application/json", json);
}

void exchange_event(struct exchange *x, const char *name, struct bytes *data)
{
	if (!x->begun)
		reply_begin_events(&x->reply);
	x->begun = 1;
	x->events++;
	reply_event(&x->reply, name, data->p, data->n);
	/* a connection whose output has failed is closed */
	x->reply.out->failed |= data->failed;
	bytes_free(data);
}

void exchange_end_events(struct exchange *x)
{
	reply_end_events(&x->reply);
	finish(x, 200);
}

void exchange_fail(struct exchange *x, int status, const char *param, const char *message)
{
	struct failure f = { status, message, param };
	enum form form = x->endpoint->form;
	struct bytes b = exchange_buffer();
	struct json_writer to = members_to(&b);

	if (x->begun) {
		const char *name = failure_event(&to, form, &f, x->events);

		exchange_event(x, name, &b);
		reply_end_events(&x->reply);
	} else {
		failure_body(&to, form, &f);
		reply_whole(&x->reply, status, "application/json", b.p, b.n);
		bytes_free(&b);
	}
	finish(x, status);
}

/* ---- the engine ---- */

struct json_writer exchange_request(struct exchange *x, struct bytes *line)
{
	struct json_writer to = engine_request(&x->service->engine, line);

	if (x->stream)
		member_flag(&to, "stream", 1);
	return to;
}

void exchange_ask(struct exchange *x, struct json_writer *to)
{
	json_close(to, '}');
	to->bytes->failed |= to->failed;
	if (x->service->engine.ended && !x->done)
		exchange_fail(x, 503, NULL, "the engine has ended");
	if (x->done)
		bytes_free(to->bytes);
	else if (engine_ask(&x->service->engine, to->bytes, x, x->stream))
		exchange_fail(x, 503, NULL, "out of memory");
	else
		x->service->waiting += !x->asked++;
}

/* The API's name of a member of the engine's request. */
static const char *renamed(const struct exchange *x, const char *name, size_t n)
{
	for (const char *const *at = x->endpoint->renamed; at && *at; at += 2)
		if (strlen(*at) == n && !memcmp(*at, name, n))
			return at[1];
	return NULL;
}

/* Fails for the engine's reason, in the words of the API. */
static void fail(struct exchange *x, int status, const char *param, const char *message)
{
	size_t n = strcspn(message, ":");
	const char *of_message = renamed(x, message, n), *of_param = param ? renamed(x, param, strlen(param)) : NULL;
	struct why told;

	why(&told, "%s%s", of_message ? of_message : "", message + (of_message ? n : 0));
	exchange_fail(x, status, of_param ? of_param : param, told.text);
}

void exchange_take(struct exchange *x, const struct json *line, int last)
{
	const struct json *error = json_get(line, "error");
	const char *type = json_get_string(error, "type"), *message = json_get_string(error, "message");
	const struct json *index = json_get(line, "index");
	struct why of_text;

	if (last && x->asked)
		x->service->waiting -= !--x->asked;
	if (!error) {
		x->endpoint->answer(x, line, last);
		return;
	}
	message = message ? message : "the engine failed";
	if (index && index->type == JSON_INT) {
		why(&of_text, "text %" PRId64 ": %s", index->i, message);
		message = of_text.text;
	}
	fail(x, type && !strcmp(type, "invalid_request_error") ? 400 : 500, json_get_string(error, "param"), message);
}

void exchange_ping(struct exchange *x)
{
	if (!x->begun)
		reply_begin_events(&x->reply);
	x->begun = 1;
	if (x->endpoint->ping)
		x->endpoint->ping(x);
	else
		reply_comment(&x->reply);
}

/* ---- beginning and end ---- */

/* Whether nothing more can be asked; then the exchange has failed. */
static int is_unavailable(struct exchange *x)
{
	const struct service *s = x->service;

	if (s->ending)
		exchange_fail(x, 503, NULL, s->engine.ended ? "the engine has ended" : "the server is ending");
	else if (service_requests(s) >= s->queue)
		exchange_fail(x, 429, NULL, "too many requests are waiting; try again later");
	return x->done;
}

void exchange_begin(struct exchange *x, const struct endpoint *endpoint, struct service *s, const struct http *h,
	struct bytes *out)
{
	struct arena a = { .limit = BODY_MEMORY };
	const struct json *v;
	struct json *body = NULL;
	struct why w = { "" };
	const char *param = NULL;

	*x = (struct exchange){ .endpoint = endpoint, .service = s, .http = h, .reply = reply_to(h, out),
		.created = (int64_t)time(NULL) };
	x->reply.origin = s->origin && http_field(h, "Origin") ? s->origin : NULL;
	s->exchanges++;
	exchange_name(x, "");
	if (h->method == HTTP_POST && is_unavailable(x))
		return;
	if (h->method == HTTP_POST) {
		body = json_parse(&a, bytes_text(&h->body), h->body.n, &w);
		if (!body)
			why_in(&w, "the body is not JSON");
		else if (body->type != JSON_OBJECT)
			why(&w, "the body must be an object, not %s", json_type_name(body));
		else if (member_given(body, "kv"))
			param = "kv", why(&w, "kv: segments belong to the user of the server");
		else if ((v = json_get(body, "stream")) && v->type > JSON_TRUE)
			param = "stream", why(&w, "stream: expected true or false, not %s", json_type_name(v));
	}
	if (w.text[0])
		exchange_fail(x, 400, param, w.text);
	else if (endpoint->ask(x, body, &w) && !x->done)
		exchange_fail(x, 400, NULL, w.text);
	arena_free(&a);
}

void exchange_end(struct exchange *x)
{
	if (!x->endpoint)
		return;
	if (!x->done) {
		x->service->counts.left++;
		give_up(x);
	}
	if (x->endpoint->close && x->own)
		x->endpoint->close(x);
	else
		free(x->own);
	*x = (struct exchange){ 0 };
}
