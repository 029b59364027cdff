/* The command line of gen: where the prompt comes from, and what goes together. */
#include "options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "lib/base/quote.h"
#include "lib/base/slurp.h"
#include "hosts.h"
#include "mistakes.h"
#include "options_parts.h"

/* Checks what depends on more than which options were given. */
static void check(const struct request *q, const struct cli *c)
{
	struct why w;

	if (q->templated && !q->conversation && !q->rendered && !q->requests)
		cli_usage(c, "--system, --tools, --set, --template, --template-name and --history require --chat, -i "
			"or a prompt");
	if (q->conversation && q->print_pipeline)
		cli_usage(c, "a conversation and --print-pipeline exclude each other: the first turn is chat | tok "
			"--no-bos | ...");
	if (q->json && q->print_pipeline && !q->listed)
		cli_usage(c, "--json and --print-pipeline exclude each other without --lines or -N/--texts");
	if (q->echo && !q->prompt && !q->file)
		cli_usage(c, "--echo requires a prompt on the command line or in a file");
	if (q->echo && q->escape && q->file)
		cli_usage(c, "--echo and -e/--escape exclude each other with a file");
	if (q->escape && q->stage[TOK].shell && !q->prompt)
		cli_usage(c, "-e/--escape and --stage tok exclude each other without a prompt on the command line");
	if (q->hosts && hosts_check(q->hosts, q->kv != NULL, &w) < 0)
		cli_usage(c, "--hosts: %s", w.text);
	if (q->lines && (q->prompt || q->file))
		cli_usage(c, "--lines: no prompts besides those in %s", q->lines);
	if (q->constraint && q->conversation && !q->once)
		cli_usage(c, "--%s: standard input holds the turns", q->constraint);
	if (q->requests && q->constraint && (!q->file || slurp_is_stdin(q->file)))
		cli_usage(c, "--%s: standard input holds the requests", q->constraint);
	if (q->requests && q->constraint && q->schema)
		cli_usage(c, "--%s: a file is required with --requests", q->constraint);
	if (q->constraint && !q->requests && (q->lines ? slurp_is_stdin(q->lines) : !q->prompt && !q->file))
		cli_usage(c, "--%s: standard input holds the prompt", q->constraint);
}

/* Replaces the escapes in a prompt from the command line. */
static void undo_escapes(struct request *q, const struct cli *c)
{
	char *text = malloc(q->prompt_n + 1);

	if (!text)
		cli_die(c, "out of memory");
	q->prompt_n = quote_undo(q->prompt, q->prompt_n, text);
	text[q->prompt_n] = 0;
	q->prompt = text;
	q->escape = 0;
}

/* Where the prompt comes from: one of an operand, -p and -f; - is standard input. With options of a conversation, the
 * prompt is its only turn. */
static void find_prompt(struct request *q, const struct cli *c)
{
	if (q->requests) {
		if (c->argc > 1)
			cli_usage(c, "unexpected operand \"%s\": one file of requests at most", c->argv[1]);
		q->file = c->argc && !slurp_is_stdin(c->argv[0]) ? c->argv[0] : NULL;
		return;
	}
	mistakes_command(c);
	if (c->argc > 1)
		cli_usage(c, "unexpected operand \"%s\": quote the prompt (try --help)", c->argv[1]);
	if ((c->argc > 0) + (q->prompt != NULL) + (q->file != NULL) > 1)
		cli_usage(c, "one prompt at most: an operand, -p/--prompt or -f/--file");
	if (c->argc)
		q->prompt = c->argv[0];
	if (q->prompt && !strcmp(q->prompt, "-"))
		q->prompt = NULL;
	q->prompt_n = q->prompt ? strlen(q->prompt) : 0;
	if (q->file && slurp_is_stdin(q->file))
		q->file = NULL;
	if (q->listed || q->best_of) {
		q->rendered = q->conversation || q->templated;
		q->conversation = 0;
		return;
	}
	q->conversation |= q->templated && (q->prompt || q->file);
	/* the caller may have a use for standard input, as a loop over lines has */
	q->once = q->conversation && !q->interactive && (q->prompt || q->file);
}

/* Makes the prompt what the first stage is to print, or the turn of a conversation. */
static void read_prompt(struct request *q, const struct cli *c)
{
	static struct bytes text = { .limit = OPTIONS_PROMPT_MAX };
	struct why w;

	if (q->escape && q->prompt)
		undo_escapes(q, c);
	/* tok opens the file of --lines, but chat and a command in its place cannot */
	if (q->lines && (q->rendered || q->stage[TOK].shell) && strcmp(q->lines, "-"))
		q->file = q->lines;
	if (q->file)
		options_check_file(q->file, c);
	if (!q->file || !q->conversation)
		return;
	cli_must(c, slurp_text(q->file, &text, &w)
		|| (bytes_put(&text, "", 1) && why(&w, "%s: too long", q->file)), &w);
	q->prompt = text.p;
	q->prompt_n = text.n - 1;
}

/* The record has all options but those about where it runs. */
static void check_verify(const struct request *q, const struct cli *c)
{
	static const char *const names[] = { "verify", "model", "threads", "backend", "batch-size", "hosts" };
	size_t n = sizeof names / sizeof *names, k;

	for (size_t i = 0; i < q->n_given; i++) {
		for (k = 0; k < n && strcmp(q->given[i].o->name, names[k]); k++)
			;
		if (k == n)
			cli_usage(c, "--verify and --%s exclude each other: the record has the options",
				q->given[i].o->name);
	}
	if (c->argc)
		cli_usage(c, "--verify: unexpected operand \"%s\" (try --help)", c->argv[0]);
}

void options(struct request *q, struct cli *c)
{
	const char *argv0 = c->argv[0];
	int is_chat;

	options_take(q, c);
	if (q->verify) {
		check_verify(q, c);
		return;
	}
	find_prompt(q, c);
	check(q, c);
	read_prompt(q, c);
	is_chat = q->conversation || q->rendered || q->requests;
	options_model(q, c, argv0, is_chat);
	if (isatty(STDERR_FILENO) && !is_chat && !q->print_pipeline && options_has_template(q->model) > 0)
		cli_warn(c, "%s answers questions: try ask(1), or -i; gen continues the text", q->model);
	if (!is_chat && !q->prompt && !q->file && !q->lines && !q->print_pipeline && isatty(STDIN_FILENO)
	    && isatty(STDERR_FILENO))
		cli_warn(c, "reading the prompt from the terminal: ^D ends it (-i holds a conversation)");
	q->plain = q->interactive && !options_names_template(q) && options_only_continues(q->model);
}
