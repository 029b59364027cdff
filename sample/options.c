/* options: the command line of sample, and the options of a sequence. One table lists the numeric options. Explicit
 * options override what a preset or --gumbel implies. */
#include "options.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stream/frame.h"
#include "lib/base/quote.h"
#include "lib/base/slurp.h"
#include "lib/sampler/rng.h"
#include "lib/sampler/opts.h"

enum { LOGPROBS = 1, LOOK, GIVEN, TURNS, CARD };
enum { TEXTS_MAX = 1 << 26 };   /* bytes of breakers */

const struct opt options_table[] = {
	{ 'n', "n-predict", "N", "stop after N tokens (default: -1: at the end of generation or input)" },
	{ 's', "seed", "N", "seed of the draws; -1: a random one (default: -1)" },
	{ 'm', "model", "MODEL", "the model of the stream, for grammars, --think-budget, --trace and dry" },
	{ LOGPROBS, "logprobs", "N", "write a `logp` frame after each id: its log-probability and the N best" },
	{ LOOK, "prompt-logprobs", NULL, "the same for each id of a prompt that is sent as guesses (frame(5))" },
	{ GIVEN, "prompt-ids", NULL, "write the ids of prompts, too, for detok --lines --json" },
	{ TURNS, "turns", NULL, "after a generation, wait for the next prompt, and count to N again" },
	{ CARD, "card", "FILE", "read the card from FILE, for an input that starts after its card" },
	{ 'v', "verbose", NULL, "print the seed on stderr" },
	{ .help = "Sampling" },         /* sampler_opts continue it */
	{ 0 }
};

const struct cli_rule options_rules[] = {
	{ .one_of = "grammar grammar-file" },
	{ "grammar grammar-file", .requires = "model", .reason = "it has the text of the ids" },
	{ "think-budget", .requires = "model", .reason = "it has the text of the ids" },
	{ "grammar-after", .requires = "grammar grammar-file" },
	{ "prompt-logprobs", .requires = "logprobs" },
	{ 0 }
};

/* The options that are numbers: where each is stored, and its range. */
#define CHAIN(field) offsetof(struct sample_options, asked.chain.field)
static const struct number {
	const char *name;
	enum { REAL, INTEGER, LONG } type;
	size_t at;
	double low, high;
} numbers[] = {
	{ "temp", REAL, CHAIN(temp), 0, 1e6 },
	{ "top-k", INTEGER, CHAIN(top_k), 0, FRAME_VOCAB_MAX },
	{ "top-p", REAL, CHAIN(top_p), 0, 1 },
	{ "min-p", REAL, CHAIN(min_p), 0, 1 },
	{ "repeat-penalty", REAL, CHAIN(repeat), 1e-3, 1e3 },
	{ "top-nsigma", REAL, CHAIN(top_n_sigma), -1, 1e6 },
	{ "typical", REAL, CHAIN(typical), 0, 1 },
	{ "xtc-probability", REAL, CHAIN(xtc_probability), 0, 1 },
	{ "xtc-threshold", REAL, CHAIN(xtc_threshold), 0, 1 },
	{ "dynatemp-range", REAL, CHAIN(temp_range), 0, 1e6 },
	{ "dynatemp-exp", REAL, CHAIN(temp_exponent), 0, 1e6 },
	{ "frequency-penalty", REAL, CHAIN(frequency), -1e6, 1e6 },
	{ "presence-penalty", REAL, CHAIN(presence), -1e6, 1e6 },
	{ "repeat-last-n", INTEGER, CHAIN(last_n), -1, SAMPLER_HISTORY },
	{ "dry-multiplier", REAL, CHAIN(dry_multiplier), 0, 1e6 },
	{ "dry-base", REAL, CHAIN(dry_base), 1, 1e6 },
	{ "dry-allowed-length", INTEGER, CHAIN(dry_allowed), 0, SAMPLER_HISTORY },
	{ "dry-penalty-last-n", INTEGER, CHAIN(dry_last_n), -1, SAMPLER_HISTORY },
	{ "mirostat", INTEGER, CHAIN(mirostat), 0, 2 },
	{ "mirostat-ent", REAL, CHAIN(mirostat_ent), 0, 1e3 },
	{ "mirostat-lr", REAL, CHAIN(mirostat_lr), 0, 1 },
	{ "diffusion-steps", INTEGER, offsetof(struct sample_options, steps), 0, INT32_MAX },
	{ "diffusion-block-length", INTEGER, offsetof(struct sample_options, block), 1, INT32_MAX },
	{ "min-tokens", LONG, offsetof(struct sample_options, min), 0, INT32_MAX }
};

