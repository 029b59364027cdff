/* Random grammars as trees: printing and recognising. */
#include "oracle.h"

#include "mkrandom.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { LITERAL, CLASS, ANY, SEQ, ALT, REPEAT, RULE };
enum { NODES = 256, RULES = 4, PARTS = 4, TEXT = 16384 };

struct oracle_part {
	enum kind kind;
	int n, part[PARTS];             /* SEQ, ALT: parts; REPEAT: part[0]; RULE: part[0] is the rule */
	int low, high;                  /* REPEAT; high −1: endless */
	int not;
	uint32_t range[PARTS][2];       /* CLASS: n of them; LITERAL: n points */
};

struct ends {
	uint64_t w[2];                  /* bit i: a match may end at byte i */
};

struct oracle {
	uint64_t seed, count;
	struct oracle_part part[NODES];
	int n, rule[RULES], n_rules;
	char text[TEXT];
	size_t used;
	const unsigned char *judged;
	int judged_n, prefix;
	struct ends memo[NODES][ORACLE_TEXT + 1];
	unsigned char known[NODES][ORACLE_TEXT + 1];
};

static const uint32_t alphabet[] = { 'a', 'b', 'c', '"', '\\', ']', '\n', ' ', 0xe9, 0x7ff, 0x800, 0x65e5, 0xd7ff,
	0xe000, 0xffff, 0x10000, 0x1f600, 0x10ffff };

static unsigned pick(struct oracle *o, unsigned n)
{
	return (unsigned)(mkrandom(o->seed, o->count++) % n);
}

static uint32_t any_point(struct oracle *o)
{
	unsigned n = sizeof alphabet / sizeof *alphabet;

	return alphabet[pick(o, 3) ? pick(o, 3) : pick(o, n)];
}

/* ---- making ---- */

static int make(struct oracle *o, int depth)
{
	int at = o->n < NODES - 1 ? o->n++ : NODES - 1;
	struct oracle_part *p = &o->part[at];

	p->kind = depth <= 0 || o->n > NODES - 40 ? (enum kind)pick(o, 3) : (enum kind)pick(o, RULE + 1);
	if (p->kind == ANY && pick(o, 4))
		p->kind = LITERAL;
	p->n = 1 + (int)pick(o, PARTS - 1);
	switch (p->kind) {
	case LITERAL:
		p->n -= !pick(o, 8);
		for (int i = 0; i < p->n; i++)
			p->range[i][0] = any_point(o);
		break;
	case CLASS:
		p->not = !pick(o, 4);
		for (int i = 0; i < p->n; i++) {
			uint32_t a = any_point(o), b = pick(o, 3) ? a : any_point(o);

			p->range[i][0] = a < b ? a : b;
			p->range[i][1] = a < b ? b : a;
		}
		break;
	case SEQ:
	case ALT:
		for (int i = 0; i < p->n; i++)
			p->part[i] = make(o, depth - 1);
		break;
	case REPEAT:
		p->low = (int)pick(o, pick(o, 3) ? 3 : 24);
		p->high = pick(o, 2) ? -1 : p->low + (int)pick(o, pick(o, 2) ? 4 : 24);
		p->part[0] = make(o, depth - 1);
		break;
	case RULE:
		p->part[0] = (int)pick(o, (unsigned)o->n_rules);
		break;
	case ANY:
		break;
	}
	return at;
}

/* ---- printing ---- */

__attribute__((format(printf, 2, 3)))
static void print(struct oracle *o, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	o->used += (size_t)vsnprintf(o->text + o->used, TEXT - o->used, format, ap);
	va_end(ap);
	if (o->used >= TEXT)
		o->used = TEXT - 1;
}

static void print_point(struct oracle *o, uint32_t c)
{
	if (c == '\n' && pick(o, 2))
		print(o, "\\n");
	else if (c == '"' || c == '\\' || c == ']')
		print(o, "\\%c", (int)c);
	else if (c < 0x80 && c != '\n' && pick(o, 8))
		print(o, "%c", (int)c);
	else if (c < 0x100)
		print(o, "\\x%02X", (unsigned)c);
	else if (c < 0x10000 && pick(o, 2))
		print(o, "\\u%04x", (unsigned)c);
	else
		print(o, "\\U%08x", (unsigned)c);
}

