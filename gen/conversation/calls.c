/* The program runs in a process group of its own, which is killed when its time is over. */
#include "calls.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/io.h"
#include "lib/base/members.h"
#include "lib/chat/answer/tools.h"
#include "console.h"
#include "convert.h"

enum { RESULT_MAX = 1 << 20, SLICE = 50 };      /* bytes; milliseconds between two looks at the program */

struct call {
	const char *name;
	struct span id, arguments;
};

/* ---- the program ---- */

/* Reads what the program prints, until it has ended. -1: it will not be waited for, for the reason in *w. */
static int read_result(struct stage *s, int fd, int seconds, struct bytes *out, struct why *w)
{
	double end = clock_now() + seconds;
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	char text[4096];
	ssize_t n;

	while (ready.fd >= 0 || !stage_has_ended(s)) {
		if (console_cancelled())
			return why(w, "cancelled by the user");
		if (clock_now() >= end)
			return why(w, "not done after %d s", seconds);
		ready.revents = 0;
		if (poll(&ready, 1, SLICE) <= 0 || !ready.revents)
			continue;
		if ((n = io_read(fd, text, sizeof text)) <= 0)
			ready.fd = -1;
		else if (bytes_put(out, text, (size_t)n))
			return why(w, "a result of more than %d bytes", RESULT_MAX);
	}
	return 0;
}

/* Starts the program with a file that has the arguments. Returns a descriptor of what it prints, or -1. */
static int start(struct stage *s, const struct call *call, struct why *w)
{
	int in = stage_file(w), fd[2];

	if (in < 0)
		return -1;
	if (io_write(in, call->arguments.s, call->arguments.n, w) || stage_rewind(in, w) || stage_pipe(fd, w)) {
		close(in);
		return -1;
	}
	if (!stage_start(s, in, fd[1], w))
		return fd[0];
	close(fd[0]);
	return -1;
}

/* Runs the program: appends what it prints to *result. -1 with a reason if that is not its result. */
static int run_program(struct request *q, const struct call *call, struct bytes *result, struct why *w)
{
	struct stage *s = &q->stage[TOOL];
	struct why ignored;
	int fd, failed;

	if (s->n)
		stage_cut(s, 0);
	s->name = call->name;
	s->program = q->tool_command;
	s->apart = 1;
	if (stage_arg(s, q->tool_command, w) || stage_arg(s, call->name, w) || (fd = start(s, call, w)) < 0)
		return -1;
	if ((failed = read_result(s, fd, q->tool_time, result, w))) {
		result->n = 0;
		stages_kill(s, 1);
		stage_wait(s, &ignored);
	} else
		failed = stage_wait(s, w);
	close(fd);
	return failed;
}

/* ---- a call ---- */

/* Whether the call may be run: -1 with a reason. */
static int check(struct conversation *v, const struct call *call, struct why *w)
{
	const struct json *parameters, *arguments;
	struct arena a = { .limit = CONVERT_MAX };
	struct why cause;
	int valid;

	if (console_cancelled())
		return why(w, "cancelled by the user");
	if (!tools_find(v->parser.chat.variables, span_of(call->name), &parameters))
		return why(w, "there is no such tool");
	arguments = json_parse(&a, call->arguments.s, call->arguments.n, &cause);
	valid = arguments && arguments->type == JSON_OBJECT;
	arena_free(&a);
	if (!valid)
		return why(w, "the arguments are not a JSON object");
	if (v->q->yes)
		return 0;
	switch (console_ask(call->name, call->arguments.s, call->arguments.n)) {
	case CONSOLE_NO: return why(w, "the user does not allow this call");
	case CONSOLE_ALL: v->q->yes = 1; break;
	case CONSOLE_YES: break;
	}
	return 0;
}

/* Adds the result of a call to the messages. */
static int add_result(struct conversation *v, const struct call *call, const struct bytes *result, struct why *w)
{
	struct bytes text = { .limit = CONVERT_MAX }, line = { .limit = CONVERT_MAX };
	struct json_writer json = json_to_bytes(&line);
	int failed = result->n && convert_bytes(result->p, result->n, &text, w);

	while (text.n && text.p[text.n - 1] == '\n')
		text.n--;
	json_open(&json, '{');
	member_text(&json, "role", "tool");
	member_bytes(&json, "tool_call_id", call->id.s, call->id.n);
	member_text(&json, "name", call->name);
	member_bytes(&json, "content", text.p, text.n);
	json_close(&json, '}');
	if (!failed && bytes_put(&line, "\n", 1))
		failed = why(w, "out of memory");
	failed = failed || messages_add_line(&v->messages, line.p, line.n, w);
	bytes_free(&text);
	bytes_free(&line);
	return failed ? -1 : 0;
}

static int do_call(struct conversation *v, const struct call *call, struct why *w)
{
	struct bytes result = { .limit = RESULT_MAX };
	struct why cause;
	int failed = 0;

	if (check(v, call, &cause) || run_program(v->q, call, &result, &cause)) {
		struct bytes error = { .limit = CONVERT_MAX };

		bytes_puts(&error, "error: ");
		bytes_puts(&error, cause.text);
		bytes_puts(&error, "\n");
		if (result.n)
			bytes_put(&error, result.p, result.n);
		failed = error.failed ? why(w, "out of memory") : add_result(v, call, &error, w);
		bytes_free(&error);
	} else
		failed = add_result(v, call, &result, w);
	bytes_free(&result);
	return failed;
}

/* ---- the calls of an answer ---- */

static struct span member(const struct json *object, const char *key)
{
	const struct json *text = json_get(object, key);

	return text && text->type == JSON_STRING ? (struct span){ text->s, text->n } : span_of("");
}

/* The calls of the last message, or NULL. */
static const struct json *last_calls(const struct conversation *v, struct arena *a)
{
	size_t n;
	const char *line = messages_line(&v->messages, v->messages.n - 1, &n);
	struct why ignored;
	const struct json *calls = json_get(json_parse(a, line, n, &ignored), "tool_calls");

	return calls && calls->type == JSON_ARRAY ? calls : NULL;
}

size_t calls_count(const struct conversation *v)
{
	struct arena a = { .limit = CONVERT_MAX };
	const struct json *calls = last_calls(v, &a);
	size_t n = calls ? calls->n : 0;

	arena_free(&a);
	return n;
}

int calls_run(struct conversation *v, struct why *w)
{
	struct arena a = { .limit = CONVERT_MAX };
	const struct json *calls = last_calls(v, &a);
	int failed = calls ? 0 : why(w, "out of memory");

	for (const struct json *c = calls ? calls->child : NULL; c && !failed; c = c->next) {
		const struct json *function = json_get(c, "function");
		const char *name = json_get_string(function, "name");
		struct call call = { name, member(c, "id"), member(function, "arguments") };

		failed = name ? do_call(v, &call, w) : 0;
	}
	arena_free(&a);
	return failed;
}
