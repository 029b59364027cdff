/* A line is JSON; which members it has says what it asks for. */
#include "job.h"

#include <stdlib.h>
#include <string.h>

#include "choice.h"
#include "fields.h"
#include "kept.h"
#include "opts.h"
#include "prompts.h"

enum { LINE_MEMORY = 1 << 30, TEXT_MAX = 1 << 30, N_MAX = 128, JOB_LOGPROBS_MAX = 1000 };

/* ---- which request it is ---- */

static int is_object(const struct json *v)
{
	return v && v->type == JSON_OBJECT;
}

/* OpenAI's batch form: the request is the body, and the path says its kind. */
static int take_batch(struct job *j, struct why *w)
{
	const char *url = json_get_string(j->line, "url");

	j->batch = 1;
	j->id = json_get(j->line, "custom_id");
	j->body = json_get(j->line, "body");
	if (!is_object(j->body)) {
		j->body = NULL;
		return field_bad(j, "body", why(w, "body: expected an object"));
	}
	if (!url || (strcmp(url, "/v1/chat/completions") && strcmp(url, "/v1/completions")))
		return field_bad(j, "url", why(w, "url: expected /v1/chat/completions or /v1/completions"));
	j->kind = strcmp(url, "/v1/completions") ? JOB_CHAT : JOB_TEXT;
	if (!field(j, j->kind == JOB_CHAT ? "messages" : "prompt"))
		return field_bad(j, j->kind == JOB_CHAT ? "messages" : "prompt", why(w, "%s: missing",
			j->kind == JOB_CHAT ? "messages" : "prompt"));
	return 0;
}

static int is_true(const struct job *j, const char *name)
{
	const struct json *v = field(j, name);

	return v && v->type == JSON_TRUE;
}

static int find_kind(struct job *j, struct why *w)
{
	static const struct { const char *name; enum job_kind kind; } kinds[] = {
		{ "cancel", JOB_CANCEL }, { "tokenize", JOB_TOKENIZE }, { "detokenize", JOB_DETOKENIZE },
		{ "messages", JOB_CHAT }, { "prompt", JOB_TEXT }
	};

	if (!is_object(j->line))
		return why(w, "expected an object, not %s", json_type_name(j->line));
	if (json_get(j->line, "custom_id") || json_get(j->line, "body"))
		return take_batch(j, w);
	j->body = j->line;
	j->id = json_get(j->line, "id");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !j->kind; i++)
		if (field(j, kinds[i].name))
			j->kind = kinds[i].kind;
	j->kv = json_get_string(j->body, "kv");
	if (j->kind == JOB_CHAT && is_true(j, "apply_template"))
		j->kind = JOB_TEMPLATE;
	if (!j->kind && is_true(j, "model"))
		j->kind = JOB_MODEL;
	if (j->kind)
		return 0;
	if (field(j, "text") || field(j, "query"))
		return why(w, "this model generates text; it makes no embeddings and ranks no documents");
	return why(w, "expected a member \"messages\", \"prompt\", \"cancel\", \"tokenize\", \"detokenize\" or "
		"\"model\": true");
}

/* The id as text, by which it is found. */
static int make_key(struct job *j)
{
	const struct json *id = j->kind == JOB_CANCEL ? field(j, "cancel") : j->id;
	struct json_writer to = json_to_bytes(&j->key);

	if (id && id->type != JSON_NULL)
		json_value(&to, id);
	return to.failed;
}

/* Of a line that is not JSON, what comes before the error may have an id. */
static int read_line(struct job *j, const char *line, size_t n, struct why *w)
{
	const struct json *begun;

	if ((j->line = json_parse_begun(&j->arena, line, n, j->number, &begun, w)))
		return find_kind(j, w);
	j->id = json_get(begun, "custom_id");
	j->batch = j->id != NULL;
	j->id = j->id ? j->id : json_get(begun, "id");
	return -1;
}

struct job *job_read(const char *line, size_t n, size_t number, int *failed, struct why *w)
{
	struct job *j = calloc(1, sizeof *j);

	if (!j)
		return NULL;
	j->arena.limit = LINE_MEMORY;
	j->key.limit = j->out.limit = j->begun.limit = TEXT_MAX;
	j->opts.limit = OPTS_MAX;
	j->number = number;
	j->logprobs = -1;
	j->n = j->n_answered = 1;
	*failed = read_line(j, line, n, w) != 0;
	if (make_key(j))
		*failed = why(w, "out of memory");
	return j;
}

void job_free(struct job *j)
{
	for (size_t i = 0; i < j->n_choices; i++)
		choice_close(&j->choice[i]);
	for (size_t i = 0; i < j->n_prompts; i++)
		free(j->prompt[i].ids.id);
	free(j->choice);
	free(j->prompt);
	stop_close(j->stop);
	chat_end(&j->chat);
	learned_release(j->lessons, j->learned);
	arena_free(&j->arena);
	bytes_free(&j->begun);
	bytes_free(&j->key);
	bytes_free(&j->opts);
	bytes_free(&j->out);
	free(j);
}

