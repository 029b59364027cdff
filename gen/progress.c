/* What is shown of the work so far, in one line that the next one, or the text, replaces. */
#include "progress.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/io.h"
#include "lib/base/progress_line.h"

enum { TIME = 64 };     /* bytes of what says how long something takes */

static const char *program;

/* ---- one text: until its first token ---- */

/* the file in which fwd reports progress; 0: none */
static int file;

/* Tells fwd to report its progress. */
static int open_file(struct request *q, struct why *w)
{
	static char path[STAGE_PATH];

	if (!q->stage[FWD].n || q->stage[FWD].shell || q->hosts)
		return 0;
	return (file = stage_file(w)) < 0 || stage_arg_path(&q->stage[FWD], "--progress", file, path, w) ? -1 : 0;
}

/* Writes percent and the seconds left at the current rate, or the seconds waited. */
static void tell_time(double waited, char time[TIME])
{
	char line[64] = "";
	double done, all;

	snprintf(time, TIME, "%.1f s", waited);
	if (file && pread(file, line, sizeof line - 1, 0) > 0 && sscanf(line, "%lf of %lf", &done, &all) == 2
	    && done > 0 && done <= all)
		snprintf(time, TIME, "%.0f%%, %.0f s left", 100 * done / all, waited * (all - done) / done);
}

void progress_wait(struct loop *l, int waiting)
{
	double waited = clock_now() - l->r->begin;
	char time[TIME];

	/* what it says was about the previous prompt */
	if (!waiting && file && ftruncate(file, 0))
		file = 0;
	if (waiting && waited >= 1 && isatty(STDERR_FILENO)) {
		tell_time(waited, time);
		if (l->card.n_vocab)
			progress_line("%s: a prompt of %zu tokens, %s", program, l->r->prompt.n, time);
		else
			progress_line("%s: loading the model, %s", program, time);
	} else if (!waiting)
		progress_line_clear();
}

/* ---- several texts ---- */

static struct {
	size_t all;             /* 0: not known */
	double begin, shown;    /* clock_now(); 0: never */
} batch;

static void show_batch(struct loop *l)
{
	double now = clock_now(), took = now - batch.begin;
	char all[32] = "", rest[TIME] = "";

	/* until the first id, it is the prompt that takes time */
	if (!l->drawing || took < 1 || now < batch.shown + 0.2)
		return;
	if (batch.all)
		snprintf(all, sizeof all, " of %zu", batch.all);
	if (l->done && l->done <= batch.all)
		snprintf(rest, TIME, ", %.0f s left", took * (double)(batch.all - l->done) / (double)l->done);
	progress_line("%s: %zu%s texts, %.0f tokens/s%s", program, l->done, all, (double)l->drawn / took, rest);
	batch.shown = now;
}

/* The number of lines; 0 if it cannot be told without reading what is read only once. */
static size_t count_lines(const char *path)
{
	static char part[1 << 16];
	size_t lines = 0;
	struct stat st;
	char last = '\n';
	ssize_t n;
	int fd;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return 0;
	while ((n = io_read(fd, part, sizeof part)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			lines += part[i] == '\n';
		last = part[n - 1];
	}
	close(fd);
	return lines + (last != '\n');
}

/* ---- both ---- */

int progress_start(struct request *q, struct loop *l, struct why *w)
{
	int terminal = isatty(STDERR_FILENO);

	program = q->program;
	l->idle = l->r ? progress_wait : NULL;
	if ((q->listed || q->best_of) && terminal && !isatty(STDOUT_FILENO)) {
		batch.all = q->lines ? count_lines(q->lines) : (size_t)q->texts;
		batch.begin = clock_now();
		l->tick = show_batch;
	}
	return l->idle && terminal ? open_file(q, w) : 0;
}

void progress_end(void)
{
	progress_line_clear();
	batch.shown = 0;
}
