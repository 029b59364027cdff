/* language: the automata of patterns and of lists of texts, and automata as the inside of JSON strings. Private to
 * lib/schema. */
#ifndef SCHEMA_LANGUAGE_H
#define SCHEMA_LANGUAGE_H

#include "automaton.h"
#include "converter.h"

/* The strings in which the pattern finds a match. NULL: failed, which w or c knows. */
const struct automaton *language_of_pattern(struct converter *c, struct workshop *w, const struct regex *r);

/* The texts that are children of a list: strings, or names of members. */
const struct automaton *language_of_texts(struct workshop *w, const struct json *list);

/* Whether the workshop has failed; then c has, too. */
int language_failed(struct converter *c, const struct workshop *w);

/* The texts as a part of the grammar, characters spelt as inside a JSON string. never: there is none. */
struct gbnf_expr *language_write(struct converter *c, struct workshop *w, const struct automaton *a);

#endif
