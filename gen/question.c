/* The command line of ask: the question, and the document that it is about. */
#include "options.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "lib/base/quote.h"
#include "lib/base/slurp.h"
#include "lib/base/space.h"
#include "lib/base/utf8.h"
#include "mistakes.h"
#include "options_parts.h"

/* The document, all of standard input. Somebody may have left it open without a thought: after a second says what is
 * waited for. */
static int read_document(const struct cli *c, const char *name, struct bytes *text, struct why *w)
{
	enum { SECOND = 1000 };
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	if (slurp_is_stdin(name) && isatty(STDERR_FILENO) && !poll(&in, 1, SECOND))
		cli_warn(c, "reading the document from standard input (--no-stdin: there is none)");
	return slurp_text(name, text, w);
}

/* The question, operands joined by blanks, then the document after an empty line. Returns where that begins. */
static size_t make_question(struct request *q, const struct cli *c)
{
	static struct bytes text = { .limit = OPTIONS_PROMPT_MAX };
	const char *document = q->file ? q->file : q->no_stdin || isatty(STDIN_FILENO) ? NULL : "-";
	size_t n;
	struct why w;
	int failed = 0;

	if (q->prompt)
		failed = bytes_puts(&text, q->prompt);
	for (int i = 0; i < c->argc; i++)
		failed |= (text.n && bytes_puts(&text, " ")) || bytes_puts(&text, c->argv[i]);
	if (q->escape && text.n)
		text.n = quote_undo(text.p, text.n, text.p);
	q->escape = 0;
	n = text.n;
	if (document && n)
		failed |= bytes_puts(&text, "\n\n");
	if (!failed && document && read_document(c, document, &text, &w)) {
		failed = text.n == text.limit;
		cli_must(c, !failed, &w);
	}
	/* a new line ends a document, and is not a part of it */
	while (text.n > n && text.p[text.n - 1] == '\n')
		text.n--;
	if (!failed && (!text.n || space_leading(text.p, text.n) == text.n))
		cli_usage(c, "no question (try --help)");
	if (failed || bytes_put(&text, "", 1))
		cli_die(c, "question and document are larger than %d MiB", OPTIONS_PROMPT_MAX >> 20);
	q->prompt = text.p;
	q->prompt_n = text.n - 1;
	q->file = NULL;
	return n ? n + 2 : 0;
}

/* A turn of a conversation is UTF-8. The document, of that name, begins at `from`. */
static void check_text(const struct request *q, const struct cli *c, const char *document, size_t from)
{
	size_t good = utf8_valid(q->prompt, q->prompt_n);

	if (good < q->prompt_n && good < from)
		cli_die(c, "the question: byte %zu is not UTF-8", good);
	if (good < q->prompt_n)
		cli_die(c, "%s: byte %zu is not UTF-8", document, good - from);
}

void options_ask(struct request *q, struct cli *c)
{
	const char *argv0 = c->argv[0], *document;
	int templated;
	size_t from;

	options_take(q, c);
	q->answer = 1;
	if (c->argc == 1)
		mistakes_command(c);
	mistakes_run(c);
	mistakes_files(c);
	if (q->constraint && !q->no_stdin && (!q->file || slurp_is_stdin(q->file)))
		cli_usage(c, "--%s: standard input holds the document", q->constraint);
	document = q->file && !slurp_is_stdin(q->file) ? q->file : "standard input";
	from = make_question(q, c);
	options_model(q, c, argv0, 1);
	templated = options_names_template(q) || options_has_template(q->model);
	q->rendered = templated && q->listed;
	q->conversation = q->once = templated && !q->listed;
	/* with a grammar the answer comes at once; that of a schema has a place for reasoning, if it is asked for */
	if (q->grammar && !q->think && q->budget < 0)
		q->think = -1;
	if (templated)
		check_text(q, c, document, from);
	if (!templated && q->templated)
		cli_die(c, "%s has no chat template: name one with --template", q->model);
	if (!templated)
		cli_warn(c, "%s has no chat template (--template): its text continues the question", q->model);
}
