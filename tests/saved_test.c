/* Saved segments: what is read is what was written, for shapes of all kinds. A stream that is damaged anywhere,
 * truncated or extended is refused and leaves nothing behind. A false one with correct hashes is refused, or gives a
 * segment that is safe to use. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/base/le.h"
#include "lib/gguf/gguf.h"
#include "fwd/state/ids.h"
#include "fwd/state/named.h"
#include "fwd/state/rle.h"
#include "fwd/state/saved.h"
#include "check.h"
#include "random.h"

enum { CTX = 6000, BYTES_MAX = 8 << 20 };

static struct why w;
static char name[64], copy[64], part[80];
static int stream;             /* a file: whatever goes through it stays in memory while it is open */
static unsigned char good[BYTES_MAX], bad[BYTES_MAX];

static void holds(int ok, const char *what)
{
	check(ok, "%s (%s)", what, w.text);
}

/* ---- segments and streams ---- */

/* Anything that a model can have, in a small size. */
static struct segment_shape any_shape(size_t round)
{
	struct segment_shape p = { .model = random_below(1000), .arithmetic = 1, .layout = random_below(1000),
		.n_layer = 1, .extent = KV_EXTENT,
		.kv_type = (uint32_t)(round % KV_TYPES) };

	for (size_t i = 0; i < 2; i++) {
		size_t n = random_below(3), dim_k = 1 + random_below(40), dim_v = random_below(40);

		if (!n || (i && round % 3))
			continue;
		shape_add_heads(p.heads[i], (struct segment_heads){ (uint32_t)n, (uint32_t)dim_k, (uint32_t)dim_v });
		*(i ? &p.recent_bytes : &p.bytes) = n * kv_block_bytes((enum kv_type)p.kv_type, dim_k, dim_v) / 64 * 64
			+ 64;
	}
	p.window = p.recent_bytes ? 1 + random_below(3000) : 0;
	if (round % 2) {
		p.state_bytes = 64 * random_below(9);
		p.row_bytes = 4 * random_below(9);
		p.keeps_current = p.state_bytes && random_below(2);
	}
	return p;
}

static void fill(struct segment *s, size_t n)
{
	unsigned char *at;

	holds(segment_reserve(s, n, &w) == 0, "room");
	segment_begin(s, 0, n);
	for (size_t i = 0; i * KV_EXTENT < n; i++)
		for (size_t k = 0, bytes = segment_span(s, i, &at); k < bytes; k++)
			at[k] = (unsigned char)random_below(256);
	segment_commit(s, 0, n);
}

/* Writes the segment to the stream. Returns its size. */
static size_t save(struct segment *s)
{
	struct stat st = { .st_size = 0 };

	holds(lseek(stream, 0, SEEK_SET) == 0 && ftruncate(stream, 0) == 0 && saved_write(s, stream, &w) == 0
		&& fstat(stream, &st) == 0, "it is saved");
	return (size_t)st.st_size;
}

static size_t take(unsigned char *bytes)
{
	ssize_t n = pread(stream, bytes, BYTES_MAX, 0);

	holds(n > 0 && n < BYTES_MAX, "the stream can be read");
	return n > 0 ? (size_t)n : 0;
}

static int load(const unsigned char *bytes, size_t n, int replace)
{
	holds(pwrite(stream, bytes, n, 0) == (ssize_t)n && ftruncate(stream, (off_t)n) == 0
		&& lseek(stream, 0, SEEK_SET) == 0, "the stream is there");
	return saved_read(stream, copy, replace, &w);
}

static int exists(const char *which)
{
	struct why ignored;

	return segment_inspect(which, &(struct segment_info){ 0 }, &ignored) == 0
		|| !strstr(ignored.text, "no such segment");
}

static int open_again(struct segment *s, const char *which)
{
	struct segment_info i;

	return segment_inspect(which, &i, &w) < 0 ? -1 : segment_open(s, which, &i.shape, i.n_ctx, &w);
}

/* A segment of n positions, cut back to `length`. */
static int make(const struct segment_shape *p, size_t n, size_t length)
{
	struct segment s;

	if (segment_open(&s, name, p, CTX, &w) < 0)
		return -1;
	fill(&s, n);
	segment_set_length(&s, length);
	segment_set_mark(&s, SEGMENT_FILE, 7);
	segment_set_mark(&s, SEGMENT_DIGEST, 8);
	segment_set_origin(&s, &(struct segment_origin){ "A Model", "/models/a.gguf" });
	segment_close(&s);
	return 0;
}

