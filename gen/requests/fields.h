/* fields: members of a request with a type. The functions return 0, also where the member is missing or null, which
 * changes nothing; -1 with a reason if it has another type or value, and j->param is its name. */
#ifndef FIELDS_H
#define FIELDS_H

#include "job.h"

/* The member of the body; NULL if it is missing or null. */
const struct json *field(const struct job *j, const char *name);

/* Makes j->param this name and returns the status: for `return field_bad(j, name, why(...))`. */
int field_bad(struct job *j, const char *name, int status);

int field_flag(struct job *j, const char *name, int *to, struct why *w);
int field_integer(struct job *j, const char *name, int64_t low, int64_t high, int64_t *to, struct why *w);

/* The ids of an array of numbers. */
int field_ids(struct job *j, const char *name, const struct json *list, int32_t n_vocab, struct ids *to,
	struct why *w);

#endif
