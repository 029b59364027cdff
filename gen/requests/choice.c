/* Ids become text as in detok, and text a message as in chat --parse. */
#include "choice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/clock.h"
#include "lib/base/grow.h"
#include "lib/base/size.h"
#include "lib/chat/answer/learn.h"
#include "lib/sampler/rng.h"
#include "opts.h"

enum { TEXT_MAX = 1 << 30 };

static int open_message(struct choice *c, struct why *w)
{
	const struct job *j = c->job;

	message_start(&c->message, j->stream, &c->lines);
	c->answer = answer_open(&j->learned->format, j->chat.variables, learn_calls(&j->chat), &c->message.sink, w);
	if (c->answer && !answer_prompt(c->answer, j->begun.p, j->begun.n))
		return 0;
	return why(w, "out of memory");
}

int choice_open(struct choice *c, struct job *j, size_t index, const struct model *m, const struct defaults *d,
	struct why *w)
{
	*c = (struct choice){ .job = j, .index = index, .model = m, .prompt = &j->prompt[index / (size_t)j->n],
		.special = d->special, .found = -1, .text.limit = TEXT_MAX, .lines.limit = TEXT_MAX };
	if (!index && j->seed < 0)
		j->seed = (int64_t)(rng_seed() >> 33);
	/* as gen -N: each of several texts has the next seed */
	c->seed = j->seed + (int64_t)(index % (size_t)j->n);
	if (!(c->stop = stop_fork(j->stop, w)))
		return -1;
	return j->kind == JOB_CHAT ? open_message(c, w) : 0;
}

void choice_close(struct choice *c)
{
	if (c->answer)
		message_end(&c->message);
	answer_close(c->answer);
	stop_close(c->stop);
	result_free(&c->scored);
	result_free(&c->r);
	free(c->at);
	bytes_free(&c->text);
	bytes_free(&c->lines);
}

static int add_number(struct bytes *opts, const char *option, int64_t i, struct why *w)
{
	char text[24];

	return opts_add(opts, option, text, (size_t)snprintf(text, sizeof text, "%" PRId64, i), w);
}

int choice_start(struct choice *c, struct loop *l, struct why *w)
{
	struct job *j = c->job;
	struct prompt *p = &j->prompt[c->index / (size_t)j->n];
	struct loop_start start = { .ids = p->ids.id, .n = p->ids.n, .limit = j->limit,
		.logprobs = j->logprobs >= 0 || j->n > j->n_answered, .score = j->echo && j->logprobs >= 0, .owner = c,
		.named = j->kv != NULL, .kept = j->had, .replaces = j->replaces, .appends = j->appends };
	struct bytes opts = { .limit = FRAME_OPTS_MAX };
	size_t shared;
	int failed;

	c->r.begin = clock_now();
	j->began = j->began > 0 ? j->began : c->r.begin;
	c->scored.pos = 1;
	failed = (j->opts.n && bytes_put(&opts, j->opts.p, j->opts.n) ? why(w, "out of memory") : 0)
		|| add_number(&opts, "--seed", c->seed, w)
		/* of a diffusion model all are drawn together */
		|| (c->model->card.diffusion && j->limit > 0 && add_number(&opts, "--n-predict", j->limit, w))
		|| (start.score && (bytes_put(&opts, "--prompt-logprobs", sizeof "--prompt-logprobs")
			|| result_ids(&c->scored, p->ids.id + 1, p->ids.n - 1, 1, w)));
	start.opts = opts.p;
	start.n_opts = opts.n;
	failed = failed || loop_start(l, &start, &c->sequence, &shared, w);
	bytes_free(&opts);
	if (!failed && c->index % (size_t)j->n == 0)
		p->cached = size_min(shared, p->ids.n - 1);
	return failed ? -1 : 0;
}

/* ---- its text ---- */

/* Whether a control token may mark a part of a message, as in detok --marks. */
static int may_mark(const struct model *m, int32_t id)
{
	return vocab_is_special(m->vocab, id) && id != vocab_rules(m->vocab)->bos && !card_is_eog(&m->card, id);
}

/* The text of an id, as detok and, for messages, detok --marks print it. */
static const char *piece_of(const struct choice *c, int32_t id, size_t *n)
{
	int begins = 0;
	const char *piece = vocab_text(c->model->vocab, id, c->special, &begins, n);

	if (c->job->kind == JOB_CHAT && piece && !*n && may_mark(c->model, id))
		piece = vocab_piece(c->model->vocab, id, 1, n);
	return piece;
}

static void put(void *context, const char *s, size_t n)
{
	struct choice *c = context;

	bytes_put(&c->text, s, n);
}

/* Reads what the last id has added, if that is a message. */
static int read_drawn(struct choice *c, struct why *w)
{
	int reasoned = c->answer && answer_is_reasoning(c->answer);

	if (!c->answer || choice_read(c, w))
		return c->answer ? -1 : 0;
	c->reasoned += reasoned || answer_is_reasoning(c->answer);
	return 0;
}

int choice_drawn(struct choice *c, int32_t id, struct why *w)
{
	const char *piece;
	size_t n;

	if (!c->job->limit)
		return 0;
	if (!(piece = piece_of(c, id, &n)))
		return why(w, "id %" PRId32 " is not in the vocabulary", id);
	if (c->r.ids.n == c->at_room && grow(&c->at, &c->at_room, sizeof *c->at, 256))
		return why(w, "out of memory");
	c->at[c->r.ids.n] = c->length;
	if (result_ids(&c->r, &id, 1, (uint32_t)(c->prompt->ids.n + c->r.ids.n), w))
		return -1;
	c->length += n;
	c->found = stop_feed(c->stop, piece, n, put, c);
	if (c->text.failed)
		return why(w, "out of memory");
	if (read_drawn(c, w))
		return -1;
	return c->found >= 0 ? FRAME_END_STOP : 0;
}

int choice_logprobs(struct choice *c, uint32_t pos, const float (*pairs)[2], size_t n, struct why *w)
{
	struct result *r = pos < c->prompt->ids.n ? &c->scored : &c->r;

	return result_logprobs(r, r == &c->r && !r->ids.n ? UINT32_MAX : pos, pairs[0], n, w);
}

int choice_over(struct choice *c, uint32_t reason, struct why *w)
{
	c->over = 1;
	/* an id that was not asked for says nothing */
	c->reason = c->job->limit || reason == FRAME_END_INTERRUPT ? reason : FRAME_END_LENGTH;
	stop_end(c->stop, put, c);
	if (c->text.failed)
		return why(w, "out of memory");
	if (!c->answer)
		return 0;
	if (choice_read(c, w))
		return -1;
	return answer_end(c->answer) ? why(w, "out of memory") : 0;
}

int choice_read(struct choice *c, struct why *w)
{
	size_t n = c->text.n - c->told;

	if (n && answer_read(c->answer, c->text.p + c->told, n))
		return why(w, "out of memory");
	c->told = c->text.n;
	return 0;
}

size_t choice_shown(const struct choice *c)
{
	size_t n = c->r.ids.n;

	if (n && card_is_eog(&c->model->card, c->r.ids.id[n - 1]))
		n--;
	/* what is held back, or was cut off, is not answered */
	while (n && c->at[n - 1] >= c->text.n && c->length > c->text.n)
		n--;
	return size_max(n, c->told_ids);
}
