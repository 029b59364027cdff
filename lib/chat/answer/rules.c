/* Where reasoning, calls and content may be. */
#include "rules.h"

#include <string.h>

#include "reader.h"
#include "ruleset.h"

enum { RULES_MEMORY = 64 << 20, MARK = 3 /* bytes of the shortest text that begins a call */ };

static const char gap[] = "gap ::= | \" \" | \"\\n\" [ \\t]{0,20}\n";

/* A format of calls as it is written from some byte of its section and begin on. */
struct opening {
	const struct call_format *call;
	const char *text;       /* the section and the begin of the first call */
	size_t from;            /* the first byte that is not there yet */
	struct span mark;       /* a text that tells that a call begins; without one, .n is 0 */
	int begun;              /* the prompt ends with its start */
};

struct writing {
	struct ruleset r;
	const struct format *format;
	const struct json *variables;
	const struct bytes *prompt;
	const struct rules_wish *wish;
	struct opening opening[FORMAT_CALLS];
	size_t n_openings;
	struct bytes start, calls;      /* before either; what a call is */
};

/* ---- how calls begin ---- */

/* Whether the text is in a marker of something else. */
static int is_shared(const struct format *f, struct span text)
{
	for (size_t i = 0; i < f->n_markers; i++)
		for (struct span s = span_of(f->marker[i].pattern); s.n >= text.n; s = span_drop(s, 1))
			if (span_begins(s, text))
				return 1;
	return 0;
}

/* A mark is a control token, or has none in it: what of the text may be one. */
static struct span as_mark(const struct ruleset *r, struct span text)
{
	const struct control *c;

	for (size_t i = 0; i < text.n; i++)
		if ((c = rules_control(r, text.s + i, text.n - i)))
			return (struct span){ text.s, i ? i : c->n };
	return text;
}

/* The first tag, or the text before it, that is not in another marker, up to a placeholder. */
static struct span find_mark(const struct format *f, const struct ruleset *r, const struct opening *o)
{
	size_t n = strlen(o->text), at = o->from, end, token;

	if (o->call->bare)
		return (struct span){ 0 };
	for (; at < n; at = end) {
		struct span text = { o->text + at, 0 };

		token = pattern_token(o->text + at, n - at);
		end = at + token;
		while (!pattern_is_tag(o->text + at, token) && end < n
		       && !pattern_is_tag(o->text + end, pattern_token(o->text + end, n - end)))
			end++;
		while (at + text.n < end && (text.s[text.n] < 0 || text.s[text.n] >= PATTERN_PLACES))
			text.n++;
		if (span_trim_start(text).n >= MARK && !is_shared(f, as_mark(r, text)))
			return as_mark(r, text);
		if (at + text.n < end)
			break;
	}
	return (struct span){ 0 };
}

/* How many bytes of the pattern the prompt ends with: signs or tags, no letters of a word. */
static size_t overlap(const struct bytes *prompt, const char *pattern)
{
	size_t most = 0;

	if ((*pattern >= 'a' && *pattern <= 'z') || (*pattern >= 'A' && *pattern <= 'Z'))
		return 0;
	for (size_t n = 1; pattern[n - 1] && n <= prompt->n; n++)
		if (!memcmp(prompt->p + prompt->n - n, pattern, n))
			most = n;
	return most;
}

static int find_openings(struct writing *g)
{
	for (size_t i = 0; i < g->format->n_calls; i++) {
		const struct call_format *call = &g->format->call[i];
		struct opening *o = &g->opening[g->n_openings];
		size_t section = strlen(call->section), begin = strlen(call->begin);
		char *text = arena_text(&g->r.arena, section + begin + 1);

		if (!text)
			return why(g->r.w, "out of memory");
		memcpy(text, call->section, section);
		memcpy(text + section, call->begin, begin + 1);
		*o = (struct opening){ call, text, .from = pattern_lead(text) };
		if (!o->text[o->from] || *o->text == ' ')       /* not a line of its own */
			o->from = 0;
		o->mark = find_mark(g->format, &g->r, o);
		begin = overlap(g->prompt, o->text + o->from);
		o->begun = begin && !strchr(text, PATTERN_REST);
		o->from += begin;
		/* what has a place for any text is for reading only */
		g->n_openings += !strchr(text, PATTERN_REST);
	}
	return 0;
}

