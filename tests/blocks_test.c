/* Every tensor type's values against those of ../shared/formats: random blocks, every codebook row and extreme scales,
 * by checksums; blocks whose scale is not finite, by value. quantise_test needs no such data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/gguf/formats.h"
#include "check.h"

enum { PATH = 4096, BYTES_MOST = 1 << 18, PATTERNS = 65536 };

static char root[PATH - 64];

/* The bytes of root/NAME.suffix; 0 if there is none. */
static size_t slurp(const char *name, const char *suffix, void *to)
{
	char path[PATH];
	FILE *f;
	size_t n;

	snprintf(path, sizeof path, "%s/%s.%s", root, name, suffix);
	if (!(f = fopen(path, "rb")))
		return 0;
	n = fread(to, 1, BYTES_MOST, f);
	fclose(f);
	return n;
}

/* zlib's. */
static unsigned crc32(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	unsigned crc = ~0u;

	while (n--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
	}
	return ~crc;
}

/* The values of blocks, n of them, with -0 made +0 and any NaN the usual one. */
static void values(const struct format *f, const unsigned char *blocks, size_t n, float *y)
{
	const unsigned nan = 0x7fc00000;

	format_dequantise(f, blocks, y, n);
	for (size_t i = 0; i < n; i++)
		if (y[i] != y[i])
			memcpy(&y[i], &nan, sizeof nan);
		else if (y[i] == 0)
			y[i] = 0;
}

/* A checksum a line, each of `count` elements. */
static void test_sums(const struct format *f, const unsigned char *blocks, size_t bytes, size_t count)
{
	static char sums[BYTES_MOST + 1];
	size_t n = slurp(f->name, "crc", sums), step = count / f->block * f->bytes, line = 0;
	float y[FORMAT_BLOCK_MOST];
	char *next = sums, *end;

	sums[n] = '\0';
	for (size_t at = 0; at + step <= bytes; at += step, line++, next = end) {
		unsigned want = (unsigned)strtoul(next, &end, 16);

		values(f, blocks + at, count, y);
		check(end > next && crc32(y, count * sizeof *y) == want, "%s: block %zu differs", f->name, line);
	}
	check(line > 0, "%s: no blocks", f->name);
}

static void test_nonfinite(const struct format *f)
{
	static unsigned char blocks[BYTES_MOST];
	static float want[BYTES_MOST / sizeof(float)];
	size_t n = slurp(f->name, "nonfinite.blocks", blocks) / f->bytes;
	size_t there = slurp(f->name, "nonfinite.values.f32", want) / sizeof *want / f->block;
	float y[FORMAT_BLOCK_MOST];

	check(n == there, "%s: nonfinite: %zu blocks, values of %zu", f->name, n, there);
	for (size_t i = 0; i < n && i < there; i++) {
		values(f, blocks + i * f->bytes, f->block, y);
		check(memcmp(y, want + i * f->block, f->block * sizeof *y) == 0, "%s: nonfinite block %zu differs",
			f->name, i);
	}
}

int main(void)
{
	static unsigned char bytes[BYTES_MOST];
	const char *shared = getenv("SHARED");
	const struct format *f;
	size_t n;

	snprintf(root, sizeof root, "%s/formats/blocks", shared ? shared : "../shared");
	if (!slurp("Q8_0", "crc", bytes)) {
		check_skip("no %s (25 types)", root);
		return check_end("blocks");
	}
	for (size_t i = 0; (f = format_each(i)); i++) {
		if (f->read) {
			n = slurp(f->name, "blocks", bytes);
			test_sums(f, bytes, n, f->block);
			test_nonfinite(f);
		} else if (f->bytes == 2) {     /* all patterns */
			for (n = 0; n < PATTERNS; n++) {
				bytes[2 * n] = (unsigned char)n;
				bytes[2 * n + 1] = (unsigned char)(n >> 8);
			}
			test_sums(f, bytes, 2 * PATTERNS, 256);
		}
	}
	return check_end("blocks");
}