/* ---- its options ---- */

/* The largest number of tokens, by any of its names. */
static int take_limit(struct job *j, struct why *w)
{
	static const char *const names[] = { "n_predict", "max_tokens", "max_completion_tokens" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (field_integer(j, names[i], i ? 0 : -1, INT32_MAX, &j->limit, w))
			return -1;
	return 0;
}

/* In requests with messages `logprobs` is a flag, and top_logprobs the number. */
static int take_logprobs(struct job *j, struct why *w)
{
	int64_t most = -1;
	int wanted = 0;

	if (j->kind == JOB_CHAT) {
		if (field_flag(j, "logprobs", &wanted, w)
		    || field_integer(j, "top_logprobs", 0, JOB_LOGPROBS_MAX, &most, w))
			return -1;
		if (most > 0 && !wanted)
			return field_bad(j, "top_logprobs", why(w, "top_logprobs: requires logprobs to be true"));
		most = wanted ? most < 0 ? 0 : most : -1;
	} else if (field(j, "logprobs") && field(j, "logprobs")->type == JSON_FALSE) {
		most = -1;
	} else if (field_integer(j, "logprobs", 0, JOB_LOGPROBS_MAX, &most, w)) {
		return -1;
	}
	j->logprobs = (int)most;
	return 0;
}

static int take_number(struct job *j, struct why *w)
{
	int64_t n = 1, best = 0;

	if (field_integer(j, "n", 1, N_MAX, &n, w)
	    || (j->kind == JOB_TEXT && field_integer(j, "best_of", 1, N_MAX, &best, w)))
		return -1;
	if (best && best < n)
		return field_bad(j, "best_of", why(w, "best_of: less than n"));
	if (best > n && j->stream)
		return field_bad(j, "best_of", why(w, "best_of: not with stream"));
	j->n_answered = (int)n;
	j->n = (int)(best > n ? best : n);
	return 0;
}

/* The strings of `stop`, or else those of the command line. */
static int take_stops(struct job *j, const struct defaults *d, struct why *w)
{
	const struct json *v = field(j, "stop"), *s;

	if (!(j->stop = v ? stop_open(w) : stop_fork(d->stop, w)))
		return -1;
	if (!v)
		return 0;
	for (s = v->type == JSON_ARRAY ? v->child : v; s; s = v->type == JSON_ARRAY ? s->next : NULL) {
		if (s->type != JSON_STRING)
			return field_bad(j, "stop", why(w, "stop: expected a text or a list of texts, not %s",
				json_type_name(s)));
		if (stop_add(j->stop, s->s, s->n, w))
			return field_bad(j, "stop", why_in(w, "stop"));
	}
	return 0;
}

/* Refuses members that are known but cannot be honoured. */
static int refuse(struct job *j, struct why *w)
{
	const struct json *suffix = field(j, "suffix");

	if (suffix && !(suffix->type == JSON_STRING && !suffix->n))
		return field_bad(j, "suffix", why(w, "suffix: not supported"));
	if (j->echo && j->kind == JOB_CHAT)
		return field_bad(j, "echo", why(w, "echo: only with prompt"));
	return 0;
}

static int take_options(struct job *j, const struct model *m, const struct defaults *d, struct why *w)
{
	j->limit = d->limit;
	j->seed = d->seed;
	if (field_flag(j, "stream", &j->stream, w) || field_flag(j, "echo", &j->echo, w)
	    || field_flag(j, "return_tokens", &j->tokens, w) || take_limit(j, w)
	    || field_integer(j, "seed", -1, INT64_MAX - N_MAX, &j->seed, w) || take_number(j, w)
	    || take_logprobs(j, w) || take_stops(j, d, w) || refuse(j, w))
		return -1;
	j->stream &= !j->batch;
	return opts_take(j, w) || kept_take(j, m, w) ? -1 : 0;
}

/* ---- its choices ---- */

static int make_choices(struct job *j, const struct model *m, const struct defaults *d, struct why *w)
{
	size_t n = j->n_prompts * (size_t)j->n;

	if (!(j->choice = calloc(n, sizeof *j->choice)))
		return why(w, "out of memory");
	for (size_t i = 0; i < n; i++) {
		j->n_choices++;
		if (choice_open(&j->choice[i], j, i, m, d, w))
			return -1;
	}
	return 0;
}

int job_prepare(struct job *j, const struct model *m, const struct defaults *d, struct why *w)
{
	return take_options(j, m, d, w) || prompts_make(j, m, w) || make_choices(j, m, d, w) ? -1 : 0;
}