static void print_part(struct oracle *o, int at, int inside)
{
	const struct oracle_part *p = &o->part[at];

	switch (p->kind) {
	case LITERAL:
		print(o, "\"");
		for (int i = 0; i < p->n; i++)
			print_point(o, p->range[i][0]);
		print(o, "\"");
		break;
	case CLASS:
		print(o, p->not ? "[^" : "[");
		for (int i = 0; i < p->n; i++) {
			print_point(o, p->range[i][0]);
			if (p->range[i][0] != p->range[i][1]) {
				print(o, "-");
				print_point(o, p->range[i][1]);
			}
		}
		print(o, "]");
		break;
	case ANY:
		print(o, ".");
		break;
	case SEQ:
	case ALT:
		print(o, inside ? "(" : "");
		for (int i = 0; i < p->n; i++) {
			if (i)
				print(o, p->kind == SEQ ? " " : pick(o, 3) ? " | " : " |\n\t# another one\n\t");
			print_part(o, p->part[i], 1);
		}
		print(o, inside ? ")" : "");
		break;
	case REPEAT:
		print_part(o, p->part[0], 1);
		if (p->high < 0 && p->low < 2 && pick(o, 2))
			print(o, p->low ? "+" : "*");
		else if (p->high < 0)
			print(o, "{%d,}", p->low);
		else if (p->low == 0 && p->high == 1 && pick(o, 2))
			print(o, "?");
		else if (p->low == p->high)
			print(o, "{%d}", p->low);
		else
			print(o, "{%d, %d}", p->low, p->high);
		break;
	case RULE:
		print(o, p->part[0] ? "rule-%d" : "root", p->part[0]);
		break;
	}
}

struct oracle *oracle_open(uint64_t seed)
{
	struct oracle *o = calloc(1, sizeof *o);

	if (!o)
		abort();
	o->seed = seed;
	o->n_rules = 1 + (int)pick(o, RULES);
	for (int r = 0; r < o->n_rules; r++)
		o->rule[r] = make(o, 4);
	for (int r = 0; r < o->n_rules; r++) {
		print(o, r ? "rule-%d ::= " : "root ::= ", r);
		print_part(o, o->rule[r], 0);
		print(o, "\n");
	}
	return o;
}

void oracle_close(struct oracle *o)
{
	free(o);
}

const char *oracle_grammar(const struct oracle *o)
{
	return o->text;
}

/* ---- judging ---- */

static int in_class(const struct oracle_part *p, uint32_t c)
{
	int in = 0;

	if (c >= 0xd800 && c <= 0xdfff)
		return 0;
	if (p->kind == ANY)
		return 1;
	for (int i = 0; i < p->n; i++)
		in |= p->range[i][0] <= c && c <= p->range[i][1];
	return in != p->not;
}

static unsigned spell(uint32_t c, unsigned char out[4])
{
	if (c < 0x80)
		return out[0] = (unsigned char)c, 1;
	if (c < 0x800)
		return out[0] = (unsigned char)(0xc0 | c >> 6), out[1] = (unsigned char)(0x80 | (c & 63)), 2;
	if (c < 0x10000)
		return out[0] = (unsigned char)(0xe0 | c >> 12), out[1] = (unsigned char)(0x80 | (c >> 6 & 63)),
			out[2] = (unsigned char)(0x80 | (c & 63)), 3;
	out[0] = (unsigned char)(0xf0 | c >> 18), out[1] = (unsigned char)(0x80 | (c >> 12 & 63));
	return out[2] = (unsigned char)(0x80 | (c >> 6 & 63)), out[3] = (unsigned char)(0x80 | (c & 63)), 4;
}

static void join(struct ends *to, struct ends from)
{
	to->w[0] |= from.w[0];
	to->w[1] |= from.w[1];
}

static struct ends at_byte(int i)
{
	struct ends e = { { 0, 0 } };

	e.w[i / 64] = (uint64_t)1 << i % 64;
	return e;
}

static int has(struct ends e, int i)
{
	return (int)(e.w[i / 64] >> i % 64 & 1);
}

