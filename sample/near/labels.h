/* labels: what is known of each vector beside its numbers: its text, or a JSON object with "text", "id" and others. */
#ifndef LABELS_H
#define LABELS_H

#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/bytes.h"
#include "lib/base/json.h"
#include "lib/base/why.h"

struct labels {                 /* starts as zeros */
	int as_json;            /* set by the owner: the labels are JSON objects */
	size_t n;
	size_t *end;            /* [n] private: where each ends in `bytes` */
	size_t room;
	struct bytes bytes;
};

int labels_add(struct labels *l, const char *s, size_t n, struct why *w);
void labels_free(struct labels *l);

/* Reads a file of texts, a line each. */
int labels_read(struct labels *l, const char *name, struct why *w);

struct label {
	const struct json *members;     /* of the object, or NULL */
	const char *text;               /* text[n], or NULL */
	size_t n;
};

/* Label i; what it points to is the arena's or the labels'. -1: out of memory. */
int labels_get(const struct labels *l, size_t i, struct arena *a, struct label *label, struct why *w);

#endif
