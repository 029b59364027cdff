/* The input is a file without a name, so neither process waits for the other. */
#include "child.h"

#include <stdint.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "lib/base/members.h"

enum { LINE_ARENA = 1 << 30 };

int child_add(struct child *e, size_t n, const char *const key[], const char *const value[],
	const size_t length[], struct why *w)
{
	struct json_writer j;

	e->input.limit = PTRDIFF_MAX;
	j = json_to_bytes(&e->input);
	json_open(&j, '{');
	for (size_t i = 0; i < n; i++) {
		member_bytes(&j, key[i], value[i], length[i]);
	}
	json_close(&j, '}');
	return j.failed || bytes_put(&e->input, "\n", 1) ? why(w, "out of memory") : 0;
}

int child_start(struct child *e, struct why *w)
{
	int out[2], in = stage_file(w);

	if (in < 0)
		return -1;
	if (io_write(in, e->input.p, e->input.n, w) || stage_rewind(in, w) || stage_pipe(out, w)) {
		close(in);
		return -1;
	}
	lines_open_fd(&e->output, out[0], e->stage.name);
	return stage_start(&e->stage, in, out[1], w);
}

const struct json *child_next(struct child *e, struct why *w)
{
	const struct json *v;
	char *line;
	size_t n;
	int got = lines_next(&e->output, &line, &n, w);

	if (got <= 0) {
		e->early = !got;
		if (!got)
			why(w, "%s: the output ends early", e->stage.name);
		return NULL;
	}
	arena_free(&e->arena);
	e->arena.limit = LINE_ARENA;
	if (!(v = json_parse_line(&e->arena, line, n, e->output.number, w)))
		why_in(w, e->stage.name);
	return v;
}

void child_end(struct child *e, struct why *w)
{
	struct stage stage = e->stage;
	struct why of_process;

	lines_close(&e->output);
	if (stage.pid > 0 && stage_wait(&stage, &of_process) && e->early)
		*w = of_process;
	stage.pid = 0;
	arena_free(&e->arena);
	bytes_free(&e->input);
	*e = (struct child){ .stage = stage };
}
