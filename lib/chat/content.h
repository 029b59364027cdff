/* content: the text of a message's content if that is not a string: OpenAI's API also has null and lists of parts. */
#ifndef CONTENT_H
#define CONTENT_H

#include "lib/base/bytes.h"
#include "lib/base/json.h"

/* Whether it is a part or a list of parts. */
int content_has_parts(const struct json *content);

/* Appends the text of a message's content, which may be NULL: that of a string, of a part with text, or of a list of
 * such parts, joined by newlines; null has none. Returns -1 if it contains anything else, such as an image, or memory
 * is short. */
int content_text(const struct json *content, struct bytes *out);

#endif
