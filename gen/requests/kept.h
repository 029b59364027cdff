/* kept: the named segment that a request with "kv" continues. A prompt must begin with the ids of the segment, as for
 * gen --kv, or is appended to them, with "append". Messages are the whole conversation, as with --history, and the
 * segment is a cache of it. Functions return 0, or -1 with a reason. */
#ifndef REQUEST_KEPT_H
#define REQUEST_KEPT_H

#include "job.h"

/* Checks "kv" and "append", and appends --kv to j->opts. */
int kept_take(struct job *j, const struct model *m, struct why *w);

/* Appends the ids in the segment to *kept. There are none if it does not exist yet or cannot be read; fwd reports the
 * latter. */
void kept_read(const struct job *j, const struct model *m, struct ids *kept);

/* For a prompt, whose ids are *ids: with "append" puts those of the segment before them. Sets j->had. */
int kept_join(struct job *j, const struct ids *kept, struct ids *ids, struct why *w);

/* For messages, whose rendered text is `text`: sets j->had to how many ids of the segment, from the first on, spell its
 * beginning, *same to the bytes of that beginning, and j->replaces. If they do not reach the end of the first turn, the
 * segment holds another conversation, which is an error. */
int kept_match(struct job *j, const struct model *m, const struct ids *kept, const struct bytes *text, size_t *same,
	struct why *w);

#endif
