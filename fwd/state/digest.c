/* The digest is the sum, over all tensors, of a hash of name and data, so it does not depend on the order of tensors in
 * the file or in its shards. */
#include "digest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "lib/base/size.h"
#include "lib/base/system.h"
#include "lib/base/thread.h"
#include "ids.h"

/* One chunk after each pause reads 250 MB/s, about one percent of the memory bandwidth. At the end, hashing FINISH
 * bytes takes about 25 ms. */
enum { CHUNK = 1 << 21, PAUSE_NS = 8000000, FINISH = 1 << 28 };

struct progress {
	struct weights of;
	uint64_t tensor, at;    /* tensor, and offset of the next byte in it */
	uint64_t hash, sum;     /* hash of this tensor; sum of those before it */
	uint64_t left;          /* bytes left */
};

static int counts(const struct weights *of, uint64_t i)
{
	return !of->used || of->used[i];
}

static struct progress begin(const struct weights *of)
{
	struct progress c = { .of = *of };

	for (uint64_t i = 0; i < of->g->n_tensors; i++)
		if (counts(of, i))
			c.left += of->g->tensors[i].bytes;
	return c;
}

/* Hashes the next chunk. Returns 0 after the last. */
static int step(struct progress *c)
{
	const struct gguf *g = c->of.g;
	const struct gguf_tensor *t;
	size_t n;

	while (c->tensor < g->n_tensors && !counts(&c->of, c->tensor))
		c->tensor++;
	if (c->tensor == g->n_tensors)
		return 0;
	t = &g->tensors[c->tensor];
	if (!c->at)
		c->hash = hash_data(t->name.s, t->name.n, 3);
	n = (size_t)(t->bytes - c->at < CHUNK ? t->bytes - c->at : CHUNK);
	c->hash = hash_data((const unsigned char *)t->data + c->at, n, c->hash);
	c->at += n;
	c->left -= n;
	if (c->at == t->bytes) {
		c->sum += c->hash;
		c->tensor++;
		c->at = 0;
	}
	return 1;
}

/* The digest; never 0, which means that there is none. */
static uint64_t result(const struct progress *c)
{
	return c->sum ? c->sum : 1;
}

static uint64_t compute(const struct weights *of)
{
	struct progress c = begin(of);

	while (step(&c))
		;
	return result(&c);
}

static int belongs(struct segment *s, const struct weights *of, struct why *w)
{
	uint64_t file = gguf_identity(of->g);

	if (segment_mark(s, SEGMENT_FILE) == file)
		return 0;
	if (!s->length)
		segment_set_mark(s, SEGMENT_DIGEST, 0);
	else if (!segment_mark(s, SEGMENT_DIGEST))
		return why(w,
			"segment %s: made with another model file, or with %s before it changed, "
			"and without a digest of the weights",
			s->name, of->g->path);
	else if (segment_mark(s, SEGMENT_DIGEST) != compute(of))
		return why(w, "segment %s: made by another model: the weights in %s differ", s->name, of->g->path);
	segment_set_mark(s, SEGMENT_FILE, file);
	return 0;
}

/* The number of bytes of s[n] that fit in `room` without splitting a character. */
static size_t whole(const char *s, size_t n, size_t room)
{
	if (n < room)
		return n;
	for (n = room - 1; n && ((unsigned char)s[n] & 0xc0) == 0x80; n--)
		;
	return n;
}

static void note_origin(struct segment *s, const struct gguf *g)
{
	struct segment_origin o = { .name = "" };
	struct gguf_string name = gguf_name(g);
	char *path = realpath(g->path, NULL);

	memcpy(o.name, name.s, whole(name.s, name.n, sizeof o.name));
	if (path && strlen(path) < sizeof o.path)
		strcpy(o.path, path);
	free(path);
	segment_set_origin(s, &o);
}

int digest_check(struct segment *s, const struct weights *of, struct why *w)
{
	if (!s->name)
		return 0;
	if (belongs(s, of, w) < 0 || segment_check_ids(s, of->n_vocab, w) < 0)
		return -1;
	note_origin(s, of->g);
	return 0;
}

void digest_store(struct segment *s, const struct weights *of)
{
	if (!segment_mark(s, SEGMENT_DIGEST))
		segment_set_mark(s, SEGMENT_DIGEST, compute(of));
}

/* ---- in the background ---- */

struct digest {
	struct segment *segment;        /* or NULL */
	struct progress progress;
	_Atomic uint64_t value;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t closed;
	int closing;            /* protected by the lock */
};

/* Waits for the length of a pause, or until digest_close() is called. Returns whether it was called. */
static int ending(struct digest *d)
{
	struct timespec until = clock_in(PAUSE_NS);
	int closing;

	pthread_mutex_lock(&d->lock);
	if (!d->closing)
		pthread_cond_timedwait(&d->closed, &d->lock, &until);
	closing = d->closing;
	pthread_mutex_unlock(&d->lock);
	return closing;
}

static void *work(void *context)
{
	struct digest *d = context;

	do
		if (ending(d) && d->progress.left > FINISH)
			return NULL;
	while (step(&d->progress));
	atomic_store(&d->value, result(&d->progress));
	if (d->segment)
		segment_set_mark(d->segment, SEGMENT_DIGEST, atomic_load(&d->value));
	return NULL;
}

struct digest *digest_start(struct segment *s, const struct weights *of)
{
	struct digest *d = !s || (s->name && !segment_mark(s, SEGMENT_DIGEST)) ? calloc(1, sizeof *d) : NULL;

	if (!d)
		return NULL;
	d->segment = s;
	d->progress = begin(of);
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->closed, NULL);
	if (thread_start(&d->thread, work, d) == 0) {
		system_yield(d->thread, 1);
		return d;
	}
	free(d);
	return NULL;
}

uint64_t digest_value(const struct digest *d)
{
	return d ? atomic_load(&d->value) : 0;
}

uint64_t digest_close(struct digest *d)
{
	uint64_t value;

	if (!d)
		return 0;
	pthread_mutex_lock(&d->lock);
	d->closing = 1;
	pthread_cond_signal(&d->closed);
	pthread_mutex_unlock(&d->lock);
	system_yield(d->thread, 0);      /* full speed, because the caller waits */
	pthread_join(d->thread, NULL);
	pthread_cond_destroy(&d->closed);
	pthread_mutex_destroy(&d->lock);
	value = digest_value(d);
	free(d);
	return value;
}
