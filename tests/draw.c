/* draw: random texts of a grammar for the tests, and whether messages made of them are valid.
 *
 *	draw texts GRAMMAR N SEED DIR
 *	        N texts in the files DIR/1 to DIR/N, drawn from characters, the grammar's literals and the tokens that
 *	        it names, as a model with random logits draws them
 *	draw calls TOOLS < messages
 *	        each has a call, and each call is of a tool in the file, with arguments that are valid
 *	draw content SCHEMA < messages
 *	        each has no call, and its content is JSON that is valid
 *
 * The last two print the messages that are not so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cli.h"
#include "lib/base/json.h"
#include "lib/base/slurp.h"
#include "lib/grammar/mask.h"
#include "random.h"
#include "validator.h"

enum { PIECES = 4096, EOG = 0, ENOUGH = 2000, LONGEST = 20000 };
#define MEMORY ((size_t)64 << 20)

static const struct opt opts[] = { { 0 } };
static struct cli c = { .program = "draw", .synopsis = "texts GRAMMAR N SEED DIR | calls TOOLS | content SCHEMA",
	.purpose = "random texts of a grammar, for tests", .opts = opts };
static struct why w;
static struct arena arena = { .limit = MEMORY };

/* Id 0 ends a text; then come characters, the grammar's literals, and tokens that print nothing but have a name. */
static struct piece {
	const char *s;
	size_t n;
	int is_token;
} piece[PIECES];
static int32_t n_pieces = 1, n_characters;

static int32_t add(const char *s, size_t n, int is_token)
{
	char *copy = arena_text(&arena, n + 1);

	if (!copy || n_pieces == PIECES)
		cli_die(&c, "too many pieces");
	memcpy(copy, s, n);
	copy[n] = '\0';
	piece[n_pieces] = (struct piece){ copy, n, is_token };
	return n_pieces++;
}

static int32_t find_token(const void *context, const char *text, size_t n)
{
	(void)context;
	for (int32_t id = n_characters; id < n_pieces; id++)
		if (piece[id].is_token && piece[id].n == n && !memcmp(piece[id].s, text, n))
			return id;
	return add(text, n, 1);
}

static const char *printed(const void *context, int32_t id, size_t *n)
{
	(void)context;
	*n = piece[id].is_token ? 0 : piece[id].n;
	return piece[id].s ? piece[id].s : "";
}

/* The literals of a grammar; \x and the like end one. */
static void add_literals(const char *s)
{
	char text[1024];
	size_t n = 0;
	char close = 0;

	for (; *s; s++) {
		if (!close || *s == close) {
			if (close == '"' && n > 1)
				add(text, n, 0);
			close = close ? 0 : *s == '"' ? '"' : *s == '[' ? ']' : *s == '#' ? '\n' : 0;
			n = 0;
			continue;
		}
		if (*s == '\\')
			s++;
		if (n < sizeof text)
			text[n++] = s[-1] == '\\' && *s == 'n' ? '\n' : *s;
	}
}

static int allows(const uint32_t *mask, int32_t id)
{
	return mask[id / 32] >> id % 32 & 1;
}

/* Any id from `from` on, or the end. */
static int32_t choose(const uint32_t *mask, int32_t from)
{
	int32_t n = n_pieces - from, start = n ? (int32_t)random_below((size_t)n) : 0;

	for (int32_t i = 0; i < n; i++)
		if (allows(mask, from + (start + i) % n))
			return from + (start + i) % n;
	return EOG;
}

static void draw_text(struct masker *m, FILE *out)
{
	struct mask_text *t = mask_start(m, &w);
	int32_t id = -1;

	for (size_t i = 0; t && id != EOG; i++) {
		const uint32_t *mask = mask_find(t, &w);

		if (!mask || i == LONGEST)
			cli_die(&c, "%s", mask ? "a text without end" : w.text);
		id = EOG;
		if (!allows(mask, EOG) || (i < ENOUGH && random_below(4))) {
			if (!random_below(i < ENOUGH ? 6 : 2))
				id = choose(mask, n_characters);
			if (id == EOG)
				id = choose(mask, 1);
		}
		cli_must(&c, mask_accept(t, id, &w), &w);
		if (id != EOG)
			fwrite(piece[id].s, 1, piece[id].n, out);
	}
	mask_drop(t);
}