static int same(const struct segment *a, const struct segment *b)
{
	struct segment_origin o = segment_origin(b);
	int equal = a->length == b->length && a->next == b->next && a->n_ctx == b->n_ctx
		&& segment_mark(b, SEGMENT_FILE) == 7 && segment_mark(b, SEGMENT_DIGEST) == 8
		&& !strcmp(o.name, "A Model") && !strcmp(o.path, "/models/a.gguf");
	unsigned char *x, *y;

	for (size_t i = 0; i * KV_EXTENT < a->length && equal; i++)
		equal = segment_span(a, i, &x) == segment_span(b, i, &y) && !memcmp(x, y, segment_span(a, i, &x));
	for (size_t i = 0; i < STATE_MARKS; i++)
		equal &= mark_value(&a->mark[i]) == mark_value(&b->mark[i]);
	return equal;
}

/* ---- cases ---- */

static void round_trips(size_t rounds)
{
	for (size_t round = 0; round < rounds; round++) {
		struct segment_shape p = any_shape(round);
		size_t n = 1 + random_below(round % 10 ? 700 : CTX), length = 1 + random_below(n), bytes;
		struct segment a, b;

		if (make(&p, n, round % 4 ? length : n) < 0 || open_again(&a, name) < 0) {
			holds(0, "a segment of any shape");
			continue;
		}
		bytes = save(&a);
		holds(take(good) == bytes && load(good, bytes, 0) == 0, "it is loaded");
		holds(!exists(part), "no part is left");
		if (open_again(&b, copy) == 0) {
			holds(same(&a, &b), "it is the same");
			holds(save(&b) == bytes && take(bad) == bytes && !memcmp(good, bad, bytes),
				"saved again it is the same stream");
			segment_close(&b);
		} else
			holds(0, "it opens");
		segment_close(&a);
		holds(segment_remove(name, &w) == 0 && segment_remove(copy, &w) == 0, "both are removed");
	}
}

/* No stream contains what was cut off: except zeros, its bytes equal those of a segment that never had more. */
static void cut_off(void)
{
	static unsigned char longer[BYTES_MAX];
	struct segment_shape p = { .n_layer = 1, .extent = KV_EXTENT };
	unsigned char *at, *data;
	struct segment s;
	size_t n;

	shape_add_heads(p.heads[0], (struct segment_heads){ 3, 10, 6 });
	shape_add_heads(p.heads[1], (struct segment_heads){ 1, 5, 0 });
	p.bytes = 3 * kv_block_bytes(KV_F16, 10, 6);
	p.recent_bytes = kv_block_bytes(KV_F16, 5, 0);
	p.window = 100;
	holds(make(&p, 200, 130) == 0 && open_again(&s, name) == 0, "a segment that was cut");
	segment_scrub(&s);
	n = segment_span(&s, 1, &at);
	memcpy(longer, at, n);
	for (size_t pos = 2; pos < KV_EXTENT; pos++)
		holds(segment_id(&s, KV_EXTENT + pos) == 0, "ids");
	segment_data(&s, 1, &data);
	for (size_t h = 0; h < 3; h++) {
		struct kv_block b = kv_block_at(KV_F16, 10, 6, data + h * kv_block_bytes(KV_F16, 10, 6));
		const uint16_t *k = b.k, *v = b.v;
		size_t kept = 0, left = 0;

		for (size_t i = 0; i < 10 * KV_EXTENT; i++)
			*(i / KV_TILE < 10 && i % KV_TILE < 2 ? &kept : &left) += k[i] != 0;
		for (size_t i = 0; i < 6 * KV_EXTENT; i++)
			*(i < 2 * 6 ? &kept : &left) += v[i] != 0;
		check(kept > 2 * 16 - 4 && !left, "head %zu: %zu numbers kept, %zu left over", h, kept, left);
	}
	segment_close(&s);
	segment_remove(name, &w);
}

/* The same for what is kept of groups of positions: it is dropped if one of the group's positions was cut off. Groups
 * of two sizes may have equally many floats. */
