/* The head is gathered up to its empty line, then parsed in place; the body is copied as it comes. */
#include "http.h"

#include <string.h>
#include <strings.h>

#include "lib/base/hex.h"

enum { TRAILER_MAX = 8 << 10, SIZE_DIGITS_MAX = 15 };

void http_start(struct http *h)
{
	memset(h, 0, sizeof *h);
	h->head.limit = HTTP_HEAD_MAX;
	h->body.limit = HTTP_BODY_MAX;
}

void http_end(struct http *h)
{
	bytes_free(&h->head);
	bytes_free(&h->body);
}

int http_started(const struct http *h)
{
	return h->head.n > 0;
}

static void bad(struct http *h, int status, const char *reason)
{
	h->part = HTTP_BAD;
	h->status = status;
	h->reason = reason;
	h->keep = 0;
}

/* ---- text ---- */

int http_same(const char *a, const char *b)
{
	return b && !strcasecmp(a, b);
}

int http_lists(const char *s, const char *word)
{
	size_t n = strlen(word);

	while (s && *s) {
		size_t length;

		s += strspn(s, " \t,");
		length = strcspn(s, " \t,;");
		if (length == n && !strncasecmp(s, word, n))
			return 1;
		s += strcspn(s, ",");
	}
	return 0;
}

const char *http_field(const struct http *h, const char *name)
{
	for (size_t i = 0; i < h->fields; i++)
		if (http_same(name, h->field[i].name))
			return h->field[i].value;
	return NULL;
}

static size_t count(const struct http *h, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < h->fields; i++)
		n += (size_t)http_same(name, h->field[i].name);
	return n;
}

/* What a method and the name of a field consist of. */
static const char token_chars[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* The length of the token that s begins with. */
static size_t token(const char *s)
{
	return strspn(s, token_chars);
}

/* ---- the head ---- */

static enum http_method method_of(const char *s)
{
	static const char *const names[] = { [HTTP_GET] = "GET", [HTTP_HEAD] = "HEAD", [HTTP_POST] = "POST",
		[HTTP_OPTIONS] = "OPTIONS" };

	for (int i = HTTP_GET; i <= HTTP_OPTIONS; i++)
		if (!strcmp(s, names[i]))
			return (enum http_method)i;
	return HTTP_OTHER;
}

/* METHOD TARGET HTTP/1.x. The target is a path, or a whole URI, as proxies get it. */
static int parse_request_line(struct http *h, char *line)
{
	char *target = line + token(line), *version, *host;

	if (target == line || *target != ' ')
		return -1;
	*target++ = '\0';
	h->method = method_of(line);
	version = target + strcspn(target, " ");
	if (*version != ' ' || version == target)
		return -1;
	*version++ = '\0';
	if (strncmp(version, "HTTP/", 5) || strlen(version) != 8 || version[6] != '.'
	    || version[5] < '0' || version[5] > '9' || version[7] < '0' || version[7] > '9')
		return -1;
	if (version[5] != '1') {
		bad(h, 505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
		return 0;
	}
	h->minor = version[7] != '0';
	if (!strncasecmp(target, "http://", 7)) {
		host = target + 7;
		target = host + strcspn(host, "/?#");
		if (target == host)
			return -1;
	}
	if (*target && *target != '/' && strcmp(target, "*"))
		return -1;
	target[strcspn(target, "?#")] = '\0';
	h->path = *target ? target : "/";
	return 0;
}

static int parse_field(struct http *h, char *line)
{
	size_t n = token(line), end;
	char *value = line + n + 1;

	if (!n || line[n] != ':')
		return -1;
	line[n] = '\0';
	value += strspn(value, " \t");
	for (end = strlen(value); end && strchr(" \t", value[end - 1]); end--)
		;
	value[end] = '\0';
	if (h->fields == HTTP_FIELDS_MAX)
		bad(h, 431, "too many header fields");
	else
		h->field[h->fields++] = (struct http_field){ line, value };
	return 0;
}

/* A Content-Length: digits, or the same ones several times. -1: it is malformed or too long. */
static int64_t length_of(const char *s)
{
	int64_t n = 0;

	if (!*s || strlen(s) > SIZE_DIGITS_MAX)
		return -1;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -1;
		n = 10 * n + (*s - '0');
	}
	return n;
}

/* How the body is framed. What one server could read differently from another is refused. */
static void frame_body(struct http *h)
{
	const char *length = http_field(h, "Content-Length"), *coding = http_field(h, "Transfer-Encoding");
	int64_t n = length ? length_of(length) : 0;

	if (count(h, "Content-Length") > 1 || count(h, "Transfer-Encoding") > 1 || (length && coding))
		bad(h, 400, "the length of the body is given twice");
	else if (coding && !http_same(coding, "chunked"))
		bad(h, 501, "the only transfer coding is chunked");
	else if (coding && !h->minor)
		bad(h, 400, "HTTP/1.0 has no transfer codings");
	else if (n < 0)
		bad(h, 400, "malformed Content-Length");
	else if (n > HTTP_BODY_MAX)
		bad(h, 413, "the body is too large");
	h->chunked = coding != NULL;
	h->left = n < 0 ? 0 : (uint64_t)n;
}

/* Whether the bytes are text without control characters but tabs. */
static int is_text(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)s[i] < ' ' && s[i] != '\t') || s[i] == 0x7f)
			return 0;
	return 1;
}

