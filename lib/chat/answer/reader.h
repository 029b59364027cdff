/* reader: the state of a struct answer, for the files that read its parts. */
#ifndef READER_H
#define READER_H

#include "answer.h"
#include "literals.h"
#include "tools.h"

enum { READER_TRIGGERS = 64, READER_CLOSES = 32, READER_DEPTH = 32 };

/* What begins or ends a part of an answer. */
struct trigger {
	enum marker_role role;
	const char *pattern;            /* without white space before it */
	size_t lead;                    /* how much of that there was: not part of the text before it */
	const struct call_format *call; /* MARKER_CALL */
};

/* What may follow the arguments of a call: tags and words, each of which may be missing. */
struct closes {
	const char *text[READER_CLOSES];
	size_t n, section;              /* from text[section] on, they end the section */
};

/* A call that begins in the text, before it is told. */
struct head {
	size_t n;                       /* bytes up to its arguments */
	struct span name, id;
	struct span arguments;          /* CALL_MEMBERS: those that came before the name */
};

/* CALL_TAGS: an object or list that is being read. */
struct level {
	char key[PATTERN_MOST];         /* of which it is the value */
	size_t key_n;
	const struct json *schema;
	char close;                     /* ']' or '}' */
	size_t items;
};

enum reading {
	READ_THOUGHT, READ_TEXT,
	READ_AFTER,                     /* after the arguments of a call */
	READ_JSON, READ_MEMBERS,        /* arguments; the members after them */
	READ_TAGS,                      /* between values; inside one: */
	READ_STRING, READ_RAW, READ_VALUE,      /* a string, a string in raw marks, a value that is held back */
	READ_LITERALS
};

struct answer {
	const struct format *format;
	const struct json *variables;
	const struct answer_sink *sink;
	struct arena arena;
	struct bytes text;              /* from `at` on, it has not been read */
	size_t at, enough;              /* do not try before there are that many bytes */
	size_t of_prompt;               /* how many of the first bytes are the prompt's */
	char partial[4];                /* the start of a character */
	size_t n_partial;
	int ended, silent;
	enum reading state;
	int fresh;                      /* nothing was told since the state began: a marker may begin a part */
	int empty;                      /* no part of the answer was told yet */
	struct trigger trigger[READER_TRIGGERS];
	size_t n_triggers;
	unsigned char begins[256];      /* bytes with which a trigger may begin, */
	int begins_for;                 /* in this state */
	struct closes closes[FORMAT_CALLS];
	/* the call that is being read */
	const struct call_format *call;
	size_t closed;                  /* how many of its closes came */
	size_t number;                  /* of the next call, for its id */
	int id_told;
	int depth, in_string, escaped;  /* of JSON */
	const struct json *parameters;
	struct level level[READER_DEPTH];
	int levels;
	char key[PATTERN_MOST];
	size_t key_n, scanned;
	unsigned types;
	struct literals literals;
};

/* The text that has not been read. */
static inline struct span reader_left(const struct answer *a)
{
	return (struct span){ a->text.p + a->at, a->text.n - a->at };
}

/* Whether the pattern, without white space before it, is at s; see pattern_match(). */
static inline enum match reader_match(const struct answer *a, const char *pattern, struct span s, struct span key,
	struct found *f)
{
	return pattern_match(pattern_core(pattern), s.s, s.n, a->ended, key, f);
}

void reader_tell(struct answer *a, enum answer_part part, const char *s, size_t n);

/* Whether a call of this format begins at s[n], after its begin, in which f was found. Sets *head. */
enum match call_begins(const struct answer *a, const struct call_format *call, struct span s, const struct found *f,
	struct head *head);

/* Tells the call, and reads on in its arguments; `skip` bytes and head->n are read. */
void call_start(struct answer *a, const struct call_format *call, size_t skip, const struct head *head);

/* Tells the id of the last call if the model did not. */
void call_tell_id(struct answer *a);

/* The arguments are complete. */
void call_end(struct answer *a);

/* Whether a piece of what follows a call is at s[n]: its number + 1 in *which. */
enum match call_closes(const struct answer *a, struct span s, size_t *n, size_t *which);

/* One step in the state: 1, or 0 if more text is needed. */
int read_json(struct answer *a);
int read_members(struct answer *a);
int read_tags(struct answer *a);
int read_string(struct answer *a);
int read_raw(struct answer *a);
int read_value(struct answer *a);
int read_literals(struct answer *a);

#endif
