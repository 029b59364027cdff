/* Segments by name. Inspecting reads the header without a lock; copying and removing take the lock. */
#include "named.h"

#include <errno.h>
#include <string.h>

#include "fork.h"
#include "header.h"

static int inspect(struct object *o, const char *name, struct segment_info *info, struct why *w)
{
	struct segment_header h;
	size_t bytes;
	int finished = object_open(o, name, 0, w) < 0 ? -1 : header_read(o, &h, &bytes, w);

	if (finished <= 0)
		return finished < 0 ? -1 : why(w, "unfinished");
	if (header_check(&h, bytes, w) < 0)
		return -1;
	*info = (struct segment_info){ .shape = h.shape, .length = header_length(&h), .n_ctx = header_n_ctx(&h),
		.bytes = bytes, .origin = header_origin(&h), .file = mark_value(&h.mark[SEGMENT_FILE]),
		.digest = mark_value(&h.mark[SEGMENT_DIGEST]), .owner = object_owner(o) };
	if (object_used(o, &info->used, w) < 0)
		return -1;
	if (info->length && object_read(o, shape_extent_at(&h.shape, 0), info->first, sizeof info->first) < 0)
		return why(w, "%s", strerror(errno));
	return 0;
}

int segment_inspect(const char *name, struct segment_info *info, struct why *w)
{
	struct object o;
	int status = inspect(&o, name, info, w);

	object_close(&o);
	return status < 0 ? object_why(name, w) : 0;
}

int segment_fork_named(const char *from, const char *to, struct why *w)
{
	struct segment_info info;
	struct segment a, b;
	int status = -1;

	if (segment_inspect(from, &info, w) < 0 || segment_open(&a, from, &info.shape, info.n_ctx, w) < 0)
		return -1;
	if (!strcmp(from, to))
		why(w, "segment %s: cannot be copied onto itself", to);
	else if (segment_open(&b, to, &info.shape, info.n_ctx, w) == 0) {
		status = b.length ? why(w, "segment %s: already exists", to)
			: segment_copy(&b, &a, a.length, w);
		segment_close(&b);
	}
	segment_close(&a);
	return status;
}

/* Removes a segment. A path is removed only if it is a segment. */
static int remove_object(struct object *o, const char *name, struct why *w)
{
	struct segment_header h;
	size_t bytes;
	int opened = object_open(o, name, 0, w), finished;

	if (opened == 0 && object_lock(o, w) < 0)
		return -1;
	if (opened < 0 && (o->file || !o->path))
		return -1;
	if (o->file && ((finished = header_read(o, &h, &bytes, w)) < 0 || (finished && !header_is_segment(&h))))
		return why(w, "not a segment of lmpipe");
	return object_remove(o, w);
}

int segment_remove(const char *name, struct why *w)
{
	struct object o;
	int status = remove_object(&o, name, w);

	object_close(&o);
	return status < 0 ? object_why(name, w) : 0;
}
