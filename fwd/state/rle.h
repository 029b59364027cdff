/* rle: a stream of bytes in blocks, each with a hash, whose zeroes are run-length encoded; written and read without
 * seeking. After the first 16 bytes, which say what the stream is, come blocks:
 *	bytes		of the data in the block, 1 to RLE_BLOCK; 0: the end	u32
 *	encoded		bytes that follow the hash				u32
 *	hash		of these two and what follows, from the one before	u64
 * and then, until the block is full: u16 words, that many words of 8 bytes, u16 words of zeroes. An incomplete last
 * word is padded with zeroes. Numbers are little-endian. A hash (lib/gguf/gguf.h) begins with the one before, the first
 * with that of the 16 bytes, so that the last covers everything. */
#ifndef RLE_H
#define RLE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"

enum { RLE_BLOCK = 1 << 16, RLE_HEAD = 16 };

struct rle {                    /* private */
	int fd;
	const char *name;       /* of a stream that is read, for messages; borrowed */
	uint64_t hash;
	size_t block;           /* number of the block, from 1 on */
	size_t n, at;           /* bytes in data[]; the next to read */
	/* the last word may start in the last byte, so there are 8 more bytes */
	unsigned char data[RLE_BLOCK + 8], encoded[RLE_HEAD + RLE_BLOCK + 8];
};

/* Writing. After rle_write_end() nothing may be written. All return -1 if a write fails. */
int rle_write_head(struct rle *r, int fd, const unsigned char head[RLE_HEAD], struct why *w);
int rle_write(struct rle *r, const void *data, size_t n, struct why *w);
int rle_write_end(struct rle *r, struct why *w);

/* Reading. rle_read() returns exactly the bytes that were written, and only after their hash was checked;
 * rle_read_end() checks that the stream ends. All return -1 if the stream is damaged or truncated. */
int rle_read_head(struct rle *r, int fd, const char *name, unsigned char head[RLE_HEAD], struct why *w);
int rle_read(struct rle *r, void *data, size_t n, struct why *w);
int rle_read_end(struct rle *r, struct why *w);

#endif
