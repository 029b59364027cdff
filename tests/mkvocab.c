#include "mkvocab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mkrandom.h"

enum { LONGEST = 16 };

struct piece {
	unsigned char n, s[LONGEST];
	uint32_t left, right;   /* the pieces that it was made of */
};

struct pieces {
	struct piece *list;
	size_t n, first_word;   /* from first_word on: pieces that words are made of */
	uint32_t *table;        /* open addressing, index + 1 */
	size_t mask;
};

/* Where the piece is in the table, or the free slot for it. */
static uint32_t *slot(const struct pieces *p, const struct piece *piece)
{
	uint64_t h = piece->n;
	size_t i;

	for (size_t k = 0; k < piece->n; k++)
		h = mkrandom(h, piece->s[k]);
	for (i = h & p->mask; p->table[i]; i = (i + 1) & p->mask) {
		const struct piece *other = &p->list[p->table[i] - 1];

		if (other->n == piece->n && !memcmp(other->s, piece->s, piece->n))
			break;
	}
	return &p->table[i];
}

/* 1 if it was new. */
static int add(struct pieces *p, const struct piece *piece)
{
	uint32_t *at = slot(p, piece);

	if (*at)
		return 0;
	p->list[p->n++] = *piece;
	*at = (uint32_t)p->n;
	return 1;
}

static int join(struct pieces *p, uint32_t left, uint32_t right)
{
	const struct piece *a = &p->list[left], *b = &p->list[right];
	struct piece c = { .n = (unsigned char)(a->n + b->n), .left = left, .right = right };

	if (c.n > LONGEST)
		return 0;
	memcpy(c.s, a->s, a->n);
	memcpy(c.s + a->n, b->s, b->n);
	return add(p, &c);
}

static uint32_t find(const struct pieces *p, const char *s)
{
	struct piece piece = { .n = (unsigned char)strlen(s) };

	memcpy(piece.s, s, piece.n);
	return *slot(p, &piece) - 1;
}

static void english(struct pieces *p, size_t n)
{
	static const char *const pairs[][2] = {
		{ " ", "t" }, { "h", "e" }, { "i", "n" }, { " ", "a" }, { "r", "e" }, { "o", "n" }, { " t", "he" },
		{ "e", "r" }, { " ", "s" },
		{ "a", "t" }, { " ", "w" }, { " ", "o" }, { "e", "n" }, { " ", "c" }, { "i", "t" }, { "i", "s" },
		{ "a", "n" }, { "o", "r" },
		{ "e", "s" }, { " ", "b" }, { "e", "d" }, { " ", "f" }, { "in", "g" }, { " ", "p" }, { "o", "u" },
		{ " a", "n" }, { "a", "l" },
		{ "a", "r" }, { " t", "o" }, { " ", "m" }, { " o", "f" }, { " ", "in" }, { " ", "d" }, { " ", "h" },
		{ " an", "d" }, { " ", " " },
		{ "  ", "  " }, { "\n", "\n" }, { "O", "n" }, { "On", "c" }, { "Onc", "e" }, { "l", "l" },
		{ " he", "ll" }, { " w", "or" },
	};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs && p->n < n; i++) {
		uint32_t left = find(p, pairs[i][0]), right = find(p, pairs[i][1]);

		if (left != UINT32_MAX && right != UINT32_MAX)
			join(p, left, right);
	}
}

/* Joins until there are n: early pieces, which are short and common, are taken more often; a space or a capital begins
 * a word only. */
static void syllables(struct pieces *p, size_t n, uint64_t seed)
{
	for (uint64_t turn = 0; p->n < n; turn++) {
		uint64_t r = mkrandom(seed, turn), words = p->n - p->first_word;
		uint64_t a = words * (r & 0xffff) >> 16, b = words * (r >> 16 & 0xffff) >> 16;
		uint32_t left = (uint32_t)(p->first_word + (a * (r >> 32 & 0xffff) >> 16)),
			right = (uint32_t)(p->first_word + (b * (r >> 48) >> 16));
		unsigned char begin = p->list[right].s[0], end = p->list[left].s[p->list[left].n - 1];

		if (begin >= 'a' && begin <= 'z' && (end > ' ' || p->list[left].n == 1))
			join(p, left, right);
	}
}

