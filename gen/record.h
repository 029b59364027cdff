/* record: what a line of `gen --json` has so that its text can be drawn again, and proved by that. A record may come
 * from anyone: besides numbers, text and the model's name, only the options of a list are taken from it, none of which
 * names a file or a command. */
#ifndef RECORD_H
#define RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/json.h"
#include "lib/base/why.h"
#include "lib/stream/card.h"
#include "lib/stream/ids.h"
#include "gen/loop/result.h"
#include "request.h"

struct record {                 /* starts as zeros; strings lie in the arena */
	struct arena arena;
	struct ids prompt, ids; /* at least one of each */
	int64_t seed;
	const char *text;       /* [n_text] */
	size_t n_text;
	const char *stop;       /* the stop string that ended it, or NULL */
	size_t n_stop;
	const char *reason;     /* the key of an enum frame_reason */
	const char *model;      /* its path on the machine that made the record */
	struct card card;       /* vocab, model and n_vocab of fwd's */
	const char *grammar;    /* [n_grammar], or NULL */
	size_t n_grammar;
	int marks;              /* the text has the control tokens that mark reasoning and calls */
	struct cli_given *given;        /* [n_given]: options */
	size_t n_given;
};

/* Writes the member "replay": an object, or null if the text of *r cannot be drawn again from its prompt and options
 * alone. Returns -1 with a reason if the grammar cannot be read. */
int record_write(struct json_writer *to, const struct request *q, const struct card *card, const struct result *r,
	struct why *w);

/* Reads a line of JSON. Returns -1 with a reason if it is no record, or one of another arithmetic. Call record_free()
 * in any case. */
int record_read(struct record *record, const char *line, size_t n, struct why *w);
void record_free(struct record *record);

#endif
