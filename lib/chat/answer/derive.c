/* What a template shows of an answer becomes the table: the text between marked words, divided at tokens. */
#include "format.h"

#include <string.h>

#include "samples.h"

struct derivation {
	struct format *f;
	struct arena *arena;
	struct span text[SAMPLES];
	size_t header;          /* bytes before the answer, in all samples */
	int failed;             /* memory is short */
};

/* Where the parts of a call are in a sample. */
struct place {
	const char *name;       /* NULL: not shown */
	const char *key, *value;
	const char *arguments;  /* where the arguments begin; CALL_MEMBERS: the object */
	const char *end;
};

/* ---- text ---- */

static struct span from_to(const char *from, const char *to)
{
	return from && to && from < to ? (struct span){ from, (size_t)(to - from) } : (struct span){ from, 0 };
}

static struct span after(struct span text, const char *at)
{
	return from_to(at, text.s + text.n);
}

static struct span without_start(struct span s, size_t n)
{
	return (struct span){ s.s + n, s.n - n };
}

static struct span without_end(struct span s, size_t n)
{
	return (struct span){ s.s, s.n - n };
}

static size_t blank(struct span s)
{
	size_t n = 0;

	while (n < s.n && pattern_is_space(s.s[n]))
		n++;
	return n;
}

static struct span without_trail(struct span s)
{
	while (s.n && pattern_is_space(s.s[s.n - 1]))
		s.n--;
	return s;
}

static int begins(struct span s, struct span with)
{
	return s.n >= with.n && !memcmp(s.s, with.s, with.n);
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The placeholder that the sample's word at s[n] becomes, and how long it is; 0: none. */
static int word_at(const char *s, size_t n, size_t *used)
{
	static const struct {
		const char *word;
		int place;
	} words[] = { { SAMPLE_NAME, PATTERN_NAME }, { SAMPLE_ID, PATTERN_ID }, { SAMPLE_KEY, PATTERN_KEY } };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		*used = strlen(words[i].word) + 1;
		if (n >= *used && !memcmp(s, words[i].word, *used - 1) && is_digit(s[*used - 1]))
			return words[i].place;
	}
	for (*used = 0; *used < n && is_digit(s[*used]);)
		++*used;
	return *used ? PATTERN_NUMBER : 0;
}

/* The text as a pattern. Of several names the last one is the name. "" if memory is short. */
static const char *to_pattern(struct derivation *d, struct span text)
{
	char *pattern = arena_text(d->arena, text.n + 1), *to = pattern, *name = NULL;
	size_t used;
	int place;

	if (!pattern) {
		d->failed = 1;
		return "";
	}
	for (size_t i = 0; i < text.n; i += used) {
		place = word_at(text.s + i, text.n - i, &used);
		if (!place) {
			used = 1;
			if (text.s[i] < 0 || text.s[i] >= PATTERN_PLACES)
				*to++ = text.s[i];
			continue;
		}
		if (place == PATTERN_NAME && name)
			*name = PATTERN_WORD;
		if (place == PATTERN_NAME)
			name = to;
		*to++ = (char)place;
	}
	*to = '\0';
	return pattern;
}

static struct span to_span(const char *pattern)
{
	return (struct span){ pattern, strlen(pattern) };
}

/* A pattern of part of another one. */
static const char *cut(struct derivation *d, struct span s)
{
	char *copy = arena_text(d->arena, s.n + 1);

	if (!copy) {
		d->failed = 1;
		return "";
	}
	if (s.n)
		memcpy(copy, s.s, s.n);
	copy[s.n] = '\0';
	return copy;
}

/* ---- reasoning and content ---- */

/* How much of the text is an empty start of an answer: reasoning and content with nothing in them. */
static size_t empty_start(const struct derivation *d, struct span text)
{
	size_t at = blank(text), before;
	struct found found;

	do {
		before = at;
		for (size_t i = 0; i < d->f->n_markers; i++) {
			const char *core = pattern_core(d->f->marker[i].pattern);

			if (pattern_match(core, text.s + at, text.n - at, 1, (struct span){ 0 }, &found) == MATCH_YES)
				at += found.n;
			at += blank(without_start(text, at));
		}
	} while (at > before);
	return at;
}

