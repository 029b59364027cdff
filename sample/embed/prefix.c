/* The key is adapter.lora.prompt_prefix. */
#include "prefix.h"

#include <stdlib.h>
#include <string.h>

#include "lib/gguf/gguf.h"

/* FILE of FILE[=SCALE], as fwd --lora divides it. */
static char *file_of(const char *adapter)
{
	const char *equals = strrchr(adapter, '=');
	char *end = NULL;

	if (equals)
		strtod(equals + 1, &end);
	return strndup(adapter, end && end > equals + 1 && !*end ? (size_t)(equals - adapter) : strlen(adapter));
}

int prefix_read(const char *adapter, char **prefix, struct why *w)
{
	char *file = file_of(adapter);
	struct gguf *g = file ? gguf_open(file, 0, w) : NULL;
	struct gguf_string text;
	int found = g ? gguf_text(g, "adapter.lora.prompt_prefix", &text, w) : file ? -1 : why(w, "out of memory");

	*prefix = NULL;
	if (g && found < 0)
		why_in(w, file);
	if (found > 0 && !(*prefix = strndup(text.s, text.n)))
		found = why(w, "out of memory");
	gguf_close(g);
	free(file);
	return found < 0 ? -1 : 0;
}
