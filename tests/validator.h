/* validator: an independent validator of the JSON schemas that mkschema makes; it knows nothing of grammars. */
#ifndef VALIDATOR_H
#define VALIDATOR_H

#include "lib/base/json.h"

/* Whether the value is valid against the schema, which must be a whole document. */
int validator_allows(const struct json *schema, const struct json *value);

#endif
