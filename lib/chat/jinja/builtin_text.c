/* Filters and methods on text. The results for markup are markup. */
#include "builtin.h"

#include "lib/base/space.h"
#include "lib/base/utf8.h"

#include <stdio.h>
#include <string.h>

static struct jv piece(const struct call *c, const char *s, const char *end)
{
	return jv_markup(jv_str(s, (size_t)(end - s)), c->self.markup);
}

/* The output since `start`. */
static struct jv taken(struct env *e, const struct call *c, size_t start)
{
	return jv_markup(jv_since(e, start), c->self.markup);
}

/* what: 1 for markup */
struct jv text_string(struct env *e, struct call *c)
{
	return jv_markup(c->self, c->self.markup || c->b->what);
}

struct jv markup_escape(struct env *e, struct jv v)
{
	static const char special[] = "&<>'\"";
	static const char *const escapes[] = { "&amp;", "&lt;", "&gt;", "&#39;", "&#34;" };
	size_t start = e->out->n, plain = 0;
	struct jv s;

	if (v.kind == JV_STR && v.markup)
		return v;
	s = jv_to_str(e, v);
	env_tick(e, s.n / 3);
	for (uint32_t i = 0; i < s.n; i++) {
		const char *hit = s.s[i] ? strchr(special, s.s[i]) : NULL;

		if (!hit)
			continue;
		env_put(e, s.s + plain, i - plain);
		env_puts(e, escapes[hit - special]);
		plain = i + 1;
	}
	if (s.n)
		env_put(e, s.s + plain, s.n - plain);
	return jv_markup(jv_since(e, start), true);
}

/* what: 1 to escape markup too */
struct jv text_escape(struct env *e, struct call *c)
{
	return markup_escape(e, jv_markup(c->self, c->self.markup && !c->b->what));
}

/* TEXT_TITLE starts a word after anything but a letter, TEXT_HEADING after white space and -([{< alone. */
struct jv text_cased(struct env *e, struct jv s, enum text_case to)
{
	size_t start = e->out->n;
	bool first = true;
	unsigned used;

	env_tick(e, s.n);
	for (uint32_t at = 0; at < s.n; at += used) {
		int32_t c = utf8_next(s.s + at, s.n - at, &used);
		char out[4];

		if (c < 0)
			env_put(e, s.s + at, used);
		else
			env_put(e, out, text_recase(out, c, to, first));
		if (to == TEXT_HEADING)
			first = space_char(c) || (text_is_ascii(c) && c && strchr("-({[<", (int)c));
		else
			first = to == TEXT_TITLE && !text_is_letter(c);
	}
	return jv_markup(jv_since(e, start), s.markup && to != TEXT_HEADING);
}

/* what: the case */
struct jv text_in_case(struct env *e, struct call *c)
{
	return text_cased(e, c->self, (enum text_case)c->b->what);
}

/* Is the character that s[n] starts with to be stripped? In *used, its bytes. */
static bool strips(struct jv chars, const char *s, size_t n, unsigned *used)
{
	int32_t c = utf8_next(s, n, used);

	return chars.kind == JV_STR ? text_find(chars.s, chars.n, s, *used) != NULL : space_char(c);
}

/* what: the sides, 1 left and 2 right */
struct jv text_strip(struct env *e, struct call *c)
{
	struct jv s = c->self, chars = arg_str(e, c, 0, jv_none());
	unsigned used;

	while (c->b->what & 1 && s.n && strips(chars, s.s, s.n, &used)) {
		s.s += used;
		s.n -= used;
	}
	while (c->b->what & 2 && s.n) {
		size_t at = space_step_back(s.s, s.n);

		if (!strips(chars, s.s + at, s.n - at, &used))
			break;
		s.n = (uint32_t)at;
	}
	env_tick(e, (uint64_t)(c->self.n - s.n) / 2 * (chars.kind == JV_STR ? 1 + chars.n / 32 : 1));
	return s;
}