enum { N_TEMP, N_TOP_K, N_TOP_P, N_MIN_P, N_REPEAT };   /* the first rows, which presets set */

static const struct preset {
	float temp;
	int32_t top_k;
	float top_p, repeat;
} presets[] = {         /* in the order of the choices of --preset */
	{ 0.9f, 50, 0.95f, 1.05f },
	{ 0.7f, 40, 0.9f, 1.1f },
	{ 0.3f, 20, 0.8f, 1.15f },
	{ 0, 1, 1, 1 }
};

_Static_assert(sizeof numbers / sizeof *numbers <= 32, "a bit for each");

/* A usage error if an option is given more than this many times. */
static void at_most(const struct cli *c, const struct opt *o, size_t n, int most)
{
	if (n == (size_t)most)
		cli_usage(c, "--%s: more than %d of them", o->name, most);
}

static void take_number(const struct cli *c, const struct opt *o, struct sample_options *set)
{
	const struct number *n = numbers;
	char *to;

	while (strcmp(n->name, o->name))
		n++;
	to = (char *)set + n->at;
	set->asked.numbers |= (uint32_t)1 << (n - numbers);
	if (n->type == REAL)
		*(float *)(void *)to = (float)cli_real(c, o, n->low, n->high);
	else if (n->type == INTEGER)
		*(int32_t *)(void *)to = (int32_t)cli_integer(c, o, (long long)n->low, (long long)n->high);
	else
		*(int64_t *)(void *)to = cli_integer(c, o, (long long)n->low, (long long)n->high);
}

/* Random seeds are in the range of -s, too. */
static void take_seed(const struct cli *c, const struct opt *o, struct sample_options *set)
{
	long long seed = cli_integer(c, o, -1, INT64_MAX);

	set->asked.chain.seed = seed < 0 ? rng_seed() >> 1 : (uint64_t)seed;
	set->seeded = 1;
}

/* ID+B, ID-B, ID-inf. */
static void add_bias(struct cli *c, const struct opt *o, struct sample_options *set)
{
	const char *text = c->value, *sign = strpbrk(text, "+-");
	struct sampler_params *p = &set->asked.chain;
	struct sampler_bias *b = &set->bias[p->n_bias];
	char id[16];

	if (!sign || sign == text || (size_t)(sign - text) >= sizeof id)
		cli_usage(c, "-l/--logit-bias: \"%s\" is not of the form ID+B or ID-B", text);
	at_most(c, o, p->n_bias++, BIAS_MAX);
	snprintf(id, sizeof id, "%.*s", (int)(sign - text), text);
	c->value = id;
	b->id = (int32_t)cli_integer(c, o, 0, FRAME_VOCAB_MAX - 1);
	c->value = sign + (*sign == '+');
	b->bias = !strcmp(sign, "-inf") ? -INFINITY : (float)cli_real(c, o, -1e6, 1e6);
}

static void add_id(const struct cli *c, const struct opt *o, int32_t *ids, size_t *n, int most)
{
	at_most(c, o, *n, most);
	ids[(*n)++] = (int32_t)cli_integer(c, o, 0, FRAME_VOCAB_MAX - 1);
}

static void take_breaker(const struct cli *c, const struct opt *o, struct sample_options *set)
{
	struct sampler_breakers *b = &set->asked.chain.breakers;
	struct sampler_breaker *breaker = &set->breaker[b->n_text];
	size_t n = strlen(c->value);
	char *s;

	at_most(c, o, b->n_text, BREAKERS_MAX);
	set->asked.breakers = 1;
	if (!strcmp(c->value, "none")) {
		b->n_text = 0;
		return;
	}
	if (!(s = arena_text(&set->texts, n + 1)))
		cli_die(c, "out of memory");
	*breaker = (struct sampler_breaker){ s, quote_undo(c->value, n, s) };
	if (!breaker->n || breaker->n > SAMPLER_BREAKER_MAX)
		cli_usage(c, "--dry-sequence-breaker: \"%s\" is not 1 to %d bytes", c->value, SAMPLER_BREAKER_MAX);
	b->n_text++;
}

