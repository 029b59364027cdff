/* From lines or files to the lines of JSON that tok reads. */
#include "items.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/slurp.h"
#include "lib/base/span.h"

enum { LINE_ARENA = 1 << 30, FILE_MAX = 1 << 30 };

/* ---- items ---- */

void item_free(struct item *item)
{
	if (!item)
		return;
	bytes_free(&item->line);
	bytes_free(&item->label);
	free(item->error);
	free(item);
}

static struct item *new_item(void)
{
	struct item *item = calloc(1, sizeof *item);

	if (item)
		item->line.limit = item->label.limit = PTRDIFF_MAX;
	return item;
}

/* The item has no embedding, for this reason. */
static void fail(struct item *item, const struct why *w)
{
	item->line.n = 0;
	bytes_puts(&item->line, "null");
	item->error = strdup(w->text);
}

/* Whether all of it found memory. */
static int complete(const struct item *item)
{
	return !item->line.failed && !item->label.failed;
}

/* Appends a member to the label, with a comma before it if it is not the first. */
static void begin_member(struct item *item, const char *key, size_t n)
{
	struct json_writer j = json_to_bytes(&item->label);

	if (item->label.n)
		bytes_puts(&item->label, ", ");
	json_string(&j, key, n);
	bytes_puts(&item->label, ": ");
}

static void put_member(struct item *item, const char *key, struct span value)
{
	struct json_writer j = json_to_bytes(&item->label);

	begin_member(item, key, strlen(key));
	json_string(&j, value.s, value.n);
}

/* Appends the text with the prefix as a string. */
static void put_text(const struct items *t, struct json_writer *j, struct item *item, struct span text)
{
	struct bytes whole = { .limit = PTRDIFF_MAX };

	if (!t->prefix) {
		json_string(j, text.s, text.n);
		return;
	}
	if (bytes_puts(&whole, t->prefix) || bytes_put(&whole, text.s, text.n))
		item->line.failed = 1;
	else
		json_string(j, whole.p, whole.n);
	bytes_free(&whole);
}

static void put_single(const struct items *t, struct item *item, struct span text)
{
	struct json_writer j = json_to_bytes(&item->line);

	put_text(t, &j, item, text);
}

static void put_pair(const struct items *t, struct item *item, struct span query, struct span document)
{
	struct json_writer j = json_to_bytes(&item->line);

	json_open(&j, '[');
	put_text(t, &j, item, query);
	json_string(&j, document.s, document.n);
	json_close(&j, ']');
}

/* ---- lines ---- */

static void take_line(const struct items *t, struct item *item, struct span line)
{
	const char *tab = t->pairs && line.n ? memchr(line.s, '\t', line.n) : NULL;
	struct span query = line, document = line;
	struct why w;

	if (!t->without_text && !t->pairs)
		put_member(item, "text", line);
	if (!t->pairs) {
		put_single(t, item, line);
		return;
	}
	if (!tab) {
		why(&w, "line %zu: no tab between a query and a document", t->lines.number);
		fail(item, &w);
		return;
	}
	query.n = (size_t)(tab - line.s);
	document = (struct span){ tab + 1, line.n - query.n - 1 };
	if (!t->without_text) {
		put_member(item, "query", query);
		put_member(item, "document", document);
	}
	put_pair(t, item, query, document);
}

/* ---- lines of JSON ---- */

/* The string that a line is, or has as a member. */
static int string_of(const struct json *v, const char *key, struct span *text, struct why *w)
{
	const struct json *s = v->type == JSON_OBJECT ? json_get(v, key) : v;

	if (!s || s->type != JSON_STRING)
		return why(w, "no \"%s\", a string", key);
	*text = (struct span){ s->s, s->n };
	return 0;
}

/* Whether a member of the input is left out of the label. */
static int is_left_out(const struct items *t, const struct json *member)
{
	static const char *const own[] = { "embedding", "error", "score", "scores" };
	static const char *const texts[] = { "text", "query", "document" };

	if (t->requests)
		return strcmp(member->key, "id") && strcmp(member->key, "index");
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (!strcmp(member->key, own[i]))
			return 1;
	for (size_t i = 0; t->without_text && i < sizeof texts / sizeof *texts; i++)
		if (!strcmp(member->key, texts[i]))
			return 1;
	return 0;
}

static void put_label(const struct items *t, struct item *item, const struct json *v)
{
	struct json_writer j;

	if (v->type != JSON_OBJECT) {
		if (!t->without_text)
			put_member(item, "text", (struct span){ v->s, v->n });
		return;
	}
	for (const struct json *m = v->child; m; m = m->next) {
		if (is_left_out(t, m))
			continue;
		begin_member(item, m->key, m->key_n);
		j = json_to_bytes(&item->label);
		json_value(&j, m);
	}
}

