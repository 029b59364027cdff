/* spans: a conversation as spans of text with their ids, and so which ids fwd has evaluated. What the template writes,
 * with the users' words in it, is a span with the ids that tok made of it; an answer is a span with the ids that the
 * model drew, which tok might not make of its text and which are never made anew. When the conversation is laid out
 * again, spans are valid as long as it has the same text there; white space around an answer may differ, because many
 * templates trim it. From the first span on that is not (some templates drop reasoning), the text is tokenized again,
 * and ids that agree are kept. */
#ifndef SPANS_H
#define SPANS_H

#include <stddef.h>

#include "lib/base/why.h"
#include "lib/stream/ids.h"

enum span_writer {
	SPAN_TEMPLATE,
	SPAN_MODEL,
	SPAN_STATE              /* a state that --kv kept: it is not known who wrote what */
};

struct spoken {
	enum span_writer by;
	char *text;             /* [n] */
	size_t n;
	size_t end;             /* index after its last id */
};

struct spans {                  /* starts as zeros */
	struct ids ids;         /* at their positions */
	struct spoken *list;      /* [n] */
	size_t n, room;
	size_t *ends;           /* of a state before the first prompt: where the text of each id ends; or NULL */
};

/* The common prefix of a text and the spans: in bytes of the text, in ids, and in whole spans (a state may be common in
 * part). */
struct same {
	size_t bytes, ids, spans;
};

/* Compares the spans with text[n], a whole conversation up to where the next answer begins. */
struct same spans_compare(const struct spans *s, const char *text, size_t n);

/* Drops all that is not the same, and adds the rest[n] of the text with its ids. The ids from s->ids[*keep] on must be
 * evaluated, from that position on; at least one, unless there are no ids at all. */
int spans_prompt(struct spans *s, struct same same, const char *rest, size_t n, const struct ids *ids, size_t *keep,
	struct why *w);

/* Undoes spans_prompt(): fwd has the ids before `keep`. */
void spans_back(struct spans *s, size_t keep);

/* Adds ids that were evaluated, and the text[n] that stands for them. */
int spans_add(struct spans *s, enum span_writer by, const int32_t *ids, size_t n_ids, const char *text, size_t n,
	struct why *w);

void spans_free(struct spans *s);

#endif
