/* Files of tensors. */
#include "dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/stream/frame.h"
#include "fwd/plan/plan.h"

struct tensor {
	const char *suffix;
	uint32_t kind;
	struct buffer from;
	size_t cols, row, n;    /* rows [row, row + n) of it, */
	size_t first;           /* which are from this row of the batch on */
};

int dump_open(struct dump *d, const char *dir, struct why *w)
{
	*d = (struct dump){ .dir = dir };
	return mkdir(dir, 0777) ? why(w, "--dump-tensors: %s: %s", dir, strerror(errno)) : 0;
}

/* ---- one file ---- */

static int path_of(const struct dump *d, const struct plan *p, size_t i, const char *suffix, char *path, size_t room, struct why *w)
{
	const struct label *l = &p->label[i];
	char layer[32] = "";
	int n;

	if (l->layer != LABEL_NONE)
		snprintf(layer, sizeof layer, "blk.%zu.", l->layer);
	n = snprintf(path, room, "%s/%04zu-%s%s%s", d->dir, i, layer, l->name, suffix);
	return n < 0 || (size_t)n >= room ? why(w, "%s: a name too long", d->dir) : 0;
}

static int write_rows(int fd, const struct plan *p, const struct tensor *t, struct why *w)
{
	struct frame f = { .kind = t->kind, .rows = (uint32_t)t->n, .cols = (uint32_t)t->cols, .type = FRAME_F32,
		.pos = (uint32_t)(p->step.pos + t->first) };

	if (frame_write_header(fd, &f, w) < 0)
		return -1;
	for (size_t i = t->row; i < t->row + t->n; i++)
		if (frame_write_elements(fd, &f, t->from.at + i * t->from.stride, t->cols, w) < 0)
			return -1;
	return 0;
}

static void append(struct dump *d, const struct plan *p, size_t i, struct tensor t)
{
	char path[4096];
	int fd;

	if (d->failed || path_of(d, p, i, t.suffix, path, sizeof path, &d->why) < 0) {
		d->failed = -1;
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		d->failed = why(&d->why, "%s: %s", path, strerror(errno));
	else if (write_rows(fd, p, &t, &d->why) < 0)
		d->failed = why_in(&d->why, path);
	if (fd >= 0 && close(fd) && !d->failed)
		d->failed = why(&d->why, "%s: %s", path, strerror(errno));
}

/* ---- one op ---- */

static void dump_rows(struct dump *d, const struct plan *p, size_t i, size_t first, size_t n)
{
	const struct op_rows *o = &p->op[i].rows;

	if (o->f == ROWS_NORM)
		append(d, p, i, (struct tensor){ ".in", FRAME_HIDDEN, o->in, o->n, first, n, first });
	if (o->f != ROWS_SAME || o->branch.at)
		append(d, p, i, (struct tensor){ "", FRAME_HIDDEN, o->out, o->n, first, n, first });
}

static void dump_product(struct dump *d, const struct plan *p, size_t i, size_t first, size_t n)
{
	const struct op_product *o = &p->op[i].product;
	struct tensor t = { "", FRAME_HIDDEN, o->part[0].y, 0, first, n, first };

	for (size_t k = 0; k < o->n_parts; k++)
		t.cols += o->part[k].w.rows;
	if (!t.from.at) {
		t.kind = FRAME_LOGITS;
		t.from = (struct buffer){ p->step.logits, t.cols };
		t.row = 0;
	}
	append(d, p, i, t);
}

static void dump_attend(struct dump *d, const struct plan *p, size_t i)
{
	const struct op_attend *a = &p->op[i].attend;
	const struct attend *h = &a->heads;
	size_t n = a->tail ? p->step.wanted : p->step.n, first = p->step.n - n;

	if (!n)
		return;
	append(d, p, i, (struct tensor){ ".qkv", FRAME_HIDDEN, a->qkv, h->n_head * h->dim_k + h->n_head_kv * (h->dim_k + h->dim_v), first, n,
		first });
	append(d, p, i, (struct tensor){ "", FRAME_HIDDEN, a->out, h->n_head * h->dim_v, first, n, first });
}

void dump_op(struct dump *d, const struct plan *p, size_t i, size_t first, size_t n)
{
	switch (p->op[i].code) {
	case OP_EMBED:
		append(d, p, i, (struct tensor){ "", FRAME_HIDDEN, p->op[i].embed.x, p->model->n_embd, first, n, first });
		break;
	case OP_ROWS:
		dump_rows(d, p, i, first, n);
		break;
	case OP_PRODUCT:
		dump_product(d, p, i, first, n);
		break;
	case OP_ATTEND:
		dump_attend(d, p, i);
		break;
	}
}