/* The text up to the end of its first tag, and the white space after it; all of it if there is no tag. */
static struct span first_tag(struct span text)
{
	size_t token;

	for (size_t i = 0; i < text.n; i += token) {
		token = pattern_token(text.s + i, text.n - i);
		if (pattern_is_tag(text.s + i, token))
			return (struct span){ text.s, i + token + blank(without_start(text, i + token)) };
	}
	return text;
}

/* The last tag before `to` and what follows it. */
static struct span last_tag(struct span text, const char *to)
{
	struct span found = from_to(to, to), before = from_to(text.s, to);
	size_t token;

	for (size_t i = before.n > 4 * PATTERN_MOST ? before.n - 4 * PATTERN_MOST : 0; i < before.n; i += token) {
		token = pattern_token(before.s + i, before.n - i);
		if (pattern_is_tag(before.s + i, token))
			found = without_start(before, i);
	}
	return found;
}

/* All samples begin with the conversation and the header of the answer. */
static size_t header_of(const struct derivation *d)
{
	static const enum sample compared[] = { SAMPLE_TEXT, SAMPLE_THOUGHT, SAMPLE_THOUGHT_CALL, SAMPLE_CALL };
	struct span text = d->text[SAMPLE_PROMPT], other;
	size_t n, token, signs = 0;
	const char *s;

	for (size_t i = 0; i < sizeof compared / sizeof *compared; i++)
		if ((other = d->text[compared[i]]).s)
			text = (struct span){ other.s, text.s ? pattern_common_start(text, other) : other.n };
	s = text.s;
	n = text.n;
	/* several of the same sign, outside of a tag, belong to what follows: >>>NAME */
	for (size_t i = 0; i < n; i += token) {
		token = pattern_token(s + i, n - i);
		if (token > 1 || !strchr(">#*=", s[i]))
			signs = 0;
		else
			signs = signs && s[i] == s[i - 1] ? signs + 1 : 1;
	}
	return signs > 1 ? n - signs : n;
}

/* Sets *rest to what comes between the end of reasoning and the content. */
static void derive_reasoning(struct derivation *d, struct span *rest)
{
	struct span text = d->text[d->text[SAMPLE_THOUGHT].s ? SAMPLE_THOUGHT : SAMPLE_THOUGHT_CALL], open, close;
	const char *reason = samples_find(text, SAMPLE_REASON), *to, *reason_end;

	*rest = (struct span){ 0 };
	if (!reason)
		return;
	reason_end = reason + strlen(SAMPLE_REASON);
	to = samples_find(after(text, reason_end), SAMPLE_CONTENT);
	if (!to)
		to = text.s + text.n;
	else
		*rest = from_to(reason_end, to);
	open = from_to(text.s + d->header, reason);
	if (blank(open) == open.n)
		open = last_tag(text, reason);
	close = first_tag(from_to(reason_end, to));
	*rest = rest->n ? without_start(*rest, close.n) : *rest;
	format_add_marker(d->f, MARKER_THINK, pattern_core(to_pattern(d, open)));
	format_add_marker(d->f, MARKER_THINK_END, to_pattern(d, close));
}

/* What wraps content, and what comes between two messages of a turn: `rest` without the wrap. */
static void derive_content(struct derivation *d, struct span rest)
{
	struct span text = d->text[SAMPLE_TEXT], open, close;
	const char *content = samples_find_last(text, SAMPLE_CONTENT);

	if (!content)
		return;
	open = from_to(text.s + d->header, content);
	open = without_start(open, empty_start(d, open));
	if (!open.n)
		return;
	close = first_tag(after(text, content + strlen(SAMPLE_CONTENT)));
	format_add_marker(d->f, MARKER_CONTENT, to_pattern(d, open));
	format_add_marker(d->f, MARKER_SKIP, to_pattern(d, close));
	if (rest.n > open.n && begins(without_start(rest, rest.n - open.n), open))
		format_add_marker(d->f, MARKER_SKIP, to_pattern(d, without_end(rest, open.n)));
}

