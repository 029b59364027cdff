/* gguf: opening a model file, or all its shards. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/guard.h"
#include "lib/base/hash.h"
#include "lib/base/size.h"
#include "lib/base/system.h"

enum { SHARDS_MAX = 4096 };

/* ---- files ---- */

static uint64_t identity(const struct stat *st)
{
	const struct timespec changed = system_modified(st);
	const uint64_t numbers[] = { (uint64_t)st->st_dev, (uint64_t)st->st_ino, (uint64_t)st->st_size,
		(uint64_t)changed.tv_sec, (uint64_t)changed.tv_nsec };

	return hash_data(numbers, sizeof numbers, 0);
}

static int map_file(const char *path, struct gguf_map *m, struct why *w)
{
	/* O_NONBLOCK: opening a FIFO must not block. The mapping does not need the descriptor. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	void *p = MAP_FAILED;
	int bad = 0;

	if (fd < 0)
		return why(w, "%s", strerror(errno));
	if (fstat(fd, &st) < 0)
		bad = why(w, "%s", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		bad = why(w, "not a regular file");
	else if (st.st_size < GGUF_HEADER)
		bad = why(w, "not a GGUF file: %lld bytes are too few", (long long)st.st_size);
	else if ((uintmax_t)st.st_size > SIZE_MAX
		|| (p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
		bad = why(w, "cannot map it: %s", strerror(errno));
	close(fd);
	if (bad)
		return -1;
	/* A file that is not cached yet is then read and cached in huge pages, so that later starts map it quickly. */
	system_use_huge_pages(p, (size_t)st.st_size);
	m->p = p;
	m->size = (size_t)st.st_size;
	m->identity = identity(&st);
	guard_add(p, m->size, path);
	return 0;
}

static struct gguf *open_one(const char *path, struct gguf_wish wish, struct why *w)
{
	struct gguf *g = calloc(1, sizeof *g);

	if (!g || !(g->files = calloc(1, sizeof *g->files)) || !(g->files->maps = calloc(1, sizeof *g->files->maps))) {
		gguf_close(g);
		why(w, "out of memory");
		return NULL;
	}
	g->path = path;
	if (!map_file(path, g->files->maps, w)) {
		g->files->n = 1;
		if (!gguf_parse(g, wish, w))
			return g;
	}
	gguf_close(g);
	return NULL;
}

void gguf_close(struct gguf *g)
{
	if (!g)
		return;
	for (size_t i = 0; g->files && i < g->files->n; i++) {
		guard_remove(g->files->maps[i].p);
		munmap((void *)(uintptr_t)g->files->maps[i].p, g->files->maps[i].size);
	}
	if (g->files) {
		free(g->files->maps);
		free(g->files->by_key);
		free(g->files->by_name);
		for (struct gguf_set *s = g->files->set, *next; s; s = next) {
			next = s->next;
			free(s);
		}
	}
	free(g->files);
	free(g->values);
	free(g->tensors);
	free(g);
}

void gguf_let_go(const struct gguf *g, size_t part, size_t parts)
{
	const size_t huge = 1 << 21;            /* dividing a huge page costs more */
	const struct gguf_map *m = g->files->maps;
	size_t step, from;

	for (; m < g->files->maps + g->files->n; m++) {
		step = (m->size / parts / huge + 1) * huge;
		from = part * step;
		if (from < m->size)
			system_drop_pages(m->p + from, size_min(step, m->size - from));
	}
}

/* ---- shards ---- */

/* Replaces the ending "-00001-of-0000N.gguf" of the path by that of another shard; 0 if it has no such ending. */
static int shard_path(const char *path, int64_t number, int64_t count, char *out, size_t room)
{
	char ending[32];
	size_t n = strlen(path), length = (size_t)snprintf(ending, sizeof ending, "-%05d-of-%05d.gguf", 1, (int)count);

	if (n < length || n >= room || strcmp(path + n - length, ending))
		return 0;
	memcpy(out, path, n + 1);
	snprintf(out + n - length, room - (n - length), "-%05d-of-%05d.gguf", (int)number, (int)count);
	return 1;
}