/* The text or the pair of an object, or a string, as a line for tok. */
static int put_texts(const struct items *t, struct item *item, const struct json *v, struct why *w)
{
	struct span text, document;

	if (t->pairs && v->type != JSON_OBJECT)
		return why(w, "%s, not an object", json_type_name(v));
	if (string_of(v, t->pairs ? "query" : "text", &text, w) || (t->pairs && string_of(v, "document", &document, w)))
		return -1;
	if (t->pairs)
		put_pair(t, item, text, document);
	else
		put_single(t, item, text);
	return 0;
}

/* A text as ids, which have no prefix. */
static int put_ids(const struct items *t, struct item *item, const struct json *ids, struct why *w)
{
	struct json_writer j = json_to_bytes(&item->line);

	for (const struct json *id = ids->child; id; id = id->next)
		if (id->type != JSON_INT || id->i < 0 || id->i >= t->n_vocab)
			return why(w, "expected ids from 0 to %lld", (long long)t->n_vocab - 1);
	json_value(&j, ids);
	return 0;
}

static int put_request(const struct items *t, struct item *item, const struct json *v, struct why *w)
{
	const struct json *text = json_get(v, "text"), *dimensions = json_get(v, "dimensions");
	const struct json *model = json_get(v, "model");

	item->asks = json_get(v, "cancel") ? ITEM_NOTHING : model && model->type == JSON_TRUE ? ITEM_MODEL
		: ITEM_EMBEDDING;
	if (item->asks != ITEM_EMBEDDING) {
		bytes_puts(&item->line, "null");
		return 0;
	}
	if (!t->pairs && !text)
		return why(w, "this model makes embeddings; it generates no text and ranks no documents");
	if (t->pairs && !json_get(v, "query"))
		return why(w, "this model ranks documents; it generates no text and makes no embeddings");
	if (dimensions && (dimensions->type != JSON_INT || dimensions->i < 1))
		return why(w, "dimensions: expected a positive integer");
	item->dimensions = dimensions ? dimensions->i : 0;
	return !t->pairs && text->type == JSON_ARRAY ? put_ids(t, item, text, w) : put_texts(t, item, v, w);
}

static void take_json(const struct items *t, struct item *item, struct span line)
{
	struct arena a = { .limit = LINE_ARENA };
	const struct json *v;
	struct why w, cause;

	if (!(v = json_parse_line(&a, line.s, line.n, t->lines.number, &w))) {
		fail(item, &w);
	} else if ((t->requests ? put_request : put_texts)(t, item, v, &cause)) {
		if (v->type == JSON_OBJECT)
			put_label(t, item, v);
		if (t->requests)
			w = cause;
		else
			why(&w, "line %zu: %s", t->lines.number, cause.text);
		fail(item, &w);
	} else {
		put_label(t, item, v);
	}
	arena_free(&a);
}

/* ---- files ---- */

static void take_file(const struct items *t, struct item *item, const char *name)
{
	struct bytes text = { .limit = FILE_MAX };
	struct why w;

	put_member(item, "id", span_of(name));
	if (slurp_text(name, &text, &w)) {
		fail(item, &w);
	} else {
		struct span all = { bytes_text(&text), text.n };

		all.n -= all.n && all.s[all.n - 1] == '\n';
		if (!t->without_text)
			put_member(item, "text", all);
		put_single(t, item, all);
	}
	bytes_free(&text);
}

/* The next line of all files; of JSON, the next that is not blank. Returns as lines_next(). */
static int next_line(struct items *t, struct span *line, struct why *w)
{
	char *s;
	int got = 0;

	while (!got) {
		if (!t->open && t->at == t->n_files)
			return 0;
		if (!t->open && lines_open(&t->lines, t->file[t->at], w))
			return -1;
		t->open = 1;
		if ((got = lines_next(&t->lines, &s, &line->n, w)) <= 0) {
			lines_close(&t->lines);
			t->open = 0;
			t->at++;
		} else if (t->kind == ITEMS_JSON && json_blank(s, line->n) == line->n) {
			got = 0;
		}
	}
	line->s = s;
	return got;
}

int items_next(struct items *t, struct item **item, struct why *w)
{
	struct span line;
	int got = t->kind == ITEMS_FILES ? t->at < t->n_files : next_line(t, &line, w);

	if (got <= 0)
		return got;
	if (!(*item = new_item()))
		return why(w, "out of memory");
	if (t->kind == ITEMS_FILES)
		take_file(t, *item, t->file[t->at++]);
	else
		(t->kind == ITEMS_JSON ? take_json : take_line)(t, *item, line);
	if (complete(*item))
		return 1;
	item_free(*item);
	return why(w, "out of memory");
}