/* The control tokens that end a turn. They are not part of an answer, but may be there. */
static void derive_turn_end(struct derivation *d)
{
	struct span text = d->text[SAMPLE_TEXT], end;
	const char *content = samples_find_last(text, SAMPLE_CONTENT);
	size_t token;

	if (!content)
		return;
	end = after(text, content + strlen(SAMPLE_CONTENT));
	for (size_t i = 0; i < end.n; i += token) {
		token = pattern_token(end.s + i, end.n - i);
		if (token > 2 && end.s[i] == '<' && (end.s[i + 1] == '|' || (unsigned char)end.s[i + 1] >= 0x80))
			format_add_marker(d->f, MARKER_SKIP, to_pattern(d, (struct span){ end.s + i, token }));
		else if (!pattern_is_space(end.s[i]))
			return;
	}
}

/* ---- calls ---- */

/* The key of the member that ends before `to`: "KEY": */
static struct span key_before(const char *from, const char *to)
{
	const char *end;

	while (to > from && (pattern_is_space(to[-1]) || to[-1] == ':'))
		to--;
	if (to == from || to[-1] != '"')
		return (struct span){ 0 };
	end = --to;
	while (to > from && to[-1] != '"')
		to--;
	return from_to(to, end);
}

/* The key of an id in the object: "id", or one that ends with it. */
static const char *id_key(struct derivation *d, struct span object)
{
	for (size_t i = 2; i + 2 < object.n; i++)
		if (!memcmp(object.s + i, "id\"", 3)) {
			const char *colon = object.s + i + 3;

			while (colon < object.s + object.n && pattern_is_space(*colon))
				colon++;
			if (colon < object.s + object.n && *colon == ':')
				return cut(d, key_before(object.s, colon + 1));
		}
	return "";
}

/* Whether the arguments, {"KEY": "VALUE"}, are JSON. */
static int is_json(struct span text, const struct place *p)
{
	const char *s = p->key + strlen(SAMPLE_KEY) + 1;

	if (p->key == text.s || p->key[-1] != '"' || *s++ != '"')
		return 0;
	while (pattern_is_space(*s) || *s == ':')
		s++;
	return s + 1 == p->value && *s == '"';
}

static const char *find_back(struct span text, const char *from, char c)
{
	while (from > text.s && from[-1] != c)
		from--;
	return from > text.s ? from - 1 : NULL;
}

static const char *find_on(struct span text, const char *from, char c)
{
	return memchr(from, c, (size_t)(text.s + text.n - from));
}

/* Finds call i of the sample; its argument is number i. 0: not there. */
static int find_call(struct span text, int i, struct place *p)
{
	char name[] = SAMPLE_NAME "1", key[] = SAMPLE_KEY "1", value[] = SAMPLE_VALUE "1";

	name[strlen(SAMPLE_NAME)] = key[strlen(SAMPLE_KEY)] = value[strlen(SAMPLE_VALUE)] = (char)('0' + i);
	p->key = samples_find(text, key);
	p->value = p->key ? samples_find(after(text, p->key), value) : NULL;
	if (!p->value)
		return 0;
	p->name = samples_find_last(from_to(text.s, p->key), name);
	if (!p->name)
		p->name = samples_find(after(text, p->value), name);
	p->arguments = p->key;
	p->end = p->value + strlen(value);
	return 1;
}

/* Whether the call is an object that has name and arguments, found before; sets its ends. */
static int find_object(struct span text, struct place *p)
{
	const char *first = p->name && p->name < p->arguments ? p->name : p->arguments - 1;
	const char *open = find_back(text, first, '{'), *close = find_on(text, p->end, '}');

	if (!p->name || p->name[-1] != '"' || !open || !close || memchr(open, '>', (size_t)(first - open)))
		return 0;
	p->arguments = open;
	p->end = close + 1;
	return 1;
}

