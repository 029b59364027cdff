/* Recurrent state and windows of segments, with two mixers: one whose state at a position is a hash of the ids before
 * it, and one that sees a window of them. Whatever batches, cuts, copies, kills and damage came before, what a batch
 * reads must belong to its ids. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fwd/state/fork.h"
#include "fwd/state/ids.h"
#include "fwd/state/named.h"
#include "fwd/state/segment.h"
#include "lib/base/size.h"
#include "lib/sampler/rng.h"
#include "check.h"

enum { CTX = 9000, MOST = 200 };        /* positions; rows of a batch */
enum { STATE = 16, ROW = 3, SEEN = 2 }; /* words of a state, of a recent row, of a position in a window */
enum { MARKS = 512 };           /* offset of the marks in a segment's header */

static char name[64], killed[64], copied[64];
static struct why w;
static size_t steps;            /* writes of the batches so far */
static size_t kill_at;          /* the write before which the file is copied; 0: none */
static uint64_t draws;

/* The kinds of mixers in a model: chunked ones have recent rows, those updated row by row a current state. */
static const struct segment_shape shapes[] = {
	{ .model = 1, .bytes = 64, .n_layer = 2, .extent = KV_EXTENT, .state_bytes = 64, .row_bytes = 12 },
	{ .model = 2, .bytes = 64, .n_layer = 2, .extent = KV_EXTENT, .state_bytes = 64, .keeps_current = 1 },
	{ .model = 3, .bytes = 64, .n_layer = 2, .extent = KV_EXTENT, .state_bytes = 64, .row_bytes = 12,
	  .keeps_current = 1 },
	{ .model = 4, .bytes = 64, .n_layer = 2, .extent = KV_EXTENT },
	{ .model = 5, .bytes = 64, .n_layer = 2, .extent = KV_EXTENT, .recent_bytes = KV_EXTENT * SEEN * 4,
	  .window = 1000 },
	{ .model = 6, .bytes = 64, .n_layer = 2, .extent = KV_EXTENT, .recent_bytes = KV_EXTENT * SEEN * 4,
	  .window = 3000, .state_bytes = 64, .row_bytes = 12 },
};
static const struct segment_shape *shape;

static size_t any(size_t below)
{
	return rng_bits(3, draws++, 0) % below;
}

/* ---- the mixer ---- */

/* The state after an id. */
static uint32_t next_state(uint32_t state, int32_t id)
{
	return (state ^ (uint32_t)id) * 2654435761u + 12345;
}

/* The state at p. */
static uint32_t state_at(const struct segment *s, size_t p)
{
	uint32_t state = 0;

	for (size_t pos = 0; pos < p; pos++)
		state = next_state(state, segment_id(s, pos));
	return state;
}

static void write_words(void *to, uint32_t value, size_t n)
{
	for (uint32_t *at = to; n; n--)
		*at++ = value;
}

static int has_words(const void *from, uint32_t value, size_t n)
{
	for (const uint32_t *at = from; n; n--)
		if (*at++ != value)
			return 0;
	return 1;
}

static uint32_t row_of(const struct segment *s, size_t pos)
{
	return (uint32_t)segment_id(s, pos) * 31 + (uint32_t)pos;
}

static void *ring_row(const struct segment *s, size_t pos)
{
	return segment_row(s, 0, ROW * sizeof(float), pos);
}

/* What a layer with a window keeps of a position. */
static void *seen(const struct segment *s, size_t pos)
{
	struct kv_head h = segment_recent_head(s, 0, 0);

	return (uint32_t *)(void *)(h.extent[pos / KV_EXTENT] + h.offset) + pos % KV_EXTENT * SEEN;
}

/* Whether rows [from, to) see what they should after all have been written. */
static int sees(const struct segment *s, size_t from, size_t to)
{
	int ok = 1;

	for (size_t p = from > shape->window ? from - shape->window : 0; p < to; p++)
		ok &= has_words(seen(s, p), row_of(s, p), SEEN);
	return ok;
}

