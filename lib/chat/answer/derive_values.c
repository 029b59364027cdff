/* What is around keys and values, where the arguments of a call are not JSON. */
#include "derive.h"

#include <string.h>

/* What is around values, for CALL_TAGS. key and value_end are left as text of the sample, to be measured by; 0: it is
 * something else. */
int derive_tags(struct derivation *d, struct call_format *call, struct span *open)
{
	struct span text = d->text[SAMPLE_ARGUMENTS], between, before;
	struct place p;
	const char *key2;

	if (!text.s || !place_call(text, 1, &p) || !p.name || p.name > p.key)
		return 0;
	if (!(key2 = samples_find(text, SAMPLE_KEY "2")))
		return 0;
	before = span_between(p.name + strlen(SAMPLE_NAME) + 1, p.key);
	between = span_between(p.end, key2);
	*open = (struct span){ between.s + between.n, pattern_common_end(before, between) };
	open->s -= open->n;
	between = span_trim_end(span_drop_end(between, open->n));
	call->key = derive_text(d, *open);
	call->value_end = derive_text(d, between);
	return open->n > 0 && between.n > 0;
}

/* A pattern with the place of a type between two texts. */
static const char *with_type(struct derivation *d, struct span before, struct span after_it)
{
	struct span head = span_of(derive_pattern(d, before)), tail = span_of(derive_pattern(d, after_it));
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
void derive_key(struct derivation *d, struct call_format *call, struct span open, const struct place *p)
{
	const char *key_end = p->key + strlen(SAMPLE_KEY) + 1, *number, *other;
	struct span string = span_between(key_end, p->value), numeric = { 0 };
	struct span whole = span_between(p->key - open.n, p->value);
	size_t start = 0, end = 0;
	struct span n = d->text[SAMPLE_NUMBER_CALL];

	number = samples_find(n, SAMPLE_INT);
	other = number ? samples_find_last(span_between(n.s, number), SAMPLE_KEY "1") : NULL;
	if (other)
		numeric = span_between(other + strlen(SAMPLE_KEY) + 1, number);
	while (start < string.n && start < numeric.n && string.s[start] == numeric.s[start])
		start++;
	call->key = derive_pattern(d, whole);
	if (!numeric.n || (start == string.n && start == numeric.n))
		return;
	while (end < string.n - start && end < numeric.n - start
	       && string.s[string.n - 1 - end] == numeric.s[numeric.n - 1 - end])
		end++;
	while (start && string.s[start - 1] >= 'a' && string.s[start - 1] <= 'z')
		start--;
	while (end && string.s[string.n - end] >= 'a' && string.s[string.n - end] <= 'z')
		end--;
	call->string = derive_text(d, (struct span){ string.s + start, string.n - start - end });
	whole.n -= string.n - start;
	call->key = with_type(d, whole, span_drop(string, string.n - end));
}

/* What is around a word in another sample inside of what is around the value: start in *open, end in *close. */
static void derive_inner(struct derivation *d, enum sample sample, const struct place *p, struct span value_end,
	struct span *open, struct span *close)
{
	struct span text = d->text[sample];
	const char *value = samples_find(text, SAMPLE_VALUE), *key, *end;
	size_t outer = (size_t)(p->value - p->key);

	*open = *close = (struct span){ 0 };
	key = value ? samples_find_last(span_between(text.s, value), SAMPLE_KEY "1") : NULL;
	if (!key || (size_t)(value - key) <= outer || memcmp(key, p->key, outer))
		return;
	*open = span_between(key + outer, value);
	end = value + strlen(SAMPLE_VALUE) + 1;
	for (const char *s = end; s + value_end.n <= text.s + text.n; s++)
		if (!memcmp(s, value_end.s, value_end.n)) {
			*close = span_between(end, s);
			return;
		}
}

/* Values that are written otherwise than strings: lists as tags, and strings with markup. */
void derive_values(struct derivation *d, struct call_format *call, const struct place *p)
{
	struct span value_end = span_of(call->value_end), open, close;

	derive_inner(d, SAMPLE_LIST_CALL, p, value_end, &open, &close);
	if (open.n && close.n && *open.s != '[') {
		call->item = derive_pattern(d, open);
		call->item_end = derive_pattern(d, close);
	}
	derive_inner(d, SAMPLE_RAW_CALL, p, value_end, &open, &close);
	if (open.n > 1 && close.n) {
		call->raw = derive_pattern(d, span_drop_end(open, 1));
		call->raw_end = derive_pattern(d, close);
	}
}

/* Whether strings have quotes that numbers have not, after one and the same sign: CALL_LITERALS. */
int derive_literals(struct derivation *d, struct call_format *call, const struct place *p)
{
	struct span string = span_between(p->key + strlen(SAMPLE_KEY) + 1, p->value), n = d->text[SAMPLE_NUMBER_CALL];
	const char *number = samples_find(n, SAMPLE_INT), *key = NULL;
	size_t sign;

	if (number)
		key = samples_find_last(span_between(n.s, number), SAMPLE_KEY "1");
	if (!key)
		return 0;
	sign = (size_t)(number - key) - strlen(SAMPLE_KEY) - 1;
	if (sign >= string.n || sign > 2 || memcmp(string.s, number - sign, sign))
		return 0;
	if (string.n - sign > 1)
		call->quote = derive_text(d, span_drop(string, sign));
	return 1;
}
