/* rwkv: RWKV's World tokenizer. A text is a sequence of tokens, each the longest that the rest of the text begins with.
 * The file spells bytes as \n, \t, \r and \x41, and a backslash before any other character stands for that. */
#include "encoder.h"

#include "lib/base/grow.h"

static unsigned digit(char c)
{
	return (unsigned)(c >= 'a' ? c - 'a' + 10 : c - '0');
}

static size_t piece(struct gguf_string s, char *out)
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

static int index_tokens(struct vocab *v, const unsigned char *only, struct why *w)
{
	struct encoder *e = v->encoder;
	const struct gguf_value *tokens = v->tokens.array;
	char *to;

	/* no longer than in the file, unless that changes */
	if (grow_scratch(&e->text, &e->text_room, (size_t)(tokens->end - tokens->data) + 1))
		return why(w, "out of memory");
	if (prefixes_start(&e->prefixes, v->tokens.n, only, w))
		return -1;
	to = e->text;
	for (uint32_t i = 0; i < v->tokens.n; i++) {
		struct gguf_string s = vocab_token(v, (int32_t)i);
		size_t n = s.n <= e->text_room - (size_t)(to - e->text) ? piece(s, to) : 0;

		if (prefixes_add(&e->prefixes, to, n, (int32_t)i, w))
			return -1;
		to += n;
	}
	return prefixes_build(&e->prefixes, w);
}

static int encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w)
{
	size_t length = 0;
	int32_t id;

	(void)flags;
	for (; n; text += length, n -= length) {
		id = prefixes_longest(&v->encoder->prefixes, text, n, &length);
		if (id < 0)
			return why(w, "tokenizer.ggml.tokens: no token for byte 0x%02x of the text",
				(unsigned char)*text);
		if (ids_add(out, id))
			return why(w, "out of memory");
	}
	return 0;
}

const struct kind rwkv_kind = {
	.model = "rwkv", .flags = KIND_NO_ENDS, .rules = { .bos = -1, .eos = -1, .unknown = -1 },
	.index = index_tokens, .encode = encode, .piece = piece
};