/* Copies the segment's bytes to the segment named `killed`. */
static void copy_bytes(void)
{
	static char bytes[1 << 20];
	struct object from, to;
	ssize_t n = 0;

	if (object_open(&from, name, 0, &w) == 0 && object_open(&to, killed, 1, &w) == 0) {
		n = read(from.fd, bytes, sizeof bytes);
		if (ftruncate(to.fd, 0) || write(to.fd, bytes, (size_t)n) != n)
			n = 0;
		object_close(&to);
	}
	object_close(&from);
	check(n > 0, "the segment cannot be copied");
}

/* Called before each write of a batch. A copy of the file at this moment is what a kill would leave. */
static void step(void)
{
	if (++steps == kill_at)
		copy_bytes();
}

/* What a batch from pos on reads. */
static int reads(const struct segment *s, size_t pos)
{
	size_t start = pos / STATE_CHUNK * STATE_CHUNK;
	int ok = 1;

	if (shape->keeps_current)
		ok = has_words(segment_current(s, 0), state_at(s, pos), STATE);
	if (!shape->row_bytes)
		return ok;
	if (start)
		ok &= has_words(segment_state(s, start, 0), state_at(s, start), STATE);
	for (size_t p = start; p < pos; p++)
		ok &= has_words(ring_row(s, p), row_of(s, p), ROW);
	return ok;
}

/* Evaluates n rows from `next` on, whose ids are stored. Returns whether what it reads is right. */
static int evaluate(struct segment *s, size_t n)
{
	size_t pos = s->next, end = pos + n;
	uint32_t state = state_at(s, pos);
	int ok;

	step();
	segment_begin(s, pos, n);
	ok = reads(s, pos);
	for (size_t p = pos; p < end; p++) {
		step();
		state = next_state(state, segment_id(s, p));
		if (shape->row_bytes)
			write_words(ring_row(s, p), row_of(s, p), ROW);
		if (shape->recent_bytes)
			write_words(seen(s, p), row_of(s, p), SEEN);
		if (shape->keeps_current)
			write_words(segment_current(s, 0), state, STATE);
		if (shape->state_bytes && segment_keeps(p + 1, end))
			write_words(segment_state(s, p + 1, 0), state, STATE);
	}
	ok &= !shape->recent_bytes || sees(s, pos, end);
	step();
	segment_commit(s, pos, n);
	step();
	return ok;
}

/* The same up to the length, in batches of this many rows. */
static int evaluate_again(struct segment *s, size_t most)
{
	int ok = 1;

	while (s->next < s->length)
		ok &= evaluate(s, size_min(most, s->length - s->next));
	return ok;
}

/* Appends n rows with new ids. */
static int append(struct segment *s, size_t n)
{
	int ok = evaluate_again(s, 1 + any(any(2) ? MOST : SEGMENT_BATCH));

	n = size_min(n, CTX - s->length);
	if (!n || segment_reserve(s, s->length + n, &w) < 0)
		return n ? 0 : ok;
	for (size_t i = 0; i < n; i++)
		segment_write_ids(s, s->length + i, &(int32_t){ (int32_t)any(1000) }, 1);
	return ok & evaluate(s, n);
}

/* ---- tests ---- */

static void open_as(struct segment *s, const char *which)
{
	check(segment_open(s, which, shape, CTX, &w) == 0, "it does not open: %s", w.text);
}