/* Splits at white space, at most `most` times. */
static void split_spaces(struct env *e, struct call *c, struct jv_list *l, int64_t most)
{
	const char *s = c->self.s, *end = s + c->self.n;

	for (;; most--) {
		const char *word;
		unsigned used;

		s += space_leading(s, (size_t)(end - s));
		if (s == end)
			return;
		for (word = s; s < end && (!most || !space_char(utf8_next(s, (size_t)(end - s), &used)));
				s += most ? used : end - s)
			;
		jv_push(e, l, piece(c, word, s));
	}
}

/* The same from the right; the last piece comes first. */
static void rsplit_spaces(struct env *e, struct call *c, struct jv_list *l, int64_t most)
{
	const char *s = c->self.s, *end = s + c->self.n;

	for (;; most--) {
		const char *word;

		end = s + space_trimmed(s, (size_t)(end - s));
		if (s == end)
			return;
		for (word = end; most && word > s && space_trimmed(s, (size_t)(word - s)) == (size_t)(word - s); word--)
			;
		word = most ? word : s;
		jv_push(e, l, piece(c, word, end));
		end = word;
	}
}

static void split_at(struct env *e, struct call *c, struct jv sep, struct jv_list *l, int64_t most)
{
	const char *s = c->self.s, *end = s + c->self.n, *hit;
	bool right = c->b->what;

	for (; most && (hit = (right ? text_find_last : text_find)(s, (size_t)(end - s), sep.s, sep.n)); most--) {
		jv_push(e, l, right ? piece(c, hit + sep.n, end) : piece(c, s, hit));
		s = right ? s : hit + sep.n;
		end = right ? hit : end;
	}
	jv_push(e, l, piece(c, s, end));
}

/* what: 1 to split from the right */
struct jv text_split(struct env *e, struct call *c)
{
	struct jv sep = arg_str(e, c, 0, jv_none()), list = jv_list(e, JV_LIST, 0);
	int64_t most = arg_int(e, c, 1, -1);

	env_tick(e, text_find_cost(c->self.n, sep.n));
	if (sep.kind == JV_STR && !sep.n)
		env_fail(e, "empty separator");
	if (sep.kind == JV_STR)
		split_at(e, c, sep, list.list, most);
	else
		(c->b->what ? rsplit_spaces : split_spaces)(e, c, list.list, most);
	return c->b->what ? eval_slice(e, list, (const struct jv[]){ jv_none(), jv_none(), jv_int(-1) }) : list;
}

