/* derive: what the files that derive a format share. */
#ifndef DERIVE_H
#define DERIVE_H

#include "format.h"
#include "place.h"
#include "samples.h"

struct derivation {
	struct format *f;
	struct arena *arena;
	struct span text[SAMPLES];
	size_t header;          /* bytes before the answer, in all samples */
	int failed;             /* memory is short */
};

/* The text as a pattern: the words of samples become placeholders. Of several names the last one is the name. "" if
 * memory is short. */
const char *derive_pattern(struct derivation *d, struct span text);

/* The text as it is. */
const char *derive_text(struct derivation *d, struct span text);

/* How much of the text is an empty start of an answer: reasoning and content with nothing in them. */
size_t derive_empty_start(const struct derivation *d, struct span text);

/* Adds the format of calls, if the samples have any. */
void derive_calls(struct derivation *d);

/* Whether strings have quotes that numbers have not, after one and the same sign: CALL_LITERALS. Sets the quote. */
int derive_literals(struct derivation *d, struct call_format *call, const struct place *p);

/* What is around values, for CALL_TAGS: key and value_end are set to text of the sample, and *open to what comes before
 * a key. 0: it is something else. */
int derive_tags(struct derivation *d, struct call_format *call, struct span *open);

/* Values that are written otherwise than strings: lists as tags, and strings with markup. */
void derive_values(struct derivation *d, struct call_format *call, const struct place *p);

/* The pattern of a key: what comes before it and after, with the place of a type where strings and numbers differ. */
void derive_key(struct derivation *d, struct call_format *call, struct span open, const struct place *p);

#endif