/* ---- calls ---- */

static void put_gap(struct bytes *to)
{
	bytes_puts(to, " gap");
}

static void put_json_text(struct span s, struct bytes *to)
{
	struct bytes text = { .limit = to->limit };
	struct json_writer w = json_to_bytes(&text);

	w.raw = 1;
	json_string(&w, s.s, s.n);
	rules_literal((struct span){ text.p, text.n }, to);
	bytes_free(&text);
}

static void put_id(const struct call_format *call, struct bytes *to)
{
	put_json_text(span_of(call->id), to);
	bytes_puts(to, " \":\" gap \"\\\"\" ([0-9] | [0-9A-Za-z]{9}) \"\\\"\"");
}

/* A call that is a JSON object. */
static void put_object(struct ruleset *r, const struct call_format *call, const struct tool *tool, struct bytes *to)
{
	bytes_puts(to, " \"{\" gap");
	if (*call->id && call->id_first) {
		put_id(call, to);
		bytes_puts(to, " gap \",\" gap");
	}
	if (*call->name) {
		put_json_text(span_of(call->name), to);
		bytes_puts(to, " gap \":\" gap");
	}
	put_json_text(tool->name, to);
	bytes_puts(to, *call->name ? " gap \",\" gap" : " gap \":\"");
	if (*call->name) {
		put_json_text(span_of(call->arguments), to);
		bytes_puts(to, " gap \":\"");
	}
	rules_arguments(r, call, tool, to);
	if (*call->id && !call->id_first) {
		bytes_puts(to, " \",\" gap");
		put_id(call, to);
		put_gap(to);
	}
	bytes_puts(to, " \"}\"");
}

/* A rule of what follows the begin: the arguments and the end. Returns its number. */
static unsigned define_call(struct ruleset *r, const struct call_format *call, const struct tool *tool)
{
	struct bytes body = { .limit = r->out->limit };
	struct fill fill = { tool->name, { 0 }, "" };
	unsigned name = r->names++;

	if (call->kind == CALL_MEMBERS)
		put_object(r, call, tool, &body);
	else
		rules_arguments(r, call, tool, &body);
	rules_pattern(r, call->end, &fill, 1, &body);
	bytes_print(r->out, "call%u ::=", name);
	bytes_put(r->out, body.p, body.n);
	bytes_puts(r->out, "\n");
	r->failed |= body.failed;
	bytes_free(&body);
	return name;
}

static int is_wished(const struct rules_wish *wish, const struct tool *tool)
{
	return wish->choice != RULES_NAMED || span_equal(tool->name, span_of(wish->name));
}

/* The calls of one format: the first from its byte `from` on, then others. */
static void put_calls(struct writing *g, const struct opening *o, struct bytes *to)
{
	struct bytes first = { .limit = to->limit }, others = { .limit = to->limit };
	struct fill fill = { 0 };
	const char *separator = "";
	struct tools_at at = { NULL, NULL };
	struct tool tool;

	while (tools_next(g->variables, &at, &tool.name, &tool.parameters)) {
		unsigned name;

		if (!is_wished(g->wish, &tool))
			continue;
		name = define_call(&g->r, o->call, &tool);
		fill.name = tool.name;
		bytes_puts(&first, separator);
		rules_pattern(&g->r, o->text + o->from, &fill, 0, &first);
		bytes_print(&first, " call%u", name);
		bytes_puts(&others, separator);
		rules_pattern(&g->r, o->call->begin, &fill, 0, &others);
		bytes_print(&others, " call%u", name);
		separator = " |";
	}
	bytes_puts(to, " (");
	bytes_put(to, first.p, first.n);
	bytes_puts(to, " )");
	if (!g->wish->one_call && !o->call->bare) {
		bytes_puts(to, " (");
		rules_pattern(&g->r, o->call->between, &fill, 0, to);
		bytes_puts(to, " (");
		bytes_put(to, others.p, others.n);
		bytes_puts(to, " ) )*");
	}
	rules_pattern(&g->r, o->call->section_end, &fill, 1, to);
	to->failed |= first.failed | others.failed;
	bytes_free(&first);
	bytes_free(&others);
}

/* ---- reasoning and content ---- */

