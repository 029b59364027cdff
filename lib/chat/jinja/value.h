/* value: what a template's expressions are made of. A value is 16 bytes and is passed by value; what it points to lies in the arena
 * of the rendering (struct env) or is borrowed from the template and the variables, and lives until the rendering ends.
 *
 * Errors travel as values: a function that can fail returns JV_ERROR, with the reason already in the env, or -1. */
#ifndef JINJA_VALUE_H
#define JINJA_VALUE_H

#include "lib/base/bytes.h"
#include "lib/base/json.h"

#include <stdbool.h>
#include <stdint.h>

struct env;

enum jv_kind {
	JV_ABSENT,                  /* an argument that was not given */
	JV_ERROR,
	JV_UNDEF,
	JV_NONE,
	JV_BOOL,
	JV_INT,
	JV_BIG,                     /* an integer past 64 bits: its digits */
	JV_FLOAT,
	JV_STR,
	JV_LIST,
	JV_TUPLE,
	JV_ITER,                    /* what Python calls a generator or a view: can be walked, not indexed */
	JV_RANGE,
	JV_DICT,
	JV_NAMESPACE,
	JV_BUILTIN,
	JV_METHOD,
	JV_MACRO,
	JV_LOOP,
};

struct jv {
	uint8_t kind;
	bool markup;                /* JV_STR: made by `safe` or `escape`; what is joined to it with + gets escaped, as in Python */
	uint32_t n;                 /* JV_STR, JV_BIG: bytes */
	union {
		bool b;
		int64_t i;
		double d;
		const char *s;          /* s[n], not terminated */
		struct jv_list *list;   /* JV_LIST, JV_TUPLE, JV_ITER */
		struct jv_range *range;
		struct jv_dict *dict;   /* JV_DICT, JV_NAMESPACE */
		const struct jv_undef *undef;
		const struct builtin *builtin;
		struct jv_method *method;
		struct jv_macro *macro;
		struct jv_loop *loop;
	};
};

struct jv_list {
	struct jv *items;
	uint32_t n, cap;            /* cap 0: the items are shared with another list and are copied before the first change */
	const char *type;           /* JV_ITER: its Python type; "group" for groupby's tuples */
	bool once;                  /* JV_ITER: empty after it has been walked */
};

struct jv_range {
	int64_t start, step, n;
};

struct jv_pair {
	struct jv key, value;
	uint64_t hash;
};

struct jv_dict {
	struct jv_pair *pairs;      /* in order of insertion */
	uint32_t n, cap;
	uint32_t *index;            /* open addressing, place + 1; NULL while small or after a removal */
	uint32_t mask;
};

/* Why something is undefined; the message is only made when somebody trips over it. */
struct jv_undef {
	uint8_t owner;              /* jv_kind of the object without that attribute; JV_ABSENT: a variable; JV_ERROR: name is the message */
	bool element;               /* the name is the repr of a subscript */
	const char *name;
	uint32_t n;
};

struct jv_method {
	struct jv self;
	const struct builtin *builtin;
};

static inline struct jv jv_none(void)
{
	return (struct jv){ .kind = JV_NONE };
}

static inline struct jv jv_bool(bool b)
{
	return (struct jv){ .kind = JV_BOOL, .b = b };
}

static inline struct jv jv_int(int64_t i)
{
	return (struct jv){ .kind = JV_INT, .i = i };
}

static inline struct jv jv_float(double d)
{
	return (struct jv){ .kind = JV_FLOAT, .d = d };
}

/* A string of borrowed bytes. */
static inline struct jv jv_str(const char *s, size_t n)
{
	return (struct jv){ .kind = JV_STR, .n = (uint32_t)n, .s = s };
}

static inline struct jv jv_error(void)
{
	return (struct jv){ .kind = JV_ERROR };
}

static inline bool jv_is_integer(struct jv v)   /* as Python's int: True is 1 */
{
	return v.kind == JV_INT || v.kind == JV_BOOL;
}

static inline int64_t jv_integer(struct jv v)
{
	return v.kind == JV_BOOL ? v.b : v.i;
}

static inline bool jv_is_number(struct jv v)
{
	return jv_is_integer(v) || v.kind == JV_FLOAT;
}

static inline double jv_number(struct jv v)
{
	return v.kind == JV_FLOAT ? v.d : (double)jv_integer(v);
}

bool jv_is(struct jv v, const char *s);         /* a string with these bytes */
const char *jv_type(struct jv v);               /* its Python type: "str", "NoneType" */
bool jv_true(struct jv v);

struct jv jv_undefined(struct env *e, enum jv_kind owner, const char *name, size_t n);
struct jv jv_undefined_hint(struct env *e, const char *message);
struct jv jv_fail_undefined(struct env *e, struct jv undefined);    /* the error that its use is */

struct jv jv_text(struct env *e, const char *s, size_t n);          /* a string of copied bytes */
struct jv jv_take(struct env *e, struct bytes *b);                  /* the same from a buffer, which is freed */
struct jv jv_concat(struct env *e, struct jv a, struct jv b);       /* both strings; no escaping */
struct jv jv_from_json(struct env *e, const struct json *v);

/* Lists. jv_walk gives the items of anything that can be iterated over, as a list that must not be changed; a generator is used up by it.
 * NULL is an error. */
struct jv jv_list(struct env *e, enum jv_kind kind, uint32_t cap);
struct jv jv_iter(struct jv list, const char *type);                /* makes a JV_ITER of a fresh list */
int jv_push(struct env *e, struct jv_list *l, struct jv v);
int jv_own(struct env *e, struct jv_list *l, uint32_t extra);       /* makes the items unshared, with room for `extra` more */
struct jv jv_pair_of(struct env *e, struct jv a, struct jv b);      /* a tuple of two */
struct jv_list *jv_walk(struct env *e, struct jv v);
int64_t jv_length(struct env *e, struct jv v);                      /* len(); -1 is an error */
struct jv jv_range_at(const struct jv_range *r, int64_t i);

/* Dicts. A key that cannot be one (a list) is an error in jv_dict_set and absent in jv_dict_get. */
struct jv jv_dict(struct env *e, enum jv_kind kind);
int jv_dict_set(struct env *e, struct jv_dict *d, struct jv key, struct jv value);
struct jv *jv_dict_get(struct env *e, const struct jv_dict *d, struct jv key);
void jv_dict_remove(struct jv_dict *d, uint32_t place);

/* 1, 0, or -1 for an error. */
int jv_equal(struct env *e, struct jv a, struct jv b);
int jv_contains(struct env *e, struct jv container, struct jv item);
/* Orders a and b; -1 is an error: they have no order. `op` names the operator in its message. */
int jv_order(struct env *e, struct jv a, struct jv b, const char *op, int *order);

/* Spelling: str() and repr() appended to b (-1 is an error), str() as a value, and JSON. */
int jv_put_str(struct env *e, struct bytes *b, struct jv v);
int jv_put_repr(struct env *e, struct bytes *b, struct jv v);
struct jv jv_to_str(struct env *e, struct jv v);
int jv_put_json(struct env *e, struct json_writer *w, struct jv v, bool sort_keys);

#endif
