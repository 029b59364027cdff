/* The machine: text and reasoning up to a marker, and what follows a call. The text is held in a buffer, and a step
 * that needs more of it leaves it there. It is tried again when the buffer has grown by a sixteenth, so that all steps
 * together take linear time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/utf8.h"
#include "reader.h"

enum { HELD_SPACE = 64, READER_MEMORY = 1 << 20 };
#define TEXT_MAX ((size_t)1 << 30)

void reader_tell(struct answer *a, enum answer_part part, const char *s, size_t n)
{
	if (a->silent || (!n && (part == ANSWER_CONTENT || part == ANSWER_REASONING || part == ANSWER_ARGUMENTS)))
		return;
	a->sink->tell(a->sink->context, part, (struct span){ s, n });
}

/* ---- triggers ---- */

static void add_trigger(struct answer *a, enum marker_role role, const char *pattern, size_t lead,
	const struct call_format *call)
{
	if (a->n_triggers < READER_TRIGGERS)
		a->trigger[a->n_triggers++] = (struct trigger){ role, pattern, lead, call };
}

/* Two texts as one in the arena; NULL: memory is short. */
static char *joined(struct arena *arena, const char *first, const char *second)
{
	size_t n = strlen(first), m = strlen(second);
	char *text = arena_text(arena, n + m + 1);

	if (text) {
		memcpy(text, first, n);
		memcpy(text + n, second, m + 1);
	}
	return text;
}

/* A call may begin with each of its tags: models leave out those before. */
static int add_call(struct answer *a, const struct call_format *call)
{
	const char *begin = joined(&a->arena, call->section, call->begin);
	size_t lead, section = strlen(call->section);

	if (!begin)
		return -1;
	lead = pattern_lead(begin);
	add_trigger(a, MARKER_CALL, begin + lead, lead, call);
	for (long tag = pattern_next_tag(begin, lead + 1); tag >= 0; tag = pattern_next_tag(begin, (size_t)tag + 1)) {
		if (strchr(begin + tag, PATTERN_NAME) || (size_t)tag >= section || call->kind == CALL_MEMBERS)
			add_trigger(a, MARKER_CALL, begin + tag, lead, call);
	}
	return 0;
}

/* Lists the tags and words that follow a call. */
static int add_closes(struct answer *a, const struct call_format *call, struct closes *closes)
{
	const char *texts[] = { call->end, call->section_end };
	size_t n, token, end;
	char *copy;

	for (int i = 0; i < 2; i++) {
		const char *s = texts[i];

		closes->section = i ? closes->n : 0;
		for (n = strlen(s); n && closes->n < READER_CLOSES; s += end, n -= end) {
			end = token = pattern_token(s, n);
			if (span_is_space(*s))
				continue;
			while (!pattern_is_tag(s, token) && end < n && !span_is_space(s[end])
			       && !pattern_is_tag(s + end, pattern_token(s + end, n - end)))
				end++;
			if (!(copy = arena_text(&a->arena, end + 1)))
				return -1;
			memcpy(copy, s, end);
			copy[end] = '\0';
			closes->text[closes->n++] = copy;
		}
	}
	return 0;
}

static int add_triggers(struct answer *a)
{
	const struct format *f = a->format;
	int tools = tools_any(a->variables);

	for (int role = 0; role < MARKER_ROLES; role++) {
		for (size_t i = 0; i < f->n_markers; i++)
			if ((int)f->marker[i].role == role)
				add_trigger(a, f->marker[i].role, pattern_core(f->marker[i].pattern),
					pattern_lead(f->marker[i].pattern), NULL);
		for (size_t i = 0; role == MARKER_CALL && tools && i < f->n_calls; i++)
			if (add_call(a, &f->call[i]) || add_closes(a, &f->call[i], &a->closes[i]))
				return -1;
	}
	return 0;
}

/* Whether the trigger counts where the answer is. */
static int counts(const struct answer *a, const struct trigger *t)
{
	switch (t->role) {
	case MARKER_THINK: return a->fresh;
	case MARKER_THINK_END: return a->state == READ_THOUGHT || a->fresh || pattern_is_control(t->pattern);
	case MARKER_CONTENT: return a->fresh && a->state == READ_TEXT;
	case MARKER_CALL: return !t->call->bare || a->empty;
	default: return a->state == READ_TEXT;
	}
}

/* Whether t is at s, with a call after it if it begins one. */
static enum match trigger_matches(const struct answer *a, const struct trigger *t, struct span s, struct found *f,
	struct head *head)
{
	const struct json *parameters;
	enum match match = reader_match(a, t->pattern, s, (struct span){ 0 }, f);

	if (match != MATCH_YES || !t->call)
		return match;
	match = call_begins(a, t->call, (struct span){ s.s + f->n, s.n - f->n }, f, head);
	/* to be sure, without a marker and inside of reasoning only the tools that there are count */
	if (match == MATCH_YES && (t->call->bare || a->state == READ_THOUGHT)
	    && !tools_find(a->variables, head->name, &parameters))
		return MATCH_NO;
	return match;
}

