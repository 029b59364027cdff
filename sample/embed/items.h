/* items: the texts that embed is given, one at a time: the lines of files, whole files, or lines of JSON. */
#ifndef ITEMS_H
#define ITEMS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/bytes.h"
#include "lib/base/json.h"
#include "lib/base/lines.h"
#include "lib/base/why.h"

enum items_kind { ITEMS_LINES, ITEMS_JSON, ITEMS_FILES };

struct items {
	/* the options */
	enum items_kind kind;
	int pairs;              /* of a query and a document: with a tab between them, or members of an object */
	int without_text;       /* labels have no "text", "query" or "document" */
	int requests;           /* ITEMS_JSON: lines may ask for what enum item_asks has */
	int64_t n_vocab;        /* of the ids in requests */
	const char *prefix;     /* before each text, but not in labels; or NULL */
	char *const *file;      /* [n_files] */
	int n_files;

	/* private */
	int at;                 /* files that are done */
	int open;
	struct lines lines;
};

enum item_asks { ITEM_EMBEDDING, ITEM_MODEL, ITEM_NOTHING };

/* What becomes of a text: a line of JSON for tok, and what is printed with its embedding. */
struct item {
	struct item *next;      /* free for the caller */
	enum item_asks asks;    /* ITEM_MODEL: what the model is; ITEM_NOTHING: no answer */
	int64_t dimensions;     /* that the request names; 0: none */
	struct bytes line;      /* a string or ids, an array of two for a pair; null if it is not embedded */
	struct bytes label;     /* the members of an object, without its braces; n 0: none */
	char *error;            /* why it cannot be, or NULL */
};

/* The next item, which the caller frees, in *item. Returns 1; 0 at the end; -1 with a reason if a file of lines cannot
 * be read or memory is short. */
int items_next(struct items *t, struct item **item, struct why *w);
void item_free(struct item *item);

#endif
