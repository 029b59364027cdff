/* A command opens segments with the shape and context that they have. */
#include "commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fwd/state/ids.h"
#include "fwd/state/named.h"
#include "fwd/state/saved.h"
#include "fwd/state/segment.h"
#include "lib/base/out.h"
#include "lib/base/size.h"
#include "lib/gguf/models.h"
#include "find.h"
#include "keep.h"
#include "list.h"
#include "save.h"
#include "segment_text.h"

static int open_segment(struct segment *s, struct segment_info *i, const char *name, struct why *w)
{
	return segment_inspect(name, i, w) < 0 ? -1 : segment_open(s, name, &i->shape, i->n_ctx, w);
}

/* Calls one() for every name, even after a failure. Reports the first failure. */
static int run_each(int (*one)(const char *name, const struct settings *set, struct why *w), char **name, size_t names,
	const struct settings *set, struct why *w)
{
	struct why other;
	int failed = 0;

	for (size_t i = 0; i < names; i++)
		failed |= one(name[i], set, failed ? &other : w) < 0;
	return failed ? -1 : 0;
}

/* ---- to look at ---- */

static int list(char **name, size_t names, const struct settings *set, struct why *w)
{
	return list_print(name, names, set->json, w);
}

static int print_info(const char *name, const struct settings *set, struct why *w)
{
	struct segment_info i;
	const struct segment_shape *p = &i.shape;

	if (segment_inspect(name, &i, w) < 0)
		return -1;
	out_text("name         ");
	out_quoted(name, strlen(name), 0);
	out_char('\n');
	out_print("tokens       %zu\n", i.length);
	out_print("context      %zu\n", i.n_ctx);
	out_print("bytes        %zu\n", i.bytes);
	out_print("type         %s\n", kv_type_name[p->kv_type]);
	out_print("layers       %u\n", p->n_layer);
	out_print("per token    %llu\n", (unsigned long long)p->bytes / p->extent);
	if (p->recent_bytes)
		out_print("per recent   %llu\n", (unsigned long long)p->recent_bytes / p->extent);
	if (p->state_bytes)
		out_print("per state    %llu\n", (unsigned long long)p->state_bytes);
	out_print("model        %016llx\n", (unsigned long long)p->model);
	if (i.digest)
		out_print("weights      %016llx\n", (unsigned long long)i.digest);
	out_print("arithmetic   %llu\n", (unsigned long long)p->arithmetic);
	if (i.owner)
		out_print("state        in use by process %ld\n", i.owner);
	else
		out_print("state        free\n");
	return 0;
}

static int info(char **name, size_t names, const struct settings *set, struct why *w)
{
	return run_each(print_info, name, names, set, w);
}

static int print_ids(const char *name, const struct settings *set, struct why *w)
{
	struct segment_info i;
	struct segment s;

	if (open_segment(&s, &i, name, w) < 0)
		return -1;
	for (size_t pos = 0; pos < s.length; pos++)
		out_print("%ld\n", (long)segment_id(&s, pos));
	segment_close(&s);
	return 0;
}

static int ids(char **name, size_t names, const struct settings *set, struct why *w)
{
	return run_each(print_ids, name, names, set, w);
}

static int show(char **name, size_t names, const struct settings *set, struct why *w)
{
	struct bytes text = { .limit = 1 << 30 };
	struct segment_text t = { .g = NULL };
	struct segment_info i;
	struct segment s;
	int status, begins = 1;

	if (open_segment(&s, &i, *name, w) < 0)
		return -1;
	status = segment_text_open(&t, set->model, *name, &i, w);
	for (size_t pos = 0, n; status == 0 && pos < s.length; pos += n) {
		n = size_min(s.length - pos, KV_EXTENT);
		segment_text_put(&t, segment_ids(&s, pos), n, set->special, &begins, &text);
		out_shown(text.p, text.n);
		text.n = 0;
	}
	out_shown_close();
	if (text.failed)
		status = why(w, "segment %s: out of memory", *name);
	bytes_free(&text);
	segment_text_close(&t);
	segment_close(&s);
	return status;
}

