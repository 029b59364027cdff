/* Encoding finds runs of zero words. Decoding checks each length before it writes. */
#include "rle.h"

#include <errno.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/io.h"
#include "lib/base/le.h"
#include "lib/base/size.h"

enum { WORD = 8 };

static void put(unsigned char *to, uint64_t n, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (unsigned char)(n >> 8 * i);
}

/* The hash of a block, which begins with its sizes. */
static uint64_t hash(uint64_t before, const unsigned char *block, size_t encoded)
{
	return hash_data(block + RLE_HEAD, encoded, hash_data(block, 8, before));
}

static size_t words(size_t bytes)
{
	return (bytes + WORD - 1) / WORD;
}

/* The number of words, from the i-th on, that are zero (or, zero 0, are not). */
static size_t run(const unsigned char *data, size_t i, size_t n, int zero)
{
	size_t from = i;

	while (i < n && (le64(data + i * WORD) == 0) == zero)
		i++;
	return i - from;
}

/* ---- writing ---- */

static int write_block(struct rle *r, struct why *w)
{
	unsigned char *to = r->encoded + RLE_HEAD;
	size_t n = words(r->n), encoded;

	memset(r->data + r->n, 0, n * WORD - r->n);
	for (size_t i = 0, some, none; i < n; i += some + none) {
		some = run(r->data, i, n, 0);
		none = run(r->data, i + some, n, 1);
		put(to, some, 2);
		memcpy(to + 2, r->data + i * WORD, some * WORD);
		put(to + 2 + some * WORD, none, 2);
		to += some * WORD + 4;
	}
	encoded = (size_t)(to - r->encoded) - RLE_HEAD;
	put(r->encoded, r->n, 4);
	put(r->encoded + 4, encoded, 4);
	r->hash = hash(r->hash, r->encoded, encoded);
	put(r->encoded + 8, r->hash, 8);
	r->n = 0;
	return io_write(r->fd, r->encoded, RLE_HEAD + encoded, w);
}

int rle_write_head(struct rle *r, int fd, const unsigned char head[RLE_HEAD], struct why *w)
{
	r->fd = fd;
	r->hash = hash_data(head, RLE_HEAD, 0);
	r->n = 0;
	return io_write(fd, head, RLE_HEAD, w);
}

int rle_write(struct rle *r, const void *data, size_t n, struct why *w)
{
	const unsigned char *from = data;

	for (size_t some; n; from += some, n -= some) {
		some = size_min(n, RLE_BLOCK - r->n);
		memcpy(r->data + r->n, from, some);
		r->n += some;
		if (r->n == RLE_BLOCK && write_block(r, w) < 0)
			return -1;
	}
	return 0;
}

int rle_write_end(struct rle *r, struct why *w)
{
	return (r->n && write_block(r, w) < 0) || write_block(r, w) < 0 ? -1 : 0;
}

/* ---- reading ---- */

static int read_all(const struct rle *r, unsigned char *to, size_t n, struct why *w)
{
	for (ssize_t got; n; to += got, n -= (size_t)got) {
		got = io_read(r->fd, to, n);
		if (got <= 0)
			return why(w, "%s: %s", r->name, got ? strerror(errno) : "truncated");
	}
	return 0;
}

/* Decodes n words. Returns whether the encoded bytes are exactly their runs. */
static int decode(unsigned char *data, size_t n, const unsigned char *from, size_t encoded)
{
	size_t i = 0, some, none;

	for (; i < n; i += some + none, from += some * WORD + 4, encoded -= some * WORD + 4) {
		if (encoded < 4 || (some = le_bytes(from, 2)) > size_min(n - i, (encoded - 4) / WORD))
			return 0;
		none = le_bytes(from + 2 + some * WORD, 2);
		if (some + none < 1 || none > n - i - some)
			return 0;
		memcpy(data + i * WORD, from + 2, some * WORD);
		memset(data + (i + some) * WORD, 0, none * WORD);
	}
	return !encoded;
}

static int read_block(struct rle *r, struct why *w)
{
	size_t encoded;

	r->block++;
	r->at = 0;
	if (read_all(r, r->encoded, RLE_HEAD, w) < 0)
		return -1;
	r->n = le32(r->encoded);
	encoded = le32(r->encoded + 4);
	if (r->n > RLE_BLOCK || encoded > sizeof r->encoded - RLE_HEAD)
		return why(w, "%s: block %zu is damaged", r->name, r->block);
	if (read_all(r, r->encoded + RLE_HEAD, encoded, w) < 0)
		return -1;
	r->hash = hash(r->hash, r->encoded, encoded);
	if (r->hash != le64(r->encoded + 8) || !decode(r->data, words(r->n), r->encoded + RLE_HEAD, encoded))
		return why(w, "%s: block %zu is damaged", r->name, r->block);
	return 0;
}

int rle_read_head(struct rle *r, int fd, const char *name, unsigned char head[RLE_HEAD], struct why *w)
{
	r->fd = fd;
	r->name = name;
	r->block = r->n = r->at = 0;
	if (read_all(r, head, RLE_HEAD, w) < 0)
		return -1;
	r->hash = hash_data(head, RLE_HEAD, 0);
	return 0;
}

int rle_read(struct rle *r, void *data, size_t n, struct why *w)
{
	unsigned char *to = data;

	for (size_t some; n; to += some, n -= some, r->at += some) {
		if (r->at == r->n && read_block(r, w) < 0)
			return -1;
		if (!r->n)
			return why(w, "%s: block %zu: ends too early", r->name, r->block);
		some = size_min(n, r->n - r->at);
		memcpy(to, r->data + r->at, some);
	}
	return 0;
}

int rle_read_end(struct rle *r, struct why *w)
{
	char more;

	if (r->at == r->n && read_block(r, w) < 0)
		return -1;
	if (r->n)
		return why(w, "%s: block %zu: more data than expected", r->name, r->block);
	return io_read(r->fd, &more, 1) == 1 ? why(w, "%s: data after the end of the stream", r->name) : 0;
}