/* The parts of the call where its arguments are known to be of that kind. */
static int measure(const struct call_format *call, struct span text, int i, struct place *p)
{
	const char *close;

	if (!find_call(text, i, p))
		return 0;
	if (call->kind == CALL_TAGS) {
		p->arguments -= strlen(call->key);
		p->end += strlen(call->value_end);
		return p->arguments > text.s && p->end <= text.s + text.n;
	}
	if (call->kind == CALL_LITERALS) {
		close = p->end;
		while (close < text.s + text.n && !strchr(")}]", *close))
			close++;
		p->end = close + 1;
		return close < text.s + text.n;
	}
	p->arguments = find_back(text, p->key, '{');
	close = find_on(text, p->end, '}');
	if (!p->arguments || !close)
		return 0;
	p->end = close + 1;
	return call->kind != CALL_MEMBERS || find_object(text, p);
}

/* What is around values, for CALL_TAGS. key and value_end are left as text of the sample, to be measured by; 0: it is
 * something else. */
static int derive_tags(struct derivation *d, struct call_format *call, struct span *open)
{
	struct span text = d->text[SAMPLE_ARGUMENTS], between, before;
	struct place p;
	const char *key2;

	if (!text.s || !find_call(text, 1, &p) || !p.name || p.name > p.key)
		return 0;
	if (!(key2 = samples_find(text, SAMPLE_KEY "2")))
		return 0;
	before = from_to(p.name + strlen(SAMPLE_NAME) + 1, p.key);
	between = from_to(p.end, key2);
	*open = (struct span){ between.s + between.n, pattern_common_end(before, between) };
	open->s -= open->n;
	between = without_trail(without_end(between, open->n));
	call->key = cut(d, *open);
	call->value_end = cut(d, between);
	return open->n > 0 && between.n > 0;
}

/* A pattern with the place of a type between two texts. */
static const char *with_type(struct derivation *d, struct span before, struct span after_it)
{
	struct span head = to_span(to_pattern(d, before)), tail = to_span(to_pattern(d, after_it));
	char *pattern = arena_text(d->arena, head.n + tail.n + 2);

	if (!pattern) {
		d->failed = 1;
		return "";
	}
	memcpy(pattern, head.s, head.n);
	pattern[head.n] = PATTERN_TYPE;
	memcpy(pattern + head.n + 1, tail.s, tail.n + 1);
	return pattern;
}

/* The pattern of a key: what comes before it and after, with the place of a type where strings and numbers differ. */
static void derive_key(struct derivation *d, struct call_format *call, struct span open, const struct place *p)
{
	const char *key_end = p->key + strlen(SAMPLE_KEY) + 1, *number, *other;
	struct span string = from_to(key_end, p->value), numeric = { 0 }, whole = from_to(p->key - open.n, p->value);
	size_t start = 0, end = 0;
	struct span n = d->text[SAMPLE_NUMBER_CALL];

	number = samples_find(n, SAMPLE_INT);
	other = number ? samples_find_last(from_to(n.s, number), SAMPLE_KEY "1") : NULL;
	if (other)
		numeric = from_to(other + strlen(SAMPLE_KEY) + 1, number);
	while (start < string.n && start < numeric.n && string.s[start] == numeric.s[start])
		start++;
	call->key = to_pattern(d, whole);
	if (!numeric.n || (start == string.n && start == numeric.n))
		return;
	while (end < string.n - start && end < numeric.n - start
	       && string.s[string.n - 1 - end] == numeric.s[numeric.n - 1 - end])
		end++;
	while (start && string.s[start - 1] >= 'a' && string.s[start - 1] <= 'z')
		start--;
	while (end && string.s[string.n - end] >= 'a' && string.s[string.n - end] <= 'z')
		end--;
	call->string = cut(d, (struct span){ string.s + start, string.n - start - end });
	whole.n -= string.n - start;
	call->key = with_type(d, whole, without_start(string, string.n - end));
}

/* What is around a word in another sample inside of what is around the value: start in *open, end in *close. */
static void derive_inner(struct derivation *d, enum sample sample, const struct place *p, struct span value_end,
	struct span *open, struct span *close)
{
	struct span text = d->text[sample];
	const char *value = samples_find(text, SAMPLE_VALUE), *key, *end;
	size_t outer = (size_t)(p->value - p->key);

