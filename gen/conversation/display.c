#include "display.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "gen/pipeline.h"
#include "alone.h"
#include "show.h"

/* What prints an answer. */
static const struct printer {
	void (*begin)(const struct parser *p);
	void (*text)(const char *s, size_t n);
	void (*end)(void);
} on_terminal = { show_begin, show_text, show_end }, alone = { alone_begin, alone_text, alone_end };

static struct {
	const struct printer *printer;
	struct conversation *v;
	struct frame_in ends;   /* detok reports here that it has printed an answer */
	int begun;              /* part of the answer has been shown */
} display;

/* loop->show(): shows more of what detok prints. */
static void show_more(struct loop *l)
{
	char text[4096];
	ssize_t n = io_read(l->text, text, sizeof text);
	struct why lost;

	if (n <= 0) {
		l->gone |= LOOP_COPY;
		return;
	}
	if (!display.begun++)
		display.printer->begin(&display.v->parser);
	display.printer->text(text, (size_t)n);
	if (display.v->q->answer && alone_written(&lost))
		l->gone |= LOOP_COPY;
}

/* Calls that are run are not part of the answer; the question whether to run one shows it. */
void display_open_alone(const struct request *q)
{
	int terminal = isatty(STDERR_FILENO), thoughts = q->think > 0 || (!q->think && terminal);
	int shown = q->yes && (thoughts || terminal);

	alone_open(thoughts, !q->tool_command ? STDOUT_FILENO : shown ? STDERR_FILENO : -1, q->listed);
}

int display_start(struct conversation *v, struct why *w)
{
	struct stage *detok = &v->q->stage[DETOK];
	struct loop *l = v->l;
	int text[2], ends[2], failed;
	static char path[STAGE_PATH];

	if (v->q->answer)
		display_open_alone(v->q);
	if (stage_pipe(text, w) || stage_pipe(ends, w))
		return -1;
	failed = stage_inherit(ends[1], w) || stage_arg_path(detok, "--end", ends[1], path, w)
		|| pipeline_start(v->q, l, text[1], w);
	close(ends[1]);
	l->text = text[0];
	l->show = show_more;
	frame_open_in(&display.ends, ends[0], "detok --end");
	display.printer = v->q->answer ? &alone : &on_terminal;
	display.v = v;
	return failed ? -1 : 0;
}

int display_finish(struct conversation *v, struct why *w)
{
	struct pollfd ready[2] = {
		{ .fd = v->l->text, .events = POLLIN }, { .fd = display.ends.fd, .events = POLLIN }
	};
	struct frame f;

	do {
		ready[0].revents = ready[1].revents = 0;
		if (poll(ready, 2, -1) < 0 && errno != EINTR)
			return why(w, "poll: %s", strerror(errno));
		if (ready[0].revents)
			show_more(v->l);
	} while (!v->l->gone && (ready[0].revents || !ready[1].revents));
	display.printer->end();
	display.begun = 0;
	return v->l->gone || frame_next(&display.ends, &f, w) < 0 ? -1 : 0;
}
