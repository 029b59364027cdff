/* Calls in samples are found by their words. */
#include "place.h"

#include <string.h>

#include "samples.h"

/* The key of the member that ends before `to`: "KEY": */
struct span place_key(const char *from, const char *to)
{
	const char *end;

	while (to > from && (span_is_space(to[-1]) || to[-1] == ':'))
		to--;
	if (to == from || to[-1] != '"')
		return (struct span){ 0 };
	end = --to;
	while (to > from && to[-1] != '"')
		to--;
	return span_between(to, end);
}

/* Whether the arguments, {"KEY": "VALUE"}, are JSON. */
int place_is_json(struct span text, const struct place *p)
{
	const char *s = p->key + strlen(SAMPLE_KEY) + 1;

	if (p->key == text.s || p->key[-1] != '"' || *s++ != '"')
		return 0;
	while (span_is_space(*s) || *s == ':')
		s++;
	return s + 1 == p->value && *s == '"';
}

const char *place_before(struct span text, const char *from, char c)
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
int place_call(struct span text, int i, struct place *p)
{
	char name[] = SAMPLE_NAME "1", key[] = SAMPLE_KEY "1", value[] = SAMPLE_VALUE "1";

	name[strlen(SAMPLE_NAME)] = key[strlen(SAMPLE_KEY)] = value[strlen(SAMPLE_VALUE)] = (char)('0' + i);
	p->key = samples_find(text, key);
	p->value = p->key ? samples_find(span_after(text, p->key), value) : NULL;
	if (!p->value)
		return 0;
	p->name = samples_find_last(span_between(text.s, p->key), name);
	if (!p->name)
		p->name = samples_find(span_after(text, p->value), name);
	p->arguments = p->key;
	p->end = p->value + strlen(value);
	return 1;
}

/* Whether the call is an object that has name and arguments, found before; sets its ends. */
static int find_object(struct span text, struct place *p)
{
	const char *first = p->name && p->name < p->arguments ? p->name : p->arguments - 1;
	const char *open = place_before(text, first, '{'), *close = find_on(text, p->end, '}');

	if (!p->name || p->name[-1] != '"' || !open || !close || memchr(open, '>', (size_t)(first - open)))
		return 0;
	p->arguments = open;
	p->end = close + 1;
	return 1;
}

/* The parts of the call where its arguments are known to be of that kind. */
int place_arguments(const struct call_format *call, struct span text, int i, struct place *p)
{
	const char *close;

	if (!place_call(text, i, p))
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
	p->arguments = place_before(text, p->key, '{');
	close = find_on(text, p->end, '}');
	if (!p->arguments || !close)
		return 0;
	p->end = close + 1;
	return call->kind != CALL_MEMBERS || find_object(text, p);
}
