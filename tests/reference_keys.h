/* reference_keys: the keys of the reference's model. Errors end the program. */
#ifndef REFERENCE_KEYS_H
#define REFERENCE_KEYS_H

#include "reference_model.h"

/* ARCH.KEY, valid until the next call. */
const char *key_name(const struct reference *m, const char *key);

/* The values of ARCH.KEY, or `otherwise` if it is missing. */
size_t key_size(const struct reference *m, const char *key, size_t otherwise);
int key_flag(const struct reference *m, const char *key, int otherwise);
double key_real(const struct reference *m, const char *key, double otherwise);

/* Element il of the key's array, or the key's value if it is a single number; `otherwise` if the key is missing. */
size_t key_size_at(const struct reference *m, const char *key, size_t il, size_t otherwise);

/* The same, of a key without the architecture's name, which must be there. */
double key_real_at(const struct reference *m, const char *key, size_t il);

/* x, or 1 if it is not positive. */
double or_one(double x);

#endif
