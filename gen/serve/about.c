/* What the server says of itself: /v1/models, /health, /metrics, and the page at /. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/hex.h"
#include "endpoints.h"
#include "lib/base/members.h"
#include "page.h"

#define MODELS "/v1/models"

/* ---- /v1/models, /v1/models/NAME ---- */

/* The engine is asked, so that the answer comes when the model is there. */
static int ask_model(struct exchange *x, const struct json *body, struct why *w)
{
	struct bytes line;
	struct json_writer to = exchange_request(x, &line);

	member_flag(&to, "model", 1);
	exchange_ask(x, &to);
	return 0;
}

/* With the members of OpenAI's and of Anthropic's API. */
static void write_model(struct json_writer *to, const struct exchange *x)
{
	const struct service *s = x->service;
	time_t started = (time_t)s->started;
	char created[64];
	struct tm t;

	gmtime_r(&started, &t);
	strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &t);
	json_open(to, '{');
	member_text(to, "id", s->name);
	member_text(to, "object", "model");
	member_int(to, "created", s->started);
	member_text(to, "owned_by", "lmpipe");
	member_text(to, "type", "model");
	member_text(to, "display_name", s->name);
	member_text(to, "created_at", created);
	json_name(to, "meta");
	members_raw(to, &s->model);
	json_close(to, '}');
}

static void answer_models(struct exchange *x, const struct json *line, int last)
{
	const char *name = x->service->name;
	struct bytes b = exchange_buffer();
	struct json_writer to = members_to(&b);

	json_open(&to, '{');
	member_text(&to, "object", "list");
	member_open(&to, "data", '[');
	write_model(&to, x);
	json_close(&to, ']');
	member_flag(&to, "has_more", 0);
	member_text(&to, "first_id", name);
	member_text(&to, "last_id", name);
	json_close(&to, '}');
	exchange_answer(x, &b);
}

/* Whether the path ends in the name, some of whose bytes may be escaped as %XX. */
static int names_model(const char *path, const char *name)
{
	const char *s = path + strlen(MODELS "/");

	for (; *s && *name; s++, name++) {
		int c = (unsigned char)*s;

		if (c == '%' && hex_digit(s[1]) >= 0 && hex_digit(s[2]) >= 0) {
			c = hex_digit(s[1]) << 4 | hex_digit(s[2]);
			s += 2;
		}
		if (c != (unsigned char)*name)
			return 0;
	}
	return !*s && !*name;
}

static void answer_model(struct exchange *x, const struct json *line, int last)
{
	struct bytes b = exchange_buffer();
	struct json_writer to = members_to(&b);

	if (!names_model(x->http->path, x->service->name)) {
		exchange_fail(x, 404, "model", "there is no such model here (GET " MODELS ")");
		return;
	}
	write_model(&to, x);
	exchange_answer(x, &b);
}

/* ---- /health, /metrics ---- */

static int ask_health(struct exchange *x, const struct json *body, struct why *w)
{
	const struct service *s = x->service;
	struct bytes b = exchange_buffer();

	if (s->engine.ended || s->ending || !*s->name) {
		exchange_fail(x, 503, NULL, s->engine.ended ? "the engine has ended" : s->ending
			? "the server is ending" : "the model is being loaded");
		return 0;
	}
	bytes_puts(&b, "{\"status\":\"ok\"}");
	exchange_answer(x, &b);
	return 0;
}

static void put_metric(struct bytes *b, const char *name, const char *type, const char *help, double value)
{
	bytes_print(b, "# HELP lmpipe_%s %s\n# TYPE lmpipe_%s %s\nlmpipe_%s %.15g\n", name, help, name, type, name,
		value);
}

static int ask_metrics(struct exchange *x, const struct json *body, struct why *w)
{
	const struct counts *c = &x->service->counts;
	struct bytes b = exchange_buffer();

	bytes_print(&b, "# HELP lmpipe_answers_total Answers by the first digit of their status.\n"
		"# TYPE lmpipe_answers_total counter\n");
	for (int i = 2; i < 6; i += 1 + (i == 2))
		bytes_print(&b, "lmpipe_answers_total{status=\"%dxx\"} %" PRIu64 "\n", i, c->answers[i]);
	put_metric(&b, "clients_left_total", "counter", "Clients that left before their answer was complete.",
		(double)c->left);
	put_metric(&b, "prompt_tokens_total", "counter", "Tokens of prompts.", (double)c->prompt);
	put_metric(&b, "cached_tokens_total", "counter", "Tokens of prompts that were not evaluated again.",
		(double)c->cached);
	put_metric(&b, "generated_tokens_total", "counter", "Generated tokens.", (double)c->generated);
	put_metric(&b, "prompt_seconds_total", "counter", "Time in which prompts were evaluated, added up.",
		c->prompt_ms / 1000);
	put_metric(&b, "generation_seconds_total", "counter", "Time in which tokens were generated, added up.",
		c->generation_ms / 1000);
	put_metric(&b, "requests", "gauge", "Requests that the engine has, running or waiting.",
		(double)service_requests(x->service));
	put_metric(&b, "connections", "gauge", "Open connections.", (double)c->connections);
	put_metric(&b, "start_time_seconds", "gauge", "When the server was started, in seconds since 1970.",
		(double)x->service->started);
	exchange_answer_text(x, "text/plain; version=0.0.4; charset=utf-8", &b);
	return 0;
}

/* ---- the page ---- */

static int ask_page(struct exchange *x, const struct json *body, struct why *w)
{
	struct bytes b = exchange_buffer();

	for (size_t i = 0; page[i]; i++)
		bytes_puts(&b, page[i]);
	exchange_answer_text(x, "text/html; charset=utf-8", &b);
	return 0;
}

const struct endpoint endpoint_models = { FORM_OPENAI, ask_model, answer_models, NULL, NULL, NULL };
const struct endpoint endpoint_model = { FORM_OPENAI, ask_model, answer_model, NULL, NULL, NULL };
const struct endpoint endpoint_health = { FORM_OPENAI, ask_health, NULL, NULL, NULL, NULL };
const struct endpoint endpoint_metrics = { FORM_OPENAI, ask_metrics, NULL, NULL, NULL, NULL };
const struct endpoint endpoint_page = { FORM_OPENAI, ask_page, NULL, NULL, NULL, NULL };
