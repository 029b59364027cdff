/* format: how a model writes an answer: the table that is derived from its chat template, and that a struct answer
 * reads by.
 *
 *	answer:     reasoning? content? call*
 *	reasoning:  THINK text THINK_END
 *	content:    CONTENT? text SKIP?
 *	call*:      section (begin arguments end between)* section_end
 *
 * Texts are patterns (pattern.h); "" where there is none. */
#ifndef FORMAT_H
#define FORMAT_H

#include "lib/chat/chat.h"
#include "pattern.h"

enum marker_role {              /* in the order in which they are looked for */
	MARKER_THINK,           /* reasoning begins */
	MARKER_THINK_END,
	MARKER_CALL,            /* a call begins: in struct call_format */
	MARKER_CONTENT,         /* content begins */
	MARKER_SKIP,            /* says nothing: the end of content, or the start of another message of the same turn */
	MARKER_ROLES
};

struct marker {
	enum marker_role role;
	const char *pattern;
};

enum call_kind {
	CALL_JSON,              /* begin has the name, and a JSON object follows */
	CALL_MEMBERS,           /* the call is a JSON object, and name and arguments are members */
	CALL_TAGS,              /* begin has the name, and each argument has tags */
	CALL_LITERALS,          /* begin has the name and a bracket; KEY=VALUE or KEY:VALUE follow, to its end */
	CALL_KINDS
};

struct call_format {
	enum call_kind kind;
	int bare;               /* no marker: a call is the whole answer */
	int id_has_name;        /* the id is functions.NAME:NUMBER */
	const char *section, *begin, *end, *between, *section_end;
	const char *name, *arguments, *id;      /* CALL_MEMBERS: their keys; no name: it is the key of the arguments */
	int id_first;                           /* the id comes before the name */
	const char *key, *value_end;            /* CALL_TAGS: around the value, and */
	const char *raw, *raw_end;              /* inside of that around some strings; */
	const char *string;                     /* the PATTERN_TYPE of a string, in key; */
	const char *item, *item_end;            /* around the items of a list: values are tags inside each other */
	const char *quote;                      /* CALL_LITERALS: around strings, beside " and ' */
};

enum { FORMAT_MARKERS = 16, FORMAT_CALLS = 6 };

struct format {
	struct marker marker[FORMAT_MARKERS];
	struct call_format call[FORMAT_CALLS];
	size_t n_markers, n_calls;
};

/* Adds what is there and not empty; more than there is room for is left out. */
void format_add_marker(struct format *f, enum marker_role role, const char *pattern);
void format_add_call(struct format *f, const struct call_format *call);

/* The first marker of that role, or NULL. */
const char *format_marker(const struct format *f, enum marker_role role);

/* The format of answers to the conversation c, by its template text[n], parsed as t: rendered turns are compared. They
 * have the variables of c but not its messages. What the template does not show comes from the table of known formats.
 * The text of the format lies in the arena. Returns -1 if memory is short; a template that fails, or cannot be parsed
 * (t NULL), has few markers. */
int format_derive(struct format *f, const struct chat *c, const char *text, size_t n, const struct jinja *t,
	const struct jinja_options *o, struct arena *a, struct why *w);

/* Adds the known formats of which the template text[n] has a mark: reasoning and calls if no turn showed them, and what
 * models write beside what is shown. */
void format_add_known_reasoning(struct format *f, const char *text, size_t n);
void format_add_known(struct format *f, const char *text, size_t n);

/* Appends the table as text, a line for each entry. */
void format_show(const struct format *f, struct bytes *out);

#endif