/* Batches of 1 to 100 rows, long ones, and cuts, some after closing. */
static void walk(const char *which)
{
	struct segment s;
	int ok = 1, shortened = 0;

	open_as(&s, which);
	for (int i = 0; i < 3000; i++) {
		if (any(10) && s.length < CTX)
			ok &= append(&s, 1 + any(any(20) ? any(5) ? 4 : 100 : MOST));
		else {
			size_t length = any(3) ? s.length - any(size_min(s.length, 70) + 1) : any(s.length + 1);

			shortened += length < s.length;
			segment_set_length(&s, length);
			ok &= s.next <= s.length;
		}
		if (which && any(50) == 0) {
			segment_close(&s);
			open_as(&s, which);
		}
	}
	check(ok, "%s, shape %d: a batch reads what does not belong to its ids", which ? "named" : "unnamed",
		(int)shape->model);
	check_at(shortened > 200, "times that it was shortened", shortened);
	segment_close(&s);
	if (which)
		check(segment_remove(which, &w) == 0, "it cannot be removed");
}

/* A segment left by a kill has the length, and continues from there or from an earlier position. */
static int goes_on(const char *which, size_t low, size_t high)
{
	struct segment s;
	int ok;

	if (segment_open(&s, which, shape, CTX, &w) < 0)
		return 0;
	ok = s.length >= low && s.length <= high && s.next <= s.length;
	if (any(2))
		segment_set_length(&s, s.length - any(size_min(s.length, any(2) ? 100 : 4000) + 1));
	ok = ok && append(&s, 3) && append(&s, 70);
	segment_close(&s);
	return ok;
}

/* Flips a bit of the killed segment. */
static void flip(size_t byte, size_t bit)
{
	struct object o;
	unsigned char c = 0;

	if (object_open(&o, killed, 0, &w) < 0 || pread(o.fd, &c, 1, (off_t)byte) != 1)
		check(0, "a bit cannot be flipped");
	c ^= (unsigned char)(1 << bit);
	check(pwrite(o.fd, &c, 1, (off_t)byte) == 1, "a bit cannot be flipped");
	object_close(&o);
}

/* Long batches and cuts, some of them far back, where extents share room; and kills. */
static void turns(void)
{
	int ok = 1, bad = 0, kept = 0, gone = 0;
	size_t top = 0;         /* where it has been since all was evaluated again */
	struct segment s;

	open_as(&s, name);
	for (int i = 0; i < 600; i++) {
		size_t back = any(4) ? any(400) : any(4000);

		while (s.length < (i % 20 == 18 ? 8000 : 4500))
			ok &= append(&s, 1 + any(SEGMENT_BATCH));
		top = size_max(top, s.length);
		if (i % 20 == 19)
			back = s.length - any(1000);
		segment_set_length(&s, s.length - back);
		if (back)
			(*(s.next ? &kept : &gone))++;
		ok &= s.next || top + shape->window + 2 * KV_EXTENT > s.length + 4096;
		if (!s.next)
			top = 0;
		if (any(5) == 0) {
			segment_close(&s);
			open_as(&s, name);
		}
		steps = 0;
		kill_at = 1 + any(any(4) ? s.length - s.next + SEGMENT_BATCH : 10);
		ok &= append(&s, 1 + any(any(3) ? SEGMENT_BATCH : 50));
		top = size_max(top, s.length);
		if (steps >= kill_at)
			bad += !goes_on(killed, 1, CTX);
		kill_at = 0;
		copy_bytes();
		flip(MARKS + 3 * 16 + any(16), any(8));
		bad += !goes_on(killed, s.length, s.length);
	}
	check(ok, "shape %d: a window does not hold what belongs to its ids", (int)shape->model);
	check(!bad, "shape %d: nor after %d kills", (int)shape->model, bad);
	check(kept > 200 && gone > 20, "windows that were kept: %d, gone: %d", kept, gone);
	segment_close(&s);
	segment_remove(name, &w);
	segment_remove(killed, &w);
}

