/* The table, and showing it. */
#include "format.h"

#include <stddef.h>
#include <string.h>

#include "lib/base/json.h"

/* The texts of a call, in the order in which they are shown. */
static const struct {
	const char *name;
	size_t at;
} texts[] = {
	{ "section", offsetof(struct call_format, section) }, { "begin", offsetof(struct call_format, begin) },
	{ "name", offsetof(struct call_format, name) }, { "arguments", offsetof(struct call_format, arguments) },
	{ "id", offsetof(struct call_format, id) }, { "key", offsetof(struct call_format, key) },
	{ "string", offsetof(struct call_format, string) }, { "raw", offsetof(struct call_format, raw) },
	{ "raw-end", offsetof(struct call_format, raw_end) }, { "value-end", offsetof(struct call_format, value_end) },
	{ "item", offsetof(struct call_format, item) }, { "item-end", offsetof(struct call_format, item_end) },
	{ "quote", offsetof(struct call_format, quote) }, { "end", offsetof(struct call_format, end) },
	{ "between", offsetof(struct call_format, between) },
	{ "section-end", offsetof(struct call_format, section_end) },
};

enum { TEXTS = sizeof texts / sizeof *texts };

static const char **text_of(struct call_format *call, size_t i)
{
	return (const char **)((char *)call + texts[i].at);
}

void format_add_marker(struct format *f, enum marker_role role, const char *pattern)
{
	if (!pattern || !*pattern_core(pattern) || f->n_markers == FORMAT_MARKERS)
		return;
	for (size_t i = 0; i < f->n_markers; i++)
		if (f->marker[i].role == role && !strcmp(pattern_core(f->marker[i].pattern), pattern_core(pattern)))
			return;
	f->marker[f->n_markers++] = (struct marker){ role, pattern };
}

void format_add_call(struct format *f, const struct call_format *call)
{
	struct call_format *c = &f->call[f->n_calls];

	if (f->n_calls == FORMAT_CALLS)
		return;
	f->n_calls++;
	*c = *call;
	for (size_t i = 0; i < TEXTS; i++)
		if (!*text_of(c, i))
			*text_of(c, i) = "";
}

const char *format_marker(const struct format *f, enum marker_role role)
{
	for (size_t i = 0; i < f->n_markers; i++)
		if (f->marker[i].role == role)
			return f->marker[i].pattern;
	return NULL;
}

static void show_line(const char *name, const char *pattern, struct bytes *out)
{
	struct bytes text = { .limit = out->limit };
	struct json_writer w = json_to_bytes(out);

	if (!*pattern)
		return;
	pattern_show(pattern, &text);
	bytes_puts(out, name);
	bytes_puts(out, "\t");
	json_string(&w, bytes_text(&text), text.n);
	bytes_puts(out, "\n");
	bytes_free(&text);
}

void format_show(const struct format *f, struct bytes *out)
{
	static const char *const roles[MARKER_ROLES] = { [MARKER_THINK] = "reasoning",
		[MARKER_THINK_END] = "reasoning-end", [MARKER_CONTENT] = "content", [MARKER_SKIP] = "skip" };
	static const char *const kinds[CALL_KINDS] = { "json", "members", "tags", "literals" };

	for (size_t i = 0; i < f->n_markers; i++)
		show_line(roles[f->marker[i].role], f->marker[i].pattern, out);
	for (size_t i = 0; i < f->n_calls; i++) {
		struct call_format c = f->call[i];

		show_line("call", kinds[c.kind], out);
		for (size_t k = 0; k < TEXTS; k++)
			show_line(texts[k].name, *text_of(&c, k), out);
	}
}
