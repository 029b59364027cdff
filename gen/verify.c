/* Each record is drawn again by a process of its own, as if its options were a command line. */
#include "verify.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "lib/base/lines.h"
#include "lib/base/out.h"
#include "gen/loop/replay.h"
#include "arguments.h"
#include "options.h"
#include "record.h"
#include "run.h"
#include "signals.h"

enum { TROUBLE = 2, PROMPT_MAX = 1 << 30 };

/* ---- what differs ---- */

static void differ(struct request *q, const char *what)
{
	struct why ignored;

	out_text(q->about);
	out_text(": ");
	out_text(what);
	out_char('\n');
	/* an error of writing is sticky, and reported at the end */
	out_flush(&ignored);
	q->differs = 1;
}

void verify_ids(struct request *q, const struct replay *replay)
{
	struct why w;

	replay_tell(replay, &w);
	differ(q, w.text);
}

/* Whether two texts are the same as JSON, where U+FFFD stands for what is not UTF-8. */
static int is_same(const char *a, size_t n_a, const char *b, size_t n_b)
{
	struct bytes a_text = { .limit = SIZE_MAX }, b_text = { .limit = SIZE_MAX };
	struct json_writer a_json = json_to_bytes(&a_text), b_json = json_to_bytes(&b_text);
	int same;

	json_string(&a_json, a, n_a);
	json_string(&b_json, b, n_b);
	same = !a_text.failed && !b_text.failed && a_text.n == b_text.n && !memcmp(a_text.p, b_text.p, a_text.n);
	bytes_free(&a_text);
	bytes_free(&b_text);
	return same;
}

/* The loop may end a text before the stop string that its last id completes has come. */
static int is_same_stop(const struct record *record, const struct result *r)
{
	return r->stop && record->stop ? is_same(r->stop, r->n_stop, record->stop, record->n_stop)
		: !record->stop || r->reason == FRAME_END_STOP;
}

void verify_text(struct request *q, const struct result *r, const struct bytes *text)
{
	const struct record *record = q->record;
	const char *reason = frame_reason_key(r->reason);
	struct why w;

	if (!reason || strcmp(reason, record->reason)) {
		why(&w, "stop_reason: recorded %s, drawn %s", record->reason, reason ? reason : "null");
		differ(q, w.text);
	} else if (!is_same_stop(record, r))
		differ(q, "stop: another string");
	else if (!is_same(bytes_text(text), text->n, record->text, record->n_text))
		differ(q, "text: not that of the ids");
}

/* ---- a record ---- */

/* Appends the prompt as decimal ids, which tok reads. */
static int spell_prompt(const struct record *record, struct bytes *text, struct why *w)
{
	char id[16];

	for (size_t i = 0; i < record->prompt.n; i++) {
		snprintf(id, sizeof id, "%" PRId32 "\n", record->prompt.id[i]);
		if (bytes_puts(text, id))
			return why(w, "out of memory");
	}
	return 0;
}

/* Makes the stream that feed --replay reads. */
static int write_stream(const struct record *record, struct why *w)
{
	uint32_t pos = (uint32_t)record->prompt.n, n = (uint32_t)record->ids.n;
	int fd = stage_file(w);

	return fd < 0 || card_write(fd, &record->card, w)
		|| frame_write_ids(fd, record->ids.id, n, pos, FRAME_SAMPLED, 0, w)
		|| frame_write_end(fd, FRAME_END_EOG, pos + n, 0, w) || stage_rewind(fd, w) ? -1 : fd;
}

/* Makes the commands of the stages. */
static int make_stages(struct request *q, const char *argv0, struct why *w)
{
	static char stream[STAGE_PATH], grammar[STAGE_PATH];
	const struct record *record = q->record;
	int fd;

	if (arguments(q, argv0, w) || (fd = write_stream(record, w)) < 0
	    || stage_arg_path(&q->stage[FEED], "--replay", fd, stream, w))
		return -1;
	if (!record->grammar)
		return 0;
	return (fd = stage_file(w)) < 0 || io_write(fd, record->grammar, record->n_grammar, w) || stage_rewind(fd, w)
		|| stage_arg_path(&q->stage[SAMPLE], "--grammar-file", fd, grammar, w) ? -1 : 0;
}

/* Draws the text of a record again. Returns the exit status. */
static int verify_record(const struct request *user, struct cli c, const char *argv0, const char *about,
	const char *line, size_t n)
{
	static struct record record;
	static struct bytes prompt = { .limit = PROMPT_MAX };
	static struct request q;
	static char speaker[1100];
	struct why w;
	int status;

	snprintf(speaker, sizeof speaker, "%s: %.1024s", user->program, about);
	c.program = speaker;
	c.trouble = TROUBLE;
	cli_must(&c, record_read(&record, line, n, &w) || spell_prompt(&record, &prompt, &w), &w);
	q = (struct request){ .program = user->program, .speaker = speaker, .about = about, .record = &record,
		.prompt = prompt.p, .prompt_n = prompt.n };
	options_record(&q, user, &c);
	cli_must(&c, make_stages(&q, argv0, &w), &w);
	status = run(&q);
	status = cli_end(&c) || (status && !q.differs) ? TROUBLE : q.differs;
	record_free(&record);
	return status;
}

/* ---- all of them ---- */

/* Runs it in a process of its own, because a usage error ends the process. */
static int start(struct request *q, const struct cli *c, const char *argv0, const char *about, const char *line,
	size_t n)
{
	struct stage *child = &q->stage[0];
	sigset_t all, before;
	int status;

	/* no signal may arrive before the handler knows the child */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	child->pid = fork();
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (child->pid < 0)
		cli_die(c, "fork: %s", strerror(errno));
	if (!child->pid)
		exit(verify_record(q, *c, argv0, about, line, n));
	while (waitpid(child->pid, &status, 0) < 0)
		if (errno != EINTR)
			cli_die(c, "waitpid: %s", strerror(errno));
	child->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : TROUBLE;
}

int verify(struct request *q, struct cli *c, const char *argv0)
{
	struct lines lines;
	int more, worst = 0, status;
	char about[1024], *line;
	struct why w;
	size_t n;

	c->trouble = TROUBLE;
	signals_take(q);
	cli_must(c, lines_open(&lines, q->verify, &w), &w);
	while ((more = lines_next(&lines, &line, &n, &w)) > 0) {
		if (json_blank(line, n) == n)
			continue;
		snprintf(about, sizeof about, "%.900s: line %zu", lines.name, lines.number);
		status = start(q, c, argv0, about, line, n);
		worst = status > worst ? status : worst;
	}
	cli_must(c, more < 0, &w);
	if (!lines.number)
		cli_die(c, "%s: no records", lines.name);
	lines_close(&lines);
	return worst;
}
