/* Adjacent stages are joined by a pipe. gen itself has the ends at `feed` and at `tee`. */
#include "pipeline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/out.h"

enum { WORDS_MAX = 1 << 28 };

/* ---- running ---- */

static void close_end(int *fd)
{
	if (*fd > STDERR_FILENO)
		close(*fd);
	*fd = -1;
}

/* Runs schema, or cat; the grammar goes to a file without a name that sample can open. */
static int make_grammar(struct request *q, struct why *w)
{
	static char path[STAGE_PATH];
	int fd, out;

	if (!q->stage[SCHEMA].n)
		return 0;
	if ((fd = stage_file(w)) < 0 || (out = stage_dup(fd, w)) < 0
	    || stage_start(&q->stage[SCHEMA], -1, out, w) || stage_wait(&q->stage[SCHEMA], w))
		return -1;
	q->grammar_file = fd;
	return stage_rewind(fd, w) || stage_arg_path(&q->stage[SAMPLE], "--grammar-file", fd, path, w) ? -1 : 0;
}

/* where sample reads, kept for its successor; -1: it has none */
static int logits = -1;

int pipeline_start(struct request *q, struct loop *l, int text, struct why *w)
{
	/* fwd first, because it takes longest to start */
	static const struct { enum stage_number from, to; } order[] = { { FWD, FWD_LAST }, { PROMPT, TOK },
		{ SAMPLE, STOPS }, { BEST, DETOK } };
	int in[STAGES], out[STAGES], fd[2], last = -1, status = make_grammar(q, w);

	for (int i = 0; i < STAGES; i++)
		in[i] = out[i] = -1;
	for (int i = PROMPT; i <= DETOK; i++) {
		if (!q->stage[i].n)
			continue;
		if (last >= 0 && !status && !(status = stage_pipe(fd, w))) {
			out[last] = fd[1];
			in[i] = fd[0];
		}
		last = i;
	}
	out[last] = text;
	if (q->edited && !status && (logits = fcntl(in[SAMPLE], F_DUPFD_CLOEXEC, 3)) < 0)
		status = why(w, "standard input of sample: %s", strerror(errno));
	l->out = out[FEED];
	l->copy = out[TEE];
	frame_open_in(&l->in, in[FEED], "tok");
	frame_open_in(&l->back, in[TEE], "sample");
	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		for (int k = order[i].from; k <= (int)order[i].to; k++)
			if (!status && q->stage[k].n)
				status = stage_start(&q->stage[k], in[k], out[k], w);
			else if (status) {
				close_end(&in[k]);
				close_end(&out[k]);
			}
	return status;
}

/* Makes a file with the stream's card. */
static int card_file(const struct loop *l, struct why *w)
{
	int fd = stage_file(w);

	return fd < 0 || card_write(fd, &l->card, w) || stage_rewind(fd, w) ? -1 : fd;
}

int pipeline_restart(struct request *q, struct loop *l, struct why *w)
{
	struct stage *sample = &q->stage[SAMPLE], *stops = &q->stage[STOPS];
	size_t n = sample->n;
	int card = -1, back[2], between[2], in, failed = 0;
	struct why ignored;
	char path[STAGE_PATH];

	stages_kill(sample, 1);
	stage_wait(sample, &ignored);
	if (stops->n) {
		stages_kill(stops, 1);
		stage_wait(stops, &ignored);
	}
	if (l->card.n_vocab) {
		if ((card = card_file(l, w)) < 0)
			return -1;
		failed = stage_arg_path(sample, "--card", card, path, w);
	}
	if (failed || stage_pipe(back, w))
		return -1;
	if (stops->n)
		failed = stage_pipe(between, w) || stage_start(stops, between[0], back[1], w);
	failed = failed || (in = stage_dup(logits, w)) < 0
		|| stage_start(sample, in, stops->n ? between[1] : back[1], w);
	stage_cut(sample, n);
	if (card >= 0)
		close(card);
	close_end(&l->back.fd);
	frame_open_in(&l->back, back[0], "sample");
	return failed ? -1 : 0;
}

int pipeline_end(struct request *q, struct loop *l, int failing, struct why *w)
{
	close_end(&l->out);
	close_end(&l->copy);
	close_end(&l->in.fd);
	close_end(&l->back.fd);
	close_end(&logits);
	return stages_wait(q->stage, KV, failing, w);
}

/* ---- printing ---- */

static void print_words(const struct stage *s)
{
	struct bytes words = { .limit = WORDS_MAX };

	if (stage_words(s, &words) == 0)
		out_shown(words.p, words.n);
	out_shown_end();
	bytes_free(&words);
}

void pipeline_print(const struct request *q)
{
	int first = 1;

	out_text("dir=$(mktemp -d) || exit\ntrap 'rm -r \"$dir\"' EXIT\n");
	out_text("# A stage that fails leaves its status; one whose reader is gone (SIGPIPE) does not.\n");
	out_text("stage() { \"$@\" || case $? in 141) ;; *) echo \"$? $1\" >>\"$dir/failed\" ;; esac; }\n");
	out_text("mkfifo \"$dir/ids\" || exit\n");
	if (q->stage[SCHEMA].n) {
		print_words(&q->stage[SCHEMA]);
		out_text(" >\"$dir/grammar\" || exit\n");
	}
	if (q->echo) {
		print_words(&q->stage[PROMPT]);
		out_char('\n');
	}
	for (int i = PROMPT; i <= DETOK; i++) {
		if (!q->stage[i].n)
			continue;
		out_text(first ? "" : " |\n\t");
		out_text(i == PROMPT || i == TEE ? "" : "stage ");
		print_words(&q->stage[i]);
		if (i == FEED || i == TEE)
			out_text(" \"$dir/ids\"");
		if (i == SAMPLE && q->stage[SCHEMA].n)
			out_text(" --grammar-file \"$dir/grammar\"");
		first = 0;
	}
	/* status 2 of a user's command, or of ssh, does not mean a usage error of ours */
	out_text("\nread -r failed 2>/dev/null <\"$dir/failed\" || exit 0\ncase $failed in *sh");
	out_text(q->hosts ? " | *fwd" : "");
	out_text(") exit 1 ;; 2\\ *) exit 2 ;; 3\\ *sample | 3\\ *feed) exit 3 ;; *) exit 1 ;; esac\n");
}
