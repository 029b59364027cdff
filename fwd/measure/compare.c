/* Reads the tensors of two dumps side by side. */
#include "compare.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/grow.h"
#include "lib/base/out.h"
#include "lib/stream/frame.h"

/* ---- the files of a dump ---- */

struct tensor {
	char *file;
	unsigned long op;
	const char *name;               /* in `file`, after the op's number */
	int taken;                      /* it has been compared */
};

struct folder {
	const char *path;
	struct tensor *tensor;          /* [n], by op */
	size_t n, room;
};

static int add_file(struct folder *d, const char *file, struct why *w)
{
	char *name;
	unsigned long op = strtoul(file, &name, 10);
	struct tensor *t;

	if (name == file || *name++ != '-')
		return why(w, "%s: %s: not a tensor of --dump-tensors", d->path, file);
	if (d->n == d->room && grow(&d->tensor, &d->room, sizeof *d->tensor, 256) < 0)
		return why(w, "out of memory");
	t = &d->tensor[d->n];
	*t = (struct tensor){ .file = strdup(file), .op = op };
	if (!t->file)
		return why(w, "out of memory");
	t->name = t->file + (name - file);
	d->n++;
	return 0;
}

/* An op's inputs, whose names are longer, precede its result. */
static int by_op(const void *a, const void *b)
{
	const struct tensor *x = a, *y = b;

	return x->op != y->op ? (x->op > y->op) - (x->op < y->op) : strcmp(y->name, x->name);
}

static int read_folder(struct folder *d, const char *path, struct why *w)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	int status = 0;

	*d = (struct folder){ .path = path };
	if (!dir)
		return why(w, "%s: %s", path, strerror(errno));
	errno = 0;
	while (status == 0 && (e = readdir(dir))) {
		if (*e->d_name != '.')
			status = add_file(d, e->d_name, w);
		errno = 0;
	}
	if (status == 0 && errno)
		status = why(w, "%s: %s", path, strerror(errno));
	closedir(dir);
	if (d->n)
		qsort(d->tensor, d->n, sizeof *d->tensor, by_op);
	return status;
}

static void free_folder(struct folder *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->tensor[i].file);
	free(d->tensor);
}

/* The first tensor of this name that has not been taken, as a layer may have two; or NULL. */
static struct tensor *find(const struct folder *d, const char *name)
{
	for (struct tensor *t = d->tensor; t < d->tensor + d->n; t++)
		if (!t->taken && !strcmp(t->name, name))
			return t;
	return NULL;
}

/* ---- the rows of a tensor ---- */

struct dumped_rows {
	char path[4096];
	struct frame_in in;
	struct frame f;
	uint32_t row;                   /* rows of the frame that have been read */
	size_t pos;                     /* of the last of them, */
	float *x;                       /* [f.cols] */
	size_t room;                    /* bytes */
};

static int open_rows(struct dumped_rows *r, const char *folder, const char *file, struct why *w)
{
	int n = snprintf(r->path, sizeof r->path, "%s/%s", folder, file);
	int fd = n < (int)sizeof r->path ? open(r->path, O_RDONLY | O_CLOEXEC) : -1;

	r->f.rows = r->row = 0;
	frame_open_in(&r->in, fd, r->path);
	return fd < 0 ? why(w, "%s: %s", r->path, strerror(errno)) : 0;
}

/* 1: there is another row; 0: there is none; -1. */
static int next_row(struct dumped_rows *r, struct why *w)
{
	int status;

	while (r->row == r->f.rows) {
		if ((status = frame_next(&r->in, &r->f, w)) <= 0)
			return status;
		if (r->f.type != FRAME_F32 || (r->f.kind != FRAME_HIDDEN && r->f.kind != FRAME_LOGITS))
			return why(w, "%s: not a tensor of --dump-tensors", r->path);
		if (grow_scratch(&r->x, &r->room, r->f.cols * sizeof *r->x) < 0)
			return why(w, "out of memory for rows of %" PRIu32, r->f.cols);
		r->row = 0;
	}
	r->pos = r->f.pos + r->row++;
	return frame_read_floats(&r->in, &r->f, r->x, r->f.cols, w) < 0 ? -1 : 1;
}

/* The next rows of the same position. Those of positions that only one tensor has are left out. */
static int next_pair(struct dumped_rows r[2], struct why *w)
{
	int status = next_row(&r[0], w);

	if (status == 1)
		status = next_row(&r[1], w);
	while (status == 1 && r[0].pos != r[1].pos)
		status = next_row(&r[r[0].pos > r[1].pos], w);
	return status;
}

/* ---- two tensors ---- */

struct difference {
	size_t pos, n[2];               /* of the first rows that differ: the position, and the elements of each */
	size_t elements, first;         /* those that differ, and the first of them */
	float x[2];                     /* in each */
	double most, largest;           /* between two elements; of all elements */
	size_t rows, differ;            /* in the tensor */
};

