/* convert: conversions for a conversation; each runs chat, tok, detok or kv once. The functions return 0, or -1 with a
 * reason. (*ends)[i] is where in the text id number i ends; the caller frees it, also on failure. */
#ifndef CONVERT_H
#define CONVERT_H

#include "lib/base/bytes.h"
#include "lib/stream/ids.h"
#include "gen/request.h"
#include "messages.h"

enum { CONVERT_MAX = 256 << 20 };       /* bytes of a conversation */

/* Appends the template's text for the head and the messages from number `first` on. */
int convert_messages(struct request *q, const struct messages *m, size_t first, struct bytes *out, struct why *w);

/* Appends the ids of text[n]. append: the text continues another text. */
int convert_text(struct request *q, const char *text, size_t n, int append, struct ids *out, size_t **ends,
	struct why *w);

/* Appends the text of ids[n], of any bytes. state: all control tokens are shown; otherwise only those that mark
 * reasoning and calls. */
int convert_ids(struct request *q, int state, const int32_t *ids, size_t n, struct bytes *out, size_t **ends,
	struct why *w);

/* Appends text[n] with U+FFFD in place of what is not UTF-8. */
int convert_bytes(const char *text, size_t n, struct bytes *out, struct why *w);

/* Appends the ids in a named segment, which the command `kv` prints; name is its last argument (NULL: it has one).
 * There are none if the segment does not exist or cannot be read: fwd then makes it, or reports the error. */
void convert_kept(struct stage *kv, const char *name, struct ids *out);

#endif
