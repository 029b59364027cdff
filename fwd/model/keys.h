/* keys: reads the hyperparameters of a model, "ARCH.name", and checks them. If a key is absent, the value keeps its
 * default. Each function returns -1 with a reason if a value has the wrong type or is out of range.
 *
 * Some keys turn on features that change the numbers. A family that does not read such a key does not have the feature:
 * llama.cpp ignores the key, and so do we. */
#ifndef KEYS_H
#define KEYS_H

#include "model.h"

enum { RANK_MAX = 1 << 14 };    /* upper bound of low-rank products; real models stay far below */

struct key_name {
	char s[96];
};

/* "ARCH.name" */
struct key_name key_name(const struct model *m, const char *name);

/* *out = the value of a key, in [low, high]. With key_required() a missing key is an error. */
int key_size(struct model *m, const char *name, size_t low, size_t high, size_t *out, struct why *w);
int key_required(struct model *m, const char *name, size_t low, size_t high, size_t *out, struct why *w);
int key_real(struct model *m, const char *name, double low, double high, double *out, struct why *w);
int key_float(struct model *m, const char *name, double low, double high, float *out, struct why *w);
int key_flag(struct model *m, const char *name, int *out, struct why *w);

/* A scale factor up to 1e6; 0 means 1, as in llama.cpp. */
int key_scale(struct model *m, const char *name, float *out, struct why *w);

/* The value for layer il: the key's number or, if it is an array of n_block or n_layer elements, its element il. */
int key_size_at(struct model *m, const char *name, size_t il, size_t low, size_t high, size_t *out, struct why *w);

/* n numbers from -1e6 to 1e6, or one number for all n. The key is required; `name` is the whole key: no
 * architecture is put before it. */
int full_key_floats(struct model *m, const char *name, size_t n, float *out, struct why *w);

/* The first n integers of an array, all in [low, high]. The key is required. */
int key_integers(struct model *m, const char *name, size_t n, int64_t low, int64_t high, uint64_t *to, struct why *w);

/* In a survey: notes that the family does not use this key, unless it has the value that means "off"; or all keys of
 * features that the family has not read. */
void key_unused(struct model *m, const char *name, double off);
int keys_note_unused(struct model *m, struct why *w);

/* Reports a fault in a key that decides sizes: returns -1 or, in a survey, records the fault and returns 0; the caller
 * then goes on with some other size. */
int key_fault(struct model *m, struct why *w);

#endif