	*open = *close = (struct span){ 0 };
	key = value ? samples_find_last(from_to(text.s, value), SAMPLE_KEY "1") : NULL;
	if (!key || (size_t)(value - key) <= outer || memcmp(key, p->key, outer))
		return;
	*open = from_to(key + outer, value);
	end = value + strlen(SAMPLE_VALUE) + 1;
	for (const char *s = end; s + value_end.n <= text.s + text.n; s++)
		if (!memcmp(s, value_end.s, value_end.n)) {
			*close = from_to(end, s);
			return;
		}
}

/* Values that are written otherwise than strings: lists as tags, and strings with markup. */
static void derive_values(struct derivation *d, struct call_format *call, const struct place *p)
{
	struct span value_end = to_span(call->value_end), open, close;

	derive_inner(d, SAMPLE_LIST_CALL, p, value_end, &open, &close);
	if (open.n && close.n && *open.s != '[') {
		call->item = to_pattern(d, open);
		call->item_end = to_pattern(d, close);
	}
	derive_inner(d, SAMPLE_RAW_CALL, p, value_end, &open, &close);
	if (open.n > 1 && close.n) {
		call->raw = to_pattern(d, without_end(open, 1));
		call->raw_end = to_pattern(d, close);
	}
}

/* Whether strings have quotes that numbers have not, after one and the same sign: CALL_LITERALS. */
static int derive_literals(struct derivation *d, struct call_format *call, const struct place *p)
{
	struct span string = from_to(p->key + strlen(SAMPLE_KEY) + 1, p->value), n = d->text[SAMPLE_NUMBER_CALL];
	const char *number = samples_find(n, SAMPLE_INT), *key = NULL;
	size_t sign;

	if (number)
		key = samples_find_last(from_to(n.s, number), SAMPLE_KEY "1");
	if (!key)
		return 0;
	sign = (size_t)(number - key) - strlen(SAMPLE_KEY) - 1;
	if (sign >= string.n || sign > 2 || memcmp(string.s, number - sign, sign))
		return 0;
	if (string.n - sign > 1)
		call->quote = cut(d, without_start(string, sign));
	return 1;
}

/* Divides what comes before the first call, between two and after the last. */
static void divide(struct derivation *d, struct call_format *call, const char *first, const char *middle,
	const char *last)
{
	struct span begin = to_span(first), between = to_span(middle), end = to_span(last);
	size_t common_end = pattern_common_start(between, end);
	size_t common_begin = pattern_common_end(begin, without_start(between, common_end));

	call->section = call->section_end = call->between = "";
	call->begin = first;
	call->end = last;
	if (!between.n)
		return;
	call->section = cut(d, without_end(begin, common_begin));
	call->begin = cut(d, without_start(begin, begin.n - common_begin));
	call->end = cut(d, without_end(end, end.n - common_end));
	call->section_end = cut(d, without_start(end, common_end));
	call->between = cut(d, without_end(without_start(between, common_end), common_begin));
}

