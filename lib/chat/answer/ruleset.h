/* ruleset: a grammar that is being written, for the files that write its parts. What they append to *to is an
 * expression: elements, each with a space before it. */
#ifndef RULESET_H
#define RULESET_H

#include "format.h"
#include "lib/vocab/vocab.h"

struct control {                /* a token that prints nothing */
	const char *s;          /* its name, s[n] */
	size_t n;
	int32_t id;
};

struct ruleset {
	struct bytes *out;      /* the finished rules */
	struct arena arena;
	struct control *control;        /* [n_control] */
	size_t n_control;
	struct card card;
	unsigned names;         /* number of rules named so far */
	struct bytes *left_out; /* as in struct rules_wish */
	struct why *w;
	int failed;             /* w says why */
};

/* What placeholders become; KEY and NAME have no s where they do not occur. */
struct fill {
	struct span name, key;
	const char *type;
};

struct tool {
	struct span name;
	const struct json *parameters;  /* NULL: none */
};

/* ---- rules_text.c ---- */

/* Finds the control tokens. -1: memory is short. */
int rules_find_control(struct ruleset *r, const struct vocab *v);

/* The control token that s[n] begins with, or NULL. */
const struct control *rules_control(const struct ruleset *r, const char *s, size_t n);

/* Whether the pattern begins with an end-of-generation token. */
int rules_is_end(const struct ruleset *r, const char *pattern);

/* The text as it is. */
void rules_literal(struct span s, struct bytes *to);

/* The text of a pattern, from its first byte on. What follows an end-of-generation token is left out if `ends`. */
void rules_pattern(const struct ruleset *r, const char *pattern, const struct fill *fill, int ends, struct bytes *to);

/* Text, also empty, in which the start of the pattern does not occur: its first tag or word. */
void rules_until(const struct ruleset *r, const char *pattern, const struct fill *fill, struct bytes *to);

/* ---- rules_values.c ---- */

/* JSON that is valid against the schema text; `label` begins the reason of a failure. */
void rules_json(struct ruleset *r, const struct bytes *schema, const char *label, struct bytes *to);

/* The arguments of a call, after its begin. */
void rules_arguments(struct ruleset *r, const struct call_format *call, const struct tool *tool, struct bytes *to);

#endif