/* The bytes with which a trigger that counts may begin. */
static const unsigned char *begins(struct answer *a)
{
	int now = 1 + (int)a->state * 4 + a->fresh * 2 + a->empty;

	if (a->begins_for == now)
		return a->begins;
	a->begins_for = now;
	memset(a->begins, 0, sizeof a->begins);
	for (size_t i = 0; i < a->n_triggers; i++) {
		unsigned char first = (unsigned char)a->trigger[i].pattern[0];

		if (!counts(a, &a->trigger[i]))
			continue;
		if (first < PATTERN_PLACES)
			memset(a->begins, 1, sizeof a->begins);
		a->begins[first] = 1;
	}
	return a->begins;
}

/* Finds the first trigger at s.s that matches or may match. */
static enum match find_trigger(const struct answer *a, struct span s, const struct trigger **which, struct found *f,
	struct head *head)
{
	enum match match;

	for (size_t i = 0; i < a->n_triggers; i++) {
		if (!counts(a, &a->trigger[i]))
			continue;
		*which = &a->trigger[i];
		match = trigger_matches(a, *which, s, f, head);
		if (match == MATCH_YES || (match == MATCH_MORE && (!a->ended || f->whole)))
			return match;
	}
	return MATCH_NO;
}

/* ---- text ---- */

static void tell_text(struct answer *a, const char *s, size_t n)
{
	size_t skipped = n < a->of_prompt ? n : a->of_prompt;

	a->of_prompt -= skipped;
	s += skipped;
	n -= skipped;
	reader_tell(a, a->state == READ_THOUGHT ? ANSWER_REASONING : ANSWER_CONTENT, s, n);
}

/* The text before a marker. `space` bytes of it at its end are white space, of which `lead` belong to the marker; it is
 * left out where there is nothing else. */
static void tell_before(struct answer *a, struct span s, size_t space, size_t lead)
{
	size_t held = space < HELD_SPACE ? space : HELD_SPACE;

	tell_text(a, s.s, s.n - held);
	if (!a->fresh && held > lead)
		tell_text(a, s.s + s.n - held, held - lead);
}

static void act(struct answer *a, const struct trigger *t, size_t n, const struct head *head)
{
	a->of_prompt = 0;
	if (t->call) {
		call_start(a, t->call, n, head);
		return;
	}
	a->at += n;
	a->state = t->role == MARKER_THINK ? READ_THOUGHT : READ_TEXT;
	a->fresh = 1;
}

/* Reads text up to a marker, or as far as there can be none. */
static int read_text(struct answer *a)
{
	struct span s = reader_left(a);
	const struct trigger *t = NULL;
	enum match match = MATCH_NO;
	struct head head;
	struct found f;
	size_t i = 0, space = 0;

	for (; i < s.n; i++) {
		if (begins(a)[(unsigned char)s.s[i]]) {
			match = find_trigger(a, (struct span){ s.s + i, s.n - i }, &t, &f, &head);
			if (match != MATCH_NO)
				break;
		}
		space = span_is_space(s.s[i]) ? space + 1 : 0;
		if (!space && !a->silent) {
			a->fresh = 0;
			a->empty = a->empty && a->state == READ_THOUGHT;
		}
	}
	if (match == MATCH_YES || (match == MATCH_MORE && a->ended)) {
		tell_before(a, (struct span){ s.s, i }, space, t->lead);
		a->at = match == MATCH_YES ? a->at + i : a->text.n;     /* a marker that was cut says nothing */
		if (match == MATCH_YES)
			act(a, t, f.n, &head);
		return match == MATCH_YES;
	}
	space = a->ended ? 0 : space < HELD_SPACE ? space : HELD_SPACE;
	tell_text(a, s.s, i - space);
	a->at += i - space;
	return 0;
}

/* ---- after a call ---- */

/* Whether another call of the same section begins at s. */
static enum match next_begins(const struct answer *a, struct span s, struct found *f, struct head *head)
{
	const struct closes *closes = &a->closes[a->call - a->format->call];
	enum match match;

	if (a->closed > closes->section && closes->section < closes->n)
		return MATCH_NO;
	match = reader_match(a, a->call->begin, s, (struct span){ 0 }, f);
	if (match != MATCH_YES)
		return match;
	return call_begins(a, a->call, (struct span){ s.s + f->n, s.n - f->n }, f, head);
}

