/* References: $id and $anchor name schemas of the document by URI, and a reference is relative to the $id around it. */
#include "converter.h"

#include <string.h>

#include "lib/base/hex.h"

struct base {                           /* what relative references are relative to */
	const char *uri;                /* uri[n], without fragment; empty if the document has none */
	size_t n;
	const struct json *schema;      /* which the URI names */
};

/* ---- URIs ---- */

/* The length of "scheme:", or 0. */
static size_t scheme(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && ((s[i] | 0x20) >= 'a' ? (s[i] | 0x20) <= 'z' : i && strchr("0123456789+-.", s[i]) && s[i]))
		i++;
	return i && i < n && s[i] == ':' ? i + 1 : 0;
}

/* The length of the part of a URI that a relative reference s[n] keeps. */
static size_t kept(const struct base *base, const char *s, size_t n)
{
	size_t start = scheme(base->uri, base->n), end = base->n, root = start;

	if (scheme(s, n))
		return 0;
	if (!n || *s == '#')
		return base->n;
	if (n > 1 && s[0] == '/' && s[1] == '/')
		return start;
	if (base->n - start > 1 && base->uri[start] == '/' && base->uri[start + 1] == '/')
		for (root = start + 2; root < base->n && base->uri[root] != '/'; root++)
			;
	if (*s == '/')
		return root;
	while (end > root && base->uri[end - 1] != '/')
		end--;
	return end;
}

/* The URI of a reference, in the arena; its fragment begins at *fragment. NULL: no memory. */
static const char *resolve(struct converter *c, const struct base *base, const char *s, size_t n, size_t *len)
{
	size_t keep, skip = 0;
	char *uri;

	keep = kept(base, s, n);
	while (n - skip > 1 && s[skip] == '.' && (s[skip + 1] == '/' || (n - skip > 2 && s[skip + 1] == '.'
		&& s[skip + 2] == '/'))) {
		if (s[skip + 1] == '.' && keep > 1)
			for (keep--; keep > 1 && base->uri[keep - 1] != '/'; keep--)
				;
		skip += s[skip + 1] == '.' ? 3 : 2;
	}
	*len = keep + n - skip;
	uri = arena_text(&c->arena, *len + 1);
	if (!uri) {
		schema_no_memory(c);
		return NULL;
	}
	if (keep)
		memcpy(uri, base->uri, keep);
	if (n - skip)
		memcpy(uri + keep, s + skip, n - skip);
	uri[*len] = 0;
	return uri;
}

static size_t before_fragment(const char *uri, size_t n)
{
	const char *hash = n ? memchr(uri, '#', n) : NULL;

	return hash ? (size_t)(hash - uri) : n;
}

/* ---- finding what URIs name ---- */

struct schema_anchor {                  /* a $dynamicAnchor */
	struct schema_anchor *next;
	const struct json *name, *schema;
	int is_own;                     /* in the document itself, not in a part with an $id */
};

static const char named[] = "named";            /* by address: the table of URIs */

/* Notes the schema under uri#anchor, or under the URI itself if there is no anchor. */
static void note_name(struct converter *c, const struct base *base, const struct json *anchor, const struct json *s)
{
	size_t n = base->n + (anchor ? 1 + anchor->n : 0);
	char *name = arena_text(&c->arena, n + 1);

	if (!name) {
		schema_no_memory(c);
		return;
	}
	if (base->n)
		memcpy(name, base->uri, base->n);
	if (anchor) {
		name[base->n] = '#';
		memcpy(name + base->n + 1, anchor->s, anchor->n);
	}
	index_name(&c->index, named, name, n, s);
}

static void note_anchor(struct converter *c, const struct base *base, const struct json *s, const char *keyword)
{
	const struct json *anchor = json_get(s, keyword);
	struct schema_anchor *a;

	if (!anchor || anchor->type != JSON_STRING)
		return;
	note_name(c, base, anchor, s);
	if (strcmp(keyword, "$dynamicAnchor"))
		return;
	a = arena_alloc(&c->arena, sizeof *a);
	if (!a) {
		schema_no_memory(c);
		return;
	}
	*a = (struct schema_anchor){ c->anchors, anchor, s, base->schema == c->document };
	c->anchors = a;
}

static int holds_values(const struct json *member)
{
	static const char *const keywords[] = { "const", "enum", "default", "examples", "example" };

	for (size_t i = 0; member->key && i < sizeof keywords / sizeof *keywords; i++)
		if (!strcmp(member->key, keywords[i]))
			return 1;
	return 0;
}

/* The base inside a schema: its $id, if it has one. */
static const struct base *enter_base(struct converter *c, const struct base *base, const struct json *s)
{
	const struct json *id = json_get(s, "$id");
	struct base *own;
	size_t n;

	if (!id || id->type != JSON_STRING || !id->n || *id->s == '#')
		return base;
	own = arena_alloc(&c->arena, sizeof *own);
	if (!own) {
		schema_no_memory(c);
		return base;
	}
	own->uri = resolve(c, base, id->s, id->n, &n);
	own->n = own->uri ? before_fragment(own->uri, n) : 0;
	own->schema = s;
	note_name(c, own, NULL, s);
	return own;
}

