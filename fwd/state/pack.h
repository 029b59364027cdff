/* pack: bytes in a stream that need no seeking, with a hash for each part, and without their runs of zeroes. After the
 * first 16 bytes, which say what the stream is, come blocks:
 *	bytes		of the data in the block, 1 to PACK_BLOCK; 0: the end	u32
 *	packed		of what follows the hash				u32
 *	hash		of these two and what follows, from the one before	u64
 * and then, until the block is full: u16 words, that many words of 8 bytes, u16 words of zeroes. A last word that is
 * not whole is filled up with zeroes. Numbers are little-endian. A hash (lib/gguf/gguf.h) begins with the one before,
 * the first with that of the 16 bytes, so that the last covers everything. */
#ifndef STATE_PACK_H
#define STATE_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"

enum { PACK_BLOCK = 1 << 16, PACK_HEAD = 16 };

struct pack {                   /* private */
	int fd;
	const char *name;       /* of a stream that is read, for messages; borrowed */
	uint64_t hash;
	size_t block;           /* number of the block, from 1 on */
	size_t n, at;           /* bytes in data[]; the next to read */
	/* the last word may begin with the last byte */
	unsigned char data[PACK_BLOCK + 8], packed[PACK_HEAD + PACK_BLOCK + 8];
};

/* Writing. Nothing more may follow pack_end(). -1: the write failed. */
int pack_begin(struct pack *p, int fd, const unsigned char head[PACK_HEAD], struct why *w);
int pack_write(struct pack *p, const void *data, size_t n, struct why *w);
int pack_end(struct pack *p, struct why *w);

/* Reading: exactly the bytes that were written, each of which was checked; then the end of the stream. -1: it is
 * damaged or ends before. */
int unpack_begin(struct pack *p, int fd, const char *name, unsigned char head[PACK_HEAD], struct why *w);
int unpack_read(struct pack *p, void *data, size_t n, struct why *w);
int unpack_end(struct pack *p, struct why *w);

#endif