static int is_file(const struct opt *o)
{
	return o->letter == OPT_GRAMMAR && strstr(o->name, "-file");
}

static void take_grammar(const struct cli *c, const struct opt *o, struct grammar_source *g)
{
	if (is_file(o) && slurp_is_stdin(c->value))
		cli_usage(c, "--%s %s: standard input holds the logits", o->name, c->value);
	g->option = o->name;
	g->value = c->value;
	g->is_file = is_file(o);
}

static void take_order(const struct cli *c, const struct opt *o, struct sampler_params *p)
{
	int (*order)(struct sampler_params *p, const char *names, struct why *w) = o->letter == OPT_SAMPLERS
		? sampler_order : sampler_order_letters;
	struct why w;

	if (order(p, c->value, &w) < 0)
		cli_usage(c, "--%s: %s", o->name, w.text);
}

static void take_text(const struct cli *c, const struct opt *o, struct after *texts)
{
	struct why w;

	if (after_add_quoted(texts, c->value, strlen(c->value), &w))
		cli_usage(c, "--%s: %s", o->name, w.text);
}

static void take_budget(const struct cli *c, const struct opt *o, struct sample_options *set)
{
	struct budget_options *b = &set->budget;

	set->own_budget = 1;
	switch (o->letter) {
	case OPT_BUDGET:
		b->given = 1;
		b->most = (int32_t)cli_integer(c, o, 0, INT32_MAX);
		break;
	case OPT_THINK_OPEN: take_text(c, o, &b->open); break;
	case OPT_THINK_CLOSE:
		if (!c->value[strspn(c->value, " \t\r\n")])
			cli_usage(c, "--think-close: an empty text");
		b->close = c->value;
		break;
	case OPT_THINK_MESSAGE: b->message = c->value; break;
	}
}

/* Whether it must be the same for all sequences: files, and what the whole program does. */
static int is_whole(const struct opt *o)
{
	return o->letter == 'm' || o->letter == 'v' || o->letter == GIVEN || o->letter == TURNS || o->letter == CARD
		|| o->letter == OPT_TRACE || is_file(o);
}

/* Rejects combinations that make no sense. */
static void check(const struct cli *c, const struct sample_options *set)
{
	if (set->n != NO_LIMIT && set->min > set->n)
		cli_usage(c, "--min-tokens: %" PRId64 " is more than -n/--n-predict, %" PRId64, set->min, set->n);
	if (set->grammar.after.n && !set->grammar.option)
		cli_usage(c, "--grammar-after requires --grammar");
	if (set->asked.chain.breakers.n_text && !set->model)
		cli_usage(c, "--dry-sequence-breaker requires -m/--model, which has the text of the ids; "
			"or use --dry-sequence-breaker-id");
}

static void take(struct cli *c, const struct opt *o, void *context)
{
	struct sample_options *set = context;
	struct sampler_params *chain = &set->asked.chain;

	if (!o) {
		check(c, set);
		return;
	}
	if (is_whole(o))
		cli_whole(c, o);
	switch (o->letter) {
	case OPT_NUMBER: case OPT_DRY: take_number(c, o, set); break;
	case 'n': set->n = cli_integer(c, o, NO_LIMIT, INT32_MAX); break;
	case 's': take_seed(c, o, set); break;
	case 'l': add_bias(c, o, set); break;
	case 'm': set->model = c->value; break;
	case 'v': set->verbose = 1; break;
	case OPT_GREEDY: set->asked.greedy = 1; break;
	case OPT_GUMBEL: chain->gumbel = 1; break;
	case OPT_PRESET: set->asked.preset = cli_choice(c, o); break;
	case OPT_SAMPLERS: case OPT_LETTERS: take_order(c, o, chain); break;
	case OPT_BREAKER: take_breaker(c, o, set); break;
	case OPT_BREAKER_ID: add_id(c, o, set->breaker_id, &chain->breakers.n_id, BREAKERS_MAX); break;
	case OPT_STOP_ID: add_id(c, o, set->stop_id, &set->n_stop, STOP_IDS_MAX); break;
	case OPT_CERTAINTY: set->certainty = cli_choice(c, o); break;
	case OPT_IGNORE_EOS: set->ignore_eos = 1; break;
	case OPT_GRAMMAR: take_grammar(c, o, &set->grammar); break;
	case OPT_AFTER: take_text(c, o, &set->grammar.after); break;
	case OPT_BUDGET: case OPT_THINK_OPEN: case OPT_THINK_CLOSE: case OPT_THINK_MESSAGE:
		take_budget(c, o, set);
		break;
	case LOGPROBS: chain->n_best = (int32_t)cli_integer(c, o, 0, SAMPLER_BEST_MAX); break;
	case LOOK: set->look = 1; break;
	case GIVEN: set->given = 1; break;
	case TURNS: set->turns = 1; break;
	case CARD: set->card = c->value; break;
	case OPT_TRACE: set->trace = 1; break;
	}
}

