/* The distance of Damerau and Levenshtein (optimal string alignment), row by row. */
#include "similar.h"

#include <string.h>

enum { LONGEST = 63, FAR = 100 };

static int least(int a, int b)
{
	return a < b ? a : b;
}

int similar_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	int rows[3][LONGEST + 1], *before = rows[0], *above = rows[1], *row = rows[2], *spare;

	if (n > LONGEST || m > LONGEST)
		return FAR;
	for (size_t j = 0; j <= m; j++)
		above[j] = before[j] = (int)j;
	for (size_t i = 1; i <= n; i++) {
		row[0] = (int)i;
		for (size_t j = 1; j <= m; j++) {
			row[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]), least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[m];
}

int similar(const char *a, const char *b)
{
	size_t n = strlen(a);

	return (n > 2 && !strncmp(a, b, n)) || similar_distance(a, b) <= (n > 7 ? 3 : n > 3 ? 2 : 1);
}
