/* schema: a JSON Schema as a grammar: the GBNF text (grammar.h) of the JSON texts that hold to it. Drafts 4 to 2020-12 as far as a grammar can express them;
 * what it cannot is refused by the keyword's place and name, never left out.
 *
 * What is written: objects with their properties in the schema's order, optional ones left out at will; further properties only where
 * additionalProperties says so in words (they may not have the name of one of the properties, nor escapes in their names); white space only where it
 * separates: nothing, a space, or a line's end and at most 20 spaces or tabs; numbers of at most 16 digits before and after the point.
 *   any type      type (one or several), enum, const, anyOf, oneOf (its branches must exclude each other visibly), allOf, $ref within the document
 *   object        properties, required, additionalProperties
 *   array         items, prefixItems, additionalItems, minItems, maxItems
 *   string        minLength, maxLength, pattern (schema_pattern.c), format: date, time, date-time, uuid, email, ipv4, hostname, uri
 *   number        minimum, maximum, exclusiveMinimum, exclusiveMaximum (whole numbers), multipleOf 1
 * Skipped, as they allow every value: title, description, default, examples, $comment, deprecated, readOnly, writeOnly, $schema, $id, $defs,
 * definitions, content..., and names that begin with "x-". */
#ifndef SCHEMA_H
#define SCHEMA_H

#include <stddef.h>

#include "bytes.h"
#include "why.h"

enum { SCHEMA_DEPTH = 64 };     /* schemas inside each other, references followed included */

/* Appends to out, up to its limit, the grammar of the schema that json[n] spells. -1: not JSON ("line L, column C: ..."), or a schema that cannot be
 * expressed ("#/properties/a: ..."), or one that no value holds to. */
int schema_grammar(const char *json, size_t n, struct bytes *out, struct why *w);

#endif
