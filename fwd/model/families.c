/* The table of families. */
#include "families.h"

#include <string.h>

extern const struct family family_llama, family_qwen2, family_qwen3, family_gpt2;

static const struct family *const families[] = { &family_llama, &family_qwen2, &family_qwen3, &family_gpt2 };

const struct family *family_of(const char *arch)
{
	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		if (!strcmp(arch, families[i]->arch))
			return families[i];
	return NULL;
}
