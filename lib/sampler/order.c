/* Parses the order of the chain as users write it. */
#include <string.h>

#include "priv.h"

const struct sampler_op *const sampler_ops[SAMPLER_KINDS] = {
	[SAMPLER_PENALTIES] = &sampler_penalties, [SAMPLER_DRY] = &sampler_dry,
		[SAMPLER_TOP_N_SIGMA] = &sampler_top_n_sigma,
	[SAMPLER_TOP_K] = &sampler_top_k, [SAMPLER_TYP_P] = &sampler_typ_p, [SAMPLER_TOP_P] = &sampler_top_p,
	[SAMPLER_MIN_P] = &sampler_min_p, [SAMPLER_XTC] = &sampler_xtc, [SAMPLER_TEMPERATURE] = &sampler_temperature
};

static const char letters_of[] = "edskypmxt";

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
		if (named(sampler_ops[i]->name, text, n))
			return (int)i;
	for (i = 0; i < sizeof aliases / sizeof *aliases; i++)
		if (named(aliases[i].name, text, n))
			return (int)aliases[i].kind;
	return -1;
}

static int append(struct sampler_params *p, int kind, const char *text, size_t n, struct why *w)
{
	size_t i;

	if (kind < 0)
		return why(w, "unknown sampler \"%.*s\"", n < 40 ? (int)n : 40, text);
	for (i = 0; i < p->n_order; i++)
		if (p->order[i] == (enum sampler_kind)kind)
			return why(w, "%s is named twice", sampler_ops[kind]->name);
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
	const char *at;

	for (p->n_order = 0; *letters; letters++) {
		at = strchr(letters_of, *letters);
		if (append(p, at ? (int)(at - letters_of) : -1, letters, 1, w))
			return -1;
	}
	return 0;
}
