/* memo_test: values are found by their keys; those that were used last stay within the limits, and those in use in any
 * case. */
#include <string.h>

#include "lib/base/memo.h"
#include "check.h"
#include "random.h"

enum { KEYS = 12, ITEMS = 4, BYTES = 60, ROUNDS = 20000 };

static int made[KEYS], users[KEYS];

static void closed(void *value)
{
	size_t k = (size_t)((int *)value - made);

	check(made[k] && !users[k], "value %zu is closed %s", k, made[k] ? "while it is in use" : "twice");
	made[k] = 0;
}

/* A key of several lengths, with a NUL in it. */
static size_t key_of(size_t k, char key[40])
{
	memset(key, 0, 40);
	key[0] = (char)(k % 3);
	key[k + 1] = 'x';
	return k + 2;
}

static size_t size_of(size_t k)
{
	return 5 * (k % 4);
}

/* Nothing stays that is not in use while there is more than the limits allow. */
static void check_limits(size_t k)
{
	size_t n = 0, bytes = 0, idle = 0;
	char key[40];

	for (size_t i = 0; i < KEYS; i++) {
		n += (size_t)made[i];
		bytes += made[i] ? size_of(i) + key_of(i, key) : 0;
		idle += made[i] && !users[i];
	}
	check((n <= ITEMS && bytes <= BYTES) || !idle, "after key %zu: %zu values, %zu bytes, %zu of them idle", k, n,
		bytes, idle);
}

static void take(struct memo *m, size_t k)
{
	char key[40];
	size_t n = key_of(k, key);
	int *v = memo_find(m, key, n);

	check((v != NULL) == made[k] && (!v || v == &made[k]), "key %zu finds another value", k);
	users[k]++;
	if (v)
		return;
	made[k] = 1;
	check(!memo_put(m, key, n, &made[k], size_of(k)), "out of memory");
}

static void release(struct memo *m, size_t k)
{
	users[k]--;
	memo_release(m, &made[k]);
}

/* Within the limits, the one that was used first goes. */
static void order(void)
{
	struct memo m = { .items = 2, .bytes = 1000, .close = closed };

	for (size_t k = 0; k < 3; k++) {
		take(&m, k);
		release(&m, k);
		if (k == 1) {
			take(&m, 0);
			release(&m, 0);
		}
	}
	check(made[0] && !made[1] && made[2], "not the value that was used first has gone");
	memo_clear(&m);
	check(!made[0] && !made[2], "memo_clear() leaves something");
}

int main(void)
{
	struct memo m = { .items = ITEMS, .bytes = BYTES, .close = closed };

	order();
	for (size_t i = 0; i < ROUNDS; i++) {
		size_t k = random_below(KEYS);

		if (users[k] && random_below(3))
			release(&m, k);
		else
			take(&m, k);
		check_limits(k);
	}
	for (size_t k = 0; k < KEYS; k++)
		while (users[k])
			release(&m, k);
	memo_clear(&m);
	for (size_t k = 0; k < KEYS; k++)
		check(!made[k], "value %zu is never closed", k);
	return check_end("memo_test");
}
