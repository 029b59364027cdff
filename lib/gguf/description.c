/* The members are those that clients of serve see as "meta". */
#include "description.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/members.h"
#include "architecture.h"

void description_name(char *name, size_t room, const char *path)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	size_t n = strlen(file);

	if (n > 5 && !strcmp(file + n - 5, ".gguf"))
		n -= 5;
	snprintf(name, room, "%.*s", (int)n, file);
}

void description_write(struct json_writer *to, const char *name, const struct gguf *g, int64_t n_vocab, int64_t n_ctx,
	uint64_t vocab)
{
	struct gguf_string long_name;
	struct why ignored;
	int64_t n_embd = 0;

	json_open(to, '{');
	member_text(to, "name", name);
	if (gguf_text(g, "general.name", &long_name, &ignored) > 0)
		member_bytes(to, "description", long_name.s, long_name.n);
	else
		member_null(to, "description");
	member_int(to, "n_vocab", n_vocab);
	member_int(to, "n_ctx", n_ctx);
	architecture_integer(g, "embedding_length", 0, INT64_MAX, &n_embd, &ignored);
	member_int(to, "n_embd", n_embd);
	member_hash(to, "vocab_fingerprint", vocab);
	member_flag(to, "template", gguf_find(g, "tokenizer.chat_template") != NULL);
	json_close(to, '}');
}