static int find(char **name, size_t names, const struct settings *set, struct why *w)
{
	const char *path = set->model ? models_path(set->model, w) : NULL;
	char *real = path ? realpath(path, NULL) : NULL;
	int status = -1;

	if (path && !real)
		why(w, "%s: %s", path, strerror(errno));
	else if (!set->model || real)
		status = find_print(0, real, w);
	free(real);
	return status;
}

/* ---- to move ---- */

static int save(char **name, size_t names, const struct settings *set, struct why *w)
{
	struct segment_info i;
	struct segment s;
	int status;

	if (open_segment(&s, &i, *name, w) < 0)
		return -1;
	status = save_write(&s, set->model, w);
	segment_close(&s);
	return status;
}

static int load(char **name, size_t names, const struct settings *set, struct why *w)
{
	return saved_read(0, *name, set->force, w);
}

static int fork_to(char **name, size_t names, const struct settings *set, struct why *w)
{
	return segment_fork_named(name[0], name[1], w);
}

/* ---- to remove ---- */

static int trim(char **name, size_t names, const struct settings *set, struct why *w)
{
	size_t n = (size_t)settings_number(name[1], strlen(name[1]), SEGMENT_CTX_MAX);
	struct segment_info i;
	struct segment s;
	int status;

	if (open_segment(&s, &i, *name, w) < 0)
		return -1;
	if (n > s.length)
		status = why(w, "segment %s: has %zu tokens, fewer than %zu", *name, s.length, n);
	else {
		segment_set_length(&s, n);
		segment_scrub(&s);
		status = segment_sync(&s, w);
	}
	segment_close(&s);
	return status;
}

/* Whether --older removes the segment. It silently keeps one that is in use. */
static int is_older(const struct segment_info *i, const struct settings *set)
{
	return !i->owner && time(NULL) - i->used >= set->older;
}

static int remove_one(const char *name, const struct settings *set, struct why *w)
{
	struct segment_info i;

	if (set->older && segment_inspect(name, &i, w) < 0)
		return -1;
	return !set->older || is_older(&i, set) ? segment_remove(name, w) : 0;
}

struct each {
	const struct settings *set;
	struct why *w;
};

static int remove_if_older(const char *name, void *context)
{
	const struct each *of = context;
	struct segment_info i;

	/* keep a segment that cannot be read: its age is unknown */
	return segment_inspect(name, &i, of->w) < 0 || !is_older(&i, of->set) ? 0 : segment_remove(name, of->w);
}

static int rm(char **name, size_t names, const struct settings *set, struct why *w)
{
	if (set->keeps)
		return keep_most(name, names, set->keep, w);
	if (!names)
		return object_each(remove_if_older, &(struct each){ set, w }, w);
	return run_each(remove_one, name, names, set, w);
}

const struct command commands[] = {
	{ .name = "list", .most = COMMANDS_ANY, .options = "json", .run = list },
	{ .name = "info", .least = 1, .most = COMMANDS_ANY, .run = info },
	{ .name = "show", .least = 1, .most = 1, .options = "model special", .run = show },
	{ .name = "ids", .least = 1, .most = COMMANDS_ANY, .run = ids },
	{ .name = "find", .options = "model", .binary = 1, .run = find },
	{ .name = "save", .least = 1, .most = 1, .options = "model", .binary = 2, .run = save },
	{ .name = "load", .least = 1, .most = 1, .options = "force", .binary = 1, .run = load },
	{ .name = "fork", .least = 2, .most = 2, .run = fork_to },
	{ .name = "trim", .least = 2, .most = 2, .counts = 1, .run = trim },
	{ .name = "rm", .least = 1, .most = COMMANDS_ANY, .parts = 1, .options = "older keep",
	  .run = rm },
	{ 0 }
};
