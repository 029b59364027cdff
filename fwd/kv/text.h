/* text: the vocabulary of the model that made a segment, for what people read of it. */
#ifndef KV_TEXT_H
#define KV_TEXT_H

#include "lib/base/bytes.h"
#include "lib/base/why.h"
#include "lib/vocab/vocab.h"
#include "fwd/state/segment.h"

struct text {                   /* zeroes: none is open */
	struct gguf *g;
	struct vocab *vocab;
	char path[sizeof ((struct segment_origin *)0)->path];   /* of g */
};

/* Opens the vocabulary of a model file; NULL: of the one that made the segment, if it is still there and the same. -1
 * and a reason that names the segment. What is open already is used again. */
int text_open(struct text *t, const char *model, const char *segment, const struct segment_info *info, struct why *w);
void text_close(struct text *t);

/* Appends the text of ids, which need not be in the vocabulary. special: of control tokens, too. *begins: 1 before the
 * first ids of a segment. */
void text_put(const struct text *t, const int32_t *ids, size_t n, int special, int *begins, struct bytes *out);

#endif
