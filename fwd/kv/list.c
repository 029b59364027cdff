/* Collects all rows first, so that columns are as wide as their contents. */
#include "list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/grow.h"
#include "lib/base/json.h"
#include "lib/base/members.h"
#include "lib/base/out.h"
#include "lib/base/quote.h"
#include "lib/base/size.h"
#include "lib/base/system.h"
#include "lib/base/utf8.h"
#include "lib/vocab/unicode.h"
#include "fwd/state/object.h"
#include "fwd/state/saved.h"
#include "segment_text.h"

enum { CELL = 512, GAP = 2, TEXT_LEAST = 16, NAME_MOST = 24, MODEL_MOST = 20 };

enum column { NAME, TOKENS, CONTEXT, SIZE, AGE, OWNER, MODEL, TEXT, COLUMNS };

static const char *const titles[COLUMNS] = { "NAME", "TOKENS", "CONTEXT", "SIZE", "AGE", "OWNER", "MODEL", "TEXT" };

struct row {
	char cell[COLUMNS][CELL];
};

struct list {
	struct row *row;
	size_t n, room;
	struct segment_text text;
	int named;              /* the names were given: one that cannot be read is left out */
	struct why *w;
	int failed;
	struct why first;       /* of the failures */
};

static int fail(struct list *l)
{
	if (!l->failed)
		l->first = *l->w;
	l->failed = 1;
	return -1;
}

/* ---- cells ---- */

/* 512, 37K, 1.1M, ... */
static void spell_size(size_t bytes, char cell[CELL])
{
	static const char units[] = "KMGTPE";
	double n = (double)bytes;
	size_t i = 0;

	if (bytes < 1024) {
		snprintf(cell, CELL, "%zu", bytes);
		return;
	}
	for (n /= 1024; n >= 1023.5 && units[i + 1]; i++)
		n /= 1024;
	snprintf(cell, CELL, "%.*f%c", n < 9.95, n, units[i]);
}

/* 5s, 3m, 2h, 4d */
static void spell_age(time_t used, char cell[CELL])
{
	time_t now = time(NULL);
	long long s = now > used ? (long long)(now - used) : 0;

	if (s < 60)
		snprintf(cell, CELL, "%llds", s);
	else if (s < 3600)
		snprintf(cell, CELL, "%lldm", s / 60);
	else if (s < 86400)
		snprintf(cell, CELL, "%lldh", s / 3600);
	else
		snprintf(cell, CELL, "%lldd", s / 86400);
}

/* Any bytes on one line: white space becomes one space, other non-text is escaped. */
static void spell_line(const char *s, size_t n, char cell[CELL])
{
	char out[QUOTE_ROOM];
	size_t at = 0, len;
	unsigned used;
	int space = 0;

	for (size_t i = 0; i < n; i += used) {
		len = quote_next(s + i, n - i, 0, out, &used);
		if (strchr(" \n\t\r\v\f", s[i]) && s[i]) {
			space = at > 0;
			continue;
		}
		if (at + (size_t)space + len >= CELL)
			break;
		if (space)
			cell[at++] = ' ';
		memcpy(cell + at, out, len);
		at += len;
		space = 0;
	}
	cell[at] = 0;
}

/* Appends the text of the first ids: 1; 0: the vocabulary is not available; -1: out of memory. */
static int first_text(struct list *l, const char *name, const struct segment_info *i, struct bytes *out)
{
	struct why other;
	int begins = 1, opened;

	errno = 0;
	opened = segment_text_open(&l->text, NULL, name, i, &other) == 0;
	if (opened)
		segment_text_put(&l->text, i->first, size_min(i->length, SEGMENT_FIRST), 0, &begins, out);
	if (out->failed || (!opened && errno == ENOMEM))
		return why(l->w, "segment %s: out of memory for its text", name);
	return opened;
}

static int spell_text(struct list *l, const char *name, const struct segment_info *i, char cell[CELL])
{
	struct bytes text = { .limit = 1 << 20 };
	int known = first_text(l, name, i, &text);

	if (known > 0)
		spell_line(text.p, text.n, cell);
	for (size_t k = 0, at = 0; !known && k < i->length && k < SEGMENT_FIRST && at + 13 < CELL; k++)
		at += (size_t)snprintf(cell + at, CELL - at, k ? " %" PRId32 : "%" PRId32, i->first[k]);
	bytes_free(&text);
	return known < 0 ? -1 : 0;
}