/* Appends the markers of that role as alternatives, any of them or none; but one of which the prompt has the start. */
static void put_markers(const struct writing *g, enum marker_role role, struct bytes *to)
{
	const struct format *f = g->format;
	const struct fill fill = { .type = "" };
	const char *separator = " (";
	size_t begun;

	for (size_t i = 0; i < f->n_markers; i++) {
		if (f->marker[i].role != role || strchr(f->marker[i].pattern, PATTERN_REST)
		    || strchr(f->marker[i].pattern, PATTERN_WORD) || rules_is_end(&g->r, f->marker[i].pattern))
			continue;
		begun = overlap(g->prompt, pattern_core(f->marker[i].pattern));
		if (begun && role == MARKER_CONTENT && pattern_core(f->marker[i].pattern)[begun]) {
			rules_pattern(&g->r, pattern_core(f->marker[i].pattern) + begun, &fill, 0, to);
			return;
		}
		bytes_puts(to, separator);
		rules_pattern(&g->r, pattern_core(f->marker[i].pattern), &fill, 0, to);
		separator = " |";
	}
	bytes_puts(to, separator[1] == '|' ? " )?" : "");
}

/* The reasoning that the prompt has begun, or that may begin the answer. */
static int put_reasoning(struct writing *g)
{
	const struct bytes *prompt = g->prompt;
	const char *think = format_marker(g->format, MARKER_THINK), *end = format_marker(g->format, MARKER_THINK_END);
	const struct answer_sink none = { 0 };
	const struct fill fill = { .type = "" };
	struct bytes *to = &g->start;
	struct answer *a = answer_open(g->format, g->variables, 0, &none, g->r.w);
	int open, over = 0;
	struct found f;

	if (!a)
		return -1;
	answer_prompt(a, prompt->p, prompt->n);
	a->silent = 1;
	answer_end(a);
	open = a->state == READ_THOUGHT;
	answer_close(a);
	for (size_t i = 0; end && i < prompt->n; i++)
		over |= pattern_match(pattern_core(end), prompt->p + i, prompt->n - i, 1, (struct span){ 0 }, &f)
			== MATCH_YES;
	if (!end || (!open && (over || !think)))
		return 0;
	bytes_puts(to, open ? "" : " (");
	if (!open)
		rules_pattern(&g->r, pattern_core(think), &fill, 0, to);
	rules_until(&g->r, end, &fill, to);
	rules_pattern(&g->r, pattern_core(end), &fill, 0, to);
	put_gap(to);
	/* the next message of the turn */
	if (format_marker(g->format, MARKER_CONTENT))
		put_markers(g, MARKER_SKIP, to);
	bytes_puts(to, open ? "" : " )?");
	return 0;
}

/* Any text that begins no call without a marker. */
static void put_other(const struct writing *g, struct bytes *to)
{
	const struct call_format *call;

	bytes_puts(to, " gap ([^ \\n\\r\\t");
	for (size_t i = 0; i < g->n_openings; i++) {
		call = g->opening[i].call;
		if (call->bare)
			bytes_print(to, "%s%c", *g->opening[i].text == '[' ? "\\" : "",
				*g->opening[i].text > PATTERN_PLACES ? *g->opening[i].text : '{');
	}
	bytes_puts(to, "] .*)?");
}

/* The mark of a call of which other marks are not a part: one that the vocabulary has, before others. NULL: none. */
static const char *least_mark(const struct writing *g)
{
	const char *found = NULL;

	for (size_t i = 0; i < g->n_openings; i++) {
		const char *s = g->opening[i].begun ? g->opening[i].text : g->opening[i].mark.s;

		if (s && (!found || (pattern_is_control(found) && !pattern_is_control(s)
		    && !rules_control(&g->r, found, strlen(found)))))
			found = s;
	}
	return found;
}

static void put_content(struct writing *g, struct bytes *to)
{
	const struct fill fill = { .type = "" };
	const char *mark = least_mark(g);
	int bare = 0;

	put_markers(g, MARKER_CONTENT, to);
	if (g->wish->schema) {
		rules_json(&g->r, g->wish->schema, "the schema", to);
		put_markers(g, MARKER_SKIP, to);
		return;
	}
	for (size_t i = 0; i < g->n_openings; i++)
		bare |= g->opening[i].call->bare;
	if (bare)
		put_other(g, to);
	else if (mark)
		rules_until(&g->r, mark, &fill, to);
	else
		bytes_puts(to, " .*");
}

