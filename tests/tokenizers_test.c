/* Every vocabulary of ../shared/tokenizers and its later/: the ids of every text under every pair of flags, and the
 * bytes that pieces give back, against what llama.cpp gave. Where that failed with an exception ("!...") nothing is
 * compared. pretok_test, vocab_test and ids.test need no such data. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/vocab/vocab.h"
#include "check.h"
#include "sha256.h"

enum { PATH = 4096 };

static char root[PATH - 512];

struct text {
	char *s;
	size_t n;
};

static struct text slurp(const char *path)
{
	struct text t = { NULL, 0 };
	FILE *f = fopen(path, "rb");
	size_t room = 0, got = 1;

	while (f && got) {
		if (t.n == room)
			t.s = realloc(t.s, room = room ? 2 * room : 65536);
		got = fread(t.s + t.n, 1, room - t.n, f);
		t.n += got;
	}
	if (f)
		fclose(f);
	return t;
}

/* Whether llama.cpp prints a warning in the place of characters that GPT-2's alphabet lacks; we print them. */
static int warns(const char *vocab, const char *name)
{
	static const char *const names[] = { "emoji_zwj2", "punct_letters", "spm_marks", "@all-ids" };

	for (size_t i = 0; i < sizeof names / sizeof *names && !strncmp(vocab, "m-whitespace", 12); i++)
		if (!strcmp(name, names[i]))
			return 1;
	return 0;
}

/* Whether llama.cpp has changed since the first set was made: </s> is a control token now, whatever the file says. */
static int superseded(const char *vocab, const char *name)
{
	static const char *const vocabs[] = { "gemma", "phi-3", "qwen2" };
	static const char *const names[] = { "special_all", "special_adjacent", "special_spaces", "@all-ids" };

	for (size_t i = 0; i < sizeof vocabs / sizeof *vocabs; i++)
		for (size_t k = 0; k < sizeof names / sizeof *names && !strcmp(vocab, vocabs[i]); k++)
			if (!strcmp(name, names[k]))
				return 1;
	return 0;
}

/* The text of that name; the later set uses those of the first, too. */
static struct text find_text(const char *name)
{
	char path[PATH];
	struct text text;

	snprintf(path, sizeof path, "%s/texts/%s.txt", root, name);
	text = slurp(path);
	if (text.s)
		return text;
	snprintf(path, sizeof path, "%s/../texts/%s.txt", root, name);
	return slurp(path);
}

static void result(int ok, const char *vocab, const char *name, const char *flags, const char *what)
{
	check(ok, "%s: %s %s: %s", vocab, name, flags, what);
}

/* 0 and the ids of a text of the data, or -1. */
static int encode_case(struct vocab *v, const char *name, const char *flags, struct ids *ids)
{
	struct text text = find_text(name);
	struct why w;
	int add = flags[1] == '1', special = flags[3] == '1', bad;

	bad = !text.s || (add && vocab_rules(v)->add_bos && ids_add(ids, vocab_rules(v)->bos))
		|| vocab_encode(v, text.s, text.n, special ? VOCAB_SPECIAL : 0, ids, &w)
		|| (add && vocab_rules(v)->add_eos && ids_add(ids, vocab_rules(v)->eos));
	free(text.s);
	return bad;
}

/* "1 2 3", or sha256:N:HEX of that where the reference is so. */
static char *spell(const struct ids *ids, int digest)
{
	char *s = malloc(16 * ids->n + 128), hex[65], *end = s;

	*s = 0;
	for (size_t i = 0; i < ids->n; i++)
		end += sprintf(end, i ? " %d" : "%d", ids->id[i]);
	if (digest) {
		sha256(s, (size_t)(end - s), hex);
		sprintf(s, "sha256:%zu:%s", ids->n, hex);
	}
	return s;
}

static void check_ids(struct vocab *v, const char *vocab, char *line)
{
	char *name = line, *flags = strchr(line, '\t'), *want = flags ? strchr(flags + 1, '\t') : NULL, *got;
	struct ids ids = { 0 };
	int bad;

	if (!want)
		return;
	*flags++ = 0;
	if (superseded(vocab, name))
		return;
	*want++ = 0;
	bad = encode_case(v, name, flags, &ids);
	got = spell(&ids, !strncmp(want, "sha256:", 7));
	if (*want != '!')
		result(!bad && !strcmp(got, want), vocab, name, flags, bad ? "fails" : "other ids");
	free(got);
	free(ids.id);
}