static int spell_row(struct list *l, struct row *r, const char *name, const struct segment_info *i)
{
	snprintf(r->cell[TOKENS], CELL, "%zu", i->length);
	snprintf(r->cell[CONTEXT], CELL, "%zu", i->n_ctx);
	spell_size(i->bytes, r->cell[SIZE]);
	spell_age(i->used, r->cell[AGE]);
	snprintf(r->cell[OWNER], CELL, i->owner ? "%ld" : "-", i->owner);
	spell_line(i->origin.name, strlen(i->origin.name), r->cell[MODEL]);
	if (!*i->origin.name)
		snprintf(r->cell[MODEL], CELL, "%016" PRIx64, i->shape.model);
	return spell_text(l, name, i, r->cell[TEXT]);
}

/* Returns 1; or 0 if the segment is to be listed with the reason in l->w, which is a failure if it comes from the
 * system; or -1 if it is to be left out. */
static int inspect(struct list *l, const char *name, struct segment_info *i)
{
	errno = 0;
	if (segment_inspect(name, i, l->w) == 0)
		return 1;
	if (l->named)
		return -1;
	if (errno && errno != ENOENT)   /* it may have been removed since */
		fail(l);
	return 0;
}

static int add_row(const char *name, void *context)
{
	struct list *l = context;
	struct segment_info i;
	struct row *r;
	int known = inspect(l, name, &i);

	if (known < 0)
		return -1;
	if (l->n == l->room && grow(&l->row, &l->room, sizeof *l->row, 16) < 0)
		return why(l->w, "out of memory");
	r = &l->row[l->n++];
	memset(r, 0, sizeof *r);
	spell_line(name, strlen(name), r->cell[NAME]);
	if (known)
		return spell_row(l, r, name, &i);
	spell_line(l->w->text, strlen(l->w->text), r->cell[TEXT]);
	return 0;
}

/* ---- the table ---- */

/* Terminal columns of a character: 0 for combining marks, 2 for wide East Asian characters and emoji. */
static size_t columns_of(int32_t c)
{
	static const struct { int32_t first, last; } wide[] = { { 0x1100, 0x115f }, { 0x2e80, 0x303e },
		{ 0x3041, 0xa4cf }, { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 },
		{ 0xffe0, 0xffe6 }, { 0x1f300, 0x1f64f }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd } };

	for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
		if (c >= wide[i].first && c <= wide[i].last)
			return 2;
	return c < 0 || unicode_class((uint32_t)c) != UNICODE_MARK;
}

/* The number of bytes of a cell that fit into `most` columns. *columns: the columns they take. */
static size_t fit(const char *s, size_t most, size_t *columns)
{
	size_t n = strlen(s), i = 0, wide;
	unsigned used;

	for (*columns = 0; i < n; i += used, *columns += wide) {
		wide = columns_of(utf8_next(s + i, n - i, &used));
		if (*columns + wide > most)
			break;
	}
	return i;
}

static size_t width_of(const char *s)
{
	size_t columns;

	fit(s, SIZE_MAX, &columns);
	return columns;
}

/* Sets column widths for a terminal of `most` columns. 0: the column is left out. */
static void fit_columns(size_t width[COLUMNS], size_t most)
{
	static const enum column less[] = { CONTEXT, OWNER, SIZE, MODEL, AGE };
	size_t all = 0, left;

	width[NAME] = size_min(width[NAME], NAME_MOST);
	width[MODEL] = size_min(width[MODEL], MODEL_MOST);
	for (size_t i = 0; i < TEXT; i++)
		all += width[i] + GAP;
	for (size_t i = 0; i < sizeof less / sizeof *less && all + TEXT_LEAST > most; i++) {
		all -= width[less[i]] + GAP;
		width[less[i]] = 0;
	}
	left = most > all ? most - all : 0;
	width[TEXT] = size_min(width[TEXT], left);
}

static void print_row(const char *const cell[COLUMNS], const size_t width[COLUMNS])
{
	size_t gap = 0, columns, n;

	for (size_t i = 0; i < COLUMNS; i++) {
		if (!width[i])
			continue;
		n = fit(cell[i], width[i], &columns);
		if (i >= TOKENS && i <= OWNER)
			gap += width[i] - columns;
		out_print("%*s", (int)gap, "");
		out_bytes(cell[i], n);
		gap = GAP + (i >= TOKENS && i <= OWNER ? 0 : width[i] - columns);
	}
	out_char('\n');
}

