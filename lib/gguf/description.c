/* The members are those that clients of serve see as "meta". */
#include "description.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "architecture.h"

void description_name(char *name, size_t room, const char *path)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	size_t n = strlen(file);

	if (n > 5 && !strcmp(file + n - 5, ".gguf"))
		n -= 5;
	snprintf(name, room, "%.*s", (int)n, file);
}

static void key(struct json_writer *to, const char *name)
{
	json_key(to, name, strlen(name));
}

static void put_text(struct json_writer *to, const char *name, const char *s, size_t n)
{
	key(to, name);
	json_string(to, s, n);
}

static void put_integer(struct json_writer *to, const char *name, int64_t i)
{
	key(to, name);
	json_int(to, i);
}

void description_write(struct json_writer *to, const char *name, const struct gguf *g, int64_t n_vocab, int64_t n_ctx,
	uint64_t vocab)
{
	struct gguf_string long_name;
	struct why ignored;
	char fingerprint[17];
	int64_t n_embd = 0;

	json_open(to, '{');
	put_text(to, "name", name, strlen(name));
	if (gguf_text(g, "general.name", &long_name, &ignored) > 0) {
		put_text(to, "description", long_name.s, long_name.n);
	} else {
		key(to, "description");
		json_raw(to, "null");
	}
	put_integer(to, "n_vocab", n_vocab);
	put_integer(to, "n_ctx", n_ctx);
	architecture_integer(g, "embedding_length", 0, INT64_MAX, &n_embd, &ignored);
	put_integer(to, "n_embd", n_embd);
	snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, vocab);
	put_text(to, "vocab_fingerprint", fingerprint, strlen(fingerprint));
	key(to, "template");
	json_raw(to, gguf_find(g, "tokenizer.chat_template") ? "true" : "false");
	json_close(to, '}');
}
