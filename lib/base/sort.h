/* sort: sorts strings, each with a number, by their bytes; used for the tokens of a vocabulary before a trie is built
 * of them. */
#ifndef SORT_H
#define SORT_H

#include <stddef.h>
#include <stdint.h>

struct sort_string {
	const char *s;          /* [n], borrowed; any bytes */
	uint32_t n;
	int32_t id;
};

/* Sorts string[n] by bytes, equal ones by id. Takes roughly linear time. Returns -1 if memory is short. */
int sort_strings(struct sort_string *string, size_t n);

#endif
