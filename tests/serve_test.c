/* serve_test: the parser of requests, and a fuzzer of all of serve but its sockets and its engine: damaged requests, in
 * pieces, to connections; to what reaches the engine come answers of all kinds, damaged ones too. Each request is
 * answered, or its connection closed, and the sanitizers find nothing. SERVE_REQUESTS=N: so many requests. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/serve/connection.h"
#include "gen/serve/endpoints.h"
#include "gen/serve/routes.h"
#include "check.h"
#include "random.h"

enum { REQUESTS = 40000, ROOM = 1 << 16, PATIENCE = 5 };

/* ---- the parser ---- */

static const struct {
	const char *request;
	int status;                     /* of the refusal; 0: it is well-formed */
	const char *path, *body;
} cases[] = {
	{ "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 0, "/", "" },
	{ "\r\n\r\nGET /a?b HTTP/1.0\n\n", 0, "/a", "" },
	{ "GET http://h:80/a#b HTTP/1.1\r\nHost: x\r\n\r\n", 0, "/a", "" },
	{ "POST /p HTTP/1.1\r\nHost: x\r\ncontent-LENGTH: 3\r\n\r\nabc", 0, "/p", "abc" },
	{ "POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
		"3\r\nabc\r\n0a;x=\"y\"\r\n0123456789\r\n0\r\n\r\n", 0, "/p", "abc0123456789" },
	{ "POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n00\r\nA: b\r\nC: d\r\n\r\n",
		0, "/p", "a" },
	{ "GET /\r\n\r\n", 400, "", "" },
	{ "\x16\x03\x01", 400, "", "" },         /* TLS, which waits for an answer */
	{ " GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400, "", "" },
	{ "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400, "", "" },
	{ "GET / HTTP/1.1\r\n\r\n", 400, "", "" },
	{ "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400, "", "" },
	{ "GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505, "", "" },
	{ "GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400, "", "" },
	{ "GET / HTTP/1.1\r\nHost: x\r\n y: z\r\n\r\n", 400, "", "" },
	{ "GET / HTTP/1.1\r\nHost: x\r\nA: \001\r\n\r\n", 400, "", "" },
	{ "GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n", 400, "", "" },
	{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc", 400, "", "" },
	{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400, "", "" },
	{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc", 400, "", "" },
	{ "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "", "" },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501, "", "" },
	{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", 413, "", "" },
	{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551617\r\n\r\n", 400, "", "" },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n", 400, "", "" },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n", 400, "", "" },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\r\nabc\r\n0\r\n\r\n", 400, "", "" },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff0\r\n", 400, "", "" },
	{ "POST / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nContent-Length: 3\r\n\r\n", 417, "", "" }
};

static void take_all(struct http *h, const char *s, size_t n, size_t piece)
{
	for (size_t at = 0; at < n && h->part != HTTP_BAD && h->part != HTTP_WHOLE;) {
		size_t some = n - at < piece ? n - at : piece;

		at += http_take(h, s + at, some);
		if (h->part == HTTP_CHECK)
			http_accept(h);
	}
}

static void test_parser(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (size_t piece = 1; piece < 100; piece += 33) {
			const char *s = cases[i].request, *body = cases[i].body;
			struct http h;

			http_start(&h);
			take_all(&h, s, strlen(s), piece);
			check(h.part == (cases[i].status ? HTTP_BAD : HTTP_WHOLE) && h.status == cases[i].status,
				"case %zu: part %d, status %d, not %d", i, h.part, h.status, cases[i].status);
			if (!cases[i].status && h.part == HTTP_WHOLE)
				check(!strcmp(h.path, cases[i].path) && h.body.n == strlen(body)
					&& !memcmp(h.body.p ? h.body.p : "", body, h.body.n), "case %zu: %s, %.*s", i,
					h.path, (int)h.body.n, h.body.p ? h.body.p : "");
			http_end(&h);
		}
}

static void test_limits(void)
{
	struct http h;
	char line[64];

	http_start(&h);
	take_all(&h, "GET / HTTP/1.1\r\n", 16, 16);
	for (size_t i = 0; h.part == HTTP_READING_HEAD && i < HTTP_HEAD_MAX; i++)
		take_all(&h, line, (size_t)snprintf(line, sizeof line, "X-%zu: %040d\r\n", i, 0), 64);
	check(h.status == 431, "a long head: status %d", h.status);
	http_end(&h);
	http_start(&h);
	for (size_t i = 0; h.part == HTTP_READING_HEAD && i < HTTP_HEAD_MAX; i++)
		take_all(&h, "GET", 3, 3);
	check(h.status == 414, "a long request line: status %d", h.status);
	http_end(&h);
	http_start(&h);
	take_all(&h, "GET / HTTP/1.1\r\n", 16, 16);
	for (size_t i = 0; i < HTTP_FIELDS_MAX + 1; i++)
		take_all(&h, "A: b\r\n", 6, 6);
	take_all(&h, "\r\n", 2, 2);
	check(h.status == 431, "many fields: status %d", h.status);
	http_end(&h);
}

static void test_words(void)
{
	check(http_lists("keep-alive, Close", "close") && http_lists("close;q=1", "CLOSE"), "words that are listed");
	check(!http_lists("closed", "close") && !http_lists(NULL, "close") && !http_lists("x close", "close"),
		"words that are not listed");
	check(http_same("aB-1", "Ab-1") && !http_same("a", "ab") && !http_same("a", NULL), "http_same");
}

/* ---- who may ask ---- */

static void test_keys(void)
{
	struct keys k = { .set = 1, .text.limit = 100 };
	static const struct {
		const char *fields;
		int allowed;
	} tries[] = {
		{ "Authorization: Bearer secret", 1 }, { "authorization: bearer secret", 1 },
		{ "X-API-Key: other", 1 }, { "Authorization: Bearer secre", 0 },
		{ "Authorization: Bearer secrets", 0 }, { "Authorization: Bearer ", 0 }, { "Authorization: secret", 0 },
		{ "X-API-Key: #comment", 0 }, { "A: b", 0 }, { "x-api-key: secret", 1 },
		{ "Authorization: Basic x\r\nX-API-Key: secret", 1 }
	};

	bytes_puts(&k.text, "#comment\nsecret \n\nother");
	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
		char s[200];
		struct http h;

		http_start(&h);
		take_all(&h, s, (size_t)snprintf(s, sizeof s, "GET / HTTP/1.0\r\n%s\r\n\r\n", tries[i].fields), 200);
		check(keys_allow(&k, &h) == tries[i].allowed, "key: %s", tries[i].fields);
		http_end(&h);
	}
	keys_free(&k);
}

static void test_origins(void)
{
	static const struct {
		const char *cors;
		int local;
		const char *origin, *host;
		int allowed;
	} tries[] = {
		{ NULL, 1, NULL, "evil.example", 1 }, { NULL, 1, "http://localhost:80", "localhost:80", 1 },
		{ NULL, 1, "http://127.0.0.1:80", "127.0.0.1:80", 1 }, { NULL, 1, "http://[::1]:80", "[::1]:80", 1 },
		{ NULL, 1, "http://evil.example", "127.0.0.1:80", 0 }, { NULL, 1, "null", "localhost", 0 },
		{ NULL, 1, "http://evil.example", "evil.example", 0 },
		{ NULL, 1, "http://localhost.evil.example", "localhost.evil.example", 0 },
		{ NULL, 0, "http://our.example", "our.example", 1 },
		{ NULL, 0, "http://evil.example", "our.example", 0 },
		{ "http://a.example", 1, "http://a.example", "localhost", 1 }, { "*", 1, "null", "localhost", 1 },
		{ "http://a.example", 1, "http://b.example", "localhost", 0 }
	};

	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
		struct service s = { .origin = tries[i].cors, .local = tries[i].local };

		check(service_allows_origin(&s, tries[i].origin, tries[i].host) == tries[i].allowed, "origin %zu", i);
	}
}

/* ---- limits ---- */

/* Whether a request is answered with this status, which the bytes that other requests hold decide. */
static int answered(struct service *s, size_t held, const char *request, const char *status)
{
	struct connection c;
	int is;

	s->held = held;
	connection_start(&c, s, 0);
	connection_take(&c, request, strlen(request));
	connection_advance(&c, 0);
	is = c.output.n > 12 && !strncmp(c.output.p + 9, status, 3);
	connection_end(&c);
	return check(s->held == held, "%zu bytes are held, not %zu", s->held, held) && is;
}

static void test_held(void)
{
	static const char request[] = "POST /v1/messages HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}";
	struct service s = { .queue = 1 };

	check(answered(&s, SERVICE_HELD_MAX - 2, request, "400"), "bodies that fit");
	check(answered(&s, SERVICE_HELD_MAX - 1, request, "503"), "bodies that do not fit");
}

/* ---- time ---- */

static int has(const struct bytes *b, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i + n <= b->n; i++)
		if (!memcmp(b->p + i, text, n))
			return 1;
	return 0;
}

/* A stream in which nothing comes: the engine is asked at 0; something is said 10 seconds later, not before. */
static void test_ping(const char *path, const char *said)
{
	struct service s = { .queue = 1 };
	struct connection c;
	char request[300];
	static char body[] = "{'messages':[{'role':'user','content':'a'}],'max_tokens':9,'stream':true}";

	s.engine.to.limit = s.engine.from.limit = 1 << 20;
	for (char *p = body; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	connection_start(&c, &s, 0);
	connection_take(&c, request, (size_t)snprintf(request, sizeof request, "POST %s HTTP/1.1\r\nHost: x\r\n"
		"Content-Length: %zu\r\n\r\n%s", path, strlen(body), body));
	connection_advance(&c, 0);
	check(connection_is_answering(&c) && !c.output.n, "%s: nothing is said at first", path);
	check(connection_deadline(&c, PATIENCE) == CONNECTION_PING, "%s: a ping is due after %g seconds", path,
		connection_deadline(&c, PATIENCE));
	connection_late(&c, CONNECTION_PING);
	check(has(&c.output, "200 OK") && has(&c.output, said), "%s: no %s", path, said);
	connection_sent(&c, c.output.n);
	check(connection_deadline(&c, PATIENCE) == 2 * CONNECTION_PING, "%s: the next ping", path);
	connection_end(&c);
	check(has(&s.engine.to, "\"cancel\":1"), "%s: who leaves cancels", path);
	engine_finish(&s.engine, s.engine.pending);
	bytes_free(&s.engine.to);
}

/* A slow request has its time and that of its length; silence before one, and in one, ends. */
static void test_late(void)
{
	struct service s = { .queue = 1 };
	struct connection c;

	connection_start(&c, &s, 100);
	check(connection_deadline(&c, PATIENCE) == 100 + PATIENCE, "silence");
	connection_late(&c, 105);
	check(c.closing && !c.output.n, "silence is not answered");
	connection_end(&c);
	connection_start(&c, &s, 100);
	connection_take(&c, "\r\n\r\n", 4);
	connection_advance(&c, 104);
	check(connection_deadline(&c, PATIENCE) == 100 + PATIENCE, "empty lines are no request");
	connection_take(&c, "GET / HT", 8);
	connection_advance(&c, 200);
	check(connection_deadline(&c, PATIENCE) > 200 + PATIENCE && connection_deadline(&c, PATIENCE) < 201 + PATIENCE,
		"a half request");
	connection_late(&c, 300);
	check(c.closing && has(&c.output, "408 "), "a half request is answered");
	connection_end(&c);
}

/* ---- the fuzzer ---- */

static const char *const paths[] = { "/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages",
	"/v1/messages/count_tokens", "/v1/models", "/v1/models/x", "/v1/embeddings", "/v1/rerank", "/tokenize",
	"/detokenize", "/apply-template", "/health", "/metrics", "/", "/nowhere" };

static const char *const bodies[] = {           /* ' stands for " */
	"{'input':['a','b',[1,2]],'encoding_format':'base64','query':'q','documents':['a',{'text':'b'}],'top_n':1}",
	"{'messages':[{'role':'user','content':'a'}],'stream':true,'stream_options':{'include_usage':true}}",
	"{'messages':[{'role':'user','content':[{'type':'text','text':'a'}]}],'n':2,'logprobs':true}",
	"{'prompt':['a','b'],'max_tokens':3,'stop':['x'],'echo':true}", "{'prompt':[1,2],'stream':true}",
	"{'input':'a','stream':true,'instructions':'b','tools':[{'type':'function','name':'f'}]}",
	"{'input':[{'role':'user','content':[{'type':'input_text','text':'a'}]},"
		"{'type':'reasoning','content':[{'type':'reasoning_text','text':'r'}]},"
		"{'type':'function_call','call_id':'c','name':'f','arguments':'{}'},"
		"{'type':'function_call_output','call_id':'c','output':'o'}],"
		"'text':{'format':{'type':'json_schema','schema':{}}},"
		"'tool_choice':{'type':'function','name':'f'},'top_logprobs':1}",
	"{'max_tokens':9,'system':[{'type':'text','text':'s'}],'messages':[{'role':'user','content':"
		"[{'type':'tool_result','tool_use_id':'t','content':[{'type':'text','text':'x'}]},"
		"{'type':'text','text':'q'}]},{'role':'assistant','content':[{'type':'thinking','thinking':'h'},"
		"{'type':'tool_use','id':'t','name':'f','input':{}}]}],'tools':[{'name':'f','input_schema':{}}],"
		"'tool_choice':{'type':'tool','name':'f'},'thinking':{'type':'enabled'},"
		"'stop_sequences':['x'],'stream':true}",
	"{'max_tokens':9,'messages':[{'role':'user','content':'a'}],'output_config':{'format':{'type':'json_schema'}}}",
	"{'content':'a','add_special':true}", "{'tokens':[1,2,3]}", "{}", "[]", "", "{'messages':[]}"
};

static const char *const fields[] = { "Connection: close", "Connection: keep-alive", "Expect: 100-continue",
	"Origin: http://x", "Authorization: Bearer k", "anthropic-version: 2023-06-01", "Transfer-Encoding: chunked",
	"Content-Length: 5", "X: y" };

/* What an engine answers, and what none does. */
static const char *const answers[] = {
	"'choices':[{'index':0,'delta':{'role':'assistant','content':'a'},'finish_reason':null}]",
	"'choices':[{'index':0,'delta':{'reasoning_content':'a'},'logprobs':{'content':[{'token':'a'}]}}]",
	"'choices':[{'index':0,'delta':{'content':'b'},'logprobs':{'content':[{'token':'b'},{'token':'c'}]}}]",
	"'choices':[{'index':0,'delta':{'tool_calls':[{'index':0,'id':'c','function':{'name':'f','arguments':'{'}},"
		"{'index':1,'function':{'arguments':'}'}}]}}]",
	"'choices':[{'index':0,'message':{'content':'a','tool_calls':[{'id':'c','function':{'name':'f',"
		"'arguments':'{}'}}]},'finish_reason':'length','stop_reason':'x'}],'usage':{'prompt_tokens':3}",
	"'choices':[{'index':0,'text':'a','finish_reason':'stop'}],'usage':{}", "'choices':[],'usage':null",
	"'error':{'message':'m','type':'invalid_request_error','param':'p'}", "'error':null", "'tokens':[1,2]",
	"'content':'a'", "'prompt':'a'", "'index':0,'embedding':[1,-0.5]", "'index':1,'embedding':[2]",
	"'index':2,'embedding':[]", "'index':9,'embedding':{}", "'index':0,'score':1,'usage':{'prompt_tokens':3}",
	"'index':1,'scores':[2,1]", "'model':{'name':'x'}", "'model':3,'choices':{'a':1}",
	"'choices':[1,{'delta':[]},{'delta':{'tool_calls':[3,{}],'content':[]}}]"
};

#define ANY(list) list[random_below(sizeof list / sizeof *list)]

static void quote(char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s[i] = (char)(s[i] == '\'' ? '"' : s[i]);
}

/* Changes some bytes of s[n], or leaves them as they are; returns the new length, ROOM at most. */
static size_t damage(char *s, size_t n)
{
	static const char bytes[] = "\r\n\t \0{}[]\":,;/%0a\xff\x80";

	for (size_t times = random_below(4) ? 0 : 1 + random_below(6); times && n > 2; times--) {
		size_t at = random_below(n), some = random_below(n - at < 20 ? n - at : 20);

		switch (random_below(4)) {
		case 0: s[at] = bytes[random_below(sizeof bytes)]; break;
		case 1: s[at] ^= (char)(1 << random_below(8)); break;
		case 2: memmove(s + at, s + at + some, n - at - some); n -= some; break;
		case 3:
			if (n + some < ROOM) {
				memmove(s + at + some, s + at, n - at);
				n += some;
			}
			break;
		}
	}
	return n;
}

static size_t make_request(char *s)
{
	const char *path = ANY(paths), *body = random_below(3) ? bodies[random_below(9)] : ANY(bodies);
	static char changed[ROOM];
	size_t n = 0, m = strlen(body);

	memcpy(changed, body, m);
	quote(changed, m);
	m = damage(changed, m);
	n += (size_t)snprintf(s, ROOM, "%s %s HTTP/1.%d\r\nHost: localhost\r\n", !random_below(9) ? "HEAD"
		: !random_below(9) ? "OPTIONS" : random_below(4) ? "POST" : "GET", path, random_below(5) > 0);
	for (size_t i = random_below(3); i; i--)
		n += (size_t)snprintf(s + n, ROOM - n, "%s\r\n", ANY(fields));
	if (random_below(4))
		n += (size_t)snprintf(s + n, ROOM - n, "Content-Length: %zu\r\n\r\n", m);
	else
		n += (size_t)snprintf(s + n, ROOM - n, "Transfer-Encoding: chunked\r\n\r\n%zx\r\n", m);
	memcpy(s + n, changed, m);
	n += m;
	n += (size_t)snprintf(s + n, ROOM - n, "\r\n0\r\n\r\n");
	return damage(s, n);
}

/* Some lines for what has been asked. */
static void answer_some(struct service *s)
{
	struct engine *e = &s->engine;
	char line[1024];
	struct why w;

	for (size_t i = 0; i < 3 && e->pending; i++) {
		size_t which = random_below(e->n_pending), n;
		struct pending *p = e->pending;

		while (which--)
			p = p->next;
		n = (size_t)snprintf(line, sizeof line, "{'id':%lld,%s}\n", (long long)p->id, ANY(answers));
		quote(line, n);
		engine_feed(e, line, n, &w);
		check(!service_take(s, &w), "an answer is refused: %s", w.text);
	}
	bytes_free(&e->to);
	e->sent = 0;
}

/* All that has been asked is answered, with an error. */
static void answer_rest(struct service *s)
{
	struct engine *e = &s->engine;
	char line[100];
	struct why w;

	while (e->pending) {
		size_t n = (size_t)snprintf(line, sizeof line, "{\"id\":%lld,\"error\":{}}\n",
			(long long)e->pending->id);

		engine_feed(e, line, n, &w);
		service_take(s, &w);
	}
}

static void converse(struct service *s)
{
	static char request[ROOM];
	struct connection c;
	size_t requests = 1 + random_below(3), answers_before = 0, answers_after = 0;
	double now = 0;

	for (int i = 0; i < 6; i++)
		answers_before += s->counts.answers[i];
	connection_start(&c, s, now);
	while (requests-- && !c.closing) {
		size_t n = make_request(request), piece = random_below(3) ? n : 1 + random_below(n + 1);

		for (size_t at = 0; at < n && !c.closing; at += piece) {
			connection_take(&c, request + at, n - at < piece ? n - at : piece);
			connection_advance(&c, now);
			if (!random_below(4))
				answer_some(s);
			connection_advance(&c, now);
		}
		connection_sent(&c, c.output.n - c.sent);
		if (!random_below(8) && connection_is_answering(&c))
			exchange_ping(&c.exchange);
	}
	if (random_below(8))
		answer_rest(s);
	connection_advance(&c, now);
	connection_sent(&c, c.output.n - c.sent);
	/* whoever is silent now is told so, or left */
	now = 1e6;
	if (!connection_is_answering(&c) && !c.closing && now >= connection_deadline(&c, PATIENCE)) {
		connection_late(&c, now);
		connection_advance(&c, now);
	}
	check(connection_is_answering(&c) || c.closing, "a connection that neither answers nor closes");
	for (int i = 0; i < 6; i++)
		answers_after += s->counts.answers[i];
	check(answers_after > answers_before || connection_is_answering(&c) || c.closing, "no answer");
	connection_end(&c);
}

static void fuzz(size_t n)
{
	struct service s = { .queue = 8, .local = 1, .started = 1 };

	s.engine.to.limit = s.engine.from.limit = 1 << 24;
	s.keys.set = 0;
	service_begin(&s);
	answer_rest(&s);
	for (size_t i = 0; i < n && !checks_failed; i += 2) {
		converse(&s);
		if (s.engine.n_pending > 4)
			answer_rest(&s);
	}
	check(s.counts.answers[2] > n / 50 && s.counts.answers[4] > n / 50, "few answers: %llu, %llu",
		(unsigned long long)s.counts.answers[2], (unsigned long long)s.counts.answers[4]);
	answer_rest(&s);
	bytes_free(&s.engine.to);
	bytes_free(&s.engine.from);
	service_free(&s);
}

int main(void)
{
	const char *n = getenv("SERVE_REQUESTS"), *every = getenv("EVERY");
	size_t share = every && atoi(every) > 1 ? (size_t)atoi(every) : 1;

	test_parser();
	test_limits();
	test_words();
	test_keys();
	test_origins();
	test_held();
	test_ping("/v1/chat/completions", "\r\n:\n\n\r\n");
	test_ping("/v1/messages", "event: ping\ndata: {\"type\":\"ping\"}\n\n");
	test_late();
	fuzz(n ? strtoul(n, NULL, 10) : REQUESTS / share);
	return check_end("serve_test");
}
