/* The methods of strings. self is the string; what comes back of a markup string is markup. */
#include "priv.h"

#include "lib/base/utf8.h"

#include <string.h>

static struct jv like(const struct call *c, struct jv s)
{
	s.markup = s.kind == JV_STR && c->self.markup;
	return s;
}

static struct jv piece(const struct call *c, const char *s, const char *end)
{
	return like(c, jv_str(s, (size_t)(end - s)));
}

static struct jv strip(struct env *e, struct call *c, int sides)
{
	struct jv chars;

	if (jinja_arg_str(e, c, 0, jv_none(), &chars))
		return jv_error();
	return text_strip(e, c->self, chars, sides);
}

static struct jv str_strip(struct env *e, struct call *c)
{
	return strip(e, c, 3);
}

static struct jv str_lstrip(struct env *e, struct call *c)
{
	return strip(e, c, 1);
}

static struct jv str_rstrip(struct env *e, struct call *c)
{
	return strip(e, c, 2);
}

static struct jv str_upper(struct env *e, struct call *c)
{
	return text_recase(e, c->self, TEXT_UPPER);
}

static struct jv str_lower(struct env *e, struct call *c)
{
	return text_recase(e, c->self, TEXT_LOWER);
}

static struct jv str_casefold(struct env *e, struct call *c)
{
	return text_recase(e, c->self, TEXT_FOLD);
}

static struct jv str_capitalize(struct env *e, struct call *c)
{
	return text_recase(e, c->self, TEXT_CAPITAL);
}

static struct jv str_title(struct env *e, struct call *c)
{
	return text_recase(e, c->self, TEXT_TITLE);
}

static struct jv str_swapcase(struct env *e, struct call *c)
{
	return text_recase(e, c->self, TEXT_SWAP);
}

/* Words between white space, at most `most` cuts; from the left. */
static int split_spaces(struct env *e, struct call *c, struct jv_list *l, int64_t most)
{
	const char *s = c->self.s, *end = s + c->self.n;

	for (;;) {
		const char *word;
		unsigned used;

		s += text_spaces(s, (size_t)(end - s));
		if (s == end)
			return 0;
		if (most-- == 0)
			return jv_push(e, l, piece(c, s, end));
		for (word = s; s < end && !text_is_space(utf8_next(s, (size_t)(end - s), &used)); s += used)
			;
		if (jv_push(e, l, piece(c, word, s)))
			return -1;
	}
}

static int split_at(struct env *e, struct call *c, struct jv sep, struct jv_list *l, int64_t most)
{
	const char *s = c->self.s, *end = s + c->self.n, *hit;

	for (; most && (hit = text_find(s, (size_t)(end - s), sep.s, sep.n)); most--) {
		if (jv_push(e, l, piece(c, s, hit)))
			return -1;
		s = hit + sep.n;
	}
	return jv_push(e, l, piece(c, s, end));
}

/* The last place of `what` in s[n], or NULL. */
static const char *find_last(const char *s, size_t n, const char *what, size_t what_n)
{
	if (what_n > n)
		return NULL;
	for (const char *p = s + (n - what_n);; p--) {
		if (!memcmp(p, what, what_n))
			return p;
		if (p == s)
			return NULL;
	}
}

static void reverse(struct jv_list *l)
{
	for (uint32_t i = 0, j = l->n; i + 1 < j; i++) {
		struct jv t = l->items[i];

		l->items[i] = l->items[--j];
		l->items[j] = t;
	}
}

static int rsplit_at(struct env *e, struct call *c, struct jv sep, struct jv_list *l, int64_t most)
{
	const char *s = c->self.s, *end = s + c->self.n, *hit;

	for (; most && (hit = find_last(s, (size_t)(end - s), sep.s, sep.n)); most--) {
		if (jv_push(e, l, piece(c, hit + sep.n, end)))
			return -1;
		end = hit;
	}
	if (jv_push(e, l, piece(c, s, end)))
		return -1;
	reverse(l);
	return 0;
}

/* From the right: a word ends where the text, trimmed, ends. */
static int rsplit_spaces(struct env *e, struct call *c, struct jv_list *l, int64_t most)
{
	const char *s = c->self.s, *end = s + c->self.n;

	for (;;) {
		const char *word;

		end = s + text_trimmed(s, (size_t)(end - s));
		if (s == end)
			break;
		for (word = end; most && word > s && text_trimmed(s, (size_t)(word - s)) == (size_t)(word - s); word--)
			;
		if (!most--)
			word = s;
		if (jv_push(e, l, piece(c, word, end)))
			return -1;
		end = word;
	}
	reverse(l);
	return 0;
}

static struct jv split(struct env *e, struct call *c, bool from_right)
{
	struct jv sep, list = jv_list(e, JV_LIST, 0);
	int64_t most;
	int failed;