/* From every length back to every other: the results are right, and few rows are evaluated again. */
static void cuts(void)
{
	enum { LENGTH = 700 };
	size_t most = 0;
	int ok = 1;

	for (size_t back = 0; back <= LENGTH; back++) {
		struct segment s;

		open_as(&s, NULL);
		while (s.length < LENGTH)
			ok &= append(&s, size_min(LENGTH - s.length, 1 + any(100)));
		segment_set_length(&s, LENGTH - back);
		if (s.length - s.next > 2 * back + 2 * STATE_CHUNK)
			most = size_max(most, s.length - s.next);
		ok &= shape->keeps_current || back > STATE_CHUNK || s.next == s.length;
		ok &= shape->state_bytes || s.next == s.length;
		ok &= append(&s, 1 + any(100)) && append(&s, 1);
		segment_close(&s);
	}
	check(ok, "shape %d: after a cut, a batch reads what does not belong to its ids", (int)shape->model);
	check_at(!most, "after a cut, more is evaluated again than twice what was cut off", (long long)most);
}

/* Kills before every write of batches of several lengths, at several lengths; also while rows are evaluated again. */
static void kills(void)
{
	static const size_t lengths[] = { 0, 1, 31, 32, 40, 64, 95, 96, 250 }, batches[] = { 1, 2, 33, 64, 65, 130 };
	const size_t all = sizeof lengths / sizeof *lengths * sizeof batches / sizeof *batches;
	int bad = 0, done = 0;
	struct segment s;

	for (size_t i = 0; i < all; i++) {
		size_t length = lengths[i % 9], n = batches[i / 9];

		for (size_t at = 1; at < n + 3; at += n > 2 ? 1 + any(5) : 1, done++) {
			open_as(&s, name);
			while (s.length < length + at % 2 * 80)
				append(&s, size_min(length + at % 2 * 80 - s.length, 1 + any(80)));
			segment_set_length(&s, length);
			steps = 0;
			kill_at = at;
			append(&s, n);
			kill_at = 0;
			segment_close(&s);
			bad += !goes_on(killed, length, length + n);
			segment_remove(name, &w);
		}
	}
	check_at(done > 500, "kills", done);
	check(!bad, "shape %d: wrong after %d of %d kills", (int)shape->model, bad, done);
	segment_remove(killed, &w);
}

/* Copies at lengths to which it was cut. */
static void copies(void)
{
	struct segment s, t;
	size_t next, length;
	int bad = 0;

	open_as(&s, name);
	while (s.length < 900)
		append(&s, size_min(900 - s.length, 1 + any(100)));
	while (s.length > 0) {
		segment_set_length(&s, s.length - size_min(s.length, any(25)));
		if (any(2))
			append(&s, any(9));
		next = s.next;
		length = s.length;
		segment_close(&s);
		bad += segment_fork_named(name, copied, &w) < 0;
		open_as(&t, copied);
		bad += t.length != length || t.next != next || !append(&t, 1 + any(50));
		segment_close(&t);
		segment_remove(copied, &w);
		open_as(&s, name);
	}
	segment_close(&s);
	check(!bad, "shape %d: copies that differ", (int)shape->model);
}

/* A flipped bit of a mark is noticed, and so is a position that a snapshot cannot have. */
static void damage(void)
{
	struct segment s;
	struct object o;
	unsigned char *p;
	uint64_t *mark;
	int bad = 0;

	open_as(&s, name);
	while (s.length < 300)
		append(&s, size_min(300 - s.length, 1 + any(100)));
	segment_close(&s);
	for (size_t bit = 0; bit < STATE_MARKS * 16 * 8; bit++) {
		copy_bytes();
		check(object_open(&o, killed, 0, &w) == 0, "the copy cannot be opened");
		p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, o.fd, 0);
		mark = (uint64_t *)(void *)(p + MARKS) + bit / 128 * 2;
		if (bit % 3 == 0 && bit / 128 >= 4) {
			mark[0] = bit % 2 ? 2 * mark[0] : mark[0] + bit % 31 + 1;
			mark[1] = ~mark[0];
		} else
			p[MARKS + bit / 8] ^= (unsigned char)(1 << bit % 8);
		munmap(p, 4096);
		object_close(&o);
		bad += !goes_on(killed, 300, 300);
	}
	check(!bad, "shape %d: damaged marks are believed", (int)shape->model);
	segment_remove(name, &w);
	segment_remove(killed, &w);
}

