/* Runs the programs that convert messages to text, text to ids, and ids to text. */
#include "convert.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/io.h"
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

/* The same for a program that prints decimal ids, one per line. */
static int filter_ids(struct stage *s, const char *word, int in, struct ids *out, struct why *w)
{
	struct bytes lines = { .limit = CONVERT_MAX };
	int failed = filter(s, word, in, &lines, w) || (bytes_put(&lines, "", 1) && why(w, "out of memory"));

	for (const char *at = lines.p; !failed && *at; at += strcspn(at, "\n") + 1)
		failed = ids_append(out, &(int32_t){ (int32_t)atol(at) }, 1, w);
	bytes_free(&lines);
	return failed ? -1 : 0;
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

int convert_text(struct request *q, const char *text, size_t n, int append, struct ids *out, struct why *w)
{
	int in = stage_file(w);

	if (in >= 0 && io_write(in, text, n, w))
		return write_failed(in, w);
	return filter_ids(&q->stage[ENCODE], append ? "--append" : NULL, in, out, w);
}

int convert_ids(struct request *q, enum stage_number detok, int given, const int32_t *ids, size_t n, struct bytes *out,
	struct why *w)
{
	struct bytes raw = { .limit = CONVERT_MAX };
	int in = stage_file(w), failed;
	unsigned used;

	if (in >= 0 && frame_write_ids(in, ids, (uint32_t)n, !given, given ? 0 : FRAME_SAMPLED, 0, w))
		return write_failed(in, w);
	failed = filter(&q->stage[detok], given ? "--special" : NULL, in, &raw, w);
	for (size_t at = 0; at < raw.n; at += used) {
		int bad = utf8_next(raw.p + at, raw.n - at, &used) < 0;

		bytes_put(out, bad ? "\xef\xbf\xbd" : raw.p + at, bad ? 3 : used);
	}
	bytes_free(&raw);
	return failed ? -1 : out->failed ? why(w, "out of memory") : 0;
}

void convert_kept(struct request *q, struct ids *out)
{
	struct stage *kv = &q->stage[KV];
	struct why ignored;

	kv->quiet = 1;
	if (kv->n && filter_ids(kv, NULL, stage_file(&ignored), out, &ignored))
		out->n = 0;
}
