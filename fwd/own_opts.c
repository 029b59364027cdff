/* An `opts` frame has words for every stage, so those that fwd does not know are ignored. */
#include "own_opts.h"

#include <string.h>

#include "adapt.h"
#include "fwd_opts.h"

/* Whether the word is an option that fwd shares with gen. Those are set once, for all sequences. */
static int is_of_run(const char *word)
{
	size_t n = strcspn(word, "=");

	for (const struct opt *o = fwd_opts; o->letter || o->name; o++)
		if (o->name && n == strlen(o->name) + 2 && !memcmp(word, "--", 2) && !memcmp(word + 2, o->name, n - 2))
			return 1;
	return 0;
}

/* The value of the word if it is this option; or NULL. */
static const char *value_of(const char *word, const char *option)
{
	size_t n = strlen(option);

	return strncmp(word, option, n) ? NULL : word + n;
}

int own_opts_read(struct own_opts *o, const struct model *m, const char *words, size_t n, struct why *w)
{
	const char *value;

	*o = (struct own_opts){ .kv = NULL };
	adapt_default(m, o->lora);
	for (const char *word = words; word < words + n; word += strlen(word) + 1) {
		if ((value = value_of(word, "--lora="))) {
			if (adapt_scale(m, value, o->lora, w) < 0)
				return -1;
		} else if ((value = value_of(word, "--kv=")))
			o->kv = value;
		else if (is_of_run(word))
			return why(w, "%.*s: not an option of a single sequence", (int)strcspn(word, "="), word);
	}
	return 0;
}
