/* llama_options: options that users of llama.cpp and of programs like it know, for the options' parser. */
#ifndef LLAMA_OPTIONS_H
#define LLAMA_OPTIONS_H

#include <stddef.h>

/* The name here of the option that llama.cpp calls s[n], without the dashes of a long one; or NULL. */
const char *llama_options_name(const char *s, size_t n);

/* Whether the option s[n], spelled with its dashes, changes nothing here, as one for GPUs. */
enum llama_harmless {
	LLAMA_NOT_HARMLESS,
	LLAMA_FLAG, LLAMA_VALUE,        /* it is harmless, and has no value, or one */
	LLAMA_SWITCH                    /* or may have one: on, off, auto, 1, ... */
};

enum llama_harmless llama_options_harmless(const char *s, size_t n);

/* The key of a model file that the option s[n], spelled with its dashes, overrides; or NULL. */
const char *llama_options_key(const char *s, size_t n);

/* What to do instead of the option s[n], spelled with its dashes, which does not exist here; or NULL. */
const char *llama_options_instead(const char *s, size_t n);

#endif
