/* Formats that templates do not show: they leave reasoning out of earlier answers, or have calls only in their
 * instructions. Each is known by a text in the template. */
#include "format.h"

#include <string.h>

#define NAME "\1"
#define WORD "\6"
#define REST "\7"
/* U+FF5C and U+2581, as DeepSeek writes them. */
#define BAR "\xef\xbd\x9c"
#define LOW "\xe2\x96\x81"

enum { KNOWN_ALWAYS, KNOWN_WITHOUT_CALLS };

/* LFM2 */
#define PYTHON_LIST { CALL_LITERALS, .section = "<|tool_call_start|>[", .begin = NAME "(", .between = ", ", \
	.section_end = "]<|tool_call_end|>" }

static const struct {
	const char *mark;       /* a text of the template */
	int when;
	struct call_format call;
} calls[] = {
	{ "ipython", KNOWN_ALWAYS, { CALL_LITERALS, .begin = "<|python_tag|>" NAME ".call(" } },
	{ "ipython", KNOWN_ALWAYS,
		{ CALL_MEMBERS, .begin = "<|python_tag|>", .name = "name", .arguments = "parameters" } },
	{ "<|channel|>", KNOWN_ALWAYS, { CALL_JSON, .end = "<|call|>",
		.begin = "<|channel|>" WORD " to=functions." NAME REST "<|message|>" } },
	{ "<|channel|>", KNOWN_ALWAYS, { CALL_JSON, .end = "<|call|>",
		.begin = " to=functions." NAME "<|channel|>" REST "<|message|>" } },
	{ "[CALL_ID]", KNOWN_ALWAYS, { CALL_JSON, .begin = "[TOOL_CALLS]" NAME "[ARGS]" } },
	{ "<|tool_call_start|>", KNOWN_WITHOUT_CALLS, PYTHON_LIST },
	{ "<|tool_list_start|>", KNOWN_WITHOUT_CALLS, PYTHON_LIST },
	{ "List of tools: [", KNOWN_WITHOUT_CALLS, PYTHON_LIST },
	{ "<|tool_call|>", KNOWN_WITHOUT_CALLS, { CALL_MEMBERS, .section = "<|tool_call|>[", .between = ", ",
		.section_end = "]", .name = "name", .arguments = "arguments" } },
	{ "<" BAR "tool" LOW "call" LOW "begin" BAR ">", KNOWN_WITHOUT_CALLS, { CALL_JSON,
		.section = "<" BAR "tool" LOW "calls" LOW "begin" BAR ">",
		.begin = "<" BAR "tool" LOW "call" LOW "begin" BAR ">function<" BAR "tool" LOW "sep" BAR ">" NAME
			"\n```json\n",
		.end = "\n```<" BAR "tool" LOW "call" LOW "end" BAR ">",
		.section_end = "<" BAR "tool" LOW "calls" LOW "end" BAR ">" } },
	/* the most common one, for templates that know nothing of calls */
	{ "", KNOWN_WITHOUT_CALLS, { CALL_MEMBERS, .begin = "\n<tool_call>\n", .end = "\n</tool_call>",
		.name = "name", .arguments = "arguments" } },
};

/* How reasoning begins and ends; the template has a mark of it, or else the end. */
static const struct {
	const char *mark, *open, *close;
} reasonings[] = {
	{ NULL, "<think>", "</think>" },
	{ NULL, "<thinking>", "</thinking>" },
	{ NULL, "<thought>", "</thought>" },
	{ NULL, "<seed:think>", "</seed:think>" },
	{ NULL, "[THINK]", "[/THINK]" },
	{ NULL, "\xe2\x97\x81think\xe2\x96\xb7", "\xe2\x97\x81/think\xe2\x96\xb7" },
	{ NULL, "<|channel>thought", "<channel|>" },
	{ NULL, "<|START_THINKING|>", "<|END_THINKING|>" },
	{ "<|channel|>", "<|channel|>analysis<|message|>", "<|end|>" },
};

static const struct {
	const char *mark;
	struct marker marker;
} markers[] = {
	{ "<|channel|>", { MARKER_CONTENT, "<|channel|>" WORD REST "<|message|>" } },
	{ "<|channel|>", { MARKER_SKIP, "<|start|>assistant" } },
	{ "<response></response>", { MARKER_CONTENT, "<response>" } },
	{ "<response></response>", { MARKER_SKIP, "</response>" } },
	{ "[BEGIN FINAL RESPONSE]", { MARKER_SKIP, "[BEGIN FINAL RESPONSE]\n" } },
	{ "[BEGIN FINAL RESPONSE]", { MARKER_SKIP, "\n[END FINAL RESPONSE]" } },
};

static int has(const char *text, size_t n, const char *mark)
{
	size_t length = strlen(mark);

	for (size_t i = 0; i + length <= n; i++)
		if (!memcmp(text + i, mark, length))
			return 1;
	return 0;
}

void format_add_known_reasoning(struct format *f, const char *text, size_t n)
{
	if (format_marker(f, MARKER_THINK_END))
		return;
	for (size_t i = 0; i < sizeof reasonings / sizeof *reasonings; i++)
		if (has(text, n, reasonings[i].mark ? reasonings[i].mark : reasonings[i].close)) {
			format_add_marker(f, MARKER_THINK, reasonings[i].open);
			format_add_marker(f, MARKER_THINK_END, reasonings[i].close);
			return;
		}
}

void format_add_known(struct format *f, const char *text, size_t n)
{
	for (size_t i = 0; i < sizeof markers / sizeof *markers; i++)
		if (has(text, n, markers[i].mark))
			format_add_marker(f, markers[i].marker.role, markers[i].marker.pattern);
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (has(text, n, calls[i].mark) && (calls[i].when == KNOWN_ALWAYS || !f->n_calls))
			format_add_call(f, &calls[i].call);
}
