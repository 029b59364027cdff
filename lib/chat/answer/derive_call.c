/* Calls: their kind, and what comes before the first, between two and after the last. */
#include "derive.h"

#include <string.h>

/* Divides what comes before the first call, between two and after the last. */
static void divide(struct derivation *d, struct call_format *call, const char *first, const char *middle,
	const char *last)
{
	struct span begin = span_of(first), between = span_of(middle), end = span_of(last);
	size_t common_end = pattern_common_start(between, end);
	size_t common_begin = pattern_common_end(begin, span_drop(between, common_end));

	call->section = call->section_end = call->between = "";
	call->begin = first;
	call->end = last;
	if (!between.n)
		return;
	call->section = derive_text(d, span_drop_end(begin, common_begin));
	call->begin = derive_text(d, span_drop(begin, begin.n - common_begin));
	call->end = derive_text(d, span_drop_end(end, end.n - common_end));
	call->section_end = derive_text(d, span_drop(end, common_end));
	call->between = derive_text(d, span_drop_end(span_drop(between, common_end), common_begin));
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
	struct span text = d->text[SAMPLE_TEXT_CALL], with = { 0 };
	struct span alone = span_between(d->text[SAMPLE_CALL].s + d->header, p->arguments);
	struct span begin = span_drop(alone, derive_empty_start(d, alone));
	const char *content = samples_find_last(text, SAMPLE_CONTENT);
	struct place other;

	if (content && place_arguments(call, text, 1, &other) && other.arguments > content)
		with = span_between(content + strlen(SAMPLE_CONTENT), other.arguments);
	if (with.s && with.n >= begin.n && span_begins(span_drop(with, with.n - begin.n), begin)) {
		with = span_trim_end(span_drop_end(with, begin.n));
		return derive_pattern(d, span_between(with.s + with.n, other.arguments));
	}
	/* white space alone is no empty start */
	return derive_pattern(d, begin.s == alone.s + span_space(alone) ? alone : begin);
}

/* Whether the call shows no name but an id, which has it; or a name as functions.NAME:NUMBER, which is the id. */
static int has_name_in_id(const struct call_format *call)
{
	const char *name = strchr(call->begin, PATTERN_NAME);

	if (!name)
		return strchr(call->begin, PATTERN_ID) != NULL;
	return name > call->begin && name[-1] == '.' && name[1] == ':' && name[2] == PATTERN_NUMBER;
}

/* The key of an id in the object: "id", or one that ends with it. */
static const char *id_key(struct derivation *d, struct span object)
{
	for (size_t i = 2; i + 2 < object.n; i++)
		if (!memcmp(object.s + i, "id\"", 3)) {
			const char *colon = object.s + i + 3;

			while (colon < object.s + object.n && span_is_space(*colon))
				colon++;
			if (colon < object.s + object.n && *colon == ':')
				return derive_text(d, place_key(object.s, colon + 1));
		}
	return "";
}

/* The keys of a call that is an object. */
static void derive_members(struct derivation *d, struct call_format *call, struct span text, const struct place *p)
{
	struct span object = span_between(p->arguments, p->end), name = place_key(object.s, p->name - 1);

	call->name = derive_text(d, name);
	if (name.n)
		call->arguments = derive_text(d, place_key(object.s, place_before(text, p->key, '{')));
	call->id = id_key(d, object);
	call->id_first = *call->id && samples_find(span_between(object.s, p->name), call->id);
}

/* What kind of call the sample has, and what is around its values; 0: none that is known. */
static int derive_kind(struct derivation *d, struct call_format *call, struct span *open)
{
	struct span text = d->text[SAMPLE_CALL];
	struct place p;

	if (!text.s || !place_call(text, 1, &p))
		return 0;
	if (place_is_json(text, &p)) {
		call->kind = CALL_MEMBERS;
		if (!place_arguments(call, text, 1, &p))
			call->kind = CALL_JSON;
		return 1;
	}
	call->kind = derive_literals(d, call, &p) ? CALL_LITERALS : CALL_TAGS;
	return call->kind == CALL_LITERALS || derive_tags(d, call, open);
}

void derive_calls(struct derivation *d)
{
	struct span text = d->text[SAMPLE_CALL], two = d->text[SAMPLE_CALLS], turn_end = { 0 }, end, open = { 0 };
	struct call_format call = { 0 };
	struct place p, first, second;
	const char *content = samples_find_last(d->text[SAMPLE_TEXT], SAMPLE_CONTENT), *between = "";

	if (!derive_kind(d, &call, &open) || !place_arguments(&call, text, 1, &p) || p.arguments < text.s + d->header)
		return;
	if (content)
		turn_end = span_after(d->text[SAMPLE_TEXT], content + strlen(SAMPLE_CONTENT));
	end = span_after(text, p.end);
	if (two.s && place_arguments(&call, two, 1, &first) && place_arguments(&call, two, 2, &second)
	    && first.end <= second.arguments) {
		between = derive_pattern(d, span_between(first.end, second.arguments));
		end = span_after(two, second.end);
	}
	end = span_drop_end(end, pattern_common_end(end, turn_end));
	divide(d, &call, derive_begin(d, &call, &p), between, derive_pattern(d, end));
	if (call.kind == CALL_MEMBERS)
		derive_members(d, &call, text, &p);
	if (call.kind == CALL_TAGS) {
		derive_values(d, &call, &p);
		derive_key(d, &call, open, &p);
		call.value_end = derive_pattern(d, span_of(call.value_end));
	}
	call.bare = is_bare(&call);
	call.id_has_name = call.kind == CALL_JSON && has_name_in_id(&call);
	format_add_call(d->f, &call);
}
