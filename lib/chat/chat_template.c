/* Built-in templates, named after the families that use them. */
#include "chat.h"

#include <string.h>

/* For families whose own templates leave BOS to the tokenizer. */
#define BOS_IF_ADDED "{%- if add_bos_token -%}{{ bos_token }}{%- endif -%}\n"

static const char chatml[] =
	BOS_IF_ADDED
	"{%- for m in messages -%}\n"
	"{{ '<|im_start|>' + m.role + '\\n' + (m.content or '') + '<|im_end|>\\n' }}\n"
	"{%- endfor -%}\n"
	"{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}\n";

/* Shared by three of them: `system` is the system message, if it comes first, and `turns` the rest, which must
 * alternate. */
#define SYSTEM_AND_TURNS \
	"{%- set system = '' -%}{%- set turns = messages -%}\n" \
	"{%- if messages[0].role == 'system' -%}\n" \
	"{%- set system = (messages[0].content or '') | trim -%}{%- set turns = messages[1:] -%}\n" \
	"{%- endif -%}\n"
#define MUST_ALTERNATE \
	"{%- if (m.role == 'user') != (loop.index0 is even) -%}\n" \
	"{{ raise_exception('user and assistant must take turns, starting with the user') }}\n" \
	"{%- endif -%}\n"

static const char llama2[] =
	SYSTEM_AND_TURNS
	"{%- for m in turns -%}\n"
	MUST_ALTERNATE
	"{%- if m.role == 'user' -%}\n"
	"{{ bos_token ~ '[INST] ' }}\n"
	"{%- if loop.first and system -%}{{ '<<SYS>>\\n' + system + '\\n<</SYS>>\\n\\n' }}{%- endif -%}\n"
	"{{ (m.content or '') | trim + ' [/INST]' }}\n"
	"{%- else -%}\n"
	"{{ ' ' + (m.content or '') | trim + ' ' ~ eos_token }}\n"
	"{%- endif -%}\n"
	"{%- endfor -%}\n";

static const char llama3[] =
	"{{- bos_token -}}\n"
	"{%- for m in messages -%}\n"
	"{{ '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' + (m.content or '') | trim + '<|eot_id|>' }}\n"
	"{%- endfor -%}\n"
	"{%- if add_generation_prompt -%}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif -%}\n";

static const char gemma[] =
	"{{- bos_token -}}\n"
	SYSTEM_AND_TURNS
	"{%- for m in turns -%}\n"
	MUST_ALTERNATE
	"{{ '<start_of_turn>' + ('model' if m.role == 'assistant' else m.role) + '\\n' }}\n"
	"{%- if loop.first and system -%}{{ system + '\\n\\n' }}{%- endif -%}\n"
	"{{ (m.content or '') | trim + '<end_of_turn>\\n' }}\n"
	"{%- endfor -%}\n"
	"{%- if add_generation_prompt -%}{{ '<start_of_turn>model\\n' }}{%- endif -%}\n";

static const char mistral[] =
	"{{- bos_token -}}\n"
	SYSTEM_AND_TURNS
	"{%- for m in turns -%}\n"
	MUST_ALTERNATE
	"{%- if m.role == 'user' -%}\n"
	"{{ '[INST] ' }}\n"
	"{%- if loop.first and system -%}{{ system + '\\n\\n' }}{%- endif -%}\n"
	"{{ (m.content or '') | trim + ' [/INST]' }}\n"
	"{%- else -%}\n"
	"{{ ' ' + (m.content or '') | trim ~ eos_token }}\n"
	"{%- endif -%}\n"
	"{%- endfor -%}\n";

static const char phi3[] =
	BOS_IF_ADDED
	"{%- for m in messages -%}\n"
	"{{ '<|' + m.role + '|>\\n' + (m.content or '') + '<|end|>\\n' }}\n"
	"{%- endfor -%}\n"
	"{%- if add_generation_prompt -%}{{ '<|assistant|>\\n' }}{%- endif -%}\n";

/* An encoder reads one text: the last message, after the system message if there is one. */
static const char t5[] =
	"{%- if messages[0].role == 'system' -%}{{ messages[0].content ~ ' ' }}{%- endif -%}\n"
	"{{- messages[-1].content ~ eos_token -}}\n";

/* For models that only continue text: the messages as they are. What the user adds after an answer begins a line. */
static const char plain[] =
	BOS_IF_ADDED
	"{%- for m in messages -%}\n"
	"{{ ('\n' if m.role == 'user' and not loop.first else '') + (m.content or '') }}\n"
	"{%- endfor -%}\n";

static const struct {
	const char *name, *text;
} templates[] = {
	{ "chatml", chatml }, { "gemma", gemma }, { "llama2", llama2 },
	{ "llama3", llama3 }, { "mistral", mistral }, { "phi3", phi3 },
	{ "plain", plain }, { "t5", t5 },
};

enum { TEMPLATES = sizeof templates / sizeof *templates };

const char *chat_template(const char *name)
{
	for (size_t i = 0; i < TEMPLATES; i++)
		if (!strcmp(templates[i].name, name))
			return templates[i].text;
	return NULL;
}

const char *chat_template_name(size_t i)
{
	return i < TEMPLATES ? templates[i].name : NULL;
}
