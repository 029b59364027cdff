/* What the command line opens once, an `opts` frame opens for its sequence. */
#include "settings.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/sampler/sampler.h"
#include "canvas.h"
#include "session.h"
#include "trace.h"

static int check_id(int32_t id, int32_t n_vocab, const char *option, struct why *w)
{
	return card_check_id(id, n_vocab, w) ? why_in(w, option) : 0;
}

int settings_check_ids(const struct sample_options *set, int32_t n_vocab, struct why *w)
{
	size_t i;
	int bad = 0;

	for (i = 0; !bad && i < set->chain.n_bias; i++)
		bad = check_id(set->bias[i].id, n_vocab, "-l/--logit-bias", w);
	for (i = 0; !bad && i < set->n_stop; i++)
		bad = check_id(set->stop_id[i], n_vocab, "--stop-id", w);
	for (i = 0; !bad && i < set->chain.breakers.n_id; i++)
		bad = check_id(set->breaker_id[i], n_vocab, "--dry-sequence-breaker-id", w);
	return bad;
}

/* What a canvas needs to know of each pick, too. */
static void prepare_canvas(const struct sample_options *set, struct sampler_params *p)
{
	int32_t least = set->certainty == CERTAINTY_MARGIN ? 2 : 0;

	p->n_best = p->n_best < least ? least : p->n_best;
	p->entropy = set->certainty == CERTAINTY_ENTROPY;
}

int settings_start(struct settings *t, struct session *s, struct why *w)
{
	const struct sample_options *set = &t->set;
	struct sampler_params p = set->chain;

	if (set->grammar.option && s->card.diffusion)
		return why(w, "--%s: a diffusion model draws ids in any order, so a grammar cannot constrain it",
			set->grammar.option);
	if (t->budget && s->card.diffusion)
		return why(w, "--think-budget: a diffusion model draws ids in any order");
	if (set->grammar.option && !t->grammar && grammars_start(&s->grammars, t->constraint, set->stop_id,
		set->n_stop, w))
		return -1;
	p.observe = s->trace ? trace_observe : NULL;
	p.observer = s->trace;
	p.breakers.piece = pieces_shown;
	p.breakers.context = s->pieces;
	if (s->card.diffusion)
		prepare_canvas(set, &p);
	t->sampler = s->line.sampler ? sampler_open_beside(s->line.sampler, &p, w)
		: sampler_open(&p, s->card.n_vocab, w);
	return t->sampler ? 0 : -1;
}

/* The grammar of a sequence, or that of the command line. */
static int open_grammar(struct settings *t, struct session *s, struct why *w)
{
	const struct sample_options *set = &t->set;

	if (set->grammar.option) {
		t->grammars = &s->grammars;
		t->grammar = grammars_find(t->grammars, &set->grammar, set->stop_id, set->n_stop, w);
		t->constraint = t->grammar ? t->grammar->constraint : NULL;
		return t->grammar ? 0 : -1;
	}
	t->constraint = s->line.constraint;
	if (t->constraint && set->n_stop != s->line.set.n_stop)
		return why(w, "--stop-id requires --grammar, because the command line has a grammar");
	return 0;
}

/* The budget of a sequence, whose texts that open reasoning are those of the command line unless it has some; or that
 * of the command line. */
static int open_budget(struct settings *t, const struct session *s, struct why *w)
{
	struct budget_options *b = &t->set.budget;
	struct vocab *v;

	t->budget = s->line.budget;
	if (!b->given || !t->set.own_budget)
		return 0;
	t->budget = NULL;
	if (!b->open.n && after_add_all(&b->open, &s->line.set.budget.open, w))
		return -1;
	return (v = pieces_encoder(s->pieces, w)) && (t->budget = budget_open(b, v, w)) ? 0 : -1;
}

struct settings *settings_open(struct session *s, char *words, size_t n, uint32_t number, struct why *w)
{
	struct settings *t = calloc(1, sizeof *t);

	if (!t) {
		why(w, "out of memory for its options");
		free(words);
		return NULL;
	}
	t->words = words;
	t->n_words = n;
	t->number = number;
	t->users = 1;
	if (!sample_options_of(s->cli, &s->line.set, words, n, &t->set, w)
	    && !settings_check_ids(&t->set, s->card.n_vocab, w) && !open_grammar(t, s, w) && !open_budget(t, s, w)
	    && !settings_start(t, s, w)) {
		t->first = t->set.seeded ? number : s->line.first;
		return t;
	}
	settings_release(t);
	return NULL;
}

void settings_release(struct settings *t)
{
	if (--t->users || !t->words)
		return;
	sampler_close(t->sampler);
	grammars_release(t->grammars, t->grammar);
	if (t->set.budget.given && t->set.own_budget)
		budget_close(t->budget);
	sample_options_free(&t->set);
	free(t->words);
	free(t);
}

uint64_t settings_seed(const struct settings *t, uint32_t number)
{
	return t->set.chain.seed + (uint32_t)(number - t->first);
}
