/* options: the command line of sample. One table lists the numeric options. Explicit options override what a preset or
 * --gumbel implies. */
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

enum { LOGPROBS = 1, TURNS, CARD };

const struct opt options_table[] = {
	{ 'n', "n-predict", "N", "stop after N tokens (default: -1: at the end of generation or input)" },
	{ 's', "seed", "N", "seed of the draws; -1: a random one (default: -1)" },
	{ 'm', "model", "MODEL", "the model of the stream, for grammars, --think-budget, --trace and dry" },
	{ LOGPROBS, "logprobs", "N", "write a `logp` frame after each id: its log-probability and the N best" },
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
	{ 0 }
};

/* The options that are numbers: where each is stored, and its range. */
#define CHAIN(field) offsetof(struct sample_options, chain.field)
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

/* State while the command line is parsed. */
struct option_parser {
	struct cli *c;
	struct sample_options *set;
	unsigned char given[sizeof numbers / sizeof *numbers];
	const struct preset *preset;
	int64_t seed;
	int greedy, named_breakers;
	struct why w;
};

static void take_number(struct option_parser *r, const struct opt *o)
{
	const struct number *n = numbers;
	char *to;

	while (strcmp(n->name, o->name))
		n++;
	to = (char *)r->set + n->at;
	r->given[n - numbers] = 1;
	if (n->type == REAL)
		*(float *)(void *)to = (float)cli_real(r->c, o, n->low, n->high);
	else if (n->type == INTEGER)
		*(int32_t *)(void *)to = (int32_t)cli_integer(r->c, o, (long long)n->low, (long long)n->high);
	else
		*(int64_t *)(void *)to = cli_integer(r->c, o, (long long)n->low, (long long)n->high);
}

/* A usage error if an option is given more than this many times. */
static void at_most(const struct option_parser *r, const struct opt *o, size_t n, int most)
{
	if (n == (size_t)most)
		cli_usage(r->c, "--%s: more than %d of them", o->name, most);
}

/* ID+B, ID-B, ID-inf. */
static void add_bias(struct option_parser *r, const struct opt *o)
{
	struct cli *c = r->c;
	const char *text = c->value, *sign = strpbrk(text, "+-");
	struct sampler_params *p = &r->set->chain;
	struct sampler_bias *b = &r->set->bias[p->n_bias];
	char id[16];

	if (!sign || sign == text || (size_t)(sign - text) >= sizeof id)
		cli_usage(c, "-l/--logit-bias: \"%s\" is not of the form ID+B or ID-B", text);
	at_most(r, o, p->n_bias++, BIAS_MAX);
	snprintf(id, sizeof id, "%.*s", (int)(sign - text), text);
	c->value = id;
	b->id = (int32_t)cli_integer(c, o, 0, FRAME_VOCAB_MAX - 1);
	c->value = sign + (*sign == '+');
	b->bias = !strcmp(sign, "-inf") ? -INFINITY : (float)cli_real(c, o, -1e6, 1e6);
}

static void add_id(struct option_parser *r, const struct opt *o, int32_t *ids, size_t *n, int most)
{
	at_most(r, o, *n, most);
	ids[(*n)++] = (int32_t)cli_integer(r->c, o, 0, FRAME_VOCAB_MAX - 1);
}

static void add_breaker(struct option_parser *r, const char *text)
{
	struct sampler_breakers *b = &r->set->chain.breakers;
	char *s = malloc(strlen(text) + 1);

	if (!s)
		cli_die(r->c, "out of memory");
	r->set->breaker[b->n_text] = (struct sampler_breaker){ s, quote_undo(text, strlen(text), s) };
	if (!r->set->breaker[b->n_text].n || r->set->breaker[b->n_text].n > SAMPLER_BREAKER_MAX)
		cli_usage(r->c, "--dry-sequence-breaker: \"%s\" is not 1 to %d bytes", text, SAMPLER_BREAKER_MAX);
	b->n_text++;
}

static void take_breaker(struct option_parser *r, const struct opt *o)
{
	at_most(r, o, r->set->chain.breakers.n_text, BREAKERS_MAX);
	r->named_breakers = 1;
	if (!strcmp(r->c->value, "none"))
		r->set->chain.breakers.n_text = 0;
	else
		add_breaker(r, r->c->value);
}

static void take_grammar(struct option_parser *r, const struct opt *o)
{
	struct grammar_source *g = &r->set->grammar;

	if (strstr(o->name, "-file") && slurp_is_stdin(r->c->value))
		cli_usage(r->c, "--%s %s: standard input holds the logits", o->name, r->c->value);
	g->option = o->name;
	g->value = r->c->value;
	g->is_file = strstr(o->name, "-file") != NULL;
}

