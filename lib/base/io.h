/* io: read(2) and write(2) that repeat interrupted calls and wait for non-blocking descriptors. Everything that reads
 * or writes files and streams goes through here. */
#ifndef IO_H
#define IO_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "why.h"

/* As read(2) without EINTR and EAGAIN: the number of bytes, 0 at the end of the input, -1 with errno. */
ssize_t io_read(int fd, void *to, size_t n);

/* Whether a read would not wait, now or within this many seconds (0 or less: now). May give up early on a signal. */
int io_readable(int fd, double seconds);

/* Writes all n bytes. -1: the reason does not name the file, unless it is standard output. */
int io_write(int fd, const void *from, size_t n, struct why *w);

/* The same for v[count], which is modified. */
int io_write_vector(int fd, struct iovec *v, int count, struct why *w);

#endif