static void open_pieces(struct pieces *p, size_t n)
{
	*p = (struct pieces){ .list = calloc(n, sizeof *p->list), .mask = 1023 };
	while (p->mask < n * 2)
		p->mask = p->mask * 2 + 1;
	p->table = calloc(p->mask + 1, sizeof *p->table);
	if (!p->list || !p->table) {
		fprintf(stderr, "mkvocab: out of memory\n");
		exit(1);
	}
}

static void close_pieces(struct pieces *p)
{
	free(p->list);
	free(p->table);
}

/* The single bytes that words are made of, in the order that makes the common ones early. */
static const char letters[] = " etaoinshrdlucmfwypvbgkjqxzTAIOSHW";

static void add_byte(struct pieces *p, int c)
{
	struct piece piece = { .n = 1, .s = { (unsigned char)c } };

	add(p, &piece);
}

/* The code point that stands for a byte in GPT-2's byte-level BPE: itself where it prints; the 68 others are counted up
 * from 256. */
static unsigned stands_for(unsigned byte)
{
	if (byte <= 32)
		return 256 + byte;
	if (byte >= 127 && byte <= 160)
		return 289 + byte - 127;
	return byte == 173 ? 323 : byte;
}

static size_t spell(const struct piece *piece, char *to)
{
	size_t n = 0;

	for (size_t i = 0; i < piece->n; i++) {
		unsigned c = stands_for(piece->s[i]);

		if (c >= 128) {
			to[n++] = (char)(0xc0 | c >> 6);
			to[n++] = (char)(0x80 | (c & 63));
		} else {
			to[n++] = (char)c;
		}
	}
	return n;
}

static void special_ids(struct mkgguf *m, uint32_t bos, uint32_t eos, int add_bos)
{
	mkgguf_u32(m, "tokenizer.ggml.bos_token_id", bos);
	mkgguf_u32(m, "tokenizer.ggml.eos_token_id", eos);
	mkgguf_bool(m, "tokenizer.ggml.add_bos_token", add_bos);
}

void mkvocab_bpe(struct mkgguf *m, const char *pre, uint32_t n_vocab, uint64_t seed, int add_bos)
{
	static const char *const special[3] = { "<|endoftext|>", "<|im_start|>", "<|im_end|>" };
	uint32_t n = n_vocab - 3;
	struct pieces p;
	char text[4 * LONGEST + 1];

	open_pieces(&p, n);
	for (int c = 0; c < 256; c++)
		if (!c || !strchr(letters, c))
			add_byte(&p, c);
	p.first_word = p.n;
	for (const char *c = letters; *c; c++)
		add_byte(&p, *c);
	english(&p, n);
	syllables(&p, n, seed);

	mkgguf_text(m, "tokenizer.ggml.model", "gpt2");
	mkgguf_text(m, "tokenizer.ggml.pre", pre);
	mkgguf_array(m, "tokenizer.ggml.tokens", GGUF_STRING, n_vocab);
	for (uint32_t i = 0; i < n; i++)
		mkgguf_add_text(m, text, spell(&p.list[i], text));
	for (size_t i = 0; i < 3; i++)
		mkgguf_add_text(m, special[i], strlen(special[i]));
	mkgguf_array(m, "tokenizer.ggml.token_type", GGUF_I32, n_vocab);
	for (uint32_t i = 0; i < n_vocab; i++)
		mkgguf_add_i32(m, i < n ? 1 : 3);
	mkgguf_array(m, "tokenizer.ggml.merges", GGUF_STRING, n - 256);
	for (uint32_t i = 256; i < n; i++) {
		size_t at = spell(&p.list[p.list[i].left], text);

		text[at++] = ' ';
		mkgguf_add_text(m, text, at + spell(&p.list[p.list[i].right], text + at));
	}
	special_ids(m, n, n + 2, add_bos);
	close_pieces(&p);
}

/* ---- vocabularies whose tokens are text ---- */

static const struct plain {
	const char *model;
	int escapes;            /* a space is U+2581 */
	int merges;
} plains[] = {
	{ "llama", 1, 0 }, { "t5", 1, 0 }, { "bert", 1, 0 }, { "plamo2", 0, 0 }, { "rwkv", 0, 0 }, { "gemma4", 1, 1 },
	{ "whitespace", 0, 1 },
};