static void find_below(struct converter *c, const struct base *base, const struct json *s)
{
	static const char *const references[] = { "$ref", "$dynamicRef" };

	if (s->type == JSON_OBJECT) {
		base = enter_base(c, base, s);
		note_anchor(c, base, s, "$anchor");
		note_anchor(c, base, s, "$dynamicAnchor");
		for (int i = 0; i < 2; i++)
			if (json_get_string(s, references[i]))
				index_note(&c->index, json_get_string(s, references[i]), base);
	}
	for (const struct json *m = s->child; m && !c->failed; m = m->next)
		if ((m->type == JSON_OBJECT || m->type == JSON_ARRAY) && (s->type != JSON_OBJECT || !holds_values(m)))
			find_below(c, base, m);
}

void schema_find_bases(struct converter *c)
{
	struct base *base = arena_array(&c->arena, 1, sizeof *base);

	if (!base) {
		schema_no_memory(c);
		return;
	}
	base->uri = "";
	base->schema = c->document;
	note_name(c, base, NULL, c->document);
	find_below(c, base, c->document);
	if (c->index.failed)
		schema_no_memory(c);
}

/* ---- following ---- */

/* Decodes percent-encoding in s[n] in place; returns the new length. A '%' without two hexadecimal digits is kept. */
static size_t decode_percent(char *s, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		int high = s[i] == '%' && n - i > 2 ? hex_digit(s[i + 1]) : -1;
		int low = high >= 0 ? hex_digit(s[i + 2]) : -1;

		s[kept++] = low < 0 ? s[i] : (char)(high << 4 | low);
		i += low < 0 ? 0 : 2;
	}
	return kept;
}

/* The next name of a JSON pointer, with ~0 and ~1 decoded in place. *at is on the '/' before it, and moves past it. */
static struct json next_name(char **at, const char *end)
{
	struct json like = { .key = ++*at };
	char *out = *at;

	for (; *at < end && **at != '/'; (*at)++) {
		int tilde = **at == '~' && *at + 1 < end && ((*at)[1] == '0' || (*at)[1] == '1');

		*at += tilde;
		*out++ = !tilde ? **at : **at == '0' ? '~' : '/';
	}
	like.key_n = (size_t)(out - like.key);
	return like;
}

/* The element of an array whose index is spelt by name; NULL: there is none. */
static const struct json *element(const struct json *array, const struct json *name)
{
	const struct json *v = name->key_n && name->key_n < 10 ? array->child : NULL;
	size_t i = 0;

	for (size_t k = 0; k < name->key_n && v; k++) {
		v = name->key[k] < '0' || name->key[k] > '9' ? NULL : v;
		i = i * 10 + (size_t)(name->key[k] - '0');
	}
	for (; v && i; i--)
		v = v->next;
	return v;
}

/* What a fragment s[n], without '#', names in a schema that has a URI. s is changed. */
static const struct json *in_schema(struct converter *c, const struct json *v, char *s, size_t n, const char *uri,
	size_t uri_n)
{
	char *at = s, *end;

	if (n && *s != '/')
		return index_named(&c->index, named, uri, uri_n + 1 + n);
	end = s + decode_percent(s, n);
	while (v && at < end) {
		struct json name = next_name(&at, end);

		v = v->type == JSON_ARRAY ? element(v, &name) : index_find(&c->index, v, name.key, name.key_n);
	}
	return v;
}

/* The schema that $dynamicRef names if `first` is what $ref would name: of several that have the anchor, the one in
 * the document itself is the outermost of every evaluation. */
static const struct json *outermost(struct converter *c, const struct json *ref, const struct json *first)
{
	const struct json *anchor = json_get(first, "$dynamicAnchor"), *only = NULL;
	const char *fragment = memchr(ref->s, '#', ref->n);
	int n = 0;

	if (!anchor || anchor->type != JSON_STRING || !fragment || strcmp(fragment + 1, anchor->s))
		return first;
	for (const struct schema_anchor *a = c->anchors; a; a = a->next) {
		if (strcmp(a->name->s, anchor->s))
			continue;
		if (a->is_own)
			return a->schema;
		only = a->schema;
		n++;
	}
	if (n > 1 && schema_refuse(c, "$dynamicRef \"%.80s\": several schemas with that anchor", ref->s))
		return NULL;
	return n > 1 ? NULL : only;
}

const struct json *schema_follow(struct converter *c, const struct json *reference)
{
	const struct base *base = reference->type == JSON_STRING ? index_noted(&c->index, reference->s) : NULL;
	const struct json *v;
	const char *uri;
	size_t n, whole;

	if (!base) {
		schema_fail(c, "%s must be a string", reference->key);
		return NULL;
	}
	uri = resolve(c, base, reference->s, reference->n, &n);
	if (!uri)
		return NULL;
	whole = before_fragment(uri, n);
	v = index_named(&c->index, named, uri, whole);
	if (!v) {
		if (!index_noted(&c->flat, reference->s))
			schema_refuse(c, "%s \"%.80s\": a schema outside the document", reference->key, reference->s);
		index_note(&c->flat, reference->s, reference);          /* said once */
		return NULL;
	}
	if (n > whole)
		v = in_schema(c, v, (char *)uri + whole + 1, n - whole - 1, uri, whole);
	if (!v)
		schema_fail(c, "%s \"%.80s\": there is nothing of that name", reference->key, reference->s);
	else if (v->type != JSON_OBJECT && v->type != JSON_TRUE && v->type != JSON_FALSE)
		schema_fail(c, "%s \"%.80s\": that is no schema", reference->key, reference->s);
	else
		return !strcmp(reference->key, "$dynamicRef") ? outermost(c, reference, v) : v;
	return NULL;
}