/* Whether a call has nothing before it by which it can be told from text. */
static int is_bare(const struct call_format *call)
{
	size_t letters = 0;

	for (int i = 0; i < 2; i++) {
		const char *s = i ? call->begin : call->section;

		if (pattern_next_tag(s, 0) >= 0)
			return 0;
		for (; *s; s++)
			letters += (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == '>';
	}
	return letters < 3;
}

/* What comes before the call's arguments in a sample with content before it, or else without. */
static const char *derive_begin(struct derivation *d, const struct call_format *call, const struct place *p)
{
	struct span text = d->text[SAMPLE_TEXT_CALL], alone = from_to(d->text[SAMPLE_CALL].s + d->header, p->arguments);
	struct span begin = without_start(alone, empty_start(d, alone)), with;
	const char *content = samples_find_last(text, SAMPLE_CONTENT);
	size_t lead = blank(alone);
	struct place other;

	if (content && measure(call, text, 1, &other) && other.arguments > content) {
		with = from_to(content + strlen(SAMPLE_CONTENT), other.arguments);
		if (with.n >= begin.n && !memcmp(with.s + with.n - begin.n, begin.s, begin.n)) {
			lead = 0;
			while (lead < with.n - begin.n && pattern_is_space(with.s[with.n - begin.n - 1 - lead]))
				lead++;
			begin = without_start(with, with.n - begin.n - lead);
			return to_pattern(d, begin);
		}
	}
	if (lead && alone.s + lead == begin.s)
		begin = alone;
	return to_pattern(d, begin);
}

/* Whether the call shows no name but an id, which has it; or a name as functions.NAME:NUMBER, which is the id. */
static int has_name_in_id(const struct call_format *call)
{
	const char *name = strchr(call->begin, PATTERN_NAME);

	if (!name)
		return strchr(call->begin, PATTERN_ID) != NULL;
	return name > call->begin && name[-1] == '.' && name[1] == ':' && name[2] == PATTERN_NUMBER;
}

/* The keys of a call that is an object. */
static void derive_members(struct derivation *d, struct call_format *call, struct span text, const struct place *p)
{
	struct span object = from_to(p->arguments, p->end), name = key_before(object.s, p->name - 1);

	call->arguments = cut(d, key_before(object.s, find_back(text, p->key, '{')));
	call->name = cut(d, name);
	call->id = id_key(d, object);
}

/* What kind of call the sample has, and what is around its values; 0: none that is known. */
static int derive_kind(struct derivation *d, struct call_format *call, struct span *open)
{
	struct span text = d->text[SAMPLE_CALL];
	struct place p;

	if (!text.s || !find_call(text, 1, &p))
		return 0;
	if (is_json(text, &p)) {
		call->kind = CALL_MEMBERS;
		if (!measure(call, text, 1, &p))
			call->kind = CALL_JSON;
		return 1;
	}
	call->kind = derive_literals(d, call, &p) ? CALL_LITERALS : CALL_TAGS;
	return call->kind == CALL_LITERALS || derive_tags(d, call, open);
}

static void derive_call(struct derivation *d)
{
	struct span text = d->text[SAMPLE_CALL], two = d->text[SAMPLE_CALLS], turn_end = { 0 }, end, open = { 0 };
	struct call_format call = { 0 };
	struct place p, first, second;
	const char *content = samples_find_last(d->text[SAMPLE_TEXT], SAMPLE_CONTENT), *between = "";

	if (!derive_kind(d, &call, &open) || !measure(&call, text, 1, &p) || p.arguments < text.s + d->header)
		return;
	if (content)
		turn_end = after(d->text[SAMPLE_TEXT], content + strlen(SAMPLE_CONTENT));
	end = after(text, p.end);
	if (two.s && measure(&call, two, 1, &first) && measure(&call, two, 2, &second)
	    && first.end <= second.arguments) {
		between = to_pattern(d, from_to(first.end, second.arguments));
		end = after(two, second.end);
	}
	end = without_end(end, pattern_common_end(end, turn_end));
	divide(d, &call, derive_begin(d, &call, &p), between, to_pattern(d, end));
	if (call.kind == CALL_MEMBERS)
		derive_members(d, &call, text, &p);
	if (call.kind == CALL_TAGS) {
		derive_values(d, &call, &p);
		derive_key(d, &call, open, &p);
		call.value_end = to_pattern(d, to_span(call.value_end));
	}
	call.bare = is_bare(&call);
	call.id_has_name = call.kind == CALL_JSON && has_name_in_id(&call);
	format_add_call(d->f, &call);
}

int format_derive(struct format *f, const struct chat *c, const char *text, size_t n, const struct jinja_options *o,
	struct arena *a, struct why *w)
{
	struct derivation d = { .f = f, .arena = a };
	struct span rest;

	*f = (struct format){ .n_markers = 0 };
	if (samples_render(c, text, n, o, a, d.text, w))
		return -1;
	d.header = header_of(&d);
	derive_reasoning(&d, &rest);
	derive_content(&d, rest);
	derive_call(&d);
	derive_turn_end(&d);
	format_add_known(f, text, n);
	return d.failed ? why(w, "out of memory") : 0;
}
