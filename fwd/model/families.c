/* The tables of families. */
#include "families.h"

#include <string.h>

/* each ends with a row without a name */
extern const struct family families_llama[], families_gemma[], families_gpt2[], families_mixtures[];

static const struct family *const tables[] = { families_llama, families_gemma, families_gpt2, families_mixtures };

const struct family *family_of(const char *arch)
{
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (const struct family *f = tables[i]; f->arch; f++)
			if (!strcmp(arch, f->arch))
				return f;
	return NULL;
}
