/* The samplers by name and letter; parses the order of the chain as users write it. */
#include <string.h>

#include "candidates.h"

const struct sampler_op sampler_ops[SAMPLER_OPS] = {
	[SAMPLER_PENALTIES] = { "penalties", sampler_penalties, 'e' },
	[SAMPLER_DRY] = { "dry", sampler_dry, 'd' },
	[SAMPLER_TOP_N_SIGMA] = { "top_n_sigma", sampler_top_n_sigma, 's' },
	[SAMPLER_TOP_K] = { "top_k", sampler_top_k, 'k' },
	[SAMPLER_TYP_P] = { "typ_p", sampler_typ_p, 'y' },
	[SAMPLER_TOP_P] = { "top_p", sampler_top_p, 'p' },
	[SAMPLER_MIN_P] = { "min_p", sampler_min_p, 'm', 1 },
	[SAMPLER_XTC] = { "xtc", sampler_xtc, 'x' },
	[SAMPLER_TEMPERATURE] = { "temperature", sampler_temperature, 't', 1 },
	[SAMPLER_BIAS] = { "logits", sampler_bias, 0 },         /* what an observer of the row as it came sees */
	[SAMPLER_MIROSTAT] = { "mirostat", sampler_mirostat, 0 },
};

int sampler_is_active(const struct sampler_params *p, unsigned op)
{
	const int active[SAMPLER_OPS] = {
		[SAMPLER_PENALTIES] = p->last_n && (p->repeat != 1 || p->frequency != 0 || p->presence != 0),
		[SAMPLER_DRY] = p->dry_multiplier > 0 && p->dry_last_n,
		[SAMPLER_TOP_N_SIGMA] = p->top_n_sigma > 0,
		[SAMPLER_TOP_K] = p->top_k > 0,
		[SAMPLER_TYP_P] = p->typical < 1,
		[SAMPLER_TOP_P] = p->top_p < 1,
		[SAMPLER_MIN_P] = p->min_p > 0,
		[SAMPLER_XTC] = p->xtc_probability > 0 && p->xtc_threshold <= 0.5f,
		[SAMPLER_TEMPERATURE] = p->temp != 1 || p->temp_range > 0,
		[SAMPLER_BIAS] = p->n_bias > 0,
		[SAMPLER_MIROSTAT] = p->mirostat != 0,
	};

	return active[op];
}

static const struct {
	const char *name;
	enum sampler_kind kind;
} aliases[] = { { "temp", SAMPLER_TEMPERATURE }, { "typical_p", SAMPLER_TYP_P }, { "typical", SAMPLER_TYP_P } };

/* Whether text[n] is the name; '-' is read as '_'. */
static int named(const char *name, const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n && name[i] && name[i] == (text[i] == '-' ? '_' : text[i]); i++)
		;
	return i == n && !name[i];
}

static int kind_of(const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < SAMPLER_KINDS; i++)
		if (named(sampler_ops[i].name, text, n))
			return (int)i;
	for (i = 0; i < sizeof aliases / sizeof *aliases; i++)
		if (named(aliases[i].name, text, n))
			return (int)aliases[i].kind;
	return -1;
}

static int append(struct sampler_params *p, int kind, const char *text, size_t n, struct why *w)
{
	size_t i;

	if (kind < 0 && memchr(text, ',', n))
		return why(w, "samplers are separated by ; not \"%.*s\"", n < 40 ? (int)n : 40, text);
	if (kind < 0)
		return why(w, "unknown sampler \"%.*s\"", n < 40 ? (int)n : 40, text);
	for (i = 0; i < p->n_order; i++)
		if (p->order[i] == (enum sampler_kind)kind)
			return why(w, "%s is named twice", sampler_ops[kind].name);
	p->order[p->n_order++] = (enum sampler_kind)kind;
	return 0;
}

int sampler_order(struct sampler_params *p, const char *names, struct why *w)
{
	size_t n;

	for (p->n_order = 0; *names; names += n + (names[n] == ';')) {
		n = strcspn(names, ";");
		if (append(p, kind_of(names, n), names, n, w))
			return -1;
	}
	return 0;
}

int sampler_order_letters(struct sampler_params *p, const char *letters, struct why *w)
{
	int kind;

	for (p->n_order = 0; *letters; letters++) {
		for (kind = SAMPLER_KINDS - 1; kind >= 0 && sampler_ops[kind].letter != *letters; kind--)
			;
		if (append(p, kind, letters, 1, w))
			return -1;
	}
	return 0;
}
