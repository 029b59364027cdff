/* The table of commands. Most of them change the messages; the next turn evaluates what has changed. */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/out.h"
#include "lib/base/similar.h"
#include "lib/base/system.h"
#include "gen/pipeline.h"
#include "console.h"
#include "convert.h"
#include "layout.h"
#include "sampling.h"

typedef enum command_answer command_function(struct conversation *v, const char *argument, struct why *w);

static command_function help, bye, clear, retry, undo, set_system, save, load, set, show, tokens;

static const struct {
	const char *name, *argument, *help;
	command_function *run;
	int needs;              /* requires an argument */
} commands[] = {
	{ "/help", "", "this list", help, 0 },
	{ "/bye", "", "end the conversation, as ^D does", bye, 0 },
	{ "/clear", "", "begin a new conversation", clear, 0 },
	{ "/retry", "", "another answer to the last turn", retry, 0 },
	{ "/undo", "", "undo the last turn and its answer", undo, 0 },
	{ "/system", "[TEXT]", "show the system message, or set it; - for none", set_system, 0 },
	{ "/save", "FILE", "write the messages to a new file", save, 1 },
	{ "/load", "FILE", "load a saved conversation", load, 1 },
	{ "/set", "[KEY VALUE]", "change a sampling option (off: default), or think: show, hide", set, 0 },
	{ "/show", "", "model, system message, options, length", show, 0 },
	{ "/tokens", "", "how much of the context is used", tokens, 0 }
};

enum { COMMANDS = sizeof commands / sizeof *commands };

/* Prints words as a paragraph from column `indent`, where the cursor must be, up to `columns`. */
static void print_words(const char *s, int indent, int columns)
{
	int at = indent;

	for (int n; *s; s += n + (s[n] == ' ')) {
		n = (int)strcspn(s, " ");
		if (at > indent && at + 1 + n > columns) {
			printf("\n%*s", indent, "");
			at = indent;
		} else if (at > indent)
			at += printf(" ");
		at += printf("%.*s", n, s);
	}
	printf("\n");
}

static enum command_answer help(struct conversation *v, const char *argument, struct why *w)
{
	int columns, rows, wide;

	system_terminal_size(STDOUT_FILENO, &columns, &rows);
	wide = columns >= 60;
	for (int i = 0; i < COMMANDS; i++) {
		char left[32];

		snprintf(left, sizeof left, "%s %s", commands[i].name, commands[i].argument);
		printf(wide ? "%-18s " : "%s\n    ", left);
		print_words(commands[i].help, wide ? 19 : 4, columns);
	}
	print_words("\"\"\" begins a text of several lines and ends it; so does \\ at the end of a line.", 0, columns);
	print_words("A space before / sends the line to the model.", 0, columns);
	return COMMAND_DONE;
}

static enum command_answer bye(struct conversation *v, const char *argument, struct why *w)
{
	return COMMAND_BYE;
}

/* ---- messages ---- */

static enum command_answer saved(struct conversation *v, struct why *w)
{
	int status = messages_save(&v->messages, w);

	if (status > 0)
		console_say("%s", w->text);
	return status < 0 ? COMMAND_FAILED : COMMAND_DONE;
}

static enum command_answer clear(struct conversation *v, const char *argument, struct why *w)
{
	messages_clear(&v->messages);
	return saved(v, w);
}

/* The number of the last turn's first message; m->n if there is none. */
static size_t last_turn(const struct messages *m)
{
	size_t turns = messages_turns(m);

	return turns ? messages_turn(m, turns - 1) : m->n;
}

static enum command_answer undo(struct conversation *v, const char *argument, struct why *w)
{
	size_t last = last_turn(&v->messages);

	if (last == v->messages.n) {
		console_say("/undo: there is no turn yet");
		return COMMAND_DONE;
	}
	messages_cut(&v->messages, last);
	return saved(v, w);
}

static void print_text(const char *s, size_t n)
{
	struct why ignored;     /* as show.c: the error of a terminal that is gone also ends the input */

	out_shown(s, n);
	out_shown_end();
	out_char('\n');
	out_flush(&ignored);
}

static void print_system(const struct conversation *v)
{
	const char *given = stage_option(&v->q->stage[CHAT], "--system");
	struct bytes old = { .limit = CONVERT_MAX };

	if (given)
		print_text(given, strlen(given));
	else if (messages_turn(&v->messages, 0) && !messages_content(&v->messages, 0, &old))
		print_text(old.p, old.n);
	bytes_free(&old);
}

static enum command_answer set_system(struct conversation *v, const char *argument, struct why *w)
{
	struct stage *chat = &v->q->stage[CHAT];
	int none = !strcmp(argument, "-");

	if (!*argument) {
		print_system(v);
		return COMMAND_DONE;
	}
	stage_drop_option(chat, "--system", 1);
	if (messages_set_system(&v->messages, argument, none ? 0 : strlen(argument), w))
		return COMMAND_FAILED;
	return saved(v, w);
}

