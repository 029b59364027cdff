/* jinja: chat templates. Models carry, as tokenizer.chat_template, a program in the Jinja language that lays a
 * conversation out as text. This renders such a program as the field does: trim_blocks and lstrip_blocks on, no HTML
 * escaping, loop controls, tojson as Python's json.dumps without ASCII escapes, raise_exception, strftime_now, {%
 * generation %} as a block that changes nothing.
 *
 *	struct jinja *t = jinja_parse(text, n, &w);         // NULL: "template line 3: ..."
 *	struct bytes out = { .limit = 1 << 26 };
 *	if (jinja_render(t, variables, NULL, &out, &w)) ...
 *	fwrite(out.p, 1, out.n, stdout);
 *	bytes_free(&out);
 *	jinja_free(t);
 *
 * A template is a stranger's program. It reaches nothing but the variables it is given and the clock, its steps,
 * memory and nesting are bounded, and what it asks for beyond that ends in a reason.
 *
 * Values are Python's as far as a template can see: True and None, str() and repr(), negative indices, slices, string
 * methods that count code points. Where it differs: integers have 64 bits (more is an error; longer ones in the
 * variables can be printed and compared but not reckoned with); generators are made whole at once; include, import
 * and extends are refused. Lists and dicts have the methods that change them, which templates in the wild use. */
#ifndef JINJA_H
#define JINJA_H

#include "lib/base/bytes.h"
#include "lib/base/json.h"
#include "lib/base/why.h"

#include <stdint.h>
#include <time.h>

struct jinja;

struct jinja_options {
	const struct tm *now;       /* what strftime_now tells; NULL: the local time */
	size_t memory;              /* bytes for values; 0: 16 MiB and 32 for each byte of the variables' strings */
	uint64_t steps;             /* 0: three million and 64 for each byte of the variables' strings */
};

/* The template text[n], ready to be rendered any number of times; NULL with "template line L: reason". The text is
 * copied. */
struct jinja *jinja_parse(const char *text, size_t n, struct why *w);

/* Appends to *out what t gives with the members of the object `variables`; 0, or -1 with "template line L: reason",
 * which may be the template's own (raise_exception). o may be NULL. Neither t nor the variables are changed. */
int jinja_render(const struct jinja *t, const struct json *variables, const struct jinja_options *o, struct bytes *out,
	struct why *w);

void jinja_free(struct jinja *t);

#endif
