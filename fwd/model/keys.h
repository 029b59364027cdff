/* keys: the hyperparameters of a model, read from "ARCH.name" and checked. Where a key is absent the value stays as it
 * is: the default. Each function returns -1 and says why if a value is of the wrong type or out of range.
 *
 * Some keys turn on features that change the numbers. A family that does not ask for such a key does not know the
 * feature: keys_refuse_features() then refuses a file that turns it on. */
#ifndef KEYS_H
#define KEYS_H

#include "model.h"

enum { RANK_MAX = 1 << 14 };    /* of products of two matrices: no model comes near this */

struct key_name {
	char s[96];
};

/* "ARCH.name" */
struct key_name key_name(const struct model *m, const char *name);

/* *out = the value of a key, in [low, high]; key_required(): its absence is an error. */
int key_size(struct model *m, const char *name, size_t low, size_t high, size_t *out, struct why *w);
int key_required(struct model *m, const char *name, size_t low, size_t high, size_t *out, struct why *w);
int key_real(struct model *m, const char *name, double low, double high, double *out, struct why *w);
int key_float(struct model *m, const char *name, double low, double high, float *out, struct why *w);
int key_flag(struct model *m, const char *name, int *out, struct why *w);

/* A factor up to 1e6; 0 stands for 1, as in llama.cpp. */
int key_scale(struct model *m, const char *name, float *out, struct why *w);

/* The value of layer il: the key's number or, if it is an array, its element il of n_block or n_layer. */
int key_size_at(struct model *m, const char *name, size_t il, size_t low, size_t high, size_t *out, struct why *w);

/* n numbers from -1e6 to 1e6, or one for all, of a key without "ARCH."; it must be there. */
int key_floats(struct model *m, const char *name, size_t n, float *out, struct why *w);

/* The first n integers of an array, all in [low, high]; it must be there. */
int key_integers(struct model *m, const char *name, size_t n, int64_t low, int64_t high, uint64_t *to, struct why *w);

/* Once the family has read its keys. */
int keys_refuse_features(struct model *m, struct why *w);

/* A fault of a key that decides sizes: -1 or, in a survey, told; then the caller goes on with some other size. */
int key_fault(struct model *m, struct why *w);

#endif
