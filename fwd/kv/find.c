/* The first ids of a segment are in its header, which needs no lock; only segments that have those are opened. */
#include "find.h"

#include <stdlib.h>
#include <string.h>

#include "fwd/state/ids.h"
#include "fwd/state/named.h"
#include "fwd/state/object.h"
#include "lib/base/out.h"
#include "lib/base/size.h"
#include "lib/stream/frame.h"
#include "lib/stream/ids.h"

struct search {
	struct ids ids;
	const char *model;      /* the real path of its file, or NULL */
	char name[OBJECT_NAME_MAX + 1];
	size_t found;           /* ids that it has; 0: none yet */
};

/* The ids of sequence 0. */
static int read_ids(struct search *s, int fd, struct why *w)
{
	static struct frame_in in;
	int32_t *ids = NULL;
	size_t room = 0;
	struct frame f;
	int got, failed = 0;

	frame_open_in(&in, fd, "standard input");
	while (!failed && (got = frame_next(&in, &f, w)) > 0) {
		if (f.kind != FRAME_IDS || f.seq)
			continue;
		if (f.pos != FRAME_APPEND)
			s->ids.n = size_min(s->ids.n, f.pos);
		failed = frame_read_all(&in, &f, &ids, &room, w) || ids_append(&s->ids, ids, f.rows, w);
	}
	free(ids);
	if (failed || got < 0)
		return -1;
	return s->ids.n ? 0 : why(w, "standard input: no ids");
}

/* How many of the ids are in the header of a segment. */
static size_t count_first(const struct search *s, const struct segment_info *i)
{
	size_t most = size_min(size_min(s->ids.n, i->length), SEGMENT_FIRST), n = 0;

	while (n < most && i->first[n] == s->ids.id[n])
		n++;
	return n;
}

/* How many of the ids a segment begins with, of which `same` are known. */
static size_t count_all(const struct search *s, const char *name, const struct segment_info *i, size_t same)
{
	struct segment t;
	struct why ignored;

	if (segment_open(&t, name, &i->shape, i->n_ctx, &ignored))
		return 0;
	while (same < size_min(s->ids.n, t.length) && segment_id(&t, same) == s->ids.id[same])
		same++;
	segment_close(&t);
	return same;
}

static int visit(const char *name, void *context)
{
	struct search *s = context;
	struct segment_info i;
	struct why ignored;
	size_t same;

	/* what cannot be read, or is in use, cannot be continued */
	if (segment_inspect(name, &i, &ignored) || i.owner || (s->model && strcmp(s->model, i.origin.path)))
		return 0;
	same = count_first(s, &i);
	if (same == SEGMENT_FIRST && i.length > s->found)
		same = count_all(s, name, &i, same);
	if (same > s->found && strlen(name) < sizeof s->name) {
		strcpy(s->name, name);
		s->found = same;
	}
	return 0;
}

int find_print(int fd, const char *model, struct why *w)
{
	struct search s = { .model = model };
	int failed = read_ids(&s, fd, w) || object_each(visit, &s, w);

	if (!failed && !s.found)
		failed = why(w, "no segment begins with these ids");
	if (!failed)
		out_print("%s %zu\n", s.name, s.found);
	free(s.ids.id);
	return failed ? -1 : 0;
}
