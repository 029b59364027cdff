/* A hash table of ids. */
#include "answered.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/grow.h"
#include "lib/base/hash.h"
#include "lib/base/json.h"
#include "lib/base/slurp.h"

enum { LINE_MEMORY = 1 << 30 };
#define FILE_MAX ((size_t)PTRDIFF_MAX)

static struct slot *find(const struct answered *a, const char *key, size_t n, uint32_t hash)
{
	struct slot *s = slots_first(&a->slots, hash);

	for (; s->index; s = slots_next(&a->slots, s)) {
		const struct key *k = &a->key[s->index - 1];

		if (s->hash == hash && k->n == n && !memcmp(a->keys.p + k->at, key, n))
			break;
	}
	return s;
}

int answered_has(const struct answered *a, const char *key, size_t n)
{
	return n && a->n && find(a, key, n, (uint32_t)hash_text(key, n))->index;
}

/* Adds the id that is at the end of a->keys. */
static int add(struct answered *a, size_t at, struct why *w)
{
	const char *key = a->keys.p + at;
	size_t n = a->keys.n - at;
	uint32_t hash = (uint32_t)hash_text(key, n);
	struct slot *s;

	if (slots_reserve(&a->slots) || (a->n == a->room && grow(&a->key, &a->room, sizeof *a->key, 256)))
		return why(w, "out of memory");
	s = find(a, key, n, hash);
	if (s->index) {
		a->keys.n = at;
		return 0;
	}
	a->key[a->n] = (struct key){ at, n };
	slots_put(&a->slots, s, hash, (uint32_t)a->n++);
	return 0;
}

/* Whether the line is the last of an answer that the engine gave. */
static int is_answer(const struct json *v)
{
	const struct json *response = json_get(v, "response");
	const struct json *body = response ? json_get(response, "body") : v, *error = json_get(body, "error");
	const char *type = error ? json_get_string(error, "type") : NULL;

	if (error && error->type == JSON_OBJECT)
		return !type || strcmp(type, "server_error");
	return json_get(body, "usage") || json_get(body, "tokens") || json_get(body, "content")
		|| json_get(body, "prompt") || json_get(body, "model");
}

static int read_line(struct answered *a, const char *line, size_t n, struct why *w)
{
	struct arena memory = { .limit = LINE_MEMORY };
	struct json_writer to = json_to_bytes(&a->keys);
	struct why ignored;
	const struct json *v = json_parse(&memory, line, n, &ignored), *id = json_get(v, "custom_id");
	size_t at = a->keys.n;
	int failed = 0;

	if (!id)
		id = json_get(v, "id");
	if (id && id->type != JSON_NULL && is_answer(v)) {
		json_value(&to, id);
		failed = to.failed ? why(w, "out of memory") : add(a, at, w);
	}
	arena_free(&memory);
	return failed;
}

/* If the file is standard output, cuts it to its first n bytes, so that answers follow those. */
static int cut_output(const char *path, size_t n, struct why *w)
{
	struct stat file, out;

	if (stat(path, &file) || fstat(STDOUT_FILENO, &out) || file.st_dev != out.st_dev || file.st_ino != out.st_ino)
		return 0;
	if (ftruncate(STDOUT_FILENO, (off_t)n) || lseek(STDOUT_FILENO, (off_t)n, SEEK_SET) < 0)
		return why(w, "%s: %s", path, strerror(errno));
	return 0;
}

int answered_read(struct answered *a, const char *path, struct why *w)
{
	struct bytes text = { .limit = FILE_MAX };
	const char *end;
	size_t at = 0;
	int failed;

	a->keys.limit = FILE_MAX;
	if (access(path, F_OK) && errno == ENOENT)
		return 0;
	failed = slurp(path, &text, w);
	while (!failed && at < text.n && (end = memchr(text.p + at, '\n', text.n - at))) {
		failed = read_line(a, text.p + at, (size_t)(end - text.p) - at, w);
		at = (size_t)(end - text.p) + 1;
	}
	if (!failed && at < text.n)
		failed = cut_output(path, at, w);
	bytes_free(&text);
	return failed;
}

void answered_free(struct answered *a)
{
	bytes_free(&a->keys);
	free(a->key);
	free(a->slots.slot);
	*a = (struct answered){ 0 };
}
