/* print: results one by one, as a table in markdown, as CSV with a heading, or as an array of JSON objects. */
#ifndef PRINT_H
#define PRINT_H

#include "timing.h"

enum style { STYLE_MD, STYLE_CSV, STYLE_JSON };

struct bench_row {
	const char *model, *backend;
	size_t bytes, threads, batch, repetitions;
	struct bench_test test;
	struct bench_result result;
};

/* Print the start of a table, a row, and its end to stdout. */
void print_start(enum style style);
void print_row(enum style style, const struct bench_row *row);
void print_end(enum style style);

#endif
