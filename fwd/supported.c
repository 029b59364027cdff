/* Lists what the tables that decide what runs contain. */
#include "supported.h"

#include <string.h>

#include "lib/base/out.h"
#include "lib/gguf/formats.h"
#include "lib/vocab/pretok.h"
#include "lib/vocab/vocab.h"
#include "fwd/model/family.h"

void supported_print(void)
{
	const struct family *family;
	const struct format *type;
	const struct pretok *pretok;
	const char *vocab;
	size_t n;

	for (size_t i = 0; (family = family_each(i)); i++)
		out_print("family %s\n", family->arch);
	for (size_t i = 0; (type = format_each(i)); i++)
		out_print("type %s\n", type->name);
	for (size_t i = 0; (vocab = vocab_each(i)); i++)
		out_print("vocabulary %s\n", vocab);
	out_print("adapter lora\nadapter alora\nadapter controlvector\n");
	for (size_t i = 0; (pretok = pretok_each(i)); i++)
		for (const char *name = pretok->names; *name; name += n + (name[n] == ' ')) {
			n = strcspn(name, " ");
			out_print("pre-tokenizer %.*s\n", (int)n, name);
		}
}
