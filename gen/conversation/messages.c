/* Messages are kept as the text of their file, with an index of lines. */
#include "messages.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/base/members.h"
#include "lib/base/size.h"
#include "lib/base/space.h"
#include "lib/chat/content.h"

enum { LINE_MEMORY = 512 << 20 };       /* bytes of a parsed line */

static int note(struct messages *m, size_t at, int user, struct why *w)
{
	if (m->n == m->room && grow(&m->list, &m->room, sizeof *m->list, 64))
		return why(w, "out of memory");
	m->list[m->n].at = at;
	m->list[m->n++].user = user;
	return 0;
}

static int put_message(struct bytes *out, const char *role, const char *text, size_t n)
{
	struct json_writer json = json_to_bytes(out);

	json_open(&json, '{');
	member_text(&json, "role", role);
	member_bytes(&json, "content", text, n);
	json_close(&json, '}');
	return bytes_put(out, "\n", 1);
}

int messages_add(struct messages *m, const char *role, const char *text, size_t n, struct why *w)
{
	size_t at = m->text.n;

	if (put_message(&m->text, role, text, n))
		return why(w, "the conversation is too long");
	return note(m, at, !strcmp(role, "user"), w);
}

int messages_add_line(struct messages *m, const char *line, size_t n, struct why *w)
{
	size_t at = m->text.n;

	if (bytes_put(&m->text, line, n))
		return why(w, "the conversation is too long");
	return note(m, at, 0, w);
}

void messages_cut(struct messages *m, size_t n)
{
	if (n >= m->n)
		return;
	m->text.n = m->list[n].at;
	m->n = n;
	m->first = size_min(m->first, n);
	m->saved = size_min(m->saved, m->text.n);
}

size_t messages_turn(const struct messages *m, size_t i)
{
	for (size_t k = 0; k < m->n; k++)
		if (m->list[k].user && !i--)
			return k;
	return m->n;
}

size_t messages_turns(const struct messages *m)
{
	size_t turns = 0;

	for (size_t k = 0; k < m->n; k++)
		turns += (size_t)m->list[k].user;
	return turns;
}

static size_t start_of(const struct messages *m, size_t i)
{
	return i < m->n ? m->list[i].at : m->text.n;
}

int messages_replace_turn(struct messages *m, const struct messages *from, const char *text, size_t n, struct why *w)
{
	size_t head = start_of(from, messages_turn(from, 0)), rest = start_of(from, from->first + 1);

	if ((head && bytes_put(&m->text, from->text.p, head)) || messages_add(m, "user", text, n, w)
	    || (rest < from->text.n && bytes_put(&m->text, from->text.p + rest, from->text.n - rest)))
		return why(w, "the conversation is too long");
	return 0;
}

/* The messages from number `first` on are in the text from here; *head: the end of the head, which precedes them. */
static size_t rest_of(const struct messages *m, size_t first, size_t *head)
{
	*head = start_of(m, messages_turn(m, 0));
	return size_max(start_of(m, first), *head);
}

int messages_put(const struct messages *m, size_t first, struct bytes *out)
{
	size_t head, from = rest_of(m, first, &head);

	return (head && bytes_put(out, m->text.p, head))
		|| (from < m->text.n && bytes_put(out, m->text.p + from, m->text.n - from)) ? -1 : 0;
}

int messages_write(const struct messages *m, size_t first, int fd, struct why *w)
{
	size_t head, from = rest_of(m, first, &head);

	return io_write(fd, m->text.p, head, w) || io_write(fd, m->text.p + from, m->text.n - from, w) ? -1 : 0;
}

const char *messages_line(const struct messages *m, size_t i, size_t *n)
{
	size_t at = start_of(m, i);

	*n = start_of(m, i + 1) - at;
	return m->text.p + at;
}

int messages_content(const struct messages *m, size_t i, struct bytes *out)
{
	struct arena a = { .limit = LINE_MEMORY };
	size_t n;
	const char *line = messages_line(m, i, &n);
	struct why ignored;
	const struct json *content = json_get(json_parse(&a, line, n, &ignored), "content");
	int failed = content_text(content, out);

	arena_free(&a);
	return failed ? -1 : 0;
}

/* ---- lines of a file ---- */

/* Reads a line of the file. Anything but a single message (chat also accepts arrays) begins no turn. Returns 1 if it is
 * damaged. */
static int read_line(struct messages *m, size_t at, size_t n, struct why *w)
{
	struct arena a = { .limit = LINE_MEMORY };
	struct why cause;
	const struct json *v;
	const char *role;
	int failed;

	if (space_leading(m->text.p + at, n) == n)
		return 0;
	v = json_parse(&a, m->text.p + at, n, &cause);
	role = v ? json_get_string(v, "role") : NULL;
	if (!role && (!v || (v->type != JSON_ARRAY && !json_get(v, "messages")))) {
		arena_free(&a);
		return why(w, "not a message in JSON"), 1;
	}
	failed = note(m, at, role && !strcmp(role, "user"), w);
	arena_free(&a);
	return failed;
}

/* Whether the last line, line[n] up to `end`, is what a power failure leaves of a write. */
static int is_torn(const char *line, size_t n, const char *end)
{
	return !end || memchr(line, 0, n);
}

int messages_index(struct messages *m, const char *path, size_t *good, struct why *w)
{
	size_t number = 1, at, n;
	int status;

	for (at = 0; at < m->text.n; at += n + 1, number++) {
		const char *end = memchr(m->text.p + at, '\n', m->text.n - at);

		n = end ? (size_t)(end - m->text.p) - at : m->text.n - at;
		if (!(status = read_line(m, at, n, w)))
			continue;
		if (status < 0 || at + n + 1 < m->text.n || !is_torn(m->text.p + at, n, end))
			return why(w, "%s: line %zu: %s", path, number, status < 0 ? "out of memory"
				: "not a message in JSON");
		m->text.n = at;
		/* the rest of its turn was written together with it */
		if (m->n && m->list[m->n - 1].user)
			messages_cut(m, m->n - 1);
		*good = m->text.n;
		why(w, "%s: line %zu is damaged: the conversation continues without its turn", path, number);
		return 1;
	}
	*good = m->text.n;
	return m->text.n && m->text.p[m->text.n - 1] != '\n' && bytes_put(&m->text, "\n", 1)
		? why(w, "%s: too long", path) : 0;
}

void messages_clear(struct messages *m)
{
	size_t head = messages_turn(m, 0);

	m->keep |= head < m->n;
	messages_cut(m, head);
}

int messages_set_system(struct messages *m, const char *text, size_t n, struct why *w)
{
	struct bytes all = { .limit = m->text.limit };
	size_t from = start_of(m, messages_turn(m, 0)), dropped = 0, good;

	if ((n && put_message(&all, "system", text, n))
	    || (from < m->text.n && bytes_put(&all, m->text.p + from, m->text.n - from))) {
		bytes_free(&all);
		return why(w, "the conversation is too long");
	}
	for (size_t i = 0; i < m->first; i++)
		dropped += (size_t)m->list[i].user;
	bytes_free(&m->text);
	m->text = all;
	m->saved = m->n = 0;
	m->keep = 1;
	if (messages_index(m, "system", &good, w))
		return -1;
	m->first = messages_turn(m, dropped);
	return 0;
}
