/* jinja: chat templates. A model carries, as tokenizer.chat_template, a program in the Jinja language that turns a
 * conversation into text. This renders such programs with the settings that are common for chat templates: trim_blocks
 * and lstrip_blocks on, no HTML escaping, loop controls, tojson like Python's json.dumps without ASCII escapes,
 * raise_exception, strftime_now, and {% generation %}, which has no effect.
 *
 *	struct jinja *t = jinja_parse(text, n, &w);         // NULL: "template line 3: ..."
 *	struct bytes out = { .limit = 1 << 26 };
 *	if (jinja_render(t, variables, NULL, &out, &w)) ...
 *	fwrite(out.p, 1, out.n, stdout);
 *	bytes_free(&out);
 *	jinja_free(t);
 *
 * Templates are untrusted. They can read nothing but their variables and the clock, and their steps, memory and nesting
 * are limited; exceeding a limit is an error.
 *
 * Values behave as in Python: True and None, str() and repr(), negative indices, slices, string methods that count code
 * points. The differences: arithmetic is limited to 64-bit integers (larger ones can be read, printed, tested for
 * equality and converted to floats; arithmetic with them, their order, and their use as an index are errors); isdigit
 * takes decimal digits only; generators are evaluated at once; random takes the first item, and lipsum is refused,
 * because a template renders to the same text each time; striptags knows the common entities of HTML only; include,
 * import, extends and autoescape true are refused. Lists and dicts have the methods that change them, because published
 * templates use them. */
#ifndef JINJA_H
#define JINJA_H

#include "lib/base/bytes.h"
#include "lib/base/json.h"
#include "lib/base/why.h"

#include <stdint.h>
#include <time.h>

struct jinja;

struct jinja_options {
	const struct tm *now;       /* what strftime_now shows; NULL: the local time */
	size_t memory;              /* bytes for values; 0: 16 MiB and 32 for each byte of the variables' strings */
	uint64_t steps;             /* 0: three million and 64 for each byte of the variables' strings */
};

/* Parses the template text[n], which is copied. The result can be rendered any number of times. NULL with a reason
 * "template line L: ...". */
struct jinja *jinja_parse(const char *text, size_t n, struct why *w);

/* Renders t with the members of the object `variables` and appends the text to *out. Returns 0, or -1 with a reason
 * "template line L: ...", which may be the template's own (raise_exception). o may be NULL. Neither t nor the variables
 * are changed. */
int jinja_render(const struct jinja *t, const struct json *variables, const struct jinja_options *o, struct bytes *out,
	struct why *w);

void jinja_free(struct jinja *t);

#endif
