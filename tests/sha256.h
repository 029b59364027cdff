/* sha256 (FIPS 180-4), for golden files that hold a digest in the place of a long text. */
#ifndef SHA256_H
#define SHA256_H

#include <stddef.h>

/* The digest of s[n] as 64 lower-case hexadecimal digits and a NUL. */
void sha256(const void *s, size_t n, char out[65]);

#endif
