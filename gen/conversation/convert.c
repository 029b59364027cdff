/* Runs the programs that convert messages to text, text to ids, and ids to text. */
#include "convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "lib/base/quote.h"
#include "lib/base/slurp.h"
#include "lib/base/utf8.h"
#include "lib/stream/frame.h"

/* Runs s with the file `in`, from its start, as input, and with one more argument unless word is NULL. Appends what it
 * prints to *out. Closes `in`. */
static int filter(struct stage *s, const char *word, int in, struct bytes *out, struct why *w)
{
	size_t n = s->n;
	int fd[2], failed;

	if (in < 0)
		return -1;
	if ((word && stage_arg(s, word, w)) || stage_rewind(in, w) || stage_pipe(fd, w)) {
		stage_cut(s, n);
		close(in);
		return -1;
	}
	failed = stage_start(s, in, fd[1], w);
	stage_cut(s, n);
	if (!failed)
		failed = slurp_fd(fd[0], s->name, out, w);
	close(fd[0]);
	return stage_wait(s, w) || failed ? -1 : 0;
}

/* The file could not be written. Closes it, and returns -1. */
static int write_failed(int file, struct why *w)
{
	close(file);
	return why_in(w, "temporary file");
}

int convert_messages(struct request *q, const struct messages *m, size_t first, struct bytes *out, struct why *w)
{
	struct stage *chat = &q->stage[CHAT];
	int in = stage_file(w);

	if (in >= 0 && messages_write(m, first, in, w))
		return write_failed(in, w);
	if (filter(chat, NULL, in, out, w))
		return -1;
	/* its remarks about the template need not be repeated at every turn */
	chat->quiet = 1;
	return 0;
}

/* Runs s as filter() does, and appends a NUL to what it prints. */
static int filter_lines(struct stage *s, const char *word, int in, struct bytes *lines, struct why *w)
{
	return filter(s, word, in, lines, w) || (bytes_put(lines, "", 1) && why(w, "out of memory")) ? -1 : 0;
}

/* Appends the ids that lines begin with. */
static int read_ids(const char *lines, struct ids *out, struct why *w)
{
	for (const char *at = lines; *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (ids_append(out, &(int32_t){ (int32_t)atol(at) }, 1, w))
			return -1;
	return 0;
}

/* *ends = room for the ends of n ids. */
static int new_ends(size_t **ends, size_t n, struct why *w)
{
	return (*ends = malloc((n + 1) * sizeof **ends)) ? 0 : why(w, "out of memory");
}

/* Reads the lines `id from to` of n ids. */
static int read_ends(const char *lines, size_t n, size_t **ends, struct why *w)
{
	if (new_ends(ends, n, w))
		return -1;
	for (size_t i = 0; i < n; i++, lines += strcspn(lines, "\n") + 1)
		if (sscanf(lines, "%*d %*u %zu", &(*ends)[i]) != 1)
			return why(w, "tok: no offset of token %zu", i);
	return 0;
}

int convert_text(struct request *q, const char *text, size_t n, int append, struct ids *out, size_t **ends,
	struct why *w)
{
	struct bytes lines = { .limit = CONVERT_MAX };
	size_t before = out->n;
	int in = stage_file(w), failed;

	if (in >= 0 && io_write(in, text, n, w))
		return write_failed(in, w);
	failed = filter_lines(&q->stage[ENCODE], append ? "--append" : NULL, in, &lines, w);
	if (failed && lines.n == lines.limit)
		why(w, "a text of %zu bytes has too many tokens", n);
	failed = failed || read_ids(lines.p, out, w)
		|| (ends && read_ends(lines.p, out->n - before, ends, w));
	bytes_free(&lines);
	return failed ? -1 : 0;
}

/* Reads the lines `id text` of n ids: appends the texts, which may contain NUL. */
static int read_pieces(struct bytes *lines, size_t n, struct bytes *out, size_t *ends, struct why *w)
{
	char *at = lines->p, *end = lines->p + lines->n;

	for (size_t i = 0; i < n; i++) {
		char *text = memchr(at, ' ', (size_t)(end - at)), *stop;

		if (!text++ || !(stop = memchr(text, '\n', (size_t)(end - text))))
			return why(w, "detok: no text of token %zu", i);
		if (bytes_put(out, text, quote_undo(text, (size_t)(stop - text), text)))
			return why(w, "out of memory");
		ends[i] = out->n;
		at = stop + 1;
	}
	return 0;
}

int convert_ids(struct request *q, int state, const int32_t *ids, size_t n, struct bytes *out, size_t **ends,
	struct why *w)
{
	struct bytes lines = { .limit = CONVERT_MAX };
	int in = stage_file(w), failed;

	if (in >= 0 && frame_write_ids(in, ids, (uint32_t)n, !state, state ? 0 : FRAME_SAMPLED, 0, w))
		return write_failed(in, w);
	failed = filter_lines(&q->stage[DECODE], state ? "--special" : NULL, in, &lines, w)
		|| new_ends(ends, n, w) || read_pieces(&lines, n, out, *ends, w);
	bytes_free(&lines);
	return failed ? -1 : 0;
}

int convert_bytes(const char *text, size_t n, struct bytes *out, struct why *w)
{
	unsigned used;

	for (size_t at = 0; at < n; at += used) {
		int bad = utf8_next(text + at, n - at, &used) < 0;

		bytes_put(out, bad ? "\xef\xbf\xbd" : text + at, bad ? 3 : used);
	}
	return out->failed ? why(w, "out of memory") : 0;
}

void convert_kept(struct stage *kv, const char *name, struct ids *out)
{
	struct bytes lines = { .limit = CONVERT_MAX };
	struct why ignored;

	kv->quiet = 1;
	if (kv->n && (filter_lines(kv, name, stage_file(&ignored), &lines, &ignored)
	    || read_ids(lines.p, out, &ignored))) {
		out->n = 0;
		stage_forget(kv);
	}
	bytes_free(&lines);
}