static void cut_groups(void)
{
	struct segment_shape p = { .n_layer = 1, .extent = KV_EXTENT, .bytes = 2048 + 64 };
	struct segment s;
	size_t zeroes = 0;

	shape_add_heads(p.heads[0], (struct segment_heads){ 32, 0, 16 });
	shape_add_heads(p.heads[0], (struct segment_heads){ 1, 0, 16 });
	holds(make(&p, 200, 150) == 0 && open_again(&s, name) == 0, "a segment of groups that was cut");
	for (size_t group = 32; group < 64; group++)
		for (size_t i = 0; i < 16; i++)
			segment_group(&s, 0, 4, 16, group)[i] = 1;
	for (size_t i = 0; i < 2 * 16; i++)
		segment_group(&s, 2048, KV_EXTENT, 16, i / 16)[i % 16] = 1;
	segment_scrub(&s);
	for (size_t group = 32; group < 64; group++)
		for (size_t i = 0; i < 16; i++)
			zeroes += !(segment_group(&s, 0, 4, 16, group)[i] > 0);
	check(zeroes == (64 - 150 / 4) * 16, "%zu zeroes of cut groups", zeroes);
	for (size_t i = 0; i < 16; i++)
		check(segment_group(&s, 2048, KV_EXTENT, 16, 0)[i] > 0
			&& !(segment_group(&s, 2048, KV_EXTENT, 16, 1)[i] > 0), "float %zu of groups of an extent", i);
	segment_close(&s);
	segment_remove(name, &w);
}

static void refused(const unsigned char *bytes, size_t n, const char *what, size_t where)
{
	check(load(bytes, n, 0) < 0 && !exists(copy) && !exists(part),
		"%s at %zu is accepted, or leaves something (%s)", what, where, w.text);
}

/* Every byte of a small stream, every length, and random bytes of a large one. */
static void damage(void)
{
	struct segment_shape p = any_shape(1);
	struct segment s;
	size_t n;

	p.bytes = 64;
	memset(p.heads, 0, sizeof p.heads);
	p.recent_bytes = 0;
	for (size_t tokens = 3; tokens < CTX; tokens += CTX - 6) {
		if (make(&p, tokens, tokens) < 0 || open_again(&s, name) < 0) {
			holds(0, "a segment to damage");
			return;
		}
		save(&s);
		segment_close(&s);
		segment_remove(name, &w);
		n = take(good);
		for (size_t i = 0; i < 1500 || (tokens == 3 && i < n); i++) {
			size_t at = tokens == 3 ? i % n : random_below(n);

			memcpy(bad, good, n);
			bad[at] ^= (unsigned char)(1 + random_below(255));
			refused(bad, n, "damage", at);
			refused(good, at, "an end", at);
		}
		refused(bad, 0, "nothing", 0);
		memcpy(bad, good, n);
		bad[n] = 0;
		refused(bad, n + 1, "one more byte", n);
	}
	holds(load(good, n, 0) == 0 && load(good, n, 0) < 0 && strstr(w.text, "already exists"),
		"no load over another");
	holds(load(good, n / 2, 1) < 0 && exists(copy), "what is to be replaced stays if the other is damaged");
	holds(load(good, n, 1) == 0, "it is replaced");
	segment_remove(copy, &w);
}

/* Makes the hashes of a stream right again, as far as its blocks are intact. */
static void rehash(unsigned char *bytes, size_t n)
{
	uint64_t hash = hash_data(bytes, RLE_HEAD, 0);

	for (size_t at = RLE_HEAD, encoded; n - at >= RLE_HEAD; at += RLE_HEAD + encoded) {
		encoded = le32(bytes + at + 4);
		if (encoded > n - at - RLE_HEAD)
			return;
		hash = hash_data(bytes + at + RLE_HEAD, encoded, hash_data(bytes + at, 8, hash));
		memcpy(bytes + at + 8, &hash, 8);
		le_convert(bytes + at + 8, 8, 1);
	}
}

/* Uses the segment as kv and fwd would: cuts, scrubs, continues and saves it. */
static int usable(void)
{
	struct segment s;
	int sum = 0;

	if (open_again(&s, copy) < 0)
		return 0;
	for (size_t i = 0; i < s.length; i++)
		sum ^= segment_id(&s, i);
	segment_scrub(&s);
	segment_set_length(&s, s.length / 2);
	segment_scrub(&s);
	if (s.length < s.n_ctx && segment_reserve(&s, s.length + 1, &w) == 0) {
		size_t pos = s.next;

		segment_begin(&s, pos, s.length + 1 - pos);
		segment_commit(&s, pos, s.length + 1 - pos);
	}
	if (s.length)
		save(&s);
	segment_close(&s);
	return sum != INT32_MIN;
}

