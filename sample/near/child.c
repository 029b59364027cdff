/* The input is a file without a name, so neither process waits for the other. */
#include "child.h"

#include <stdint.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "lib/base/members.h"

enum { LINE_ARENA = 1 << 30 };

int child_add(struct child *c, size_t n, const char *const key[], const char *const value[],
	const size_t length[], struct why *w)
{
	struct json_writer j;

	c->input.limit = PTRDIFF_MAX;
	j = json_to_bytes(&c->input);
	json_open(&j, '{');
	for (size_t i = 0; i < n; i++)
		member_bytes(&j, key[i], value[i], length[i]);
	json_close(&j, '}');
	return j.failed || bytes_put(&c->input, "\n", 1) ? why(w, "out of memory") : 0;
}

int child_start(struct child *c, struct why *w)
{
	int out[2], in = stage_file(w);

	if (in < 0)
		return -1;
	if (io_write(in, c->input.p, c->input.n, w) || stage_rewind(in, w) || stage_pipe(out, w)) {
		close(in);
		return -1;
	}
	lines_open_fd(&c->output, out[0], c->stage.name);
	return stage_start(&c->stage, in, out[1], w);
}

const struct json *child_next(struct child *c, struct why *w)
{
	const struct json *v;
	char *line;
	size_t n;
	int got = lines_next(&c->output, &line, &n, w);

	if (got <= 0) {
		c->early = !got;
		if (!got)
			why(w, "%s: the output ends early", c->stage.name);
		return NULL;
	}
	arena_free(&c->arena);
	c->arena.limit = LINE_ARENA;
	if (!(v = json_parse_line(&c->arena, line, n, c->output.number, w)))
		why_in(w, c->stage.name);
	return v;
}

void child_end(struct child *c, struct why *w)
{
	struct stage stage = c->stage;
	struct why of_process;

	lines_close(&c->output);
	if (stage.pid > 0 && stage_wait(&stage, &of_process) && c->early)
		*w = of_process;
	stage.pid = 0;
	arena_free(&c->arena);
	bytes_free(&c->input);
	*c = (struct child){ .stage = stage };
}