/* ---- the whole ---- */

/* Whether calls are awaited in free text, each behind a mark. */
static int waits(const struct writing *g)
{
	if (g->wish->choice != RULES_AUTO || g->wish->schema || !tools_any(g->variables))
		return 0;
	for (size_t i = 0; i < g->n_openings; i++)
		if (!g->opening[i].mark.n || g->opening[i].begun)
			return 0;
	return g->n_openings > 0;
}

static void put_after(struct span mark, struct bytes *out)
{
	bytes_puts(out, "# after: ");
	for (size_t i = 0; i < mark.n; i++)
		if (mark.s[i] == '\n')
			bytes_puts(out, "\\n");
		else if (mark.s[i] == '\\')
			bytes_puts(out, "\\\\");
		else
			bytes_put(out, mark.s + i, 1);
	bytes_puts(out, "\n");
}

/* Calls, each format from its mark on if the grammar waits for that. */
static void put_all_calls(struct writing *g, int waiting)
{
	for (size_t i = 0; waiting && i < g->n_openings; i++)
		put_after(g->opening[i].mark, g->r.out);
	for (size_t i = 0; i < g->n_openings; i++) {
		struct opening o = g->opening[i];

		bytes_puts(&g->calls, i ? " |" : "");
		if (waiting)
			o.from = (size_t)(o.mark.s - o.text);
		put_calls(g, &o, &g->calls);
	}
}

static int check(const struct writing *g)
{
	const struct rules_wish *wish = g->wish;
	const struct json *parameters;
	struct why *w = g->r.w;

	if (wish->choice == RULES_NAMED && !tools_find(g->variables, span_of(wish->name), &parameters))
		return why(w, "no tool is named \"%s\"", wish->name);
	if (wish->choice == RULES_REQUIRED && !tools_any(g->variables))
		return why(w, "a call is required, but there are no tools");
	if (wish->choice == RULES_AUTO && !json_get(g->variables, "tools") && !tools_any(g->variables) && !wish->schema)
		return why(w, "neither tools nor a schema constrain the answer");
	if (tools_any(g->variables) && wish->choice != RULES_NONE && !g->n_openings)
		return why(w, "the model has no format of calls");
	return 0;
}

static void put_root(struct writing *g, int calls, int content)
{
	struct bytes *out = g->r.out;

	if (content) {
		struct bytes text = { .limit = out->limit };

		put_content(g, &text);
		bytes_puts(out, "content ::=");
		bytes_put(out, text.p, text.n);
		bytes_puts(out, "\n");
		out->failed |= text.failed;
		bytes_free(&text);
	}
	bytes_puts(out, "root ::=");
	bytes_put(out, g->start.p, g->start.n);
	bytes_puts(out, content && calls ? " (calls | content)\n" : calls ? " calls\n" : " content\n");
	if (calls) {
		bytes_puts(out, "calls ::=");
		bytes_put(out, g->calls.p, g->calls.n);
		bytes_puts(out, "\n");
	}
	bytes_puts(out, gap);
}

int rules_write(const struct format *f, const struct json *variables, const struct bytes *prompt,
	const struct vocab *v, const struct rules_wish *wish, struct bytes *out, struct why *w)
{
	struct writing g = { .r = { .out = out, .arena.limit = RULES_MEMORY, .left_out = wish->left_out, .w = w },
		.format = f, .variables = variables, .prompt = prompt, .wish = wish, .start.limit = out->limit,
		.calls.limit = out->limit };
	int failed = rules_find_control(&g.r, v) || find_openings(&g) || check(&g), waiting = waits(&g);
	int calls = wish->choice != RULES_NONE && tools_any(variables);
	int content = wish->choice == RULES_AUTO || wish->choice == RULES_NONE;

	if (!failed && !waiting)
		failed = put_reasoning(&g);
	if (!failed && calls)
		put_all_calls(&g, waiting);
	if (!failed)
		put_root(&g, calls, content && !waiting);
	if (!failed && !g.r.failed && (out->failed | g.start.failed | g.calls.failed))
		failed = why(w, "the grammar would be larger than %zu MiB", out->limit >> 20);
	bytes_free(&g.start);
	bytes_free(&g.calls);
	arena_free(&g.r.arena);
	return failed || g.r.failed ? -1 : 0;
}
