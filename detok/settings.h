/* settings: what the command line of detok asks for, besides which control tokens and stop strings a printer has. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "lib/base/cli.h"

struct settings {
	const struct cli *c;            /* has the tables that the options of sequences are in */
	int generated;                  /* the text is only what a sampler drew */
	int turns;                      /* a stop string does not end the stream */
	int frames, lines, pieces;      /* write this instead of text */
	int ordered, json;              /* lines: in the order of the sequence numbers; as JSON objects */
	const char *suffix;             /* printed after each text */
	const char *end;                /* the file that receives an `end ` frame for each text, */
	int end_fd;                     /* open; or -1 */
};

#endif
