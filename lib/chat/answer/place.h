/* place: where the parts of a call are in a sample. */
#ifndef PLACE_H
#define PLACE_H

#include "format.h"
#include "lib/base/span.h"

struct place {
	const char *name;       /* NULL: not shown */
	const char *key, *value;
	const char *arguments;  /* where the arguments begin; CALL_MEMBERS: the object */
	const char *end;
};

/* Finds call i of the sample; its argument is number i. Where the arguments begin and end is not known yet. 0: it is
 * not there. */
int place_call(struct span text, int i, struct place *p);

/* The same, with the ends of arguments of the format's kind. For CALL_TAGS, its key and value_end are text of the
 * sample. */
int place_arguments(const struct call_format *call, struct span text, int i, struct place *p);

/* Whether the arguments are a JSON object. */
int place_is_json(struct span text, const struct place *p);

/* The last such byte before `from`, or NULL. */
const char *place_before(struct span text, const char *from, char c);

/* The key of the member of a JSON object whose value begins at `to`. */
struct span place_key(const char *from, const char *to);

#endif
