/* Files are mapped; lines of JSON are read into memory. */
#include "vectors.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/guard.h"
#include "lib/base/le.h"
#include "lib/base/lines.h"
#include "lib/base/members.h"
#include "npy.h"

enum { LINE_ARENA = 1 << 30 };

/* ---- lines of JSON ---- */

int vectors_read(const struct json *line, float *to, size_t room, size_t *cols, struct why *w)
{
	const struct json *numbers = line->type == JSON_OBJECT ? json_get(line, "embedding") : line, *number;
	size_t i = 0;

	if (!numbers || numbers->type != JSON_ARRAY || !numbers->n)
		return why(w, "no \"embedding\", an array of numbers");
	if (*cols ? numbers->n != *cols : numbers->n > room)
		return why(w, "%zu numbers, not %s%zu", numbers->n, *cols ? "" : "at most ", *cols ? *cols : room);
	for (number = numbers->child; number; number = number->next, i++) {
		if (number->type != JSON_INT && number->type != JSON_BIG && number->type != JSON_FLOAT)
			return why(w, "element %zu of the embedding is not a number", i);
		to[i] = (float)number->d;
		if (!isfinite(to[i]))
			return why(w, "element %zu of the embedding is past all floats", i);
	}
	*cols = numbers->n;
	return 0;
}

/* Keeps all members but "embedding". */
static int add_label(struct labels *labels, const struct json *line, struct why *w)
{
	struct bytes text = { .limit = PTRDIFF_MAX };
	struct json_writer j = json_to_bytes(&text);
	int failed;

	json_open(&j, '{');
	for (const struct json *m = line->type == JSON_OBJECT ? line->child : NULL; m; m = m->next)
		if (strcmp(m->key, "embedding"))
			member_copy(&j, m);
	json_close(&j, '}');
	failed = j.failed ? why(w, "out of memory") : labels_add(labels, text.p, text.n, w);
	bytes_free(&text);
	return failed;
}

static int add_line(struct vectors *v, const struct json *line, float *row, struct why *w)
{
	if (line->type == JSON_OBJECT && !json_get(line, "embedding") && json_get(line, "error"))
		return 0;
	if (vectors_read(line, row, VECTORS_COLS_MAX, &v->cols, w) || add_label(&v->labels, line, w))
		return -1;
	if (bytes_put(&v->floats, (const char *)row, v->cols * sizeof *row))
		return why(w, "out of memory");
	v->rows++;
	return 0;
}

static int read_lines(struct vectors *v, const char *name, struct why *w)
{
	float *row = malloc(VECTORS_COLS_MAX * sizeof *row);
	struct arena arena = { .limit = LINE_ARENA };
	const struct json *parsed;
	struct lines lines;
	char *line;
	size_t n;
	int got = row ? lines_open(&lines, name, w) : why(w, "out of memory");

	v->labels.as_json = 1;
	while (got >= 0 && (got = lines_next(&lines, &line, &n, w)) > 0) {
		if (json_blank(line, n) == n)
			continue;
		if (!(parsed = json_parse_line(&arena, line, n, lines.number, w))) {
			got = why_in(w, lines.name);
		} else if (add_line(v, parsed, row, w)) {
			struct why cause = *w;

			got = why(w, "%s: line %zu: %s", lines.name, lines.number, cause.text);
		}
		arena_free(&arena);
	}
	if (row)
		lines_close(&lines);
	free(row);
	v->data = v->floats.p;
	return got;
}

/* ---- files of floats ---- */

/* The floats in the machine's order: those of the mapping, or a copy. */
static int take_floats(struct vectors *v, const char *at, struct why *w)
{
	size_t n = v->rows * v->cols;

	v->data = at;
	if (le_machine() || !n)
		return 0;
	if (bytes_put(&v->floats, at, n * sizeof(float)))
		return why(w, "%s: out of memory", v->name);
	le_convert(v->floats.p, sizeof(float), n);
	v->data = v->floats.p;
	return 0;
}

static int read_raw(struct vectors *v, size_t cols, struct why *w)
{
	size_t row = cols * sizeof(float);

	if (v->map_bytes % row)
		return why(w, "%s: %zu bytes are not whole vectors of %zu floats", v->name, v->map_bytes, cols);
	v->rows = v->map_bytes / row;
	v->cols = cols;
	return take_floats(v, v->map, w);
}

static int read_npy(struct vectors *v, size_t cols, struct why *w)
{
	struct npy a;

	if (npy_read(&a, v->map, v->map_bytes, w))
		return why_in(w, v->name);
	v->rows = a.rows;
	v->cols = a.cols;
	if (cols && a.cols != cols)
		return why(w, "%s: vectors of %zu elements, not %zu", v->name, a.cols, cols);
	if (v->cols > VECTORS_COLS_MAX || (v->rows && !v->cols))
		return why(w, "%s: vectors of %zu elements are not supported", v->name, v->cols);
	return take_floats(v, (const char *)v->map + a.start, w);
}

/* Maps a regular file, unless it is empty. Returns 1, or 0 for another kind of file. */
static int map_file(struct vectors *v, int fd, struct why *w)
{
	struct stat st;

	if (fstat(fd, &st))
		return why(w, "%s: %s", v->name, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return 0;
	if (!st.st_size)
		return 1;
	v->map_bytes = (size_t)st.st_size;
	if ((uintmax_t)st.st_size > SIZE_MAX
		|| (v->map = mmap(NULL, v->map_bytes, PROT_READ, MAP_SHARED, fd, 0)) == MAP_FAILED) {
		v->map = NULL;
		return why(w, "%s: cannot map it: %s", v->name, strerror(errno));
	}
	guard_add(v->map, v->map_bytes, v->name);
	return 1;
}

static void unmap(struct vectors *v)
{
	if (!v->map)
		return;
	guard_remove(v->map);
	munmap(v->map, v->map_bytes);
	v->map = NULL;
}

int vectors_open(struct vectors *v, const char *name, size_t cols, struct why *w)
{
	int from_stdin = !strcmp(name, "-"), fd = from_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC), regular;

	*v = (struct vectors){ .name = from_stdin ? "standard input" : name, .floats = { .limit = PTRDIFF_MAX } };
	if (fd < 0)
		return why(w, "%s: %s", name, strerror(errno));
	regular = map_file(v, fd, w);
	if (fd != STDIN_FILENO)
		close(fd);
	if (regular < 0)
		return -1;
	if (v->map && npy_is(v->map, v->map_bytes))
		return read_npy(v, cols, w);
	if (cols)
		return regular ? read_raw(v, cols, w) : why(w, "%s: not a regular file", v->name);
	unmap(v);
	return read_lines(v, name, w);
}

void vectors_close(struct vectors *v)
{
	unmap(v);
	bytes_free(&v->floats);
	labels_free(&v->labels);
}