static void describe(struct difference *d, const struct dumped_rows r[2])
{
	d->pos = r[0].pos;
	for (int i = 0; i < 2; i++)
		d->n[i] = r[i].f.cols;
	for (size_t j = 0; j < d->n[0] && d->n[0] == d->n[1]; j++) {
		const float *a = &r[0].x[j], *b = &r[1].x[j];

		d->largest = fmax(d->largest, fmax(fabs((double)*a), fabs((double)*b)));
		if (!memcmp(a, b, sizeof *a))
			continue;
		d->most = fmax(d->most, fabs((double)*a - (double)*b));
		if (d->elements++)
			continue;
		d->first = j;
		d->x[0] = *a;
		d->x[1] = *b;
	}
}

static int compare_rows(struct difference *d, struct dumped_rows r[2], struct why *w)
{
	int status;

	*d = (struct difference){ .rows = 0 };
	while ((status = next_pair(r, w)) == 1) {
		d->rows++;
		if (r[0].f.cols == r[1].f.cols && !memcmp(r[0].x, r[1].x, r[0].f.cols * sizeof *r[0].x))
			continue;
		if (!d->differ++)
			describe(d, r);
	}
	return status;
}

struct comparison {
	struct folder folder[2];
	struct dumped_rows rows[2];
	struct tensor *first[2];        /* the first tensors that differ; or NULL */
	struct difference difference;   /* theirs */
	size_t compared, differ, n_rows, alone;        /* tensors; rows in all; tensors without rows in both dumps */
};

static int compare_tensors(struct comparison *c, struct tensor *a, struct tensor *b, struct why *w)
{
	struct difference d;
	int status = open_rows(&c->rows[0], c->folder[0].path, a->file, w);

	if (status == 0) {
		status = open_rows(&c->rows[1], c->folder[1].path, b->file, w);
		if (status == 0) {
			status = compare_rows(&d, c->rows, w);
			close(c->rows[1].in.fd);
		}
		close(c->rows[0].in.fd);
	}
	if (status < 0)
		return status;
	a->taken = b->taken = 1;
	c->compared += d.rows > 0;
	c->alone += !d.rows;
	c->n_rows += d.rows;
	if (d.differ && !c->differ++) {
		c->difference = d;
		c->first[0] = a;
		c->first[1] = b;
	}
	return 0;
}

static int compare_folders(struct comparison *c, struct why *w)
{
	struct folder *d = &c->folder[0];
	int status = 0;

	for (struct tensor *a = d->tensor; a < d->tensor + d->n && status == 0; a++) {
		struct tensor *b = find(&c->folder[1], a->name);

		if (b)
			status = compare_tensors(c, a, b, w);
		else
			c->alone++;
	}
	for (struct tensor *b = c->folder[1].tensor; b < c->folder[1].tensor + c->folder[1].n; b++)
		c->alone += !b->taken;
	return status == 0 && !c->n_rows ? why(w, "%s, %s: no rows in common", d->path, c->folder[1].path) : status;
}

/* ---- the report ---- */

/* "layer 3, op ffn_norm" for blk.3.ffn_norm; what precedes blk. stays in front. */
static void put_name(const char *name)
{
	const char *block = strstr(name, "blk."), *layer = block ? block + 4 : NULL;
	size_t digits = layer ? strspn(layer, "0123456789") : 0;

	if (digits && layer[digits] == '.')
		out_print("%.*slayer %.*s, op %s", (int)(block - name), name, (int)digits, layer, layer + digits + 1);
	else
		out_print("op %s", name);
}

static void put_difference(const struct comparison *c)
{
	const struct difference *d = &c->difference;

	put_name(c->first[0]->name);
	out_print(", position %zu\n", d->pos);
	if (d->n[0] != d->n[1])
		out_print("its row           %zu elements, and %zu\n", d->n[0], d->n[1]);
	else
		out_print("its row           %zu of %zu elements differ; element %zu is %.9g, and %.9g\n"
			"max |Δ|           %.6g, of values up to %.6g\n", d->elements, d->n[0], d->first,
			(double)d->x[0], (double)d->x[1], d->most, d->largest);
	out_print("the op's rows     %zu of %zu differ\n", d->differ, d->rows);
}

static void put_report(const struct comparison *c)
{
	out_text("first difference  ");
	if (c->differ)
		put_difference(c);
	else
		out_text("none\n");
	out_print("tensors           %zu of %zu differ\n", c->differ, c->compared);
	if (c->alone)
		out_print("not compared      %zu, without rows in both dumps\n", c->alone);
	if (c->differ)
		out_print("files             %s/%s %s/%s\n", c->folder[0].path, c->first[0]->file, c->folder[1].path,
			c->first[1]->file);
}

int compare_dumps(const char *a, const char *b, struct why *w)
{
	static struct comparison c;
	int status = read_folder(&c.folder[0], a, w);

	if (status == 0)
		status = read_folder(&c.folder[1], b, w);
	if (status == 0)
		status = compare_folders(&c, w);
	if (status == 0)
		put_report(&c);
	for (int i = 0; i < 2; i++) {
		free_folder(&c.folder[i]);
		free(c.rows[i].x);
	}
	return status < 0 ? -1 : c.differ > 0;
}