/* Moves the tensors and the mapping of a shard to the model. */
static int adopt(struct gguf *g, struct gguf *shard, struct why *w)
{
	uint64_t n = g->n_tensors + shard->n_tensors;
	struct gguf_tensor *t = n > GGUF_TENSORS_MAX ? NULL : realloc(g->tensors, (n + 1) * sizeof *t);

	if (!t)
		return why(w, n > GGUF_TENSORS_MAX ? "too many tensors" : "out of memory");
	if (shard->n_tensors)
		memcpy(t + g->n_tensors, shard->tensors, shard->n_tensors * sizeof *t);
	g->tensors = t;
	g->n_tensors = n;
	g->files->maps[g->files->n++] = shard->files->maps[0];
	shard->files->n = 0;
	return 0;
}

static int open_shard(struct gguf *g, int64_t number, int64_t count, struct gguf_wish wish, struct why *w)
{
	char path[PATH_MAX];
	int64_t no = -1, of = -1;
	struct gguf *shard;
	int bad;

	if (!shard_path(g->path, number, count, path, sizeof path))
		return why(w, "split.count: %d, but the file's name does not end in -00001-of-%05d.gguf", (int)count,
			(int)count);
	if (number == 1)
		return 0;
	shard = open_one(path, wish, w);
	bad = !shard || gguf_integer(shard, "split.no", 0, SHARDS_MAX, &no, w) < 0
		|| gguf_integer(shard, "split.count", 0, SHARDS_MAX, &of, w) < 0;
	if (!bad && (no != number - 1 || of != count))
		bad = why(w, "split.no %" PRId64 " of split.count %" PRId64 " where %" PRId64 " of %" PRId64
			" was expected", no, of, number - 1, count);
	if (!bad)
		bad = adopt(g, shard, w);
	gguf_close(shard);
	return bad ? why_in(w, path) : 0;
}

static int open_shards(struct gguf *g, struct gguf_wish wish, struct why *w)
{
	int64_t no = 0, count = 1, total = -1;
	struct gguf_map *maps;

	if (gguf_integer(g, "split.no", 0, SHARDS_MAX, &no, w) < 0
		|| gguf_integer(g, "split.count", 0, SHARDS_MAX, &count, w) < 0
	    || gguf_integer(g, "split.tensors.count", 0, GGUF_TENSORS_MAX, &total, w) < 0)
		return -1;
	if (no)
		return why(w, "shard %" PRId64 " of %" PRId64 ": name the first one", no + 1, count);
	if (!wish.data)
		return 0;
	if (count > 1) {
		maps = realloc(g->files->maps, (size_t)count * sizeof *maps);
		if (!maps)
			return why(w, "out of memory");
		g->files->maps = maps;
		for (int64_t i = 1; i <= count; i++)
			if (open_shard(g, i, count, wish, w))
				return -1;
		if (gguf_index_tensors(g, w))
			return -1;
	}
	if (total >= 0 && (uint64_t)total != g->n_tensors)
		return why(w, "split.tensors.count: %" PRId64 ", but %" PRIu64 " tensors are there", total,
			g->n_tensors);
	return 0;
}

static struct gguf *open_all(const char *path, struct gguf_wish wish, struct why *w)
{
	struct gguf *g = path ? open_one(path, wish, w) : NULL;

	if (g && open_shards(g, wish, w)) {
		gguf_close(g);
		g = NULL;
	}
	if (!g && path)
		why_in(w, path);
	return g;
}

struct gguf *gguf_open(const char *path, int tensors, struct why *w)
{
	return open_all(path, (struct gguf_wish){ .data = tensors }, w);
}

struct gguf *gguf_survey(const char *path, const struct faults *faults, struct why *w)
{
	return open_all(path, (struct gguf_wish){ .data = 1, .faults = faults }, w);
}
