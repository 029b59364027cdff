/* json: a strict parser of JSON texts into a tree (RFC 8259: UTF-8 only, no comments, no trailing commas, one value
 * and white space; a byte-order mark before it is skipped; a number with a fraction or an exponent that is past all
 * doubles is an error), and a writer that produces the same text as Python's json.dumps.
 *
 *	struct arena a = { .limit = 1 << 20 };
 *	struct json *v = json_parse(&a, text, n, &w);       // NULL: w says line, column and cause
 *	const struct json *role = json_get(v, "role");
 *	...
 *	arena_free(&a);
 *
 * The tree lies in the caller's arena and copies what it needs from the text. The C locale is assumed, as everywhere
 * in lmpipe. */
#ifndef JSON_H
#define JSON_H

#include "arena.h"
#include "bytes.h"
#include "why.h"

#include <stdint.h>

enum json_type {
	JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_INT, JSON_BIG, JSON_FLOAT, JSON_STRING, JSON_ARRAY, JSON_OBJECT
};

enum { JSON_DEPTH = 128 };      /* arrays and objects inside each other */

struct json {
	enum json_type type;
	const char *key;            /* a member's name, key[key_n] and a NUL; NULL outside objects */
	size_t key_n;
	const char *s;              /* a string's bytes, NULs among them, or a number as written: s[n] and a NUL */
	size_t n;                   /* bytes of s, or number of children */
	int64_t i;                  /* JSON_INT: an integer that fits; JSON_BIG is one that does not */
	double d;                   /* any number: the nearest double; JSON_BIG may be past all doubles: HUGE_VAL */
	struct json *child;         /* JSON_ARRAY, JSON_OBJECT: the first child, in document order */
	struct json *next;          /* the next child of the same parent */
	struct json *last;          /* private: where json_add appends */
};

/* The value of text[n], or NULL with "line L, column C: reason". */
struct json *json_parse(struct arena *a, const char *text, size_t n, struct why *w);

/* The same for a text that begins at this line of a file, counted from 1. */
struct json *json_parse_line(struct arena *a, const char *text, size_t n, size_t line, struct why *w);

/* The same. *begun is the array or object that the text begins with, after a failure with what comes before the error;
 * or NULL. */
struct json *json_parse_begun(struct arena *a, const char *text, size_t n, size_t line, const struct json **begun,
	struct why *w);

/* How many bytes of white space s[n] begins with. */
size_t json_blank(const char *s, size_t n);

/* The member of that name, the last one if there are several; NULL if there is none or v is not an object. v may be
 * NULL. */
const struct json *json_get(const struct json *v, const char *key);

/* The member's string if it is one, else NULL. */
const char *json_get_string(const struct json *v, const char *key);

/* "an object", "a string", ...: for messages. */
const char *json_type_name(const struct json *v);

/* A new node, for callers that build a tree themselves; NULL when the arena is full. Strings are borrowed. json_add
 * appends the child to an array (key NULL) or an object. */
struct json *json_new(struct arena *a, enum json_type type);
struct json *json_new_string(struct arena *a, const char *s, size_t n);
void json_add(struct json *parent, const char *key, struct json *child);

/* A writer of one value. The caller names the parts in order; the writer adds separators, line ends and indentation.
 *
 *	struct json_writer w = json_to_out();
 *	json_open(&w, '{');
 *	json_name(&w, "id"); json_int(&w, 7);
 *	json_close(&w, '}');                                // {"id": 7}
 */
struct json_writer {
	struct bytes *bytes;        /* or NULL: standard output */
	const char *indent;         /* indentation of each level, with one item per line; NULL: all on one line */
	const char *comma, *colon;  /* ", " and ": " */
	int ascii;                  /* write everything past ASCII as \uXXXX */
	int raw;                    /* leave DEL and U+0080 to U+009F as they are, in text that a model reads */
	int failed;                 /* of memory for bytes; sticky */
	int depth, items, after_key;    /* private */
};

/* A writer to standard output (out.h), or to a buffer, which is borrowed, with the separators of json.dumps, on one
 * line. */
struct json_writer json_to_out(void);
struct json_writer json_to_bytes(struct bytes *b);

void json_open(struct json_writer *w, char bracket);    /* '[' or '{' */
void json_close(struct json_writer *w, char bracket);   /* ']' or '}' */
void json_name(struct json_writer *w, const char *name);        /* of a member, whose value follows */
void json_key(struct json_writer *w, const char *s, size_t n);  /* the same; s[n] may have NULs */
void json_string(struct json_writer *w, const char *s, size_t n);       /* invalid UTF-8 becomes U+FFFD */
void json_int(struct json_writer *w, int64_t i);
void json_float(struct json_writer *w, double d);       /* as json_spell_float(), and NaN, Infinity, -Infinity */
void json_real(struct json_writer *w, double d);        /* the same, but null for what is not finite */
void json_raw(struct json_writer *w, const char *s);    /* text that the caller made: true, null, ... */
void json_value(struct json_writer *w, const struct json *v);       /* a whole tree */

/* The shortest decimal text that reads back as d, as Python's repr gives it (1.0, 0.1, 1e+16, nan); at most 32 bytes
 * with the NUL. */
void json_spell_float(char out[32], double d);

#endif
