/* What ids spell. */
#include "text.h"

static void put(void *out, const char *s, size_t n)
{
	bytes_put(out, s, n);
}

void text_of(const struct vocab *v, struct stop *stop, int special, const int32_t *ids, size_t n, struct bytes *out)
{
	if (stop)
		stop_start(stop);
	for (size_t i = 0; i < n; i++) {
		size_t length = 0;
		const char *piece = vocab_piece(v, ids[i], special, &length);

		if (piece && stop)
			stop_feed(stop, piece, length, put, out);
		else if (piece)
			bytes_put(out, piece, length);
	}
	if (stop)
		stop_end(stop, put, out);
}
