/* llama_options: options that users of llama.cpp know, for the options' parser. */
#ifndef LLAMA_OPTIONS_H
#define LLAMA_OPTIONS_H

#include <stddef.h>

/* The name here of the option that llama.cpp calls s[n], without the dashes of a long one; or NULL. */
const char *llama_options_name(const char *s, size_t n);

/* What to do instead of an option that does not exist here, spelled with its dashes; or NULL. */
const char *llama_options_instead(const char *option);

#endif