static enum command_answer save(struct conversation *v, const char *argument, struct why *w)
{
	int fd = open(argument, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct why ignored;

	if (fd < 0 || messages_write(&v->messages, 0, fd, &ignored) || fsync(fd))
		console_say("/save: %s: %s", argument, strerror(errno));
	if (fd >= 0)
		close(fd);
	return COMMAND_DONE;
}

static enum command_answer load(struct conversation *v, const char *argument, struct why *w)
{
	struct why cause;
	int status = messages_read(&v->messages, argument, &cause);

	if (status)
		console_say("/load: %s", cause.text);
	return status < 0 ? COMMAND_DONE : saved(v, w);
}

static enum command_answer tokens(struct conversation *v, const char *argument, struct why *w)
{
	int32_t context = v->l->card.n_ctx;
	struct layout layout = { 0 };
	size_t n = v->spans.ids.n;

	/* what was taken back stays in the state until the next turn */
	if (v->messages.n <= v->before) {
		if (messages_turns(&v->messages) && layout_make(v, v->messages.first, &layout, w))
			return COMMAND_FAILED;
		n = layout.n;
		layout_free(&layout);
	}
	if (context)
		printf("%zu of %" PRId32 " tokens, %.0f%%\n", n, context, 100.0 * (double)n / context);
	else
		printf("%zu tokens\n", n);
	return COMMAND_DONE;
}

static enum command_answer retry(struct conversation *v, const char *argument, struct why *w)
{
	size_t last = last_turn(&v->messages);
	static char seed[24];

	v->again.n = 0;
	if (last == v->messages.n || messages_content(&v->messages, last, &v->again)) {
		console_say("/retry: there is no turn yet");
		return COMMAND_DONE;
	}
	/* the same seed would give the same answer */
	v->q->seed = v->q->seed == INT64_MAX ? 0 : v->q->seed + 1;
	snprintf(seed, sizeof seed, "%" PRId64, v->q->seed);
	if (!v->q->stage[SAMPLE].shell && (stage_set_option(&v->q->stage[SAMPLE], "--seed", seed, w)
	    || pipeline_restart(v->q, v->l, w)))
		return COMMAND_FAILED;
	messages_cut(&v->messages, last);
	return COMMAND_TURN;
}

static enum command_answer set(struct conversation *v, const char *argument, struct why *w)
{
	size_t n = strcspn(argument, " ");

	if (n == 6 && !memcmp(argument, "system", 6))
		return set_system(v, argument + n + strspn(argument + n, " "), w);
	return sampling_set(v, argument, w);
}

static enum command_answer show(struct conversation *v, const char *argument, struct why *w)
{
	print_text(v->q->model, strlen(v->q->model));
	print_system(v);
	sampling_print(v);
	printf("%zu turn%s, ", messages_turns(&v->messages), messages_turns(&v->messages) == 1 ? "" : "s");
	return tokens(v, argument, w);
}

/* ---- all commands ---- */

/* Translates names that users of llama-cli and ollama are used to. */
static void translate(char name[64])
{
	static const char *const names[][2] = {
		{ "/exit", "/bye" }, { "/quit", "/bye" }, { "/?", "/help" }, { "/regen", "/retry" }
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i][0]))
			strcpy(name, names[i][1]);
}

enum command_answer command(struct conversation *v, const char *line, size_t n, struct why *w)
{
	size_t length = strcspn(line, " ");
	const char *argument = line + length + strspn(line + length, " ");
	char name[64];

	if (*line != '/' || memchr(line, '\n', n))
		return COMMAND_NONE;
	snprintf(name, sizeof name, "%.*s", (int)length, line);
	translate(name);
	for (int i = 0; i < COMMANDS; i++) {
		enum command_answer answer = COMMAND_DONE;

		if (strcmp(commands[i].name, name))
			continue;
		if (commands[i].needs && !*argument)
			console_say("%s needs a %s", name, commands[i].argument);
		else
			answer = commands[i].run(v, argument, w);
		fflush(stdout);
		return answer;
	}
	for (int i = 0; i < COMMANDS; i++)
		if (similar(name, commands[i].name)) {
			console_say("no command %s; did you mean %s?", name, commands[i].name);
			return COMMAND_DONE;
		}
	console_say("no command %s (/help lists them; to send the line, type a space first)", name);
	return COMMAND_DONE;
}

const char *command_completions(const char *text, size_t n, size_t i)
{
	static const char prefix[] = "/set ";
	const size_t skip = sizeof prefix - 1;
	static char whole[128];
	const struct opt *o;

	if (n < skip || memcmp(text, prefix, skip)) {
		for (int k = 0; k < COMMANDS; k++)
			if (!strncmp(commands[k].name, text, n) && !i--)
				return commands[k].name;
		return NULL;
	}
	for (size_t k = 0; (o = sampling_option(k)); k++)
		if (!strncmp(o->name, text + skip, n - skip) && !i--) {
			snprintf(whole, sizeof whole, "%s%s", prefix, o->name);
			return whole;
		}
	return NULL;
}
