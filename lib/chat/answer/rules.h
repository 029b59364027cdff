/* rules: the grammar, in GBNF (lib/grammar/grammar.h), of the answers that a format and the tools of a conversation
 * allow: reasoning, and then calls whose arguments are valid against the tools' schemas, or content. Markers that are
 * control tokens of the vocabulary are tokens in the grammar.
 *
 * Strings that are written without JSON's quotes keep to const, enum, minLength and maxLength of their schema, but not
 * to pattern and format; of arguments outside of JSON, only those that are declared are allowed. */
#ifndef RULES_H
#define RULES_H

#include "format.h"
#include "lib/vocab/vocab.h"

enum rules_choice {
	RULES_AUTO,             /* free text or calls */
	RULES_NONE,             /* no call */
	RULES_REQUIRED,         /* at least one call */
	RULES_NAMED             /* of this tool */
};

struct rules_wish {             /* borrowed */
	enum rules_choice choice;
	const char *name;       /* RULES_NAMED */
	int one_call;           /* no more than that */
	const struct bytes *schema;     /* JSON text: the content must be valid against it; NULL: any text */
	struct bytes *left_out; /* NULL, or gets a line for each part of a schema that cannot be expressed */
};

/* Appends the grammar to *out, up to its limit. It begins with the lines "# after: TEXT" of a grammar that waits, for
 * each text that begins a call, where other text is free. The variables are those of the template, and the prompt is
 * its end, as learn_format() gives it. -1: nothing to constrain, no such tool, no format of calls, or a schema that
 * cannot be expressed. */
int rules_write(const struct format *f, const struct json *variables, const struct bytes *prompt,
	const struct vocab *v, const struct rules_wish *wish, struct bytes *out, struct why *w);

#endif
