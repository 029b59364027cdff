/* Requests are read, checked and answered in turn; a client may send the next ones before. */
#include "connection.h"

#include <math.h>
#include <string.h>

#include "lib/base/members.h"
#include "routes.h"

enum { INPUT_MAX = 64 << 10, OUTPUT_MAX = 512 << 20, PENDING_MAX = 1 << 20, EVENTS_PENDING_MAX = 64 << 20 };

void connection_start(struct connection *c, struct service *s, double now)
{
	*c = (struct connection){ .service = s, .since = now, .told = now,
		.input.limit = 2 * INPUT_MAX, .output.limit = OUTPUT_MAX };
	http_start(&c->http);
}

/* Counts n bytes of the body instead of those counted so far. */
static void hold(struct connection *c, size_t n)
{
	c->service->held += n - c->held;
	c->held = n;
}

void connection_end(struct connection *c)
{
	hold(c, 0);
	exchange_end(&c->exchange);
	http_end(&c->http);
	bytes_free(&c->input);
	bytes_free(&c->output);
}

int connection_is_answering(const struct connection *c)
{
	return c->exchange.endpoint != NULL;
}

int connection_is_idle(const struct connection *c)
{
	return !connection_is_answering(c) && !http_started(&c->http) && c->taken == c->input.n
		&& c->sent == c->output.n;
}

int connection_wants_input(const struct connection *c)
{
	return !c->closing && c->input.n - c->taken < INPUT_MAX;
}

void connection_sent(struct connection *c, size_t n)
{
	c->sent += n;
	if (c->sent < c->output.n)
		return;
	bytes_free(&c->output);
	c->sent = c->seen = 0;
}

/* ---- requests ---- */

static void next_request(struct connection *c, double now)
{
	hold(c, 0);
	http_end(&c->http);
	http_start(&c->http);
	c->since = now;
}

/* Answers a request that reaches no endpoint. The rest of it, if there is any, is not read. */
static void refuse(struct connection *c, const struct answerer *a, double now)
{
	struct http *h = &c->http;
	struct reply r;
	struct bytes b = exchange_buffer();
	struct json_writer to = members_to(&b);

	if (h->part == HTTP_BAD || h->chunked || h->left) {
		h->keep = 0;
		c->unread = 1;
	}
	r = reply_to(h, &c->output);
	r.allow = a->allow;
	r.origin = http_field(h, "Origin") && a->failure.status != 403 ? c->service->origin : NULL;
	failure_body(&to, a->form, &a->failure);
	if (a->failure.status == 204)
		reply_whole(&r, 204, NULL, "", 0);
	else
		reply_whole(&r, a->failure.status, "application/json", b.p, b.n);
	bytes_free(&b);
	c->service->counts.answers[a->failure.status / 100 % 6]++;
	c->closing = !h->keep;
	next_request(c, now);
}

static void refuse_rest(struct connection *c, int status, const char *reason, double now)
{
	struct answerer a = { .failure = { status, reason, NULL }, .form = routes_form(&c->http) };

	c->http.part = HTTP_BAD;
	refuse(c, &a, now);
}

static void check(struct connection *c, double now)
{
	struct http *h = &c->http;
	struct answerer a = routes_find(c->service, h);

	if (!a.endpoint) {
		refuse(c, &a, now);
		return;
	}
	c->endpoint = a.endpoint;
	http_accept(h);
	if (h->part == HTTP_READING_BODY && h->expects && h->minor && c->taken == c->input.n) {
		struct reply r = reply_to(h, &c->output);

		reply_continue(&r);
	}
}

static void read_more(struct connection *c, double now)
{
	int started = http_started(&c->http);

	c->taken += http_take(&c->http, c->input.p + c->taken, c->input.n - c->taken);
	/* empty lines are not the beginning of a request: they would keep the connection open for ever */
	if (!started && http_started(&c->http))
		c->since = now;
	hold(c, c->http.body.n);
	if (c->service->held > SERVICE_HELD_MAX)
		refuse_rest(c, 503, "too many large requests at once; try again later", now);
}

/* The answer is complete. */
static void end_exchange(struct connection *c, double now)
{
	c->closing = !c->exchange.reply.keep;
	exchange_end(&c->exchange);
	next_request(c, now);
}

/* Drops the input that has been taken. */
static void drop_taken(struct connection *c)
{
	size_t n = c->input.n - c->taken;

	if (n)
		memmove(c->input.p, c->input.p + c->taken, n);
	c->input.n = n;
	c->taken = 0;
	if (!n)
		bytes_free(&c->input);
}

void connection_advance(struct connection *c, double now)
{
	for (;;) {
		struct http *h = &c->http;

		if (connection_is_answering(c) && c->exchange.done)
			end_exchange(c, now);
		if (connection_is_answering(c) || c->closing || c->output.n - c->sent > PENDING_MAX)
			break;
		if (h->part == HTTP_CHECK)
			check(c, now);
		else if (h->part == HTTP_BAD)
			refuse_rest(c, h->status, h->reason, now);
		else if (h->part == HTTP_WHOLE)
			exchange_begin(&c->exchange, c->endpoint, c->service, h, &c->output);
		else if (c->taken < c->input.n)
			read_more(c, now);
		else
			break;
	}
	drop_taken(c);
	if (c->output.n != c->seen)
		c->told = now;
	c->seen = c->output.n;
	/* a client that reads events too slowly is left, and one whose answer finds no memory */
	if (c->output.failed || (c->exchange.begun && c->output.n - c->sent > EVENTS_PENDING_MAX)) {
		exchange_end(&c->exchange);
		c->closing = 1;
		c->sent = c->output.n;
	}
}

void connection_take(struct connection *c, const char *s, size_t n)
{
	if (!c->closing && bytes_put(&c->input, s, n))
		c->closing = 1;
}

/* ---- time ---- */

double connection_deadline(const struct connection *c, double patience)
{
	if (c->sent < c->output.n)
		return HUGE_VAL;
	if (connection_is_answering(c))
		return c->exchange.stream ? c->told + CONNECTION_PING : HUGE_VAL;
	return c->since + patience + (double)(c->http.head.n + c->http.body.n) / CONNECTION_RATE;
}

void connection_late(struct connection *c, double now)
{
	if (connection_is_answering(c))
		exchange_ping(&c->exchange);
	else if (http_started(&c->http))
		refuse_rest(c, 408, "the request took too long", now);
	else
		c->closing = 1;
	c->told = now;
	c->seen = c->output.n;
}
