/* address: where the server listens: [ADDRESS:]PORT or unix:PATH. */
#ifndef ADDRESS_H
#define ADDRESS_H

#include "lib/base/why.h"

enum { ADDRESS_TEXT = 512 };

struct address {
	int fd;                         /* listens, without blocking */
	int local;                      /* only this machine can connect */
	const char *path;               /* of a socket that is removed at the end, or NULL */
	char text[ADDRESS_TEXT];        /* for users: "http://127.0.0.1:8080" */
};

/* Whether it is one of the two forms. */
int address_is_valid(const char *spec);

/* spec: PORT alone is one of 127.0.0.1, port 0 any that is free. -1: a reason. */
int address_listen(struct address *a, const char *spec, struct why *w);
void address_close(struct address *a);

#endif
