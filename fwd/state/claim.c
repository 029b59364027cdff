/* A name is claimed by locking its object, which is created if it does not exist. */
#include "claim.h"

#include "header.h"

static int reserve(struct object *o, const char *name, int replace, struct why *w)
{
	struct segment_header h;
	size_t bytes;
	int finished;

	if (object_open(o, name, 1, w) < 0 || object_lock(o, w) < 0 || (finished = header_read(o, &h, &bytes, w)) < 0)
		return -1;
	if (finished)
		o->made = 0;    /* another process has finished it since */
	if (finished && !replace)
		return why(w, "already exists");
	if (finished && o->file && !header_is_segment(&h))
		return why(w, "not a segment of lmpipe");
	return 0;
}

int claim_open(struct object *o, const char *name, int replace, struct why *w)
{
	if (reserve(o, name, replace, w) == 0)
		return 0;
	claim_close(o);
	return object_why(name, w);
}

int claim_rename(const struct segment *s, const struct object *claimed, struct why *w)
{
	return object_rename(&s->object, claimed, w) < 0 ? object_why(s->name, w) : 0;
}

void claim_close(struct object *claimed)
{
	struct why ignored;

	if (claimed->made && !object_is_gone(claimed) && !object_owner(claimed))
		object_remove(claimed, &ignored);
	object_close(claimed);
}
