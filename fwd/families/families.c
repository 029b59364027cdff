/* The tables of families. */
#include "fwd/model/family.h"

#include <string.h>

/* each table ends with a row whose arch is NULL */
extern const struct family families_llama[], families_gemma[], families_gpt2[], families_mixtures[],
	families_deepseek[], families_recurrent[], families_rwkv6[], families_rwkv7[],
	families_loops[], families_grok[], families_minimax01[], families_deepseek4[];

static const struct family *const tables[] = { families_llama, families_gemma, families_gpt2, families_mixtures,
	families_deepseek, families_recurrent, families_rwkv6, families_rwkv7, families_loops, families_grok,
	families_minimax01, families_deepseek4 };

const struct family *family_each(size_t i)
{
	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
		for (const struct family *f = tables[t]; f->arch; f++)
			if (!i--)
				return f;
	return NULL;
}

const struct family *family_of(const char *arch)
{
	const struct family *f;

	for (size_t i = 0; (f = family_each(i)); i++)
		if (!strcmp(arch, f->arch))
			return f;
	return NULL;
}
