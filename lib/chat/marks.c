/* The marks that begin and end the parts of an answer. */
#include "marks.h"

#include <string.h>

/* U+FF5C and U+2581, as DeepSeek writes them. */
#define BAR "\xef\xbd\x9c"
#define LOW "\xe2\x96\x81"

const struct mark marks[] = {
	{ "<think>", MARK_THOUGHT, 0 }, { "</think>", MARK_ANSWER, 0 },
	{ "<thinking>", MARK_THOUGHT, 0 }, { "</thinking>", MARK_ANSWER, 0 },
	{ "<thought>", MARK_THOUGHT, 0 }, { "</thought>", MARK_ANSWER, 0 },
	{ "<seed:think>", MARK_THOUGHT, 0 }, { "</seed:think>", MARK_ANSWER, 0 },
	{ "[THINK]", MARK_THOUGHT, 0 }, { "[/THINK]", MARK_ANSWER, 0 },
	{ "\xe2\x97\x81think\xe2\x96\xb7", MARK_THOUGHT, 0 }, { "\xe2\x97\x81/think\xe2\x96\xb7", MARK_ANSWER, 0 },
	{ "<|channel>thought", MARK_THOUGHT, 0 }, { "<channel|>", MARK_ANSWER, 0 },
	{ "<|START_THINKING|>", MARK_THOUGHT, 1 }, { "<|END_THINKING|>", MARK_ANSWER, 1 },
	{ "<|START_ACTION|>", MARK_CALL, 0 }, { "<|END_ACTION|>", MARK_ANSWER, 0 },
	{ "<tool_call>", MARK_CALL, 0 }, { "</tool_call>", MARK_ANSWER, 0 },
	{ "<|tool_call>", MARK_CALL, 0 }, { "<tool_call|>", MARK_ANSWER, 0 },
	{ "<|tool_call_start|>", MARK_CALL, 0 }, { "<|tool_call_end|>", MARK_ANSWER, 0 },
	{ "<|tool_calls_section_begin|>", MARK_CALL, 0 }, { "<|tool_calls_section_end|>", MARK_ANSWER, 0 },
	{ "<" BAR "tool" LOW "calls" LOW "begin" BAR ">", MARK_CALL, 0 },
	{ "<" BAR "tool" LOW "calls" LOW "end" BAR ">", MARK_ANSWER, 0 },
	{ "<minimax:tool_call>", MARK_CALL, 0 }, { "</minimax:tool_call>", MARK_ANSWER, 0 },
	{ "<function_call>", MARK_CALL, 0 }, { "</function_call>", MARK_ANSWER, 0 },
	{ "[TOOL_CALLS]", MARK_CALL, 0 }, { "<|python_tag|>", MARK_CALL, 0 },
	/* gpt-oss: <|start|>NAME<|channel|>CHANNEL<|constrain|>TYPE<|message|>TEXT<|end|> */
	{ "<|start|>", MARK_HEADER, 1 }, { "<|channel|>", MARK_HEADER, 1 }, { "<|constrain|>", MARK_HEADER, 1 },
	{ "<|message|>", MARK_BODY, 1 }, { "<|end|>", MARK_HEADER, 1 },
	{ NULL, MARK_ANSWER, 0 }
};

int marks_have(const char *text, size_t n)
{
	for (const struct mark *m = marks; m->text; m++)
		if (m->kind != MARK_HEADER && m->kind != MARK_BODY && !strncmp(m->text, text, n))
			return 1;
	return 0;
}
