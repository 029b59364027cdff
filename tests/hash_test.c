/* hash_test: hash_data() and hash_mix() give what files and streams hold; hash_text() depends on every byte and on
 * nothing else, and its two forms agree. */
#include <stdint.h>
#include <string.h>

#include "lib/base/hash.h"
#include "check.h"

enum { BEFORE = 8, MOST = 99 };

static void frozen(void)
{
	static const uint64_t expected[] = { 0x92e372496498df40, 0x75c2bdd45634d599, 0xd9072f6ec4daea11,
		0xf8bde3889749b80a };
	unsigned char data[MOST];

	for (size_t i = 0; i < MOST; i++)
		data[i] = (unsigned char)(3 * i);
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
		check_at(hash_data(data, 33 * i, 7) == expected[i], "hash_data(), bytes", (long long)(33 * i));
	check(hash_mix(1) == 0x5692161d100b05e5, "hash_mix(1)");
}

static void texts(void)
{
	unsigned char with[BEFORE + MOST], other[BEFORE + MOST], *s = with + BEFORE, *t = other + BEFORE;
	uint64_t shorter = hash_text(s, 0), h;

	memset(with, 1, sizeof with);
	memset(other, 2, sizeof other);
	for (size_t n = 1; n <= MOST; n++) {
		s[n - 1] = t[n - 1] = (unsigned char)(7 * n);
		h = hash_text(s, n);
		check_at(h == hash_text(t, n), "the bytes around a text of this length count", (long long)n);
		check_at(h == hash_text_inside(s, n) && h == hash_text_inside(t, n), "the two forms differ at",
			(long long)n);
		check_at((uint32_t)h != (uint32_t)shorter, "the length does not count at", (long long)n);
		for (size_t i = 0; i < n; i++) {
			s[i] ^= 1;
			check((uint32_t)hash_text(s, n) != (uint32_t)h, "byte %zu of %zu does not count", i, n);
			s[i] ^= 1;
		}
		shorter = h;
	}
}

int main(void)
{
	frozen();
	texts();
	return check_end("hash_test");
}
