/* schema: a JSON Schema as a grammar: the GBNF text (grammar.h) of the JSON texts that hold to it. Drafts 6 to 2020-12 as far as a grammar can express
 * them; what it cannot is refused by the keyword's place and name, never left out. What is written may be less than what would hold, never more.
 *
 * Objects have their properties in the schema's order, optional ones left out at will; further properties only where additionalProperties asks for them
 * (they may not have the name of one of the others, nor escapes in their names). White space stands between tokens only: none, a space, or a line's end
 * and at most 20 spaces or tabs. Numbers have at most 16 digits before and after the point. A schema without a type is of the types that its keywords
 * are about.
 *   any type      type (one or several), enum, const, anyOf, oneOf (if its branches visibly exclude each other), allOf, $ref within the document
 *   object        properties, required, additionalProperties
 *   array         items, prefixItems, additionalItems, minItems, maxItems
 *   string        minLength, maxLength, pattern (pattern.c), format: date, time, date-time, uuid, email, ipv4, hostname, uri
 *   number        minimum, maximum, exclusiveMinimum, exclusiveMaximum (whole numbers), multipleOf 1, format: int32
 * Skipped, as they allow every value: title, description, default, examples, $comment, deprecated, readOnly, writeOnly, $schema, $id, $anchor, $defs,
 * definitions, discriminator, content..., and names that begin with "x-". */
#ifndef SCHEMA_H
#define SCHEMA_H

#include <stddef.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"

enum { SCHEMA_DEPTH = 64 };     /* schemas inside each other, references followed included */

/* Appends to out, up to its limit, the grammar of the schema that json[n] spells. -1: not JSON ("line L, column C: ..."), or a schema that cannot be
 * expressed ("#/properties/a: ..."), or one that no value holds to. */
int schema_grammar(const char *json, size_t n, struct bytes *out, struct why *w);

#endif
