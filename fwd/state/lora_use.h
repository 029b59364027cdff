/* lora_use: how a sequence uses an adapter (fwd/model/lora.h). */
#ifndef LORA_USE_H
#define LORA_USE_H

#include <stddef.h>
#include <stdint.h>

enum { LORA_MAX = 32 };         /* adapters of a process */

struct lora_use {
	float scale;            /* 0: not at all */
	size_t from;            /* the first position whose row has it; SIZE_MAX: none */
};

static inline int lora_applies(const struct lora_use *u)
{
	return (u->scale < 0 || u->scale > 0) && u->from < SIZE_MAX;
}

#endif
