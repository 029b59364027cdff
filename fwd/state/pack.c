/* Blocks of packed data, written and read. */
#include "pack.h"

#include <errno.h>
#include <string.h>

#include "lib/base/io.h"
#include "lib/base/le.h"
#include "lib/base/size.h"
#include "lib/gguf/gguf.h"

enum { WORD = 8 };

static void put(unsigned char *to, uint64_t n, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (unsigned char)(n >> 8 * i);
}

/* Of a block with its sizes in front. */
static uint64_t hash(uint64_t before, const unsigned char *block, size_t packed)
{
	return gguf_hash(block + PACK_HEAD, packed, gguf_hash(block, 8, before));
}

static size_t words(size_t bytes)
{
	return (bytes + WORD - 1) / WORD;
}

/* Words from the i-th on that are zero, or are not. */
static size_t run(const unsigned char *data, size_t i, size_t n, int zero)
{
	size_t from = i;

	while (i < n && (le64(data + i * WORD) == 0) == zero)
		i++;
	return i - from;
}

/* ---- writing ---- */

static int write_block(struct pack *p, struct why *w)
{
	unsigned char *to = p->packed + PACK_HEAD;
	size_t n = words(p->n), packed;

	memset(p->data + p->n, 0, n * WORD - p->n);
	for (size_t i = 0, some, none; i < n; i += some + none) {
		some = run(p->data, i, n, 0);
		none = run(p->data, i + some, n, 1);
		put(to, some, 2);
		memcpy(to + 2, p->data + i * WORD, some * WORD);
		put(to + 2 + some * WORD, none, 2);
		to += some * WORD + 4;
	}
	packed = (size_t)(to - p->packed) - PACK_HEAD;
	put(p->packed, p->n, 4);
	put(p->packed + 4, packed, 4);
	p->hash = hash(p->hash, p->packed, packed);
	put(p->packed + 8, p->hash, 8);
	p->n = 0;
	return io_write(p->fd, p->packed, PACK_HEAD + packed, w);
}

int pack_begin(struct pack *p, int fd, const unsigned char head[PACK_HEAD], struct why *w)
{
	p->fd = fd;
	p->hash = gguf_hash(head, PACK_HEAD, 0);
	p->n = 0;
	return io_write(fd, head, PACK_HEAD, w);
}

int pack_write(struct pack *p, const void *data, size_t n, struct why *w)
{
	const unsigned char *from = data;

	for (size_t some; n; from += some, n -= some) {
		some = size_min(n, PACK_BLOCK - p->n);
		memcpy(p->data + p->n, from, some);
		p->n += some;
		if (p->n == PACK_BLOCK && write_block(p, w) < 0)
			return -1;
	}
	return 0;
}

int pack_end(struct pack *p, struct why *w)
{
	return (p->n && write_block(p, w) < 0) || write_block(p, w) < 0 ? -1 : 0;
}

/* ---- reading ---- */

static int read_all(const struct pack *p, unsigned char *to, size_t n, struct why *w)
{
	for (ssize_t got; n; to += got, n -= (size_t)got) {
		got = io_read(p->fd, to, n);
		if (got <= 0)
			return why(w, "%s: %s", p->name, got ? strerror(errno) : "truncated");
	}
	return 0;
}

/* Whether the packed bytes are the runs of exactly n words. */
static int expand(unsigned char *data, size_t n, const unsigned char *from, size_t packed)
{
	size_t i = 0, some, none;

	for (; i < n; i += some + none, from += some * WORD + 4, packed -= some * WORD + 4) {
		if (packed < 4 || (some = le_bytes(from, 2)) > size_min(n - i, (packed - 4) / WORD))
			return 0;
		none = le_bytes(from + 2 + some * WORD, 2);
		if (some + none < 1 || none > n - i - some)
			return 0;
		memcpy(data + i * WORD, from + 2, some * WORD);
		memset(data + (i + some) * WORD, 0, none * WORD);
	}
	return !packed;
}

static int read_block(struct pack *p, struct why *w)
{
	size_t packed;

	p->block++;
	p->at = 0;
	if (read_all(p, p->packed, PACK_HEAD, w) < 0)
		return -1;
	p->n = le32(p->packed);
	packed = le32(p->packed + 4);
	if (p->n > PACK_BLOCK || packed > sizeof p->packed - PACK_HEAD)
		return why(w, "%s: block %zu is damaged", p->name, p->block);
	if (read_all(p, p->packed + PACK_HEAD, packed, w) < 0)
		return -1;
	p->hash = hash(p->hash, p->packed, packed);
	if (p->hash != le64(p->packed + 8) || !expand(p->data, words(p->n), p->packed + PACK_HEAD, packed))
		return why(w, "%s: block %zu is damaged", p->name, p->block);
	return 0;
}

int unpack_begin(struct pack *p, int fd, const char *name, unsigned char head[PACK_HEAD], struct why *w)
{
	p->fd = fd;
	p->name = name;
	p->block = p->n = p->at = 0;
	if (read_all(p, head, PACK_HEAD, w) < 0)
		return -1;
	p->hash = gguf_hash(head, PACK_HEAD, 0);
	return 0;
}

int unpack_read(struct pack *p, void *data, size_t n, struct why *w)
{
	unsigned char *to = data;

	for (size_t some; n; to += some, n -= some, p->at += some) {
		if (p->at == p->n && read_block(p, w) < 0)
			return -1;
		if (!p->n)
			return why(w, "%s: block %zu: ends too early", p->name, p->block);
		some = size_min(n, p->n - p->at);
		memcpy(to, p->data + p->at, some);
	}
	return 0;
}

int unpack_end(struct pack *p, struct why *w)
{
	char more;

	if (p->at == p->n && read_block(p, w) < 0)
		return -1;
	if (p->n)
		return why(w, "%s: block %zu: more data than expected", p->name, p->block);
	return io_read(p->fd, &more, 1) == 1 ? why(w, "%s: data after the end of the stream", p->name) : 0;
}
