/* A record is the members prompt, ids, text, seed, stop_reason and stop of a line, and those of its member "replay". */
#include "record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/fwd_opts.h"
#include "lib/base/bytes.h"
#include "lib/base/hex.h"
#include "lib/base/members.h"
#include "lib/base/slurp.h"
#include "lib/sampler/opts.h"
#include "lib/stream/arithmetic.h"
#include "tables.h"

enum { RECORD_MAX = 1 << 30 };  /* bytes of a record as a tree, and of a grammar */

/* The options that a record has: those on which ids or text depend. */
static const char *const names[] = { "n-predict", "stop", "special", "ctx-size", "kv-type", "ignore-tensors",
	"override", "greedy", "preset", "temp", "top-k", "top-p", "min-p", "top-nsigma", "typical",
	"xtc-probability", "xtc-threshold", "dynatemp-range", "dynatemp-exp", "mirostat", "mirostat-ent",
	"mirostat-lr", "samplers", "sampler-seq", "gumbel", "logit-bias", "repeat-penalty", "frequency-penalty",
	"presence-penalty", "repeat-last-n", "dry-multiplier", "dry-base", "dry-allowed-length",
	"dry-penalty-last-n", "dry-sequence-breaker", "dry-sequence-breaker-id", "ignore-eos", "min-tokens",
	"stop-id", "grammar-after", "think-budget", "think-message", "think-open", "think-close" };

/* Other options for running a model and for sampling, on which they do not depend; or which are in a record in another
 * form. */
static const char *const others[] = { "backend", "threads", "batch-size", "kv", "trace", "grammar", "grammar-file" };

static int is_among(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name, list[i]))
			return 1;
	return 0;
}

static int is_named(const char *name)
{
	return is_among(name, names, sizeof names / sizeof *names);
}

/* ---- writing ---- */

static void put_word(struct json_writer *to, const char *s)
{
	json_string(to, s, strlen(s));
}

/* What gen itself sets of the options of sample, if it has a budget for reasoning. */
static void put_marks_of_thinking(struct json_writer *to, const struct stage *sample)
{
	static const char *const marks[] = { "--think-open", "--think-close" };

	for (size_t i = 1; i + 1 < sample->n && stage_option(sample, "--think-budget"); i++)
		if (is_among(sample->argv[i], marks, 2)) {
			put_word(to, sample->argv[i]);
			put_word(to, sample->argv[++i]);
		}
}

/* The context is given as it was, whatever its default is elsewhere. In a conversation, --special does not change the
 * text. */
static void put_options(struct json_writer *to, const struct request *q, const struct card *card)
{
	char word[96], number[16];

	member_open(to, "options", '[');
	for (size_t i = 0; i < q->n_given; i++) {
		const struct cli_given *given = &q->given[i];

		if (!is_named(given->o->name) || given->o->letter == 'c' || given->o->letter == OPT_THINK_OPEN
		    || given->o->letter == OPT_THINK_CLOSE
		    || (q->conversation && !strcmp(given->o->name, "special")))
			continue;
		snprintf(word, sizeof word, "--%s", given->o->name);
		put_word(to, word);
		if (given->value)
			put_word(to, given->value);
	}
	put_marks_of_thinking(to, &q->stage[SAMPLE]);
	snprintf(number, sizeof number, "%" PRId32, card->n_ctx);
	put_word(to, "--ctx-size");
	put_word(to, number);
	json_close(to, ']');
}

/* The grammar that sample had, from a file of its own. */
static int put_grammar(struct json_writer *to, const struct request *q, struct why *w)
{
	struct bytes text = { .limit = RECORD_MAX };
	const char *given = stage_option(&q->stage[SAMPLE], "--grammar");
	int failed = q->grammar_file
		&& (stage_rewind(q->grammar_file, w) || slurp_fd(q->grammar_file, "temporary file", &text, w));

	if (q->grammar_file)
		member_bytes(to, "grammar", text.p, text.n);
	else
		member_text(to, "grammar", given);
	bytes_free(&text);
	return failed ? -1 : 0;
}

/* Whether an option of a table has a place in records; if it is not of the table, too. An adapter, for example, is a
 * file, and none is named in them but the model. */
