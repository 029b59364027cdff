/* vectors: the vectors that are searched, a row each: of a file of raw floats or a .npy file, which are mapped, or of
 * lines of JSON, as embed writes them. */
#ifndef VECTORS_H
#define VECTORS_H

#include <stddef.h>

#include "lib/base/bytes.h"
#include "lib/base/json.h"
#include "lib/base/why.h"
#include "labels.h"

struct vectors {
	const char *name;       /* for messages; borrowed */
	const char *data;       /* [rows][cols] floats, of any alignment */
	size_t rows, cols;      /* cols 0: there are no rows */
	struct labels labels;   /* of lines of JSON: the objects without "embedding"; otherwise empty */

	/* private */
	void *map;              /* [map_bytes] or NULL */
	size_t map_bytes;
	struct bytes floats;    /* of lines of JSON */
};

enum { VECTORS_COLS_MAX = 1 << 20 };

/* Opens the file, "-": standard input. cols: of a file of raw little-endian floats, or of a .npy file, which
 * is checked; 0: the file is a .npy file or lines of JSON. -1 with a reason; vectors_close() in any case. */
int vectors_open(struct vectors *v, const char *name, size_t cols, struct why *w);
void vectors_close(struct vectors *v);

/* A line of JSON: an object whose member "embedding" is an array of numbers, or such an array alone. Reads the numbers
 * into to[cols]; *cols 0: as many as there are, up to `room`, and *cols is set. */
int vectors_read(const struct json *line, float *to, size_t room, size_t *cols, struct why *w);

#endif
