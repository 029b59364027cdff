/* unicode_gen: writes unicode_table.c from UnicodeData.txt. `make unicode` runs it; it is not part of the build. Each
 * line of the input describes a code point in fields separated by semicolons: the code in hexadecimal, the name, the
 * general category, and more. Two lines whose names end in "First>" and "Last>" describe a range. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unicode.h"

enum { BLOCK = 128, BLOCKS = UNICODE_END / BLOCK, PER_LINE = 26 };

static unsigned char class_of[UNICODE_END];

static enum unicode_class from_category(unsigned long c, const char *category)
{
	static const char letters[] = "ultmo";

	if (c == ' ')
		return UNICODE_BLANK;
	if (c == '\n' || c == '\r')
		return UNICODE_NEWLINE;
	if (c == '\t' || c == '\v' || c == '\f' || c == 0x85)
		return UNICODE_SPACE;
	switch (category[0]) {
	case 'L':
		return (enum unicode_class)(UNICODE_LU + (strchr(letters, category[1]) - letters));
	case 'M':
		return UNICODE_MARK;
	case 'N':
		return UNICODE_NUMBER;
	case 'P':
		return UNICODE_PUNCTUATION;
	case 'S':
		return UNICODE_SYMBOL;
	case 'Z':
		return UNICODE_SPACE;
	default:
		return UNICODE_OTHER;
	}
}

static void read_data(FILE *in)
{
	char line[1024], name[256], category[4];
	unsigned long c, first = 0;

	while (fgets(line, sizeof line, in)) {
		if (sscanf(line, "%lx;%255[^;];%3[^;]", &c, name, category) != 3 || c >= UNICODE_END) {
			fprintf(stderr, "unicode_gen: cannot read: %s", line);
			exit(1);
		}
		if (!strstr(name, "Last>"))
			first = c;
		for (; first <= c; first++)
			class_of[first] = (unsigned char)from_category(first, category);
	}
}

/* Debian 12 has Unicode 15.0, but the tokenizers use 15.1, which added these letters and symbols. Newer files contain
 * them. */
static void add_15_1(void)
{
	static const struct {
		unsigned long first, last;
		enum unicode_class class;
	} added[] = { { 0x2ebf0, 0x2ee5d, UNICODE_LO }, { 0x2ffc, 0x2fff, UNICODE_SYMBOL },
		{ 0x31ef, 0x31ef, UNICODE_SYMBOL } };

	for (size_t i = 0; i < sizeof added / sizeof *added; i++)
		memset(class_of + added[i].first, added[i].class, added[i].last - added[i].first + 1);
}

static void print_row(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%s%d,%s", i % PER_LINE ? "" : "\t", p[i], i % PER_LINE == PER_LINE - 1 || i == n - 1
			? "\n" : "");
}

int main(void)
{
	static unsigned char block[BLOCKS], first_of[256][BLOCK];
	size_t n = 0, k;

	read_data(stdin);
	add_15_1();
	for (size_t b = 0; b < BLOCKS; b++) {
		for (k = 0; k < n && memcmp(first_of[k], class_of + b * BLOCK, BLOCK); k++)
			;
		if (k == 256) {
			fprintf(stderr, "unicode_gen: more than 256 different blocks\n");
			return 1;
		}
		if (k == n)
			memcpy(first_of[n++], class_of + b * BLOCK, BLOCK);
		block[b] = (unsigned char)k;
	}
	printf("/* Made by unicode_gen.c from UnicodeData.txt: do not edit. Entries are enum unicode_class. */\n");
	printf("#include \"unicode.h\"\n\n");
	printf("const unsigned char unicode_block[UNICODE_END / %d] = {\n", BLOCK);
	print_row(block, BLOCKS);
	printf("};\n\nconst unsigned char unicode_in_block[][%d] = {\n", BLOCK);
	for (k = 0; k < n; k++) {
		printf("\t{\n");
		print_row(first_of[k], BLOCK);
		printf("\t},\n");
	}
	printf("};\n");
	return fclose(stdout) ? 1 : 0;
}