/* Takes the largest logit, whatever the order of the chain and the dynamic temperature are. */
static void make_greedy(struct sampler_params *p)
{
	size_t i = 0;

	p->temp = p->temp_range = 0;
	while (i < p->n_order && p->order[i] != SAMPLER_TEMPERATURE)
		i++;
	if (i == p->n_order)
		p->order[p->n_order++] = SAMPLER_TEMPERATURE;
}

static int is_given(const struct sample_options *set, int number)
{
	return set->asked.numbers >> number & 1;
}

/* Makes the chain: applies a preset and --gumbel to the options that were not given. */
static void fill_in(struct sample_options *set)
{
	static const struct sampler_breaker breakers[] = { { "\n", 1 }, { ":", 1 }, { "\"", 1 }, { "*", 1 } };
	struct sampler_params *p = &set->chain;
	const struct preset *preset = set->asked.preset < 0 ? NULL : presets + set->asked.preset;

	*p = set->asked.chain;
	p->bias = set->bias;
	p->breakers.id = set->breaker_id;
	p->breakers.text = set->breaker;
	if (preset) {
		p->temp = is_given(set, N_TEMP) ? p->temp : preset->temp;
		p->repeat = is_given(set, N_REPEAT) ? p->repeat : preset->repeat;
	}
	if (preset || p->gumbel) {
		p->top_k = is_given(set, N_TOP_K) ? p->top_k : preset ? preset->top_k : 0;
		p->top_p = is_given(set, N_TOP_P) ? p->top_p : preset ? preset->top_p : 1;
		p->min_p = is_given(set, N_MIN_P) ? p->min_p : 0;
	}
	if (set->asked.greedy)
		make_greedy(p);
	if (set->model && !set->asked.breakers) {
		p->breakers.text = breakers;
		p->breakers.n_text = sizeof breakers / sizeof *breakers;
	}
}

void sample_options(struct cli *c, struct sample_options *set)
{
	const struct opt *o;

	sampler_defaults(&set->asked.chain);
	set->asked.chain.seed = rng_seed() >> 1;
	set->asked.preset = -1;
	set->texts.limit = TEXTS_MAX;
	set->n = NO_LIMIT;
	set->block = 32;
	while ((o = cli_next(c)))
		take(c, o, set);
	take(c, NULL, set);
	if (c->argc)
		cli_usage(c, "%s: unexpected operand: sample reads logits from standard input (try --help)",
			c->argv[0]);
	fill_in(set);
}

int sample_options_of(const struct cli *c, const struct sample_options *line, const char *words, size_t n,
	struct sample_options *set, struct why *w)
{
	*set = *line;
	set->grammar = (struct grammar_source){ 0 };
	set->texts = (struct arena){ .limit = TEXTS_MAX };
	set->budget.open = (struct after){ .n = 0 };
	set->seeded = set->own_budget = set->asked.greedy = 0;
	set->asked.numbers = 0;
	if (cli_words(c, words, n, take, set, w))
		return -1;
	/* a temperature of its own is not greedy, though the command line may be */
	set->asked.greedy |= line->asked.greedy && !is_given(set, N_TEMP);
	set->asked.numbers |= line->asked.numbers;
	fill_in(set);
	return 0;
}

void sample_options_free(struct sample_options *set)
{
	after_free(&set->grammar.after);
	after_free(&set->budget.open);
	arena_free(&set->texts);
}