static void check_pieces(struct vocab *v, const char *vocab, char *line)
{
	char *name = strtok(line, "\t"), *flags = strtok(NULL, "\t"), *tags = strtok(NULL, "\t"),
		*bytes = strtok(NULL, "\t"), *want = strtok(NULL, "\t");
	struct ids ids = { 0 };
	struct card card;
	char *text, hex[65];
	size_t room = 1 << 24, n;

	if (!want || !strchr(tags, 'P') || superseded(vocab, name) || warns(vocab, name))
		return;
	vocab_card(v, &card);
	if (*name == '@')
		for (int32_t i = 0; i < card.n_vocab; i++)
			ids_add(&ids, i);
	else if (encode_case(v, name, flags, &ids))
		result(0, vocab, name, flags, "fails");
	text = malloc(room);
	for (int special = 0; special < 2; special++) {
		if (!strstr(tags, special ? "P1" : "P0"))
			continue;
		n = 0;
		for (size_t i = 0; i < ids.n; i++) {
			size_t length;
			const char *piece = vocab_piece(v, ids.id[i], special, &length);

			if (n + length > room)
				text = realloc(text, room *= 2);
			memcpy(text + n, piece, length);
			n += length;
		}
		sha256(text, n, hex);
		result(n == strtoul(bytes, NULL, 10) && !strcmp(hex, want), vocab, name, flags,
			special ? "other bytes with --special" : "other bytes");
	}
	free(text);
	free(ids.id);
}

static void each_line(struct vocab *v, const char *vocab, const char *kind,
	void (*each)(struct vocab *, const char *, char *))
{
	char path[PATH], *line, *end;
	struct text t;

	snprintf(path, sizeof path, "%s/%s/%s.%s.txt", root, kind, vocab, kind);
	t = slurp(path);
	if (!t.s) {
		result(0, vocab, kind, "", "cannot be read");
		return;
	}
	for (line = t.s; (end = memchr(line, '\n', (size_t)(t.s + t.n - line))); line = end + 1) {
		*end = 0;
		each(v, vocab, line);
	}
	free(t.s);
}

static void check_vocab(const char *path, const char *vocab)
{
	struct why w, ignored;
	struct gguf *g = gguf_open(path, 0, &w);
	struct vocab *v = g ? vocab_open(g, VOCAB_ENCODE, &w) : NULL;

	if (v) {
		each_line(v, vocab, "ids", check_ids);
		each_line(v, vocab, "detok", check_pieces);
	} else if (g && !vocab_supported(g, &ignored)) {
		check_skip("%s", w.text);
	} else {
		result(0, vocab, "", "", w.text);
	}
	vocab_close(v);
	gguf_close(g);
}

/* Returns how many there are. */
static int each_vocab(const char *folder, const char *prefix)
{
	char path[PATH], name[256];
	struct dirent *e;
	int count = 0;
	DIR *d;

	snprintf(path, sizeof path, "%s/%s", root, folder);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		size_t n = strlen(e->d_name), skip = strlen(prefix);

		if (n < skip + 6 || n > 200 || strncmp(e->d_name, prefix, skip) || strcmp(e->d_name + n - 5, ".gguf"))
			continue;
		snprintf(name, sizeof name, "%.*s", (int)(n - skip - 5), e->d_name + skip);
		snprintf(path, sizeof path, "%s/%s/%s", root, folder, e->d_name);
		check_vocab(path, name);
		count++;
	}
	if (d)
		closedir(d);
	return count;
}

int main(int argc, char **argv)
{
	const char *shared = getenv("SHARED");
	char first[PATH - 600];

	if (argc > 1)
		snprintf(first, sizeof first, "%s", argv[1]);
	else
		snprintf(first, sizeof first, "%s/tokenizers", shared ? shared : "../shared");
	snprintf(root, sizeof root, "%s", first);
	if (each_vocab("vocabs", "ggml-vocab-") + each_vocab("mini", "") == 0)
		check_skip("no vocabularies in %s (13340 cases)", root);
	snprintf(root, sizeof root, "%s/later", first);
	if (each_vocab("mini", "") == 0)
		check_skip("no vocabularies in %s (20074 cases)", root);
	return check_end("tokenizers_test");
}