static void draw_texts(char **argv)
{
	static const int32_t eog[] = { EOG };
	struct grammar_tokens tokens = { PIECES, find_token, NULL };
	struct mask_vocab vocab = { PIECES, printed, NULL, eog, 1, NULL };
	struct bytes text = { .limit = GRAMMAR_TEXT };
	struct grammar *g;
	struct masker *m;
	char name[4096];

	for (char s = '\n'; s < 0x7f; s = s == '\n' ? ' ' : (char)(s + 1))
		add(&s, 1, 0);
	cli_must(&c, slurp_text(argv[0], &text, &w) || bytes_put(&text, "", 1), &w);
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] < 0 && !memchr(text.p, text.p[i], i))
			add(text.p + i, 1, 0);
	n_characters = n_pieces;
	add_literals(text.p);
	if (!(g = grammar_parse_tokens(text.p, text.n - 1, &tokens, &w)) || !(m = masker_open(g, &vocab, &w)))
		cli_die(&c, "%s: %s", argv[0], w.text);
	random_state = (uint32_t)atoi(argv[2]) * 2654435761u + 1;
	for (int i = 1; i <= atoi(argv[1]); i++) {
		FILE *f;

		snprintf(name, sizeof name, "%s/%d", argv[3], i);
		if (!(f = fopen(name, "w")))
			cli_die(&c, "%s: cannot be written", name);
		draw_text(m, f);
		fclose(f);
	}
	masker_close(m);
	grammar_free(g);
	bytes_free(&text);
}

/* ---- checking ---- */

static const struct json *parse(struct arena *a, const char *text)
{
	return json_parse(a, text ? text : "", text ? strlen(text) : 0, &w);
}

static int calls_are_valid(const struct json *m, const struct json *tools, struct arena *a)
{
	const struct json *calls = json_get(m, "tool_calls"), *tool, *schema;

	for (const struct json *call = calls ? calls->child : NULL; call; call = call->next) {
		const struct json *function = json_get(call, "function");
		const struct json *arguments = parse(a, json_get_string(function, "arguments"));

		for (tool = tools->child; tool; tool = tool->next)
			if (!strcmp(json_get_string(json_get(tool, "function"), "name"),
				    json_get_string(function, "name")))
				break;
		schema = json_get(json_get(tool, "function"), "parameters");
		if (!tool || !arguments || arguments->type != JSON_OBJECT
		    || (schema && !validator_allows(schema, arguments)))
			return 0;
	}
	return calls && calls->n;
}

static void check(const char *name, int is_content)
{
	struct bytes text = { .limit = MEMORY };
	static char line[1 << 20];
	const struct json *document;

	if (slurp_text(name, &text, &w) || !(document = json_parse(&arena, text.p, text.n, &w)))
		cli_die(&c, "%s: %s", name, w.text);
	while (fgets(line, sizeof line, stdin)) {
		struct arena a = { .limit = MEMORY };
		const struct json *m = parse(&a, line), *v;
		int valid;

		if (is_content)
			valid = !json_get(m, "tool_calls") && (v = parse(&a, json_get_string(m, "content")))
				&& validator_allows(document, v);
		else
			valid = calls_are_valid(m, document, &a);
		if (!valid)
			fputs(line, stdout);
		arena_free(&a);
	}
	bytes_free(&text);
}

int main(int argc, char **argv)
{
	cli_start(&c, argc, argv);
	while (cli_next(&c))
		;
	if (c.argc == 5 && !strcmp(c.argv[0], "texts"))
		draw_texts(c.argv + 1);
	else if (c.argc == 2 && (!strcmp(c.argv[0], "calls") || !strcmp(c.argv[0], "content")))
		check(c.argv[1], !strcmp(c.argv[0], "content"));
	else
		cli_usage(&c, "expected texts, calls or content");
	arena_free(&arena);
	return cli_end(&c);
}
