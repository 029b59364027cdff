/* Writes the rows of an op as frames, appended to the op's file batch after batch. */
#include "dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/size.h"
#include "lib/stream/frame.h"
#include "fwd/plan/plan.h"

int dump_open(struct dump *d, const char *dir, struct why *w)
{
	*d = (struct dump){ .dir = dir };
	return mkdir(dir, 0777) ? why(w, "--dump-tensors: %s: %s", dir, strerror(errno)) : 0;
}

static int open_file(const struct dump *d, const struct plan *p, const struct op *op, const char *suffix, struct why *w)
{
	char path[4096], layer[32] = "";
	int n, fd;

	if (op->layer != OP_NO_LAYER)
		snprintf(layer, sizeof layer, "%sblk.%zu.", op->stack, op->layer);
	n = snprintf(path, sizeof path, "%s/%04zu-%s%s%s", d->dir, (size_t)(op - p->op), layer, op->name, suffix);
	if (n < 0 || (size_t)n >= sizeof path)
		return why(w, "name too long");
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	return fd < 0 ? why(w, "%s: %s", op->name, strerror(errno)) : fd;
}

/* Writes rows [from, to); the first is at position pos. */
static int write_rows(int fd, const struct output *out, const struct step *s, size_t from, size_t to, size_t pos,
	struct why *w)
{
	int logits = !out->from.at;
	struct frame f = { .kind = logits ? FRAME_LOGITS : FRAME_HIDDEN, .rows = (uint32_t)(to - from),
		.cols = (uint32_t)out->cols, .type = FRAME_F32, .pos = (uint32_t)pos };
	const float *row;

	if (frame_write_header(fd, &f, w) < 0)
		return -1;
	for (size_t i = from; i < to; i++) {
		row = logits ? s->logits + (i - s->first) * out->cols : buffer_row(&out->from, i);
		if (frame_write_elements(fd, &f, row, out->cols, w) < 0)
			return -1;
	}
	return 0;
}

/* Writes the op's rows, one frame for each run. */
static int write_runs(int fd, const struct op *op, const struct output *out, const struct step *s, struct why *w)
{
	for (const struct run *r = s->run; r < s->run + s->n_runs; r++) {
		size_t first = op->wanted ? r->first_wanted : r->first, n = op->wanted ? r->wanted : r->n;
		size_t from = size_max(first, s->first), to = size_min(first + n, s->first + s->n);

		if (from < to && write_rows(fd, out, s, from, to, r->pos + r->n - n + from - first, w) < 0)
			return -1;
	}
	return 0;
}

void dump_op(void *dump, const struct plan *p, const struct op *op)
{
	struct dump *d = dump;
	int fd;

	for (const struct output *out = op->output; out < op->output + OP_OUTPUTS && out->suffix && !d->failed; out++) {
		fd = open_file(d, p, op, out->suffix, &d->why);
		d->failed = fd < 0 || write_runs(fd, op, out, &p->step, &d->why) < 0 ? why_in(&d->why, d->dir) : 0;
		if (fd >= 0 && close(fd) && !d->failed)
			d->failed = why(&d->why, "%s: %s", d->dir, strerror(errno));
	}
}
