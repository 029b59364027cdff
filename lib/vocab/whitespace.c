/* whitespace: BPE of words. White space only divides the text and is dropped; letters may be lower-cased. */
#include "encoder.h"

#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/utf8.h"
#include "unicode.h"

/* A struct kind's unit(): nothing for white space. Each byte that is not UTF-8 becomes U+FFFD. */
static size_t read_unit(const struct vocab *v, const char *text, const char *end, char own[4], const char **unit,
	size_t *n)
{
	size_t length;
	uint32_t c = unicode_next((const unsigned char *)text, (const unsigned char *)end, &length);

	*unit = own;
	*n = unicode_is_white(c) ? 0 : utf8_put(own, (int32_t)(v->lowercase ? unicode_lower(c) : c));
	return length;
}

static int encode(struct vocab *v, const char *text, size_t n, int flags, struct ids *out, struct why *w)
{
	struct encoder *e = v->encoder;
	const char *end = text + n, *unit;
	size_t at = 0, length, used;
	char own[4];

	if (n > SIZE_MAX / 3 || grow_scratch(&e->segment, &e->segment_room, 3 * n))
		return why(w, "out of memory");
	for (; text < end; text += used) {
		used = read_unit(v, text, end, own, &unit, &length);
		if (flags & VOCAB_RAW && used == 1 && length) {
			*own = (char)(*text & 0x80 ? *text : *own);
			length = 1;
		}
		memcpy(e->segment + at, unit, length);
		at += length;
		if (at && (!length || text + used == end)) {
			if (bpe_encode(v, e->segment, at, flags | VOCAB_RAW, out, w))
				return -1;
			at = 0;
		}
	}
	return 0;
}

static void mark(struct vocab *v, const char *text, size_t n, unsigned char bytes[256])
{
	const char *end = text + n, *unit;
	size_t length;
	char own[4];

	while (text < end) {
		text += read_unit(v, text, end, own, &unit, &length);
		if (length)
			bpe_mark(v, unit, length, bytes);
	}
}

static int read_keys(struct vocab *v, struct why *w)
{
	return gguf_bool(v->g, "tokenizer.ggml.normalizer.lowercase", &v->lowercase, w) < 0 ? -1 : 0;
}

const struct kind whitespace_kind = {
	.model = "whitespace", .flags = KIND_PRETOK | KIND_REPAIRS, .rules = { .bos = 11, .eos = 11, .unknown = -1 },
	.read = read_keys, .open = bpe_open, .mark = mark, .index = words_index, .encode = encode,
	.encode_word = bpe_word, .unit = read_unit
};