	if (list.kind == JV_ERROR || jinja_arg_str(e, c, 0, jv_none(), &sep) || jinja_arg_int(e, c, 1, -1, &most) || text_find_cost(e, c->self.n, sep.n))
		return jv_error();
	if (sep.kind == JV_STR && !sep.n)
		return jv_fail(e, "empty separator");
	if (sep.kind == JV_STR)
		failed = from_right ? rsplit_at(e, c, sep, list.list, most) : split_at(e, c, sep, list.list, most);
	else
		failed = from_right ? rsplit_spaces(e, c, list.list, most) : split_spaces(e, c, list.list, most);
	return failed ? jv_error() : list;
}

static struct jv str_split(struct env *e, struct call *c)
{
	return split(e, c, false);
}

static struct jv str_rsplit(struct env *e, struct call *c)
{
	return split(e, c, true);
}

static struct jv str_splitlines(struct env *e, struct call *c)
{
	return text_split_lines(e, c->self, jinja_arg_true(c, 0, false));
}

static struct jv partition(struct env *e, struct call *c, bool last)
{
	struct jv sep, t = jv_list(e, JV_TUPLE, 3);
	const char *s = c->self.s, *end = s + c->self.n, *hit;

	if (t.kind == JV_ERROR || jinja_arg_str(e, c, 0, jv_str("", 0), &sep) || text_find_cost(e, c->self.n, sep.n))
		return jv_error();
	if (!sep.n)
		return jv_fail(e, "empty separator");
	hit = last ? find_last(s, c->self.n, sep.s, sep.n) : text_find(s, c->self.n, sep.s, sep.n);
	t.list->n = 3;
	t.list->items[0] = hit ? piece(c, s, hit) : last ? piece(c, s, s) : c->self;
	t.list->items[1] = hit ? piece(c, hit, hit + sep.n) : piece(c, s, s);
	t.list->items[2] = hit ? piece(c, hit + sep.n, end) : last ? c->self : piece(c, s, s);
	return t;
}

static struct jv str_partition(struct env *e, struct call *c)
{
	return partition(e, c, false);
}

static struct jv str_rpartition(struct env *e, struct call *c)
{
	return partition(e, c, true);
}

/* Cuts self to the code points [arg i, arg i+1): the string and, in bytes, where it begins. */
static int window(struct env *e, struct call *c, int i, struct jv *out)
{
	int64_t from, to, n;

	*out = c->self;
	if (c->arg[i].kind == JV_ABSENT && c->arg[i + 1].kind == JV_ABSENT)
		return 0;
	n = jv_length(e, c->self);
	if (n < 0 || jinja_arg_int(e, c, i, 0, &from) || jinja_arg_int(e, c, i + 1, n, &to))
		return -1;
	from = from < 0 ? (from + n < 0 ? 0 : from + n) : from;
	to = to < 0 ? (to + n < 0 ? 0 : to + n) : to > n ? n : to;
	if (from > to) {
		*out = (struct jv){ .kind = JV_ABSENT };
		return 0;
	}
	*out = jv_str(c->self.s + text_offset(c->self.s, c->self.n, from), 0);
	out->n = (uint32_t)(text_offset(c->self.s, c->self.n, to) - (size_t)(out->s - c->self.s));
	return 0;
}

static bool has_end(struct jv s, struct jv end, bool at_start)
{
	return s.n >= end.n && (!end.n || !memcmp(at_start ? s.s : s.s + s.n - end.n, end.s, end.n));
}

static struct jv has_affix(struct env *e, struct call *c, bool at_start)
{
	struct jv s, one[1] = { c->arg[0] };
	struct jv_list single = { .items = one, .n = 1 };
	const struct jv_list *l = c->arg[0].kind == JV_TUPLE ? c->arg[0].list : &single;

	if (window(e, c, 1, &s))
		return jv_error();
	for (uint32_t i = 0; i < l->n; i++) {
		struct jv affix = l->items[i];

		if (affix.kind != JV_STR)
			return jv_fail(e, "%s first arg must be str or a tuple of str, not %s", c->name, jv_type(affix));
		if (jinja_tick(e, affix.n / 64))
			return jv_error();
		if (s.kind == JV_STR && has_end(s, affix, at_start))
			return jv_bool(true);
	}
	return jv_bool(false);
}

static struct jv str_startswith(struct env *e, struct call *c)
{
	return has_affix(e, c, true);
}

static struct jv str_endswith(struct env *e, struct call *c)
{
	return has_affix(e, c, false);
}

static struct jv remove_affix(struct env *e, struct call *c, bool at_start)
{
	struct jv affix, s = c->self;

	if (jinja_arg_str(e, c, 0, jv_str("", 0), &affix))
		return jv_error();
	if (has_end(s, affix, at_start)) {
		s.s += at_start ? affix.n : 0;
		s.n -= affix.n;
	}
	return s;
}