static int is_recorded(const struct opt *table, const struct opt *o)
{
	while (table->help && table != o)
		table++;
	return !table->help || is_named(o->name) || is_among(o->name, others, sizeof others / sizeof *others);
}

static int are_recorded(const struct request *q)
{
	for (size_t i = 0; i < q->n_given; i++)
		if (!is_recorded(fwd_opts, q->given[i].o) || !is_recorded(sampler_opts, q->given[i].o))
			return 0;
	return 1;
}

/* Not if a command in place of a stage has made the ids, if an earlier text is before the prompt, if the oldest turns
 * were dropped on the way, or if the model is one of diffusion. */
static int is_whole(const struct request *q, const struct card *card, const struct result *r)
{
	return are_recorded(q) && !q->stage[FWD].shell && !q->stage[SAMPLE].shell && r->prompt.n && r->ids.n
		&& r->pos == r->prompt.n && r->pos + r->ids.n <= (size_t)card->n_ctx + 1 && !card->diffusion;
}

int record_write(struct json_writer *to, const struct request *q, const struct card *card, const struct result *r,
	struct why *w)
{
	int failed;

	if (!is_whole(q, card, r)) {
		member_null(to, "replay");
		return 0;
	}
	member_open(to, "replay", '{');
	member_text(to, "model", q->model);
	member_hash(to, "fingerprint", card->model);
	member_hash(to, "vocabulary", card->vocab);
	member_int(to, "n_vocab", card->n_vocab);
	member_int(to, "arithmetic", ARITHMETIC);
	put_options(to, q, card);
	failed = put_grammar(to, q, w);
	member_flag(to, "marks", q->conversation);
	json_close(to, '}');
	return failed;
}

/* ---- reading ---- */

/* An integer member. Returns -1 with a reason if there is none from low to high. */
static int get_integer(const struct json *v, const char *key, int64_t low, int64_t high, int64_t *to, struct why *w)
{
	const struct json *i = json_get(v, key);

	if (!i || i->type != JSON_INT || i->i < low || i->i > high)
		return why(w, "\"%s\" is not an integer from %" PRId64 " to %" PRId64, key, low, high);
	*to = i->i;
	return 0;
}

/* A string member, or null if it may be: then NULL. Without `n`, it has no NUL. */
static int get_text(const struct json *v, const char *key, int or_null, const char **s, size_t *n, struct why *w)
{
	const struct json *text = json_get(v, key);

	if (or_null && text && text->type == JSON_NULL)
		return 0;
	if (!text || text->type != JSON_STRING || (!n && strlen(text->s) < text->n))
		return why(w, "\"%s\" is not a string", key);
	*s = text->s;
	if (n)
		*n = text->n;
	return 0;
}

static int get_fingerprint(const struct json *v, const char *key, uint64_t *to, struct why *w)
{
	const char *s;
	size_t n, i = 0;

	if (get_text(v, key, 0, &s, &n, w))
		return -1;
	for (*to = 0; i < n && i < 16 && hex_digit(s[i]) >= 0; i++)
		*to = *to << 4 | (uint64_t)hex_digit(s[i]);
	return n == 16 && i == n ? 0 : why(w, "\"%s\" is not a number of 16 hexadecimal digits", key);
}

static int get_ids(const struct json *v, const char *key, struct ids *to, struct why *w)
{
	const struct json *list = json_get(v, key);

	if (!list || list->type != JSON_ARRAY || !list->n || list->n > FRAME_IDS_MAX)
		return why(w, "\"%s\" is not a list of token ids", key);
	for (const struct json *id = list->child; id; id = id->next) {
		if (id->type != JSON_INT || id->i < 0 || id->i >= FRAME_VOCAB_MAX)
			return why(w, "\"%s\": not a token id", key);
		if (ids_add(to, (int32_t)id->i))
			return why(w, "out of memory");
	}
	return 0;
}

/* The option that a word names, of those in the list; NULL: none. */
static const struct opt *find_option(const char *word)
{
	static const struct opt *const tables[] = { prompt_opts, model_opts, fwd_opts, sampler_opts };

	if (word[0] != '-' || word[1] != '-' || !is_named(word + 2))
		return NULL;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (const struct opt *o = tables[i]; o->help; o++)
			if (o->name && !strcmp(o->name, word + 2))
				return o;
	return NULL;
}

