/* The dictionary is read as numpy writes it: its keys and values are found by their text. */
#include "npy.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/le.h"

enum { MAGIC = 6, LENGTH = 8, HEADER = 10, HEADER_2 = 12, DICTIONARY_MAX = 4095 };

int npy_is(const char *p, size_t n)
{
	return n >= MAGIC && !memcmp(p, "\x93NUMPY", MAGIC);
}

/* The value of a key, after the colon and spaces; NULL if there is no such key. */
static const char *value_of(const char *dictionary, const char *key)
{
	const char *at = strstr(dictionary, key);

	if (!at || *(at += strlen(key)) != ':')
		return NULL;
	return at + 1 + strspn(at + 1, " ");
}

/* A number of at most 18 digits, and what may follow it: a comma, spaces. -1 if there is none. */
static int64_t take_number(const char **at)
{
	int64_t n = 0;
	int digits;

	for (digits = 0; isdigit((unsigned char)**at) && digits < 18; digits++)
		n = 10 * n + (*(*at)++ - '0');
	*at += strspn(*at, ", ");
	return digits ? n : -1;
}

static int read_shape(struct npy *a, const char *shape, struct why *w)
{
	int64_t rows, cols;

	if (*shape++ != '(' || (rows = take_number(&shape)) < 0 || (cols = take_number(&shape)) < 0 || *shape != ')')
		return why(w, "an array of two dimensions is expected, a row for each vector");
	if ((uint64_t)rows > SIZE_MAX || (uint64_t)cols > SIZE_MAX)
		return why(w, "the array is too large");
	a->rows = (size_t)rows;
	a->cols = (size_t)cols;
	return 0;
}

static int read_dictionary(struct npy *a, const char *dictionary, struct why *w)
{
	const char *descr = value_of(dictionary, "'descr'"), *order = value_of(dictionary, "'fortran_order'");
	const char *shape = value_of(dictionary, "'shape'");

	if (!descr || !order || !shape)
		return why(w, "the header has no 'descr', 'fortran_order' or 'shape'");
	if (strncmp(descr, "'<f4'", 5))
		return why(w, "the elements are of type %.*s, not '<f4'", (int)strcspn(descr, ","), descr);
	if (strncmp(order, "False", 5))
		return why(w, "the array is in Fortran's order");
	return read_shape(a, shape, w);
}

int npy_read(struct npy *a, const char *p, size_t n, struct why *w)
{
	char dictionary[DICTIONARY_MAX + 1];
	size_t header = n > MAGIC && p[MAGIC] == 1 ? HEADER : HEADER_2, length;

	if (n < header)
		return why(w, "the header is cut off");
	length = header == HEADER ? (size_t)le_bytes(p + LENGTH, 2) : le32(p + LENGTH);
	if (length > n - header || length > DICTIONARY_MAX)
		return why(w, "the header is cut off or too long");
	memcpy(dictionary, p + header, length);
	dictionary[length] = 0;
	a->start = header + length;
	if (read_dictionary(a, dictionary, w))
		return -1;
	if (a->cols && a->rows > (n - a->start) / sizeof(float) / a->cols)
		return why(w, "the file ends before %zu × %zu elements", a->rows, a->cols);
	return 0;
}