/* The complete head: lines that end in LF, and CR before it. */
static void parse_head(struct http *h)
{
	char *line = h->head.p, *end = h->head.p + h->head.n;
	const char *connection;
	size_t hosts;

	for (int first = 1; line < end && h->part != HTTP_BAD; first = 0) {
		char *next = (char *)memchr(line, '\n', (size_t)(end - line)) + 1, *stop = next - 1;

		stop -= stop > line && stop[-1] == '\r';
		*stop = '\0';
		if (stop == line)
			break;
		if (!is_text(line, (size_t)(stop - line))
		    || (first ? parse_request_line(h, line) : parse_field(h, line))) {
			bad(h, 400, first ? "malformed request line" : "malformed header field");
			return;
		}
		line = next;
	}
	if (h->part == HTTP_BAD)
		return;
	hosts = count(h, "Host");
	if (hosts > 1 || (h->minor && !hosts)) {
		bad(h, 400, "a request needs one field Host");
		return;
	}
	connection = http_field(h, "Connection");
	h->keep = h->minor ? !http_lists(connection, "close") : http_lists(connection, "keep-alive");
	h->part = HTTP_CHECK;
	if (http_field(h, "Expect")) {
		h->expects = http_same("100-continue", http_field(h, "Expect"));
		if (!h->expects)
			bad(h, 417, "the only expectation is 100-continue");
	}
	if (h->part == HTTP_CHECK)
		frame_body(h);
}

static size_t take_head(struct http *h, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t length = h->head.n - h->line;

		/* empty lines before a request are left out */
		if (!h->head.n && (s[i] == '\r' || s[i] == '\n'))
			continue;
		/* TLS begins like this, and its client would wait for an answer */
		if (!h->head.n && !memchr(token_chars, s[i], sizeof token_chars - 1)) {
			bad(h, 400, "malformed request line");
			return i + 1;
		}
		if (bytes_put(&h->head, s + i, 1)) {
			bad(h, h->line ? 431 : 414, h->line ? "the header fields are too long"
				: "the request line is too long");
			return i + 1;
		}
		if (s[i] != '\n')
			continue;
		h->line = h->head.n;
		if (!length || (length == 1 && h->head.p[h->head.n - 2] == '\r')) {
			parse_head(h);
			return i + 1;
		}
	}
	return n;
}

void http_accept(struct http *h)
{
	h->part = h->chunked || h->left ? HTTP_READING_BODY : HTTP_WHOLE;
}

/* ---- the body ---- */

static size_t copy(struct http *h, const char *s, size_t n)
{
	n = h->left < n ? (size_t)h->left : n;
	h->left -= n;
	if (bytes_put(&h->body, s, n))
		bad(h, 413, "the body is too large");
	return n;
}

/* One byte of what surrounds the data of chunks; -1: it is malformed. */
static int take_frame(struct http *h, char c)
{
	int digit = hex_digit((unsigned char)c);

	switch (h->chunk) {
	case HTTP_CHUNK_SIZE:
		if (digit >= 0) {
			h->left = h->left << 4 | (unsigned)digit;
			return ++h->digits > SIZE_DIGITS_MAX ? -1 : 0;
		}
		h->chunk = c == '\r' ? HTTP_CHUNK_LINE_END : HTTP_CHUNK_EXTENSION;
		return h->digits && strchr("\r; \t", c) && c ? 0 : -1;
	case HTTP_CHUNK_EXTENSION:
		if (c == '\r')
			h->chunk = HTTP_CHUNK_LINE_END;
		return c == '\n' || ++h->trailer > TRAILER_MAX ? -1 : 0;
	case HTTP_CHUNK_LINE_END:
		h->chunk = h->left ? HTTP_CHUNK_DATA : HTTP_CHUNK_TRAILER;
		h->blank = 1;
		return c == '\n' ? 0 : -1;
	case HTTP_CHUNK_CR:
		h->chunk = HTTP_CHUNK_LF;
		return c == '\r' ? 0 : -1;
	case HTTP_CHUNK_LF:
		h->chunk = HTTP_CHUNK_SIZE;
		h->digits = 0;
		return c == '\n' ? 0 : -1;
	case HTTP_CHUNK_TRAILER:
		if (c == '\n' && h->blank)
			h->part = HTTP_WHOLE;
		h->blank = c == '\n' || (h->blank && c == '\r');
		return ++h->trailer > TRAILER_MAX ? -1 : 0;
	case HTTP_CHUNK_DATA:
		break;
	}
	return -1;
}

static size_t take_chunked(struct http *h, const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && h->part == HTTP_READING_BODY) {
		if (h->chunk == HTTP_CHUNK_DATA) {
			i += copy(h, s + i, n - i);
			h->chunk = h->left ? HTTP_CHUNK_DATA : HTTP_CHUNK_CR;
		} else if (take_frame(h, s[i++])) {
			bad(h, 400, "malformed chunk");
		}
	}
	return i;
}

size_t http_take(struct http *h, const char *s, size_t n)
{
	size_t used = 0;

	if (h->part == HTTP_READING_HEAD)
		return take_head(h, s, n);
	if (h->part != HTTP_READING_BODY)
		return 0;
	if (h->chunked)
		return take_chunked(h, s, n);
	used = copy(h, s, n);
	if (h->part == HTTP_READING_BODY && !h->left)
		h->part = HTTP_WHOLE;
	return used;
}
