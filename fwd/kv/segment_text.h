/* segment_text: the text of a segment's ids, from the vocabulary of the model that made it. */
#ifndef SEGMENT_TEXT_H
#define SEGMENT_TEXT_H

#include "lib/base/bytes.h"
#include "lib/base/why.h"
#include "lib/vocab/vocab.h"
#include "fwd/state/named.h"

struct segment_text {                   /* zeros: no vocabulary is open */
	struct gguf *g;
	struct vocab *vocab;
	char path[sizeof ((struct segment_origin *)0)->path];   /* of g */
};

/* Opens the vocabulary of a model file; NULL: of the file that made the segment, if it is unchanged. Keeps a vocabulary
 * that is already open if it is the same. Returns -1 with a reason that names the segment. */
int segment_text_open(struct segment_text *t, const char *model, const char *segment,
	const struct segment_info *info, struct why *w);
void segment_text_close(struct segment_text *t);

/* Appends the text of ids; ids outside the vocabulary have none. special: include control tokens. *begins: must be 1
 * before the first ids of a segment. */
void segment_text_put(const struct segment_text *t, const int32_t *ids, size_t n, int special, int *begins,
	struct bytes *out);

#endif