static size_t spell_plain(const struct piece *piece, const struct plain *plain, char *to)
{
	size_t n = 0;

	for (size_t i = 0; i < piece->n; i++)
		if (piece->s[i] == ' ' && plain->escapes) {
			memcpy(to + n, "\xe2\x96\x81", 3);
			n += 3;
		} else if (!strcmp(plain->model, "rwkv") && strchr("\n\\", piece->s[i])) {
			to[n++] = '\\';
			to[n++] = piece->s[i] == '\n' ? 'n' : '\\';
		} else {
			to[n++] = (char)piece->s[i];
		}
	return n;
}

static void put_tokens(struct mkgguf *m, const struct pieces *p, const struct plain *plain, uint32_t n_vocab)
{
	static const char *const special[3] = { "<unk>", "<s>", "</s>" };
	int rwkv = !strcmp(plain->model, "rwkv"), falling = !strcmp(plain->model, "llama");
	char text[4 * LONGEST];

	mkgguf_array(m, "tokenizer.ggml.tokens", GGUF_STRING, n_vocab);
	for (size_t i = 0; i < 3; i++)
		mkgguf_add_text(m, special[i], strlen(special[i]));
	for (unsigned c = 0; c < 256; c++)
		mkgguf_add_text(m, text, (size_t)snprintf(text, sizeof text, rwkv ? "\\x%02x" : "<0x%02X>", c));
	for (uint32_t i = 0; i < n_vocab - MKVOCAB_MIN; i++)
		mkgguf_add_text(m, text, spell_plain(&p->list[i], plain, text));
	/* Merges are in the order of falling scores. Sums of scores are highest for few tokens. */
	mkgguf_array(m, "tokenizer.ggml.scores", GGUF_F32, n_vocab);
	for (uint32_t i = 0; i < n_vocab; i++)
		mkgguf_add_f32(m, i < MKVOCAB_MIN ? 0 : falling ? -(float)(i - MKVOCAB_MIN) : -8 - (float)i / 1024);
	mkgguf_array(m, "tokenizer.ggml.token_type", GGUF_I32, n_vocab);
	for (uint32_t i = 0; i < n_vocab; i++)
		mkgguf_add_i32(m, i == 0 ? 2 : i < 3 ? 3 : i < MKVOCAB_MIN && !rwkv ? 6 : 1);
}

/* Whether the piece is made by a merge, whose halves are those before and after its first space. */
static int is_merged(const struct pieces *p, size_t i, const struct plain *plain)
{
	const struct piece *left = &p->list[p->list[i].left];

	return p->list[i].n > 1 && (plain->escapes || !memchr(left->s + 1, ' ', left->n - 1u));
}

static void put_merges(struct mkgguf *m, const struct pieces *p, const struct plain *plain)
{
	char text[8 * LONGEST];
	uint64_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += (uint64_t)is_merged(p, i, plain);
	mkgguf_array(m, "tokenizer.ggml.merges", GGUF_STRING, n);
	for (size_t i = 0; i < p->n; i++)
		if (is_merged(p, i, plain)) {
			size_t at = spell_plain(&p->list[p->list[i].left], plain, text);

			text[at++] = ' ';
			mkgguf_add_text(m, text, at + spell_plain(&p->list[p->list[i].right], plain, text + at));
		}
}