static int read_after(struct answer *a)
{
	struct span s = span_trim_start(reader_left(a));
	const char *between = pattern_core(a->call->between);
	size_t n, which;
	enum match match;
	struct found f;
	struct head head;

	match = s.n ? call_closes(a, s, &n, &which) : MATCH_MORE;
	if (match == MATCH_YES) {
		a->at = (size_t)(s.s - a->text.p) + n;
		a->closed = which + 1;
		return 1;
	}
	if (match == MATCH_NO && *between && *s.s == *between && strchr(",;", *between)) {
		a->at = (size_t)(s.s - a->text.p) + 1;
		return 1;
	}
	if (match == MATCH_NO)
		match = next_begins(a, s, &f, &head);
	if (match == MATCH_MORE) {
		if (a->ended)
			a->at = a->text.n;
		return 0;
	}
	a->at = (size_t)(s.s - a->text.p);
	a->state = READ_TEXT;
	a->fresh = 1;
	if (match == MATCH_YES)
		call_start(a, a->call, f.n, &head);
	return 1;
}

/* ---- the whole ---- */

static void read_all(struct answer *a)
{
	static int (*const steps[])(struct answer *) = { [READ_THOUGHT] = read_text, [READ_TEXT] = read_text,
		[READ_AFTER] = read_after, [READ_JSON] = read_json, [READ_MEMBERS] = read_members,
		[READ_TAGS] = read_tags, [READ_STRING] = read_string, [READ_RAW] = read_raw,
		[READ_VALUE] = read_value, [READ_LITERALS] = read_literals };
	size_t left = a->text.n - a->at;

	if (left < a->enough && !a->ended)
		return;
	while (a->at < a->text.n && steps[a->state](a))
		;
	left = a->text.n - a->at;
	a->enough = left + left / 16 + 1;
	if (a->at > left) {
		if (left)
			memmove(a->text.p, a->text.p + a->at, left);
		a->text.n = left;
		a->at = 0;
	}
}

struct answer *answer_open(const struct format *f, const struct json *variables, size_t first,
	const struct answer_sink *sink, struct why *w)
{
	struct answer *a = malloc(sizeof *a);

	if (a) {
		*a = (struct answer){ .format = f, .variables = variables, .sink = sink, .number = first,
			.arena.limit = READER_MEMORY, .text.limit = TEXT_MAX, .state = READ_TEXT,
			.fresh = 1, .empty = 1 };
		if (!add_triggers(a))
			return a;
	}
	answer_close(a);
	why(w, "out of memory");
	return NULL;
}

void answer_close(struct answer *a)
{
	if (!a)
		return;
	bytes_free(&a->text);
	arena_free(&a->arena);
	free(a);
}

/* Appends text of which the last character may not be complete: what is left of s[n]. */
static size_t put_text(struct answer *a, const char *s, size_t n, int last)
{
	size_t good;

	while (n) {
		good = utf8_valid(s, n);
		bytes_put(&a->text, s, good);
		s += good;
		n -= good;
		if (n && n < utf8_length((unsigned char)*s) && !last)
			break;
		if (n) {
			bytes_puts(&a->text, "\xef\xbf\xbd");
			s++;
			n--;
		}
	}
	return n;
}

int answer_is_reasoning(const struct answer *a)
{
	return a->state == READ_THOUGHT;
}

int answer_read(struct answer *a, const char *s, size_t n)
{
	size_t need;

	/* a character that the last text ended in */
	while (a->n_partial && n) {
		need = utf8_length((unsigned char)a->partial[0]);
		a->partial[a->n_partial++] = *s++;
		n--;
		if (a->n_partial < need)
			continue;
		need = put_text(a, a->partial, a->n_partial, 0);
		memmove(a->partial, a->partial + a->n_partial - need, need);
		a->n_partial = need;
	}
	if (n) {
		a->n_partial = put_text(a, s, n, 0);
		memcpy(a->partial, s + n - a->n_partial, a->n_partial);
	}
	read_all(a);
	return a->text.failed ? -1 : 0;
}

/* Text that may become a marker, such as >>> before a name, remains to be read. */
int answer_prompt(struct answer *a, const char *s, size_t n)
{
	struct span left;

	a->silent = 1;
	if (answer_read(a, s, n))
		return -1;
	left = reader_left(a);
	if (left.n && pattern_is_tag(left.s, pattern_token(left.s, left.n))) {
		a->ended = 1;
		read_all(a);
		a->ended = 0;
		a->at = a->text.n;
	}
	a->at += span_space(reader_left(a));
	if (a->state != READ_TEXT && a->state != READ_THOUGHT) {
		a->state = READ_TEXT;
		a->at = a->text.n;
	}
	a->call = NULL;
	a->silent = 0;
	a->of_prompt = a->text.n - a->at;
	a->fresh = a->empty = 1;
	a->enough = 0;
	return 0;
}

int answer_end(struct answer *a)
{
	put_text(a, a->partial, a->n_partial, 1);
	a->n_partial = 0;
	a->ended = 1;
	read_all(a);
	if (a->call)
		call_tell_id(a);
	return a->text.failed ? -1 : 0;
}