static void take(struct option_parser *r, const struct opt *o)
{
	int (*order)(struct sampler_params *p, const char *names, struct why *w);
	struct sample_options *set = r->set;
	struct cli *c = r->c;

	switch (o->letter) {
	case OPT_NUMBER: case OPT_DRY: take_number(r, o); break;
	case 'n': set->n = cli_integer(c, o, NO_LIMIT, INT32_MAX); break;
	case 's': r->seed = cli_integer(c, o, -1, INT64_MAX); break;
	case 'l': add_bias(r, o); break;
	case 'm': set->model = c->value; break;
	case 'v': set->verbose = 1; break;
	case OPT_GREEDY: r->greedy = 1; break;
	case OPT_GUMBEL: set->chain.gumbel = 1; break;
	case OPT_PRESET: r->preset = presets + cli_choice(r->c, o); break;
	case OPT_SAMPLERS:
	case OPT_LETTERS:
		order = o->letter == OPT_SAMPLERS ? sampler_order : sampler_order_letters;
		if (order(&set->chain, c->value, &r->w) < 0)
			cli_usage(c, "--%s: %s", o->name, r->w.text);
		break;
	case OPT_BREAKER: take_breaker(r, o); break;
	case OPT_BREAKER_ID: add_id(r, o, set->breaker_id, &set->chain.breakers.n_id, BREAKERS_MAX); break;
	case OPT_STOP_ID: add_id(r, o, set->stop_id, &set->n_stop, STOP_IDS_MAX); break;
	case OPT_CERTAINTY: set->certainty = cli_choice(c, o); break;
	case OPT_IGNORE_EOS: set->ignore_eos = 1; break;
	case OPT_GRAMMAR: take_grammar(r, o); break;
	case OPT_AFTER:
		if (after_add_quoted(&set->grammar.after, c->value, strlen(c->value), &r->w))
			cli_usage(c, "--%s: %s", o->name, r->w.text);
		break;
	case OPT_BUDGET:
		set->budget.given = 1;
		set->budget.most = (int32_t)cli_integer(c, o, 0, INT32_MAX);
		break;
	case OPT_THINK_OPEN:
		if (after_add_quoted(&set->budget.open, c->value, strlen(c->value), &r->w))
			cli_usage(c, "--%s: %s", o->name, r->w.text);
		break;
	case OPT_THINK_CLOSE: set->budget.close = c->value; break;
	case OPT_THINK_MESSAGE: set->budget.message = c->value; break;
	case LOGPROBS: set->chain.n_best = (int32_t)cli_integer(c, o, 0, SAMPLER_BEST_MAX); break;
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

/* Applies a preset and --gumbel to the options that were not given. */
static void fill_in(struct option_parser *r)
{
	struct sampler_params *p = &r->set->chain;
	const struct preset *preset = r->preset;

	if (preset) {
		p->temp = r->given[N_TEMP] ? p->temp : preset->temp;
		p->repeat = r->given[N_REPEAT] ? p->repeat : preset->repeat;
	}
	if (preset || p->gumbel) {
		p->top_k = r->given[N_TOP_K] ? p->top_k : preset ? preset->top_k : 0;
		p->top_p = r->given[N_TOP_P] ? p->top_p : preset ? preset->top_p : 1;
		p->min_p = r->given[N_MIN_P] ? p->min_p : 0;
	}
	if (r->greedy)
		make_greedy(p);
	p->seed = r->seed < 0 ? rng_seed() >> 1 : (uint64_t)r->seed;    /* random seeds are in the range of -s, too */
}

/* Rejects combinations that make no sense. */
static void check(struct option_parser *r)
{
	const struct sample_options *set = r->set;

	if (r->c->argc)
		cli_usage(r->c, "%s: unexpected operand: sample reads logits from standard input (try --help)",
			r->c->argv[0]);
	if (set->n != NO_LIMIT && set->min > set->n)
		cli_usage(r->c, "--min-tokens: %" PRId64 " is more than -n/--n-predict, %" PRId64, set->min, set->n);
	if (set->chain.breakers.n_text && !set->model)
		cli_usage(r->c, "--dry-sequence-breaker requires -m/--model, which has the text of the ids; "
			"or use --dry-sequence-breaker-id");
}

void sample_options(struct cli *c, struct sample_options *set)
{
	static const char *const breakers[] = { "\n", ":", "\"", "*" };
	struct option_parser r = { .c = c, .set = set, .seed = -1 };
	const struct opt *o;
	size_t i;

	sampler_defaults(&set->chain);
	set->chain.bias = set->bias;
	set->chain.breakers.id = set->breaker_id;
	set->chain.breakers.text = set->breaker;
	set->n = NO_LIMIT;
	set->block = 32;
	while ((o = cli_next(c)))
		take(&r, o);
	check(&r);
	for (i = 0; set->model && !r.named_breakers && i < sizeof breakers / sizeof *breakers; i++)
		add_breaker(&r, breakers[i]);
	fill_in(&r);
}
