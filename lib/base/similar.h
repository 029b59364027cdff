/* similar: finds the name that was probably meant by one with a typing error. */
#ifndef SIMILAR_H
#define SIMILAR_H

/* How many letters must be changed, left out, put in or swapped with the next to make b of a; at least 100 where one is
 * longer than 63. */
int similar_distance(const char *a, const char *b);

/* Whether b is close enough to a to be suggested: a is a prefix of b, or few changes away. */
int similar(const char *a, const char *b);

#endif
