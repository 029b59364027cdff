/* oracle: random grammars, and an independent judge of them: a recogniser that tries everything, over the tree that the
 * grammar was printed from. For grammar_test. */
#ifndef ORACLE_H
#define ORACLE_H

#include <stddef.h>
#include <stdint.h>

enum { ORACLE_TEXT = 127 };     /* bytes that it can judge */

struct oracle;

/* A random grammar of the seed. Some begin with themselves or never end: grammar_parse() refuses those, and nothing may
 * be asked about them. */
struct oracle *oracle_open(uint64_t seed);
void oracle_close(struct oracle *o);

const char *oracle_grammar(const struct oracle *o);     /* in GBNF */

/* Whether the grammar allows the text, and whether it allows one that begins with it. Exact, as long as every rule has
 * a finite text. */
void oracle_judge(struct oracle *o, const char *text, size_t n, int *whole, int *prefix);

/* A piece of text such as the grammars are about: n bytes at most, at times cut inside a character. Returns how
 * many. */
size_t oracle_piece(uint64_t seed, char *out, size_t n);

#endif