/* Where a code point of the class that begins at byte i can end: tries all code points of that length and lead byte. */
static struct ends match_point(struct oracle *o, const struct oracle_part *p, int i)
{
	struct ends none = { { 0, 0 } };
	int left = o->judged_n - i;
	const unsigned char *s = o->judged + i;
	unsigned lead, len;
	uint32_t low, high;
	unsigned char out[4];

	if (!left) {
		o->prefix = 1;
		return none;
	}
	lead = s[0];
	len = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
	if (!len)
		return none;
	low = len == 1 ? lead : (lead & (0x7fu >> len)) << 6 * (len - 1);
	high = low + (1u << 6 * (len - 1)) - 1;
	for (unsigned k = 1; k < len && (int)k < left; k++) {
		if ((s[k] & 0xc0) != 0x80)
			return none;
		low |= (s[k] & 63u) << 6 * (len - 1 - k);
		high = low + (1u << 6 * (len - 1 - k)) - 1;
	}
	for (uint32_t c = low; c <= high && c <= 0x10ffff; c++)
		if (in_class(p, c) && spell(c, out) == len) {
			if ((int)len <= left)
				return at_byte(i + (int)len);
			o->prefix = 1;
			return none;
		}
	return none;
}

static struct ends match(struct oracle *o, int at, int i);

static struct ends match_from(struct oracle *o, int at, struct ends from)
{
	struct ends e = { { 0, 0 } };

	for (int i = 0; i <= o->judged_n; i++)
		if (has(from, i))
			join(&e, match(o, at, i));
	return e;
}

static struct ends match_part(struct oracle *o, const struct oracle_part *p, int i)
{
	struct ends e = { { 0, 0 } }, now = at_byte(i);

	switch (p->kind) {
	case LITERAL:
		for (int k = 0; k < p->n; k++) {
			struct oracle_part one = { .kind = CLASS, .n = 1,
				.range = { { p->range[k][0], p->range[k][0] } } };
			int from = 0;

			while (from <= o->judged_n && !has(now, from))
				from++;
			if (from > o->judged_n)
				break;
			now = match_point(o, &one, from);
		}
		return now;
	case CLASS:
	case ANY:
		return match_point(o, p, i);
	case SEQ:
		for (int k = 0; k < p->n; k++)
			now = match_from(o, p->part[k], now);
		return now;
	case ALT:
		for (int k = 0; k < p->n; k++)
			join(&e, match(o, p->part[k], i));
		return e;
	case REPEAT:
		for (int k = 0; ; k++) {
			if (k >= p->low)
				join(&e, now);
			if (k == p->high || (p->high < 0 && k > p->low + ORACLE_TEXT))
				return e;
			now = match_from(o, p->part[0], now);
		}
	case RULE:
		return match(o, o->rule[p->part[0]], i);
	}
	return e;
}

static struct ends match(struct oracle *o, int at, int i)
{
	if (!o->known[at][i]) {
		o->memo[at][i] = match_part(o, &o->part[at], i);
		o->known[at][i] = 1;
	}
	return o->memo[at][i];
}

void oracle_judge(struct oracle *o, const char *text, size_t n, int *whole, int *prefix)
{
	o->judged = (const unsigned char *)text;
	o->judged_n = (int)n;
	o->prefix = 0;
	for (int i = 0; i < o->n; i++)
		memset(o->known[i], 0, n + 1);
	*whole = has(match(o, o->rule[0], 0), (int)n);
	*prefix = *whole || o->prefix;
}

size_t oracle_piece(uint64_t seed, char *out, size_t n)
{
	struct oracle o = { .seed = seed };
	size_t used = 0, points = pick(&o, 6) ? 1 + pick(&o, 3) : 1 + pick(&o, 30);

	for (size_t i = 0; i < points; i++) {
		unsigned char c[4];
		unsigned len = spell(any_point(&o), c);

		if (used + len > n)
			break;
		memcpy(out + used, c, len);
		used += len;
	}
	if (used > 1 && !pick(&o, 3))
		used -= 1 + pick(&o, used < 4 ? (unsigned)used - 1 : 3);
	if (used > 1 && !pick(&o, 6)) {
		memmove(out, out + 1, used - 1);
		used--;
	}
	return used;
}
