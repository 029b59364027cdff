/* Each key is compared whole with what was sent. */
#include "keys.h"

#include <string.h>
#include <strings.h>

#include "lib/base/slurp.h"

enum { FILE_MAX = 1 << 20 };

/* The next line with a key, from *at on; its length, without blanks at its end; 0: there is none. */
static size_t next_key(const struct keys *k, size_t *at, const char **key)
{
	while (*at < k->text.n) {
		const char *line = k->text.p + *at, *end = memchr(line, '\n', k->text.n - *at);
		size_t n = end ? (size_t)(end - line) : k->text.n - *at;

		*at += n + 1;
		while (n && strchr(" \t\r", line[n - 1]))
			n--;
		*key = line;
		if (n && *line != '#')
			return n;
	}
	return 0;
}

int keys_read(struct keys *k, const char *name, struct why *w)
{
	const char *key;
	size_t at = 0;

	k->text.limit = FILE_MAX;
	k->set = 1;
	if (slurp_text(name, &k->text, w))
		return -1;
	return next_key(k, &at, &key) ? 0 : why(w, "%s: no key in it", name);
}

void keys_free(struct keys *k)
{
	bytes_free(&k->text);
}

static int equal(const char *key, size_t n, const char *sent, size_t sent_n)
{
	unsigned differ = n != sent_n;

	for (size_t i = 0; i < n; i++)
		differ |= (unsigned char)key[i] ^ (unsigned char)sent[sent_n ? i % sent_n : 0];
	return !differ;
}

int keys_allow(const struct keys *k, const struct http *h)
{
	const char *sent = http_field(h, "Authorization"), *key;
	size_t at = 0, n, found = 0;

	if (!k->set)
		return 1;
	if (sent && !strncasecmp(sent, "Bearer ", 7))
		sent += 7;
	else
		sent = http_field(h, "X-API-Key");
	while (sent && (n = next_key(k, &at, &key)))
		found |= (size_t)equal(key, n, sent, strlen(sent));
	return found != 0;
}
