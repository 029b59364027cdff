/* settings: the options of kv, and what they ask for. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "lib/base/cli.h"

struct settings {
	unsigned given;         /* which rows of settings_opts, as bits */
	const char *model;      /* or NULL */
	int json, special, force;
	long long older;        /* seconds; 0: not given */
	int keeps;              /* --keep, */
	unsigned long long keep;        /* so many bytes */
};

extern const struct opt settings_opts[];

/* Reads the options; ends the program if a value is wrong. */
void settings_read(struct settings *set, struct cli *c);

/* The number that text[n] is, in decimal digits; -1 if it is none up to `most`. */
long long settings_number(const char *text, size_t n, long long most);

#endif
