/* convert: conversions for a conversation; each runs chat, tok, detok or kv once. The functions return 0, or -1 with a
 * reason. */
#ifndef CONVERT_H
#define CONVERT_H

#include "request.h"
#include "lib/base/bytes.h"
#include "lib/stream/ids.h"
#include "messages.h"

enum { CONVERT_MAX = 256 << 20 };       /* bytes of a conversation */

/* Appends the template's text for the head and the messages from number `first` on. */
int convert_messages(struct request *q, const struct messages *m, size_t first, struct bytes *out, struct why *w);

/* Appends the ids of text[n]. append: the text continues another text. */
int convert_text(struct request *q, const char *text, size_t n, int append, struct ids *out, struct why *w);

/* Appends the text of ids[n] as a detok prints it (ANSWER: an answer, up to a stop string; PLAIN: any text), with
 * U+FFFD in place of invalid UTF-8. given: ids of the conversation, whose control tokens are shown, rather than of an
 * answer. */
int convert_ids(struct request *q, enum stage_number detok, int given, const int32_t *ids, size_t n, struct bytes *out,
	struct why *w);

/* Reads the ids in the segment of --kv. There are none if it does not exist or cannot be read: fwd then makes it, or
 * reports the error. */
void convert_kept(struct request *q, struct ids *out);

#endif
