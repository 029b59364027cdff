/* format: the formats of strings that a grammar enforces. Private to lib/schema. */
#ifndef SCHEMA_FORMAT_H
#define SCHEMA_FORMAT_H

/* A pattern of what it allows, or of a part of that. NULL: a format that is an annotation. */
const char *schema_format(const char *name);

#endif