static bool ends_line(int32_t c)
{
	return (c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

static struct jv_list *lines_of(struct env *e, struct jv s, bool keep_ends)
{
	struct jv_list *lines = jv_list(e, JV_LIST, 0).list;
	uint32_t start = 0, at = 0, end;

	env_tick(e, s.n / 8);
	while (at < s.n) {
		unsigned used;
		int32_t c = utf8_next(s.s + at, s.n - at, &used);

		end = at;
		at += used;
		if (!ends_line(c) && at < s.n)
			continue;
		if (!ends_line(c))
			end = at;
		if (c == '\r' && at < s.n && s.s[at] == '\n')
			at++;
		jv_push(e, lines, jv_markup(jv_str(s.s + start, (keep_ends ? at : end) - start), s.markup));
		start = at;
	}
	return lines;
}

struct jv text_splitlines(struct env *e, struct call *c)
{
	return (struct jv){ .kind = JV_LIST, .list = lines_of(e, c->self, arg_true(c, 0, false)) };
}

/* what: 1 for the last occurrence */
struct jv text_partition(struct env *e, struct call *c)
{
	struct jv sep = arg_str(e, c, 0, jv_str("", 0)), t = jv_list(e, JV_TUPLE, 3);
	const char *s = c->self.s, *end = s + c->self.n, *hit;

	env_tick(e, text_find_cost(c->self.n, sep.n));
	if (!sep.n)
		env_fail(e, "empty separator");
	hit = (c->b->what ? text_find_last : text_find)(s, c->self.n, sep.s, sep.n);
	t.list->n = 3;
	t.list->items[0] = piece(c, s, hit ? hit : c->b->what ? s : end);
	t.list->items[1] = hit ? piece(c, hit, hit + sep.n) : piece(c, s, s);
	t.list->items[2] = hit ? piece(c, hit + sep.n, end) : c->b->what ? c->self : piece(c, s, s);
	return t;
}

/* The code points [arg i, arg i+1) of self; JV_ABSENT if the bounds are in the wrong order. */
static struct jv window(struct env *e, struct call *c, int i)
{
	int64_t from, to, n;
	struct jv out = c->self;

	if (c->arg[i].kind == JV_ABSENT && c->arg[i + 1].kind == JV_ABSENT)
		return out;
	n = jv_length(e, out);
	from = arg_int(e, c, i, 0);
	to = arg_int(e, c, i + 1, n);
	from = from < 0 ? (from + n < 0 ? 0 : from + n) : from;
	to = to < 0 ? (to + n < 0 ? 0 : to + n) : to > n ? n : to;
	if (from > to)
		return jv_absent();
	out.s += text_offset(c->self.s, c->self.n, from);
	out.n = (uint32_t)(text_offset(c->self.s, c->self.n, to) - (size_t)(out.s - c->self.s));
	return out;
}

static bool has_affix(struct env *e, struct jv s, struct jv affix, bool at_end)
{
	env_tick(e, affix.n / 64);
	return s.n >= affix.n && (!affix.n || !memcmp(at_end ? s.s + s.n - affix.n : s.s, affix.s, affix.n));
}

/* startswith and, with what 1, endswith */
struct jv text_has_affix(struct env *e, struct call *c)
{
	struct jv s = window(e, c, 1), one = c->arg[0];
	const struct jv_list single = { .items = &one, .n = 1 }, *l = one.kind == JV_TUPLE ? one.list : &single;
	bool found = false;

	for (uint32_t i = 0; !found && i < l->n; i++) {
		if (l->items[i].kind != JV_STR)
			env_fail(e, "%s first arg must be str or a tuple of str, not %s", c->b->name,
				jv_type(l->items[i]));
		found = s.kind == JV_STR && has_affix(e, s, l->items[i], c->b->what);
	}
	return jv_bool(found);
}

/* removeprefix and, with what 1, removesuffix */
struct jv text_remove_affix(struct env *e, struct call *c)
{
	struct jv affix = arg_str(e, c, 0, jv_str("", 0)), s = c->self;

	if (has_affix(e, s, affix, c->b->what)) {
		s.s += c->b->what ? 0 : affix.n;
		s.n -= affix.n;
	}
	return s;
}

/* what: a sum of 1, to search from the right, and 2, to fail if there is no occurrence */
struct jv text_index(struct env *e, struct call *c)
{
	struct jv what = arg_str(e, c, 0, jv_str("", 0)), s = window(e, c, 1);
	const char *hit = NULL;

	env_tick(e, text_find_cost(c->self.n, what.n));
	if (s.kind == JV_STR)
		hit = (c->b->what & 1 ? text_find_last : text_find)(s.s, s.n, what.s, what.n);
	if (!hit && c->b->what & 2)
		env_fail(e, "substring not found");
	return jv_int(hit ? (int64_t)text_length(c->self.s, (size_t)(hit - c->self.s)) : -1);
}

struct jv text_count(struct env *e, struct call *c)
{
	struct jv what = arg_str(e, c, 0, jv_str("", 0)), s = window(e, c, 1);
	const char *at, *end, *hit;
	int64_t n = 0;

	env_tick(e, text_find_cost(c->self.n, what.n));
	if (s.kind != JV_STR)
		return jv_int(0);
	if (!what.n)
		return jv_int((int64_t)text_length(s.s, s.n) + 1);
	for (at = s.s, end = s.s + s.n; (hit = text_find(at, (size_t)(end - at), what.s, what.n)); at = hit + what.n)
		n++;
	return jv_int(n);
}

/* An empty `old` matches before every code point and at the end. */
static void replace_empty(struct env *e, struct jv s, struct jv new, int64_t count)
{
	unsigned used = 0;

	for (uint32_t at = 0; at <= s.n; at += used, count -= count > 0) {
		if (count)
			env_put(e, new.s, new.n);
		if (at == s.n)
			return;
		utf8_next(s.s + at, s.n - at, &used);
		env_put(e, s.s + at, used);
	}
}

/* what: 1 for the filter, which turns its arguments into strings */
struct jv text_replace(struct env *e, struct call *c)
{
	struct jv s = c->self, old, new;
	int64_t count = arg_int(e, c, 2, -1);
	size_t start = e->out->n;
	const char *at, *end, *hit;

	old = c->b->what ? jv_to_str(e, c->arg[0]) : arg_str(e, c, 0, jv_str("", 0));
	new = c->b->what ? jv_to_str(e, c->arg[1]) : arg_str(e, c, 1, jv_str("", 0));
	s.markup &= !c->b->what;
	if (s.markup)
		new = markup_escape(e, new);
	env_tick(e, text_find_cost(s.n, old.n));
	if (!count || !text_find(s.s, s.n, old.s, old.n))
		return s;
	if (!old.n) {
		replace_empty(e, s, new, count);
		return jv_markup(jv_since(e, start), s.markup);
	}
	at = s.s;
	end = at + s.n;
	for (; count && (hit = text_find(at, (size_t)(end - at), old.s, old.n)); count--) {
		env_put(e, at, (size_t)(hit - at));
		env_put(e, new.s, new.n);
		at = hit + old.n;
	}
	env_put(e, at, (size_t)(end - at));
	return jv_markup(jv_since(e, start), s.markup);
}

struct jv text_join(struct env *e, struct call *c)
{
	const struct jv_list *l = jv_items(e, c->arg[0]);
	size_t start = e->out->n;

	for (uint32_t i = 0; i < l->n; i++) {
		struct jv item = l->items[i];

		if (item.kind != JV_STR)
			env_fail(e, "sequence item %u: expected str instance, %s found", i, jv_type(item));
		item = c->self.markup ? markup_escape(e, item) : item;
		env_tick(e, 1 + item.n / 64);
		if (i)
			env_put(e, c->self.s, c->self.n);
		env_put(e, item.s, item.n);
	}
	return taken(e, c, start);
}

struct jv text_format(struct env *e, struct call *c)
{
	return format_braces(e, c->self, c);
}

/* The filter: "..."|format(...), by %. */
struct jv text_percent(struct env *e, struct call *c)
{
	struct jv args;

	if (c->n_kw) {
		struct call named = { .b = c->b, .kw = c->kw, .n_kw = c->n_kw };

		args = jv_dict(e, JV_DICT);
		dict_fill(e, args.dict, &named);
		return format_percent(e, c->self, args);
	}
	args = jv_list(e, JV_TUPLE, c->n_pos);
	for (uint32_t i = 0; i < c->n_pos; i++)
		jv_push(e, args.list, c->pos[i]);
	return format_percent(e, c->self, args);
}

/* Pads self to `width` code points with `fill`. */
static struct jv justify(struct env *e, const struct call *c, char align, int64_t width, struct jv fill)
{
	size_t start = e->out->n;
	int64_t room, before, n = jv_length(e, c->self);

	room = width > n ? width - n : 0;
	before = align == '<' ? 0 : align == '>' ? room : room / 2 + (room & width & 1);
	if (room > (int64_t)e->arena->limit)
		env_full(e);
	env_tick(e, (uint64_t)room / 3);
	for (int64_t i = 0; i <= room; i++) {
		if (i == before)
			env_put(e, c->self.s, c->self.n);
		if (i < room)
			env_put(e, fill.s, fill.n);
	}
	return taken(e, c, start);
}

/* what: '<', '>' or '^' */
struct jv text_justify(struct env *e, struct call *c)
{
	struct jv fill = arg_str(e, c, 1, jv_str(" ", 1));

	if (text_length(fill.s, fill.n) != 1)
		env_fail(e, "the fill character must be exactly one character long");
	return justify(e, c, (char)c->b->what, c->arg[0].kind == JV_ABSENT ? 80 : arg_int(e, c, 0, 0), fill);
}

struct jv text_zfill(struct env *e, struct call *c)
{
	struct call digits = *c;
	size_t sign = c->self.n && (*c->self.s == '-' || *c->self.s == '+');
	struct jv out;

	digits.self = jv_str(c->self.s + sign, c->self.n - sign);
	out = justify(e, &digits, '>', arg_int(e, c, 0, 0) - (int64_t)sign, jv_str("0", 1));
	return jv_markup(jv_concat(e, jv_str(c->self.s, sign), out), c->self.markup);
}

/* what: the test that all characters must pass */
struct jv text_all(struct env *e, struct call *c)
{
	static bool (*const tests[])(int32_t) = {
		[ALL_DIGITS] = text_is_digit, [ALL_LETTERS] = text_is_letter, [ALL_ALNUM] = text_is_alnum,
		[ALL_SPACE] = space_char, [ALL_ASCII] = text_is_ascii,
	};
	unsigned used;

	env_tick(e, c->self.n / 2);
	for (uint32_t at = 0; at < c->self.n; at += used)
		if (!tests[c->b->what](utf8_next(c->self.s + at, c->self.n - at, &used)))
			return jv_bool(false);
	return jv_bool(c->self.n || c->b->what == ALL_ASCII);
}

/* Is there a letter with two cases, and none in the other case? what: TEXT_UPPER or TEXT_LOWER */
struct jv text_is_cased(struct env *e, struct call *c)
{
	bool any = false, upper = c->b->what == TEXT_UPPER;
	unsigned used;

	env_tick(e, c->self.n);
	for (uint32_t at = 0; at < c->self.n; at += used) {
		int32_t ch = utf8_next(c->self.s + at, c->self.n - at, &used);

		if ((upper ? text_upper(ch) : text_lower(ch)) != ch)
			return jv_bool(false);
		any |= (upper ? text_lower(ch) : text_upper(ch)) != ch;
	}
	return jv_bool(any);
}

/* What lines are indented by: a string or a number of spaces. */
static struct jv indentation(struct env *e, const struct call *c, int i)
{
	return c->arg[i].kind == JV_STR ? c->arg[i] : eval_binary(e, '*', jv_str(" ", 1), jv_int(arg_int(e, c, i, 4)));
}

struct jv text_indent(struct env *e, struct call *c)
{
	struct jv s = c->self, pad;
	bool first = arg_true(c, 1, false), blank = arg_true(c, 2, false);
	const struct jv_list *lines;
	size_t start = e->out->n;

	jv_defined(e, s);
	if (s.kind != JV_STR)
		env_fail(e, "indent: expected a string, not %s", jv_type(s));
	pad = indentation(e, c, 0);
	lines = lines_of(e, jv_concat(e, s, jv_str("\n", 1)), false);
	for (uint32_t i = 0; i < lines->n; i++) {
		struct jv line = lines->items[i];

		env_puts(e, i ? "\n" : "");
		if (i ? blank || line.n : first)
			env_put(e, pad.s, pad.n);
		env_put(e, line.s, line.n);
	}
	return taken(e, c, start);
}

struct jv text_truncate(struct env *e, struct call *c)
{
	struct jv s = c->self, end = arg_str(e, c, 2, jv_str("...", 3));
	int64_t length = arg_int(e, c, 0, 255), leeway = arg_int(e, c, 3, 5),
		keep = length - (int64_t)text_length(end.s, end.n);

	if (keep < 0 || leeway < 0)
		env_fail(e, "truncate: expected length >= the end's, leeway >= 0");
	if (jv_length(e, s) <= length + leeway)
		return s;
	if (s.kind != JV_STR)
		env_fail(e, "truncate: expected a string, not %s", jv_type(s));
	s.n = (uint32_t)text_offset(s.s, s.n, keep);
	if (!arg_true(c, 1, false)) {
		uint32_t space = s.n;

		while (space && s.s[space - 1] != ' ')
			space--;
		s.n = space ? space - 1 : s.n;
	}
	return jv_concat(e, s, end);
}

struct jv text_wordcount(struct env *e, struct call *c)
{
	bool inside = false;
	int64_t n = 0;
	unsigned used;

	env_tick(e, c->self.n / 2);
	for (uint32_t at = 0; at < c->self.n; at += used) {
		int32_t ch = utf8_next(c->self.s + at, c->self.n - at, &used);
		bool word = ch == '_' || text_is_alnum(ch);

		n += word && !inside;
		inside = word;
	}
	return jv_int(n);
}

/* Appends v escaped for a URL, or for its query. */
static void put_url(struct env *e, struct jv v, bool query)
{
	struct jv s = jv_to_str(e, v);

	env_tick(e, s.n);
	for (uint32_t i = 0; i < s.n; i++) {
		unsigned char ch = (unsigned char)s.s[i];

		if (ch == ' ' && query)
			env_puts(e, "+");
		else if (ch < 0x80 && (text_is_alnum(ch) || (ch && strchr("_.-~", ch)) || (ch == '/' && !query)))
			env_put(e, s.s + i, 1);
		else
			env_printf(e, "%%%02X", ch);
	}
}

/* A mapping or pairs become a query string. */
struct jv text_urlencode(struct env *e, struct call *c)
{
	size_t start = e->out->n;
	struct jv v = c->self;
	const struct jv_list *l;

	if (v.kind < JV_LIST) {
		put_url(e, v, false);
		return jv_since(e, start);
	}
	l = jv_items(e, v.kind == JV_DICT ? dict_items(e, v.dict) : v);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct jv_list *pair = jv_items(e, l->items[i]);

		if (pair->n != 2)
			env_fail(e, "urlencode: expected pairs, not %u values", pair->n);
		env_puts(e, i ? "&" : "");
		put_url(e, pair->items[0], true);
		env_puts(e, "=");
		put_url(e, pair->items[1], true);
	}
	return jv_since(e, start);
}

/* Copies a short string and terminates it. */
static void copy_short(struct env *e, char *out, size_t room, struct jv s, const char *what)
{
	if (s.kind != JV_STR || s.n >= room)
		env_fail(e, "tojson: the %s must be a string shorter than %zu bytes", what, room);
	snprintf(out, room, "%.*s", (int)s.n, s.n ? s.s : "");
}

struct jv text_tojson(struct env *e, struct call *c)
{
	struct json_writer w = json_to_bytes(e->out);
	struct jv indent = c->arg[1], separators = c->arg[2];
	size_t start = e->out->n;
	char pad[256], comma[32], colon[32];

	w.ascii = arg_true(c, 0, false);
	if (indent.kind != JV_ABSENT && indent.kind != JV_NONE) {
		copy_short(e, pad, sizeof pad, indentation(e, c, 1), "indent");
		w.indent = pad;
		w.comma = ",";
	}
	if (jv_in(separators, JV_ARRAYS)) {
		if (separators.list->n != 2)
			env_fail(e, "tojson: expected two separators");
		copy_short(e, comma, sizeof comma, separators.list->items[0], "separators");
		copy_short(e, colon, sizeof colon, separators.list->items[1], "separators");
		w.comma = comma;
		w.colon = colon;
	}
	jv_put_json(e, &w, c->self, arg_true(c, 3, false));
	return jv_since(e, start);
}

struct jv text_from_json(struct env *e, struct call *c)
{
	struct why w;
	struct json *v;

	if (c->self.kind != JV_STR)
		env_fail(e, "from_json: expected a string, not %s", jv_type(c->self));
	env_tick(e, c->self.n / 2);
	v = json_parse(e->arena, c->self.s, c->self.n, &w);
	if (!v)
		env_fail(e, "from_json: %s", w.text);
	return jv_from_json(e, v);
}
