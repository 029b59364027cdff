/* value: the values of a template's expressions, which are Python's. A value is 16 bytes and is passed by value. What
 * it points to is in the rendering's arena, or borrowed from the template and the variables, and is valid until the
 * rendering ends. */
#ifndef JINJA_VALUE_H
#define JINJA_VALUE_H

#include "env.h"

#include "lib/base/json.h"
#include "lib/base/utf8.h"

enum jv_kind {
	JV_ABSENT,                  /* an argument that was not given */
	JV_UNDEF,
	JV_NONE,
	JV_BOOL,
	JV_INT,
	JV_BIG,                     /* an integer past 64 bits: its decimal digits, terminated */
	JV_FLOAT,
	JV_STR,
	JV_BYTES,                   /* what str.encode() makes */
	JV_LIST,
	JV_TUPLE,
	JV_ITER,                    /* a generator or a view: can be iterated over, not indexed */
	JV_RANGE,
	JV_DICT,
	JV_NAMESPACE,
	JV_BUILTIN,
	JV_METHOD,
	JV_MACRO,
	JV_LOOP,
	JV_KINDS
};

#define KIND(kind) (1u << (kind))
enum {
	JV_INTEGERS = KIND(JV_BOOL) | KIND(JV_INT),             /* as Python's int: True is 1 */
	JV_NUMBERS = JV_INTEGERS | KIND(JV_FLOAT),
	JV_ARRAYS = KIND(JV_LIST) | KIND(JV_TUPLE),
	JV_INDEXED = JV_ARRAYS | KIND(JV_STR) | KIND(JV_RANGE),
	JV_SIZED = JV_INDEXED | KIND(JV_BYTES) | KIND(JV_DICT) | KIND(JV_UNDEF),
	JV_ITERABLE = JV_SIZED | KIND(JV_ITER),
	JV_CALLABLE = KIND(JV_BUILTIN) | KIND(JV_METHOD) | KIND(JV_MACRO) | KIND(JV_LOOP),
};

struct jv {
	uint8_t kind;
	bool markup;                /* JV_STR: made by `safe` or `escape`; what + joins to it gets escaped */
	uint8_t undef, owner;       /* JV_UNDEF: UNDEF_..., and the kind of the owner of the attribute or element */
	uint32_t n;                 /* JV_STR, JV_BYTES, JV_BIG, JV_UNDEF: bytes */
	union {
		bool b;
		int64_t i;
		double d;
		const char *s;          /* s[n], not terminated; NULL where n is 0, perhaps. JV_UNDEF: see below */
		struct jv_list *list;   /* JV_LIST, JV_TUPLE, JV_ITER */
		struct jv_range *range;
		struct jv_dict *dict;   /* JV_DICT, JV_NAMESPACE */
		const uint32_t *count;  /* of all these: how many items */
		const struct builtin *builtin;
		struct jv_method *method;
		struct jv_macro *macro;
		struct jv_loop *loop;
	};
};

struct jv_list {
	uint32_t n, cap;            /* cap 0: the items are shared, and copied before the first change */
	struct jv *items;
	const char *type;           /* JV_ITER: its Python type; "group" for groupby's tuples */
	bool single_use;            /* JV_ITER: iterating over it empties it */
};

struct jv_range {
	uint32_t n;
	int64_t start, stop, step;
};

struct jv_pair {
	struct jv key, value;
	uint64_t hash;
};

struct jv_dict {
	uint32_t n, cap;
	struct jv_pair *pairs;      /* in order of insertion */
	uint32_t *index;            /* open addressing, pair's number + 1; NULL while small and after a removal */
	uint32_t mask;
};

/* What is undefined, and what s[n] is. The message is only made when the value is used. */
enum { UNDEF_VARIABLE, UNDEF_ATTRIBUTE, UNDEF_ELEMENT, UNDEF_HINT };    /* the name, the name, its repr, the message */

struct jv_method {
	struct jv self;
	const struct builtin *builtin;
};

static const struct jv jv_absent = { .kind = JV_ABSENT }, jv_none = { .kind = JV_NONE };

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

static inline struct jv jv_str(const char *s, size_t n)         /* borrowed bytes */
{
	return (struct jv){ .kind = JV_STR, .n = (uint32_t)n, .s = s };
}

static inline bool jv_in(struct jv v, unsigned kinds)
{
	return kinds >> v.kind & 1;
}

static inline int64_t jv_integer(struct jv v)                   /* of JV_INTEGERS */
{
	return v.kind == JV_BOOL ? v.b : v.i;
}

static inline double jv_number(struct jv v)                     /* of JV_NUMBERS */
{
	return v.kind == JV_FLOAT ? v.d : (double)jv_integer(v);
}

static inline struct jv jv_markup(struct jv v, bool markup)
{
	v.markup = markup && v.kind == JV_STR;
	return v;
}