static size_t columns_there_are(void)
{
	int columns, rows;

	if (!isatty(STDOUT_FILENO))
		return SIZE_MAX;
	system_terminal_size(STDOUT_FILENO, &columns, &rows);
	return (size_t)columns;
}

static void print_table(const struct list *l)
{
	size_t width[COLUMNS], most = columns_there_are();
	const char *cell[COLUMNS];

	for (size_t i = 0; i < COLUMNS; i++) {
		width[i] = strlen(titles[i]);
		for (size_t k = 0; k < l->n; k++)
			width[i] = size_max(width[i], width_of(l->row[k].cell[i]));
	}
	if (most < SIZE_MAX)
		fit_columns(width, most);
	print_row(titles, width);
	for (size_t k = 0; k < l->n; k++) {
		for (size_t i = 0; i < COLUMNS; i++)
			cell[i] = l->row[k].cell[i];
		print_row(cell, width);
	}
}

/* ---- JSON ---- */

/* An empty text is null, as is a number that is not known. */
static void put_text(struct json_writer *j, const char *key, const char *s)
{
	member_text(j, key, *s ? s : NULL);
}

/* In hexadecimal, because JSON readers round large numbers. */
static void put_hash(struct json_writer *j, const char *key, uint64_t n)
{
	if (n)
		member_hash(j, key, n);
	else
		member_null(j, key);
}

static void put_segment(struct json_writer *j, const struct segment_info *i, const struct bytes *text)
{
	member_int(j, "tokens", (long long)i->length);
	member_int(j, "context", (long long)i->n_ctx);
	member_int(j, "bytes", (long long)i->bytes);
	member_int(j, "used", (long long)i->used);
	member_text(j, "type", kv_type_name[i->shape.kv_type]);
	if (i->owner)
		member_int(j, "owner", i->owner);
	else
		member_null(j, "owner");
	put_text(j, "model", i->origin.name);
	put_text(j, "path", i->origin.path);
	put_hash(j, "fingerprint", i->shape.model);
	put_hash(j, "weights", i->digest);
	if (text->n)
		member_bytes(j, "text", text->p, text->n);
	else
		member_null(j, "text");
}

static int print_json(const char *name, void *context)
{
	struct bytes text = { .limit = 1 << 20 };
	struct json_writer j = json_to_out();
	struct list *l = context;
	struct segment_info i;
	int known = inspect(l, name, &i);

	if (known > 0 && first_text(l, name, &i, &text) < 0)
		known = -1;
	if (known >= 0) {
		json_open(&j, '{');
		member_text(&j, "name", name);
		if (known)
			put_segment(&j, &i, &text);
		else
			member_text(&j, "error", l->w->text);
		json_close(&j, '}');
		out_char('\n');
	}
	bytes_free(&text);
	return known < 0 ? -1 : 0;
}

/* ---- which ---- */

static int clear(const char *name, void *context)
{
	char whole[OBJECT_NAME_MAX + 1];
	size_t n = strlen(name) - strlen(OBJECT_PART);

	(void)context;
	if (object_is_part(name) && n < sizeof whole) {
		memcpy(whole, name, n);
		whole[n] = 0;
		saved_clear(whole);
	}
	return 0;
}

/* All of this user's whose names have no slash, but what killed loads have left. */
static int visit_all(struct list *l, int (*visit)(const char *name, void *context), struct why *w)
{
	return object_each(clear, NULL, w) < 0 ? -1 : object_each(visit, l, w);
}

int list_print(char **name, size_t n, int json, struct why *w)
{
	int (*visit)(const char *name, void *context) = json ? print_json : add_row;
	struct list l = { .named = n > 0, .w = w };

	if (!n && visit_all(&l, visit, w) < 0)
		fail(&l);
	for (size_t i = 0; i < n; i++) {
		saved_clear(name[i]);
		if (visit(name[i], &l) < 0)
			fail(&l);
	}
	if (!json && (l.n || !l.failed))
		print_table(&l);
	segment_text_close(&l.text);
	free(l.row);
	if (l.failed)
		*w = l.first;
	return l.failed ? -1 : 0;
}