static struct jv str_removeprefix(struct env *e, struct call *c)
{
	return remove_affix(e, c, true);
}

static struct jv str_removesuffix(struct env *e, struct call *c)
{
	return remove_affix(e, c, false);
}

static struct jv find(struct env *e, struct call *c, bool last, bool must)
{
	struct jv s, what;
	const char *hit = NULL;

	if (jinja_arg_str(e, c, 0, jv_str("", 0), &what) || window(e, c, 1, &s) || text_find_cost(e, c->self.n, what.n))
		return jv_error();
	if (s.kind == JV_STR)
		hit = last ? find_last(s.s, s.n, what.s, what.n) : text_find(s.s, s.n, what.s, what.n);
	if (!hit && must)
		return jv_fail(e, "substring not found");
	return jv_int(hit ? (int64_t)text_length(c->self.s, (size_t)(hit - c->self.s)) : -1);
}

static struct jv str_find(struct env *e, struct call *c)
{
	return find(e, c, false, false);
}

static struct jv str_rfind(struct env *e, struct call *c)
{
	return find(e, c, true, false);
}

static struct jv str_index(struct env *e, struct call *c)
{
	return find(e, c, false, true);
}

static struct jv str_rindex(struct env *e, struct call *c)
{
	return find(e, c, true, true);
}

static struct jv str_count(struct env *e, struct call *c)
{
	struct jv s, what;
	const char *at, *end, *hit;
	int64_t n = 0;

	if (jinja_arg_str(e, c, 0, jv_str("", 0), &what) || window(e, c, 1, &s) || text_find_cost(e, c->self.n, what.n))
		return jv_error();
	if (s.kind != JV_STR)
		return jv_int(0);
	if (!what.n)
		return jv_int((int64_t)text_length(s.s, s.n) + 1);
	end = s.s + s.n;
	for (at = s.s; (hit = text_find(at, (size_t)(end - at), what.s, what.n)); at = hit + what.n)
		n++;
	return jv_int(n);
}

static struct jv str_replace(struct env *e, struct call *c)
{
	struct jv old, new;
	int64_t count;

	if (jinja_arg_str(e, c, 0, jv_str("", 0), &old) || jinja_arg_str(e, c, 1, jv_str("", 0), &new) || jinja_arg_int(e, c, 2, -1, &count))
		return jv_error();
	if (c->self.markup)
		new = text_escape(e, new);
	return new.kind == JV_ERROR ? new : text_replace(e, c->self, old, new, count);
}

static struct jv str_join(struct env *e, struct call *c)
{
	struct jv_list *l = jv_walk(e, c->arg[0]);
	struct bytes b = jinja_buffer(e);

	for (uint32_t i = 0; l && i < l->n; i++) {
		struct jv item = l->items[i];

		if (item.kind != JV_STR) {
			jv_fail(e, "sequence item %u: expected str instance, %s found", i, jv_type(item));
			break;
		}
		item = c->self.markup ? text_escape(e, item) : item;
		if (item.kind == JV_ERROR || jinja_tick(e, 1 + item.n / 64))
			break;
		if (i)
			bytes_put(&b, c->self.s, c->self.n);
		bytes_put(&b, item.s, item.n);
	}
	if (e->failed) {
		bytes_free(&b);
		return jv_error();
	}
	return like(c, jv_take(e, &b));
}

static struct jv str_format(struct env *e, struct call *c)
{
	return text_format(e, c->self, c);
}

/* Sets self into `width` code points; before: how much of the rest goes before it, in halves. */
static struct jv justify(struct env *e, struct call *c, char align)
{
	struct bytes b = jinja_buffer(e);
	int64_t width, room, before, n = jv_length(e, c->self);
	struct jv fill;

	if (n < 0 || jinja_arg_int(e, c, 0, 0, &width) || jinja_arg_str(e, c, 1, jv_str(" ", 1), &fill))
		return jv_error();
	if (text_length(fill.s, fill.n) != 1)
		return jv_fail(e, "the fill character must be exactly one character long");
	room = width > n ? width - n : 0;
	before = align == '<' ? 0 : align == '>' ? room : room / 2 + (room & width & 1);
	if (room > (int64_t)e->arena.limit || jinja_tick(e, (uint64_t)room / 3))
		return jv_full(e);
	for (int64_t i = 0; i < room && !b.failed; i++) {
		if (i == before)
			bytes_put(&b, c->self.s, c->self.n);
		bytes_put(&b, fill.s, fill.n);
	}
	if (before == room)
		bytes_put(&b, c->self.s, c->self.n);
	return like(c, jv_take(e, &b));
}

static struct jv str_ljust(struct env *e, struct call *c)
{
	return justify(e, c, '<');
}

static struct jv str_rjust(struct env *e, struct call *c)
{
	return justify(e, c, '>');
}

