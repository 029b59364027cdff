/* stop_test: stop strings in random texts of few letters, divided at random, compared with searching the whole text
 * after each part: what was found, what came out, and that nothing was held back except what could still become a stop
 * string. Also tests the escapes of lib/quote. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/quote.h"
#include "lib/stream/stop.h"
#include "check.h"
#include "random.h"

enum { TEXT = 300, MOST = 12 };

static struct {
	char s[TEXT];
	size_t n;
} out;

static void put(void *context, const char *bytes, size_t n)
{
	(void)context;
	if (n == 0 || n > sizeof out.s - out.n) {
		check_at(0, "an amount", (long long)n);
		return;
	}
	memcpy(out.s + out.n, bytes, n);
	out.n += n;
}

/* What may come out of text[n], and which string ends it; -1: none. */
static size_t expected(char string[][MOST], const size_t *len, int n_strings, const char *text, size_t n, int *found)
{
	size_t end, held = 0, k;
	int i;

	*found = -1;
	for (end = 1; end <= n && *found < 0; end++)
		for (i = 0; i < n_strings; i++)
			if (end >= len[i] && !memcmp(text + end - len[i], string[i], len[i])
				&& (*found < 0 || len[i] > len[*found]))
				*found = i;
	if (*found >= 0)
		return end - 1 - len[*found];
	for (i = 0; i < n_strings; i++)
		for (k = 1; k < len[i] && k <= n; k++)
			if (!memcmp(text + n - k, string[i], k) && k > held)
				held = k;
	return n - held;
}

static void random_texts(void)
{
	char string[4][MOST], text[TEXT];
	size_t len[4], at, part, want, i;
	int n_strings, found, got, k, good;
	long long trial;
	struct stop *s;
	struct why w;

	for (trial = 0; trial < 20000; trial++) {
		size_t letters = 1 + random_below(3), n = random_below(TEXT);

		s = stop_open(&w);
		n_strings = (int)random_below(5);
		for (k = 0; k < n_strings; k++) {
			len[k] = 1 + random_below(trial % 3 ? 4 : MOST);
			for (i = 0; i < len[k]; i++)
				string[k][i] = (char)('a' + random_below(letters));
			/* of equal strings the first is found */
			for (int j = 0; j < k; j++)
				if (len[j] == len[k] && !memcmp(string[j], string[k], len[k]))
					string[k][0] = 'z';
			if (stop_add(s, string[k], len[k], &w))
				check_at(0, "a string", trial);
		}
		for (i = 0; i < n; i++)
			text[i] = (char)('a' + random_below(letters + (trial % 4 == 0)));
		for (int twice = 0; twice < 2; twice++) {
			out.n = 0;
			got = -1;
			good = 1;
			for (at = 0; at < n; at += part) {
				part = 1 + random_below(n - at < 9 ? n - at : 9);
				got = stop_feed(s, text + at, part, put, NULL);
				want = expected(string, len, n_strings, text, at + part, &found);
				good &= got == found && out.n == want && !memcmp(out.s, text, want);
			}
			check_at(good, "what came through", trial);
			stop_end(s, put, NULL);
			check_at(got >= 0 || (out.n == n && !memcmp(out.s, text, n)), "all of it in the end", trial);
		}
		stop_close(s);
	}
}

static void limits(void)
{
	static char long_one[STOP_BYTES + 1];
	struct why w;
	struct stop *s = stop_open(&w);
	int i;

	check_at(stop_add(s, "", 0, &w) < 0 && stop_add(s, long_one, sizeof long_one, &w) < 0, "empty and too long", 0);
	for (i = 0; i < STOP_STRINGS; i++)
		check_at(!stop_add(s, long_one, STOP_BYTES, &w), "the longest", i);
	check_at(stop_add(s, "x", 1, &w) < 0, "too many", 0);
	for (out.n = 0, i = 0; i < STOP_BYTES - 1 && stop_feed(s, "", 1, put, NULL) < 0 && !out.n; i++)
		;
	check_at(i == STOP_BYTES - 1, "bytes of 0", i);
	check_at(stop_feed(s, "", 1, put, NULL) == 0 && !out.n, "the last of them", 0);
	stop_close(s);
}

static void quotes(void)
{
	static const struct {
		const char *text, *meant;
	} undo[] = { { "a\\nb", "a\nb" }, { "\\t\\r\\\\\\\"\\'", "\t\r\\\"'" }, { "\\x\\", "\\x\\" }, { "", "" },
		{ "\\\\n", "\\n" } };
	char room[64], c[QUOTE_ROOM];
	const char bytes[] = "a\n\"\xc3\xa4\xff\x01";
	unsigned used;
	size_t i, n = 0;

	for (i = 0; i < sizeof undo / sizeof *undo; i++) {
		n = quote_undo(undo[i].text, strlen(undo[i].text), room);
		check_at(n == strlen(undo[i].meant) && !memcmp(room, undo[i].meant, n), undo[i].text, (long long)n);
	}
	for (n = i = 0; i < sizeof bytes - 1; i += used) {
		size_t len = quote_next(bytes + i, sizeof bytes - 1 - i, '\\', c, &used);

		memcpy(room + n, c, len);
		n += len;
	}
	room[n] = 0;
	check_at(!strcmp(room, "a\\n\\\"\xc3\xa4\\xff\\x01"), room, (long long)n);
}

int main(void)
{
	random_texts();
	limits();
	quotes();
	return check_end("stop");
}
