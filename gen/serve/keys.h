/* keys: who may use the server: the keys of --api-key-file. */
#ifndef KEYS_H
#define KEYS_H

#include "lib/base/bytes.h"
#include "lib/base/why.h"
#include "http.h"

struct keys {                   /* starts as zeros: everybody may */
	struct bytes text;              /* a key on each line */
	int set;
};

/* Reads the file: a key on each line; empty lines and those that begin with # are ignored. A file without keys is an
 * error. */
int keys_read(struct keys *k, const char *name, struct why *w);
void keys_free(struct keys *k);

/* Whether the request has one of the keys, as Authorization: Bearer KEY or X-API-Key: KEY. How long this takes does not
 * depend on how much of a key is right. */
int keys_allow(const struct keys *k, const struct http *h);

#endif
