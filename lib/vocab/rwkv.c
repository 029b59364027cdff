/* rwkv: RWKV's World tokenizer. A text is a sequence of tokens, each the longest that the rest of the text begins with.
 * The file spells bytes as \n, \t, \r and \x41, and a backslash before any other character stands for that. */
#include "priv.h"

#include <stdlib.h>

static unsigned digit(char c)
{
	return (unsigned)(c >= 'a' ? c - 'a' + 10 : c - '0');
}

size_t rwkv_piece(struct gguf_string s, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.s[i];

		if (c == '\\') {
			if (++i == s.n)
				break;
			c = s.s[i];
			if (c == 'x' && s.n - i > 2) {
				c = (char)(digit(s.s[i + 1]) << 4 | (digit(s.s[i + 2]) & 15));
				i += 2;
			} else {
				c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
			}
		}
		out[n++] = c;
	}
	return n;
}

int rwkv_open(struct vocab *v, struct why *w)
{
	struct encoder *e = v->encoder;
	struct special_set *set = &e->rwkv;
	size_t room = (size_t)(v->tokens.array->end - v->tokens.array->data);
	char *at = e->text = malloc(room + 1);

	set->token = malloc(v->tokens.n * sizeof *set->token);
	if (!at || !set->token)
		return why(w, "out of memory");
	for (uint32_t i = 0; i < v->tokens.n; i++) {
		struct gguf_string s = vocab_token(v, (int32_t)i);
		size_t n = s.n <= room ? rwkv_piece(s, at) : 0; /* more only if the file changes */

		if (n)
			set->token[set->n++] = (struct special){ .id = (int32_t)i, .text = { at, n } };
		at += n;
		room -= n;
	}
	special_index(set);
	return 0;
}

int rwkv_encode(struct vocab *v, const char *text, size_t n, struct ids *out, struct why *w)
{
	const struct special_set *set = &v->encoder->rwkv;

	while (n) {
		uint32_t longest = special_longest(set, text, n);

		if (longest == SPECIAL_NONE)
			return why(w, "tokenizer.ggml.tokens: no token for byte 0x%02x of the text",
				(unsigned char)*text);
		if (ids_add(out, set->token[longest].id))
			return why(w, "out of memory");
		text += set->token[longest].text.n;
		n -= set->token[longest].text.n;
	}
	return 0;
}