/* Each word is an option by its long name, or the value of the option before it. */
static int get_options(struct record *record, const struct json *v, struct why *w)
{
	const struct json *list = json_get(v, "options");
	const struct opt *o = NULL;

	if (!list || list->type != JSON_ARRAY
	    || !(record->given = arena_array(&record->arena, list->n + 1, sizeof *record->given)))
		return why(w, "\"options\" is not a list");
	for (const struct json *word = list->child; word; word = word->next) {
		if (word->type != JSON_STRING || strlen(word->s) < word->n)
			return why(w, "\"options\": not a string");
		if (o && o->arg) {
			record->given[record->n_given - 1].value = word->s;
			o = NULL;
		} else if ((o = find_option(word->s)))
			record->given[record->n_given++].o = o;
		else
			return why(w, "\"options\": \"%s\" is not an option that a record may have", word->s);
	}
	return o && o->arg ? why(w, "\"options\": --%s has no value", o->name) : 0;
}

/* The reasons that can be found again. */
static int check_reason(const struct record *record, struct why *w)
{
	static const enum frame_reason found[] = { FRAME_END_EOG, FRAME_END_LENGTH, FRAME_END_STOP, FRAME_END_CONTEXT };

	for (size_t i = 0; i < sizeof found / sizeof *found; i++)
		if (!strcmp(record->reason, frame_reason_key(found[i])))
			return 0;
	return why(w, "\"stop_reason\": a text that ended by \"%s\" cannot be drawn again", record->reason);
}

static int read_line(struct record *record, const struct json *v, struct why *w)
{
	if (get_ids(v, "prompt", &record->prompt, w) || get_ids(v, "ids", &record->ids, w)
	    || get_integer(v, "seed", 0, INT64_MAX, &record->seed, w)
	    || get_text(v, "text", 0, &record->text, &record->n_text, w)
	    || get_text(v, "stop", 1, &record->stop, &record->n_stop, w)
	    || get_text(v, "stop_reason", 0, &record->reason, NULL, w))
		return -1;
	return check_reason(record, w);
}

static int read_replay(struct record *record, const struct json *v, struct why *w)
{
	const struct json *marks = json_get(v, "marks");
	int64_t arithmetic = 0, n_vocab = 0;

	if (get_text(v, "model", 0, &record->model, NULL, w)
	    || get_fingerprint(v, "fingerprint", &record->card.model, w)
	    || get_fingerprint(v, "vocabulary", &record->card.vocab, w)
	    || get_integer(v, "n_vocab", 1, FRAME_VOCAB_MAX, &n_vocab, w)
	    || get_integer(v, "arithmetic", 0, INT64_MAX, &arithmetic, w)
	    || get_text(v, "grammar", 1, &record->grammar, &record->n_grammar, w) || get_options(record, v, w))
		return -1;
	/* on a card, 0 is any model */
	if (!record->card.model)
		return why(w, "\"fingerprint\" is 0, which is that of no model");
	if (arithmetic != ARITHMETIC)
		return why(w, "made with arithmetic %" PRId64 "; this program has %d", arithmetic,
			ARITHMETIC);
	record->card.n_vocab = (int32_t)n_vocab;
	record->marks = marks && marks->type == JSON_TRUE;
	return 0;
}

int record_read(struct record *record, const char *line, size_t n, struct why *w)
{
	const struct json *v, *replay;

	record->arena.limit = RECORD_MAX;
	if (!(v = json_parse(&record->arena, line, n, w)))
		return -1;
	if (!(replay = json_get(v, "replay")) || replay->type == JSON_NULL)
		return why(w, replay ? "a text that cannot be drawn again: see \"replay\" in gen(1)"
			: "not a record of gen --json");
	return read_line(record, v, w) || read_replay(record, replay, w) ? -1 : 0;
}

void record_free(struct record *record)
{
	free(record->prompt.id);
	free(record->ids.id);
	arena_free(&record->arena);
}
