/* Answers as bytes of a connection. */
#include "reply.h"

#include <string.h>
#include <time.h>

struct reply reply_to(const struct http *h, struct bytes *out)
{
	return (struct reply){ .out = out, .minor = h->minor, .keep = h->keep, .head_only = h->method == HTTP_HEAD };
}

static const char *phrase(int status)
{
	static const struct {
		int status;
		const char *phrase;
	} phrases[] = {
		{ 200, "OK" }, { 204, "No Content" }, { 400, "Bad Request" }, { 401, "Unauthorized" },
		{ 403, "Forbidden" }, { 404, "Not Found" }, { 405, "Method Not Allowed" }, { 408, "Request Timeout" },
		{ 413, "Content Too Large" }, { 414, "URI Too Long" }, { 417, "Expectation Failed" },
		{ 429, "Too Many Requests" }, { 431, "Request Header Fields Too Large" },
		{ 500, "Internal Server Error" }, { 501, "Not Implemented" }, { 503, "Service Unavailable" },
		{ 505, "HTTP Version Not Supported" }
	};

	for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
		if (phrases[i].status == status)
			return phrases[i].phrase;
	return "Error";
}

static void put_head(struct reply *r, int status)
{
	time_t now = time(NULL);
	struct tm t;
	char date[64];

	gmtime_r(&now, &t);
	strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &t);
	bytes_print(r->out, "HTTP/1.1 %d %s\r\nDate: %s\r\nServer: lmpipe\r\n", status, phrase(status), date);
	if (!r->keep || !r->minor)
		bytes_print(r->out, "Connection: %s\r\n", r->keep ? "keep-alive" : "close");
	if (r->allow && (status == 405 || status == 204))
		bytes_print(r->out, "Allow: %s\r\n", r->allow);
	if (status == 401)
		bytes_puts(r->out, "WWW-Authenticate: Bearer\r\n");
	if (status == 429 || status == 503)
		bytes_puts(r->out, "Retry-After: 1\r\n");
	if (r->origin)
		bytes_print(r->out, "Access-Control-Allow-Origin: %s\r\nVary: Origin\r\n", r->origin);
	if (r->origin && status == 204)
		bytes_print(r->out,
			"Access-Control-Allow-Methods: %s\r\nAccess-Control-Allow-Headers: *, Authorization\r\n"
			"Access-Control-Max-Age: 600\r\n", r->allow ? r->allow : "GET, POST");
}

void reply_whole(struct reply *r, int status, const char *type, const char *body, size_t n)
{
	put_head(r, status);
	if (type)
		bytes_print(r->out, "Content-Type: %s\r\nX-Content-Type-Options: nosniff\r\n", type);
	if (status != 204)
		bytes_print(r->out, "Content-Length: %zu\r\n", n);
	bytes_puts(r->out, "\r\n");
	if (!r->head_only)
		bytes_put(r->out, body, n);
}

void reply_begin_events(struct reply *r)
{
	if (!r->minor)
		r->keep = 0;
	put_head(r, 200);
	bytes_puts(r->out, "Content-Type: text/event-stream\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\n");
	bytes_puts(r->out, r->minor ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
}

void reply_event(struct reply *r, const char *event, const char *data, size_t n)
{
	size_t named = event ? strlen("event: \n") + strlen(event) : 0;

	if (r->minor)
		bytes_print(r->out, "%zx\r\n", named + strlen("data: \n\n") + n);
	if (event)
		bytes_print(r->out, "event: %s\n", event);
	bytes_puts(r->out, "data: ");
	bytes_put(r->out, data, n);
	bytes_puts(r->out, r->minor ? "\n\n\r\n" : "\n\n");
}

void reply_comment(struct reply *r)
{
	bytes_puts(r->out, r->minor ? "3\r\n:\n\n\r\n" : ":\n\n");
}

void reply_end_events(struct reply *r)
{
	if (r->minor)
		bytes_puts(r->out, "0\r\n\r\n");
}

void reply_continue(struct reply *r)
{
	bytes_puts(r->out, "HTTP/1.1 100 Continue\r\n\r\n");
}