/* A batch that is begun and then given up. */
static void given_up(void)
{
	struct segment s;
	int ok = 1;

	open_as(&s, NULL);
	for (int i = 0; i < 300; i++) {
		size_t n = 1 + any(any(3) ? 150 : 5);

		ok &= append(&s, 1 + any(5));
		segment_reserve(&s, s.length + n, &w);
		segment_begin(&s, s.length, n);
		for (size_t p = s.length; p < s.length + n && shape->row_bytes; p++)
			write_words(ring_row(&s, p), 0xffffffff, ROW);
		if (shape->keeps_current)
			write_words(segment_current(&s, 0), 0xffffffff, STATE);
		segment_set_length(&s, s.length);
		ok &= shape->keeps_current || s.length / STATE_CHUNK < (s.length + n) / STATE_CHUNK
			|| s.next == s.length;
	}
	check(ok, "shape %d: what was given up is read", (int)shape->model);
	segment_close(&s);
}

/* Of the positions that share a snapshot, a batch keeps the last. */
static void keeps(void)
{
	int bad = 0;

	for (size_t end = STATE_CHUNK; end < 5000; end += 7)
		for (size_t p = STATE_CHUNK; p <= end; p += STATE_CHUNK) {
			size_t step = p & (~p + 1), last = p;

			while (last + 2 * step <= end)
				last += 2 * step;
			bad += segment_keeps(p, end) != (last == p);
			bad += segment_keeps(p + 1, end);
		}
	check_at(!bad, "positions that are kept", bad);
}

/* A segment allocates its snapshots as it grows. */
static void sizes(void)
{
	struct segment_shape large = shapes[0];
	struct segment_info info;
	struct segment s;
	size_t extent, ring = 2 * STATE_CHUNK * 12;

	large.state_bytes = 1 << 20;
	shape = &large;
	open_as(&s, name);
	extent = KV_EXTENT * 4 + large.bytes;
	check(segment_inspect(name, &info, &w) == 0 && info.bytes == 4096, "at first no more than a header");
	check(!segment_reserve(&s, 1, &w) && !segment_inspect(name, &info, &w)
		&& info.bytes == 4096 + ring + extent + 3 * large.state_bytes, "bytes of one extent");
	check(!segment_reserve(&s, 129, &w) && !segment_inspect(name, &info, &w)
		&& info.bytes == 4096 + ring + 2 * extent + 4 * large.state_bytes, "bytes of two");
	check(!segment_reserve(&s, 1024, &w) && !segment_inspect(name, &info, &w)
		&& info.bytes == 4096 + ring + 8 * extent + 6 * large.state_bytes, "bytes of eight");
	while (s.length < 1000)
		append(&s, 100);
	segment_set_length(&s, 200);
	segment_close(&s);
	check(!segment_inspect(name, &info, &w)
		&& info.bytes == 4096 + ring + 2 * extent + 4 * large.state_bytes, "what does not count is given back");
	check(goes_on(name, 200, 200), "and it goes on");
	segment_remove(name, &w);
}

static void clean(void)
{
	segment_remove(name, &w);
	segment_remove(killed, &w);
	segment_remove(copied, &w);
}

int main(void)
{
	snprintf(name, sizeof name, "test-%ld", (long)getpid());
	snprintf(killed, sizeof killed, "test-%ld-killed", (long)getpid());
	snprintf(copied, sizeof copied, "test-%ld-copy", (long)getpid());
	atexit(clean);
	keeps();
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		shape = &shapes[i];
		walk(NULL);
		walk(name);
		cuts();
		kills();
		copies();
		damage();
		given_up();
		if (shape->recent_bytes)
			turns();
	}
	sizes();
	clean();
	return check_end("recurrent_test");
}
