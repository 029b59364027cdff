/* similar: finds the name that was probably meant by one with a typing error. */
#ifndef SIMILAR_H
#define SIMILAR_H

/* The number of letters to change, delete, insert, or swap with the next, to turn a into b; at least 100 if either is
 * longer than 63. */
int similar_distance(const char *a, const char *b);

/* Whether b is close enough to a to be suggested: a is a prefix of b, or a few changes away. */
int similar(const char *a, const char *b);

#endif
