/* The key is adapter.lora.prompt_prefix. */
#include "prefix.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/cli.h"
#include "lib/gguf/gguf.h"

int prefix_read(const char *adapter, char **prefix, struct why *w)
{
	double scale;
	char *file = strndup(adapter, cli_scaled(adapter, &scale));
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
