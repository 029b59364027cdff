/* schema: a JSON Schema as a grammar: the GBNF text (lib/grammar/grammar.h) of the JSON texts that are valid against
 * it. Drafts 6 to 2020-12, as far as a grammar can express them; a keyword that it cannot express is an error that
 * names the keyword and its place, never left out. The grammar may allow less than the schema, never more;
 * sample/schema.1 says what, keyword by keyword. */
#ifndef SCHEMA_H
#define SCHEMA_H

#include <stddef.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"

enum { SCHEMA_DEPTH = 64 };     /* schemas inside each other, references followed included */

/* Appends to out, up to its limit, the grammar of the schema that json[n] spells. left_out is NULL, or gets a line for
 * each part of the schema that cannot be expressed and is left out, so that the grammar allows more. -1: not JSON
 * ("line L, column C: ..."), a schema that cannot be expressed ("#/properties/a: ..."), or one that no value matches;
 * errno is ENOMEM if it is memory that is short. Time and memory grow about linearly with the schema. */
int schema_grammar(const char *json, size_t n, struct bytes *left_out, struct bytes *out, struct why *w);

#endif