static struct jv str_center(struct env *e, struct call *c)
{
	return justify(e, c, '^');
}

static struct jv str_zfill(struct env *e, struct call *c)
{
	struct jv whole = c->self, sign = jv_str("", 0);
	struct jv out;

	if (whole.n && (*whole.s == '-' || *whole.s == '+')) {
		sign = jv_str(whole.s, 1);
		c->self = jv_str(whole.s + 1, whole.n - 1);
		if (jv_is_integer(c->arg[0]))
			c->arg[0] = jv_int(jv_integer(c->arg[0]) - 1);
	}
	c->arg[1] = jv_str("0", 1);
	out = justify(e, c, '>');
	out = out.kind == JV_ERROR ? out : jv_concat(e, sign, out);
	out.markup = whole.markup;
	return out;
}

static bool is_digit(int32_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(int32_t c)
{
	return is_digit(c) || text_is_letter(c);
}

static bool is_ascii(int32_t c)
{
	return c >= 0 && c < 0x80;
}

static struct jv all(struct env *e, struct call *c, bool (*is)(int32_t), bool empty)
{
	unsigned used;

	if (jinja_tick(e, c->self.n / 2))
		return jv_error();
	for (uint32_t at = 0; at < c->self.n; at += used)
		if (!is(utf8_next(c->self.s + at, c->self.n - at, &used)))
			return jv_bool(false);
	return jv_bool(c->self.n || empty);
}

static struct jv str_isdigit(struct env *e, struct call *c)
{
	return all(e, c, is_digit, false);
}

static struct jv str_isalpha(struct env *e, struct call *c)
{
	return all(e, c, text_is_letter, false);
}

static struct jv str_isalnum(struct env *e, struct call *c)
{
	return all(e, c, is_alnum, false);
}

static struct jv str_isspace(struct env *e, struct call *c)
{
	return all(e, c, text_is_space, false);
}

static struct jv str_isascii(struct env *e, struct call *c)
{
	return all(e, c, is_ascii, true);
}

/* There is a letter with two cases, and none in the other case. */
static struct jv one_case(struct env *e, struct call *c, int32_t (*to_other)(int32_t), int32_t (*to_own)(int32_t))
{
	bool any = false;
	unsigned used;

	if (jinja_tick(e, c->self.n))
		return jv_error();
	for (uint32_t at = 0; at < c->self.n; at += used) {
		int32_t ch = utf8_next(c->self.s + at, c->self.n - at, &used);

		if (to_own(ch) != ch)
			return jv_bool(false);
		any |= to_other(ch) != ch;
	}
	return jv_bool(any);
}

static struct jv str_isupper(struct env *e, struct call *c)
{
	return one_case(e, c, text_lower, text_upper);
}

static struct jv str_islower(struct env *e, struct call *c)
{
	return one_case(e, c, text_upper, text_lower);
}

const struct builtin jinja_str_methods[] = {
	{ "capitalize", str_capitalize, "" }, { "casefold", str_casefold, "" }, { "center", str_center, "width ?fillchar" },
	{ "count", str_count, "sub ?start end" }, { "endswith", str_endswith, "suffix ?start end" }, { "find", str_find, "sub ?start end" },
	{ "format", str_format, NULL }, { "index", str_index, "sub ?start end" }, { "isalnum", str_isalnum, "" },
	{ "isalpha", str_isalpha, "" }, { "isascii", str_isascii, "" }, { "isdecimal", str_isdigit, "" }, { "isdigit", str_isdigit, "" },
	{ "islower", str_islower, "" }, { "isnumeric", str_isdigit, "" }, { "isspace", str_isspace, "" }, { "isupper", str_isupper, "" },
	{ "join", str_join, "iterable" }, { "ljust", str_ljust, "width ?fillchar" }, { "lower", str_lower, "" },
	{ "lstrip", str_lstrip, "?chars" }, { "partition", str_partition, "sep" }, { "removeprefix", str_removeprefix, "prefix" },
	{ "removesuffix", str_removesuffix, "suffix" }, { "replace", str_replace, "old new ?count" }, { "rfind", str_rfind, "sub ?start end" },
	{ "rindex", str_rindex, "sub ?start end" }, { "rjust", str_rjust, "width ?fillchar" }, { "rpartition", str_rpartition, "sep" },
	{ "rsplit", str_rsplit, "?sep maxsplit" }, { "rstrip", str_rstrip, "?chars" }, { "split", str_split, "?sep maxsplit" },
	{ "splitlines", str_splitlines, "?keepends" }, { "startswith", str_startswith, "prefix ?start end" }, { "strip", str_strip, "?chars" },
	{ "swapcase", str_swapcase, "" }, { "title", str_title, "" }, { "upper", str_upper, "" }, { "zfill", str_zfill, "width" },
	{ 0 },
};
