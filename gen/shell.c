/* The same pipeline as shell commands: what gen does is no secret. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "gen.h"

/* One word, quoted where the shell would see more in it than letters. */
static void print_word(const char *s)
{
	size_t plain = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%");

	if (*s && !s[plain]) {
		fputs(s, stdout);
		return;
	}
	putchar('\'');
	for (; *s; s++)
		if (*s == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*s);
	putchar('\'');
}

static void print_stage(const struct stage *s)
{
	if (s->command) {
		printf("{ %s\n}", s->command);
		return;
	}
	for (int i = 0; i < s->n; i++) {
		if (i)
			putchar(' ');
		print_word(s->argv[i]);
	}
}

void print_pipeline(const struct request *q)
{
	printf("dir=$(mktemp -d) || exit\ntrap 'rm -r \"$dir\"' EXIT\nmkfifo \"$dir/ids\" || exit\n{ ");
	if (q->prompt) {
		printf("printf %%s ");
		print_word(q->prompt);
		printf(" | ");
	}
	print_stage(&q->stage[TOK]);
	printf("; cat \"$dir/ids\"; } |\n\t");
	print_stage(&q->stage[FWD]);
	printf(" |\n\t");
	print_stage(&q->stage[SAMPLE]);
	printf(" |\n\ttee \"$dir/ids\" |\n\t");
	print_stage(&q->stage[DETOK]);
	printf("\n");
}
