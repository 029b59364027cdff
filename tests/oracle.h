/* oracle: random grammars, and an independent recogniser that tries everything, over the tree that the grammar was
 * printed from. For grammar_test. */
#ifndef ORACLE_H
#define ORACLE_H

#include <stddef.h>
#include <stdint.h>

enum { ORACLE_TEXT = 127 };     /* bytes of a text, at most */

struct oracle;

/* Makes a random grammar. Some are left-recursive or have no finite text; grammar_parse() refuses those, and the oracle
 * cannot decide them. */
struct oracle *oracle_open(uint64_t seed);
void oracle_close(struct oracle *o);

const char *oracle_grammar(const struct oracle *o);     /* in GBNF */

/* Whether the grammar allows the text, and whether it allows a text that begins with it. Exact if every rule has a
 * finite text. */
void oracle_judge(struct oracle *o, const char *text, size_t n, int *whole, int *prefix);

/* A random piece of text over the grammars' alphabet, at most n bytes, sometimes cut inside a character. Returns its
 * length. */
size_t oracle_piece(uint64_t seed, char *out, size_t n);

#endif