void mkvocab_plain(struct mkgguf *m, const char *model, uint32_t n_vocab, uint64_t seed, int add_bos)
{
	static const char others[] = ".,'\"!?-:;()0123456789BCDEFGJKLMNPQRUVXYZ/*&%$#@+=<>[]{}_|~^`\\";
	static const struct mkvocab_rule rules[] = { { "\xef\xac\x81", "fi" }, { "\xc2\xa0", " " }, { "\t", " " } };
	const struct plain *plain = plains;
	uint32_t n = n_vocab - MKVOCAB_MIN;
	struct pieces p;

	while (strcmp(plain->model, model))
		plain++;
	open_pieces(&p, n + 1);
	for (const char *c = others; *c && p.n + strlen(letters) < n; c++)
		add_byte(&p, *c);
	p.first_word = p.n;
	for (const char *c = letters; *c && p.n < n; c++)
		add_byte(&p, *c);
	english(&p, n);
	syllables(&p, n, seed);

	mkgguf_text(m, "tokenizer.ggml.model", model);
	mkgguf_text(m, "tokenizer.ggml.pre", plain->merges ? model : "default");
	put_tokens(m, &p, plain, n_vocab);
	if (plain->merges)
		put_merges(m, &p, plain);
	if (!strcmp(model, "t5"))
		mkvocab_charsmap(m, rules, sizeof rules / sizeof *rules);
	mkgguf_u32(m, "tokenizer.ggml.unknown_token_id", 0);
	if (!strcmp(model, "bert"))
		mkgguf_u32(m, "tokenizer.ggml.seperator_token_id", 2);
	special_ids(m, 1, 2, add_bos);
	close_pieces(&p);
}

int mkvocab_has(const char *model)
{
	for (size_t i = 0; i < sizeof plains / sizeof *plains; i++)
		if (!strcmp(plains[i].model, model))
			return 1;
	return 0;
}

/* ---- maps of characters: a double array, where the children of node i are at (i ^ its offset) ^ byte ---- */

enum { NODES = 1 << 12, LEAF = 1 << 8 };

struct charsmap {
	uint32_t node[NODES];           /* 0: free */
	const struct mkvocab_rule *rules;
	size_t n;
	uint32_t at[64];                /* of the replacements */
};

static int begins(const struct charsmap *map, size_t rule, const char *prefix, size_t n)
{
	return strlen(map->rules[rule].from) >= n && !memcmp(map->rules[rule].from, prefix, n);
}

/* Places the children of node i, which stands for the prefix; child 0 holds the number of a replacement. */
static void place(struct charsmap *map, uint32_t i, const char *prefix, size_t n)
{
	unsigned char has[256] = { 0 };
	uint32_t base, c;

	for (size_t r = 0; r < map->n; r++)
		if (begins(map, r, prefix, n))
			has[(unsigned char)map->rules[r].from[n]] = 1;
	for (base = 1; ; base++) {
		for (c = 0; c < 256 && !(has[c] && map->node[base ^ c]); c++)
			;
		if (c == 256)
			break;
	}
	map->node[i] |= (base ^ i) << 10 | (has[0] ? LEAF : 0);
	for (c = 1; c < 256; c++)
		if (has[c])
			map->node[base ^ c] = c;
	for (size_t r = 0; r < map->n; r++)
		if (begins(map, r, prefix, n) && !map->rules[r].from[n])
			map->node[base] = 1u << 31 | map->at[r];
	for (c = 1; c < 256; c++)
		for (size_t r = 0; has[c] && r < map->n; r++)
			if (begins(map, r, prefix, n) && (unsigned char)map->rules[r].from[n] == c) {
				place(map, base ^ c, map->rules[r].from, n + 1);
				break;
			}
}

void mkvocab_charsmap(struct mkgguf *m, const struct mkvocab_rule *rules, size_t n)
{
	static struct charsmap map;
	uint32_t bytes = 0;
	unsigned char number[4];

	map = (struct charsmap){ .rules = rules, .n = n };
	for (size_t r = 0; r < n; r++) {
		map.at[r] = bytes;
		bytes += (uint32_t)strlen(rules[r].to) + 1;
	}
	map.node[0] = 1u << 31;         /* taken */
	place(&map, 0, "", 0);
	mkgguf_array(m, "tokenizer.ggml.precompiled_charsmap", GGUF_U8, 4 + sizeof map.node + bytes);
	for (size_t i = 0; i <= NODES; i++) {
		uint32_t node = i ? map.node[i - 1] & ~(i == 1 ? 1u << 31 : 0) : sizeof map.node;

		for (size_t k = 0; k < 4; k++)
			number[k] = (unsigned char)(node >> 8 * k);
		mkgguf_add_bytes(m, number, 4);
	}
	for (size_t r = 0; r < n; r++)
		mkgguf_add_bytes(m, rules[r].to, strlen(rules[r].to) + 1);
}
