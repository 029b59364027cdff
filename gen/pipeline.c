/* The stages and the pipes between them. */
#include "pipeline.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/out.h"

/* The stages of each topology in the order of the stream; those that are not used are left out. From TEE the ids go
 * back to FEED, too. */
static const enum stage_number loop_stages[] = { PROMPT, TOK, FEED, FWD, SAMPLE, STOPS, TEE, BEST, DETOK, STAGES };
static const enum stage_number chain_stages[] = { PROMPT, TOK, FWD, TEE, DETOK, STAGES };
static const enum stage_number conversation_stages[] = { FEED, FWD, SAMPLE, STOPS, TEE, DETOK, STAGES };

/* fwd starts first: it takes the longest. A fault of one stage shows in those after it: this is the order in which
 * it is looked for. */
static const enum stage_number start_order[] = { FWD, PROMPT, TOK, SAMPLE, STOPS, BEST, DETOK };
static const int fault_order[] = { SCHEMA, CHAT, TOK, FWD, DRAFT, SAMPLE, STOPS, BEST, DETOK, ANSWER };

enum { STARTED = sizeof start_order / sizeof *start_order, FAULTS = sizeof fault_order / sizeof *fault_order };

static const enum stage_number *topology(const struct request *q)
{
	return q->chat ? conversation_stages : q->chained ? chain_stages : loop_stages;
}

/* The first stage that is used, from `at` on. The answers of --chat --json are not printed. */
static const enum stage_number *next_used(const struct request *q, const enum stage_number *at)
{
	while (*at != STAGES && (!stage_used(&q->stage[*at]) || (*at == DETOK && q->chat && q->json)))
		at++;
	return at;
}

static int is_part(const struct request *q, enum stage_number number)
{
	const enum stage_number *at = next_used(q, topology(q));

	while (*at != number && *at != STAGES)
		at = next_used(q, at + 1);
	return *at == number;
}

/* ---- running ---- */

static void close_end(int *fd)
{
	if (*fd > STDERR_FILENO)
		close(*fd);
	*fd = -1;
}

/* Makes the pipes: in[] and out[] of each stage, gen's own ends among them. */
static int make_pipes(const struct request *q, int *in, int *out, int text, struct why *w)
{
	const enum stage_number *at = next_used(q, topology(q)), *next;
	int fd[2];

	for (; *at != STAGES; at = next) {
		next = next_used(q, at + 1);
		if (*next == STAGES) {
			out[*at] = text;
			break;
		}
		if (stage_pipe(fd, w))
			return -1;
		out[*at] = fd[1];
		in[*next] = fd[0];
	}
	return 0;
}

/* The schema's grammar, in a file that sample can open. */
static int make_grammar(struct request *q, struct why *w)
{
	FILE *f;

	if (!stage_used(&q->stage[SCHEMA]) || q->grammar)
		return 0;
	if (!(f = tmpfile()))
		return why(w, "cannot create a temporary file");
	if (stage_start(&q->stage[SCHEMA], -1, dup(fileno(f)), w) || stage_wait(&q->stage[SCHEMA], w))
		return -1;
	rewind(f);
	q->grammar = fileno(f);
	snprintf(q->grammar_path, sizeof q->grammar_path, "/dev/fd/%d", q->grammar);
	if (stage_arg(&q->stage[SAMPLE], "--grammar-file", w))
		return -1;
	return stage_arg(&q->stage[SAMPLE], q->grammar_path, w);
}

int pipeline_start(struct request *q, struct loop *l, int text, struct why *w)
{
	int in[STAGES], out[STAGES], status;

	if (make_grammar(q, w))
		return -1;
	for (int i = 0; i < STAGES; i++)
		in[i] = out[i] = -1;
	status = make_pipes(q, in, out, text, w);
	l->out = out[FEED];
	l->copy = out[TEE];
	frame_open_in(&l->in, in[FEED], "tok");
	frame_open_in(&l->back, in[TEE], q->chained ? "fwd" : "sample");
	for (int i = 0; i < STARTED; i++) {
		enum stage_number k = start_order[i];

		if (!status && is_part(q, k))
			status = stage_start(&q->stage[k], in[k], out[k], w);
		else if (status) {
			close_end(&in[k]);
			close_end(&out[k]);
		}
	}
	return status;
}

int pipeline_end(struct request *q, struct loop *l, int failing, struct why *w)
{
	close_end(&l->out);
	close_end(&l->copy);
	close_end(&l->in.fd);
	close_end(&l->back.fd);
	return stages_wait(q->stage, STAGES, failing, fault_order, FAULTS, w);
}

/* ---- printing ---- */

/* One word, quoted where the shell would see more in it than letters. */
static void print_word(const char *s)
{
	size_t plain = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%");

	if (*s && !s[plain]) {
		out_text(s);
		return;
	}
	out_char('\'');
	for (; *s; s++)
		if (*s == '\'')
			out_text("'\\''");
		else
			out_char(*s);
	out_char('\'');
}

static void print_stage(const struct request *q, enum stage_number number)
{
	const struct stage *s = &q->stage[number];

	if (number == TEE) {
		out_text("tee \"$dir/ids\"");
		return;
	}
	if (number == PROMPT) {
		out_text("printf %s ");
		print_word(s->text);
		return;
	}
	out_text("stage");
	if (s->command) {
		out_text(" sh -c ");
		print_word(s->command);
	}
	for (int i = 0; i < s->n && !s->command; i++) {
		out_char(' ');
		print_word(s->argv[i]);
	}
	if (number == FEED)
		out_text(" \"$dir/ids\"");
	if (number == SAMPLE && stage_used(&q->stage[SCHEMA]) && !s->command)
		out_text(" --grammar-file \"$dir/grammar\"");
}

void pipeline_print(const struct request *q)
{
	const enum stage_number *at = next_used(q, topology(q));

	out_text("dir=$(mktemp -d) || exit\ntrap 'rm -r \"$dir\"' EXIT\n");
	out_text("# A stage that fails leaves its status; one whose reader is gone (SIGPIPE) does not.\n");
	out_text("stage() { \"$@\" || case $? in 141) ;; *) echo $? >>\"$dir/failed\" ;; esac; }\n");
	if (stage_used(&q->stage[FEED]))
		out_text("mkfifo \"$dir/ids\" || exit\n");
	if (stage_used(&q->stage[SCHEMA])) {
		print_stage(q, SCHEMA);
		out_text(" >\"$dir/grammar\"\n");
	}
	while (*at != STAGES) {
		print_stage(q, *at);
		do
			at = next_used(q, at + 1);
		while (*at == TEE && q->chained);
		out_text(*at == STAGES ? "\n" : " |\n\t");
	}
	out_text("read -r status 2>/dev/null <\"$dir/failed\" || exit 0\n[ \"$status\" = 2 ] && exit 2\nexit 1\n");
}