static void lies(void)
{
	struct rlimit old, limit;
	size_t accepted = 0, n;

	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = 64 << 20;
	setrlimit(RLIMIT_FSIZE, &limit);
	for (size_t round = 0; round < 6000; round++) {
		static size_t bytes;
		struct segment s;

		if (round % 100 == 0) {
			struct segment_shape p = any_shape(random_below(60));

			if (make(&p, 1 + random_below(400), 1) < 0 || open_again(&s, name) < 0) {
				holds(0, "a segment to lie about");
				continue;
			}
			fill(&s, 1 + random_below(400));
			save(&s);
			bytes = take(good);
			segment_close(&s);
			segment_remove(name, &w);
		}
		n = bytes;
		memcpy(bad, good, n);
		for (size_t i = 0; i <= random_below(4); i++) {
			size_t most = random_below(3) && n >= 700 ? 700 : n - RLE_HEAD;
			size_t at = RLE_HEAD + random_below(most);

			bad[at] = (unsigned char)(random_below(3) ? random_below(256)
				: bad[at] ^ 1u << random_below(8));
		}
		rehash(bad, n);
		if (load(bad, n, 0) == 0) {
			accepted++;
			holds(usable(), "what was loaded can be used");
			holds(segment_remove(copy, &w) == 0, "and removed");
		} else
			check(!exists(copy) && !exists(part), "a refused one leaves something (%s)", w.text);
	}
	setrlimit(RLIMIT_FSIZE, &old);
	check(accepted > 500 && accepted < 5500, "%zu of 6000 false streams are accepted", accepted);
}

/* Heads after an empty entry of the list need their bytes, too; groups divide an extent. */
static void gap(void)
{
	struct segment_shape p = { .n_layer = 1, .extent = KV_EXTENT, .bytes = 64, .heads[0][2] = { 1000, 64, 64 } };
	struct segment s;

	static const uint32_t groups[] = { 0, 3, 256 };

	holds(segment_open(&s, name, &p, CTX, &w) < 0 && strstr(w.text, "heads do not fit"), "no heads without bytes");
	p.bytes = 1 << 16;
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
		p.heads[0][2] = (struct segment_heads){ groups[i], 0, 4 };
		holds(segment_open(&s, name, &p, CTX, &w) < 0, "no groups that do not divide an extent");
	}
}

/* If there is no room for it, nothing of it remains. */
static void full(void)
{
	struct segment_shape p = { .n_layer = 1, .extent = KV_EXTENT, .bytes = 1 << 16 };
	struct rlimit old, limit;
	struct segment s;
	size_t n;

	holds(make(&p, 300, 300) == 0 && open_again(&s, name) == 0, "a segment");
	save(&s);
	segment_close(&s);
	n = take(good);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = (rlim_t)(n + (1 << 10));      /* the stream is smaller than the segment */
	setrlimit(RLIMIT_FSIZE, &limit);
	refused(good, n, "no room", 0);
	setrlimit(RLIMIT_FSIZE, &old);
	holds(load(good, n, 0) == 0, "with room it is loaded");
	segment_remove(name, &w);
	segment_remove(copy, &w);
}

int main(void)
{
	signal(SIGXFSZ, SIG_IGN);
	stream = open("stream", O_RDWR | O_CREAT | O_TRUNC, 0600);
	unlink("stream");
	snprintf(name, sizeof name, "test-saved-%ld", (long)getpid());
	snprintf(copy, sizeof copy, "./copy");
	snprintf(part, sizeof part, "%s%s", copy, OBJECT_PART);
	round_trips(30);
	full();
	snprintf(copy, sizeof copy, "test-saved-%ld-copy", (long)getpid());
	snprintf(part, sizeof part, "%s%s", copy, OBJECT_PART);
	round_trips(300);
	cut_off();
	cut_groups();
	damage();
	lies();
	gap();
	full();
	close(stream);
	return check_end("saved_test");
}
