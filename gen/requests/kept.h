/* kept: the named segment that a request continues, with "kv". A prompt must begin with its ids, as for gen --kv, or,
 * with "append", is appended to them. Messages are the whole conversation, as with --history: the segment keeps what of
 * it is evaluated. Functions return 0, or -1 with a reason. */
#ifndef REQUEST_KEPT_H
#define REQUEST_KEPT_H

#include "gen/requests/job.h"

/* Checks the members that are about it, and appends --kv to j->opts. */
int kept_take(struct job *j, const struct model *m, struct why *w);

/* Appends the ids of the segment. There are none if it does not exist yet, or for a reason that fwd will tell. */
void kept_read(const struct job *j, const struct model *m, struct ids *kept);

/* Makes *ids, of the prompt, those of the whole text, and sets j->had. */
int kept_join(struct job *j, const struct ids *kept, struct ids *ids, struct why *w);

/* Sets j->had to the first ids of the segment that stand for the beginning of the conversation's text, and *same to
 * its bytes; and j->replaces. It is an error if the segment has another conversation: not the first turn. */
int kept_match(struct job *j, const struct model *m, const struct ids *kept, const struct bytes *text, size_t *same,
	struct why *w);

#endif