/* Takes the first character off a string: *c is its code point, or -1 for a malformed byte. False at the end. */
static inline bool jv_next(struct jv *rest, struct jv *first, int32_t *c)
{
	unsigned used;

	if (!rest->n)
		return false;
	*c = utf8_next(rest->s, rest->n, &used);
	*first = *rest;
	first->n = used;
	rest->s += used;
	rest->n -= used;
	return true;
}

/* The arguments of %.*s for what a message shows of a string. */
#define JV_SHOWN(v) (v).n > 300 ? 300 : (int)(v).n, (v).n ? (v).s : ""

bool jv_is(struct jv v, const char *s);         /* a string with these bytes */
const char *jv_type(struct jv v);               /* its Python type: "str", "NoneType" */
bool jv_true(struct jv v);

struct jv jv_undefined(enum jv_kind owner, struct jv name);      /* JV_ABSENT: a variable */
struct jv jv_undefined_element(struct env *e, enum jv_kind owner, struct jv key);
struct jv jv_undefined_hint(const char *message);
_Noreturn void jv_fail_undefined(struct env *e, struct jv undefined);
static inline void jv_defined(struct env *e, struct jv v)       /* fails if v is undefined */
{
	if (v.kind == JV_UNDEF)
		jv_fail_undefined(e, v);
}

/* Text. */
struct jv jv_text(struct env *e, const char *s, size_t n);      /* a string of copied bytes */
struct jv jv_since(struct env *e, size_t start);        /* removes the output from byte `start` on and returns it */
struct jv jv_concat(struct env *e, struct jv a, struct jv b);   /* both strings; no escaping */
/* The first or last occurrence, or NULL. An empty `what` is found at the start or the end. */
const char *jv_find(struct env *e, struct jv s, struct jv what, bool last);
/* Python's int(s, base) and float(s): JV_INT or JV_BIG, JV_FLOAT; JV_ABSENT where they raise ValueError. */
struct jv number_integer(struct env *e, struct jv s, int64_t base);
struct jv number_real(struct env *e, struct jv s);
struct jv number_truncated(struct env *e, double d);    /* d without its fraction, as an integer of any size */
_Noreturn void number_overflow(struct env *e);          /* an integer does not fit 64 bits */

/* A JSON tree as values; strings are borrowed from it. */
struct jv jv_from_json(struct env *e, const struct json *v);

/* Lists. jv_items returns the items of any iterable as a list, which must not be changed; it consumes generators. */
struct jv jv_list(struct env *e, enum jv_kind kind, uint32_t cap);
struct jv jv_iter(struct jv list, const char *type);            /* makes a JV_ITER of a fresh list */
void jv_push(struct env *e, struct jv_list *l, struct jv v);
void jv_extend(struct env *e, struct jv_list *l, const struct jv_list *more);
void jv_own(struct env *e, struct jv_list *l, uint32_t extra);  /* unshares the items, with room for `extra` more */
/* A list of l's items from number `from` on, n at most. They are shared. */
struct jv jv_share(struct env *e, enum jv_kind kind, struct jv_list *l, uint32_t from, uint32_t n);
struct jv jv_pair_of(struct env *e, struct jv a, struct jv b);  /* a tuple of two */
struct jv_list *jv_items(struct env *e, struct jv v);
int64_t jv_length(struct env *e, struct jv v);                  /* len() */
struct jv jv_range(struct env *e, struct jv_range r);
struct jv jv_range_at(const struct jv_range *r, int64_t i);

/* Dicts. A key that cannot be one (a list) is a failure in jv_dict_set and not found in jv_dict_get. */
struct jv jv_dict(struct env *e, enum jv_kind kind);
void jv_dict_set(struct env *e, struct jv_dict *d, struct jv key, struct jv value);
struct jv *jv_dict_get(struct env *e, const struct jv_dict *d, struct jv key);
void jv_dict_remove(struct jv_dict *d, struct jv *value);       /* the pair with this value, from jv_dict_get */
void jv_dict_merge(struct env *e, struct jv_dict *d, const struct jv_dict *more);

/* Sorts the pairs by their keys; equal keys keep their order. */
void jv_sort(struct env *e, struct jv_pair *pairs, uint32_t n, bool reverse);

/* Python's == and in. */
bool jv_equal(struct env *e, struct jv a, struct jv b);
bool jv_contains(struct env *e, struct jv container, struct jv item);
/* Below, at or above 0. A failure names the operator `op`. */
int jv_order(struct env *e, struct jv a, struct jv b, const char *op);

/* str() and repr() appended to the output, str() as a value, and JSON. */
void jv_put(struct env *e, struct jv s);                        /* a string */
void jv_put_str(struct env *e, struct jv v);
void jv_put_repr(struct env *e, struct jv v);
struct jv jv_to_str(struct env *e, struct jv v);                /* never markup */
void jv_put_json(struct env *e, struct json_writer *w, struct jv v, bool sort_keys);

#endif
